/**
 * smtp-server takes a bare LF for the end of a command. RFC 5321 §2.3.8 forbids CR and LF in any other form than CRLF, and servers in front may
 * take such a command for the text of another one, or of a message (SMTP smuggling). Here a line with a bare CR, a bare LF or NUL is no command: the reply
 * is 500, nothing changes, and the session goes on behind the LF. See docs/upstream.md.
 */
/* oxlint-disable eslint/no-underscore-dangle -- the names are smtp-server's and Node's */
import type { Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js';

const LF = 0x0a;
const COMMAND = /^[^\r\n\0]*\r\n$/;
/** Handed on in place of such a line; the connection has a handler of this name. */
const FAULTY = Buffer.from('LINE-FAULT\r\n');

export class StrictServer extends SMTPServer {
  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new StrictConnection(this, socket, options);
    this.connections.add(connection);
    connection.on('error', (error: Error) => this._onError(error));
    connection.on('connect', (data) => this._onClientConnect(data));
    connection.init();
  }
}

class StrictConnection extends SMTPConnection {
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
