/**
 * smtp-server takes a bare LF for the end of a command. RFC 5321 §2.3.8 forbids CR and LF in any other form than CRLF, and servers in front may
 * take such a command for the text of another one, or of a message (SMTP smuggling). Here a line with a bare CR, a bare LF or NUL is no command: the reply
 * is 500, nothing changes, and the session goes on behind the LF. See docs/upstream.md.
 *
 * It also offers AUTH in plain text, gives handlers no way to choose the enhanced status codes that it writes, and lets any client have as many
 * TLS handshakes under way as it likes, each as long as a whole session may be silent.
 */
/* oxlint-disable eslint/no-underscore-dangle -- the names are smtp-server's and Node's */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { addressGroup } from '../../core/edge/address-group.ts';
import { HANDSHAKE_TIMEOUT_MS } from './limits.ts';

const LF = 0x0a;
const COMMAND = /^[^\r\n\0]*\r\n$/;
/** Handed on in place of such a line; the connection has a handler of this name. */
const FAULTY = Buffer.from('LINE-FAULT\r\n');

export class StrictServer extends SMTPServer {
  readonly #maxHandshakesPerAddress: number;
  /** Those with which connections begin, by the group of their address. */
  readonly #handshakes = new Map<string, number>();

  constructor(options: SMTPServerOptions, maxHandshakesPerAddress: number) {
    super(options);
    this.#maxHandshakesPerAddress = maxHandshakesPerAddress;
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new StrictConnection(this, socket, options);
    this.connections.add(connection);
    connection.on('error', (error: Error) => this._onError(error));
    connection.on('connect', (data) => this._onClientConnect(data));
    connection.init();
  }

  override _acceptSocket(socket: Socket, handshake: boolean): (() => void) | false {
    if (!handshake) return super._acceptSocket(socket, handshake);
    const group = addressGroup(socket.remoteAddress ?? '');
    const count = this.#handshakes.get(group) ?? 0;
    if (count >= this.#maxHandshakesPerAddress) {
      socket.on('error', () => undefined);
      socket.destroy();
      return false;
    }
    const release = super._acceptSocket(socket, handshake);
    if (release === false) return false;
    this.#handshakes.set(group, count + 1);
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      const left = (this.#handshakes.get(group) ?? 0) - 1;
      if (left > 0) this.#handshakes.set(group, left);
      else this.#handshakes.delete(group);
    };
    socket.once('close', end);
    return () => {
      end();
      socket.off('close', end);
      release();
    };
  }

  override _upgrade(socket: Socket, callback: (error: Error | null, secure?: TLSSocket) => void): void {
    const timer = setTimeout(() => {
      // The topmost socket: taking away the lower one in the middle of a handshake crashes Node.js.
      this._pendingSockets.get(socket)?.destroy();
    }, HANDSHAKE_TIMEOUT_MS);
    super._upgrade(socket, (error, secure) => {
      clearTimeout(timer);
      callback(error, secure);
    });
  }
}

/** An enhanced status code at the beginning of a reply's text (RFC 2034 §4). */
const STATUS = /^[245]\.\d{1,3}\.\d{1,3} /;

class StrictConnection extends SMTPConnection {
  #isListing = false;
  #hasOwnStatus = false;

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    this.#hasOwnStatus = typeof data === 'string' && STATUS.test(data);
    super.send(code, data, context);
  }

  override _getEnhancedStatusCode(code: number, context?: string | false): string {
    return this.#hasOwnStatus ? '' : super._getEnhancedStatusCode(code, context);
  }

  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#isListing = true;
    try {
      super.handler_EHLO(command, callback);
    } finally {
      this.#isListing = false;
    }
  }

  /** RFC 4954 §4: log-ins that show a password are offered below TLS alone. The library refuses them anyway. */
  override _isSupported(command: string): boolean {
    const isOffered = !(this.#isListing && command === 'AUTH') || this.secure;
    return isOffered && super._isSupported(command);
  }

  override _createParser(): SMTPStream {
    return readStrictly(super._createParser());
  }

  ['handler_LINE-FAULT'](_command: Buffer, done: () => void): void {
    this.send(500, '5.5.2 bare CR, bare LF or NUL in a command');
    done();
  }
}

/** Hands complete lines on one by one: which bytes are commands, and which a message, is known only when the command before is done. */
function readStrictly(parser: SMTPStream): SMTPStream {
  const write = parser._write.bind(parser);
  parser._write = (chunk, encoding, next) => {
    const end = parser._dataMode || parser.isClosed ? -1 : chunk.indexOf(LF);
    if (end === -1) {
      write(chunk, encoding, next);
      return;
    }
    const rest = chunk.subarray(end + 1);
    const goOn: typeof next = (error) => {
      if (error || rest.length === 0) next(error);
      // In a turn of its own: a chunk full of commands must not hold up other connections.
      else setImmediate(() => parser._write(rest, 'buffer', next));
    };
    if (COMMAND.test(parser._remainder + chunk.toString('latin1', 0, end + 1))) {
      write(chunk.subarray(0, end + 1), 'buffer', goOn);
    } else {
      parser._remainder = '';
      write(FAULTY, 'buffer', goOn);
    }
  };
  return parser;
}
