/**
 * The one place that uses the internals of nodemailer's connection. It turns callbacks and events into promises that always settle, and
 * names the few private fields that we read.
 *
 * Not left to nodemailer, as its callbacks are not exact enough: the end of a connection while a command waits (its callbacks for AUTH and
 * RSET never come then), and replies to no command.
 */
/* oxlint-disable eslint/no-underscore-dangle -- the names are nodemailer's */
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type {
  SMTPConnectionEnvelope,
  SMTPConnectionOptions,
  SMTPEnvelope,
} from 'nodemailer/lib/smtp-connection';
import { skipWhatIsPlain, type DotStuffing } from './transparency.ts';

export type LibraryError = SMTPConnection.SMTPError;

/** nodemailer's callback. */
export type Done<T> = (error?: LibraryError | null, result?: T) => void;

/** Private fields of nodemailer 10; a test fails when an update removes them. */
interface PrivateFields {
  readonly _supportedExtensions: readonly string[];
  /** 0: the server announced no limit. */
  readonly _maxAllowedSize: number;
  /** Replies that arrived and that no command has asked for yet. */
  readonly _responseQueue: readonly string[];
  /** The beginning of a reply line whose end has not arrived. */
  readonly _remainder: string;
  /** Of the message under way. */
  readonly _envelope: EnvelopeBooks | false | undefined;
  /** Writes a command, without CRLF. */
  _sendCommand(command: string, shown?: string): unknown;
  /** Creates the stream that a message is written to. */
  _createSendStream(callback: unknown): DotStuffing;
}

/** The envelope that nodemailer is given, and the results that it adds as replies arrive. */
export interface EnvelopeBooks
  extends SMTPEnvelope, Partial<Pick<SMTPConnectionEnvelope, 'accepted' | 'rejectedErrors'>> {
  /** Set when MAIL was refused. */
  mailError?: LibraryError;
  /** The header has characters beyond ASCII. nodemailer asks for SMTPUTF8 only when an address has them. */
  hasUtf8Header?: boolean;
}

export class Connection {
  readonly library: SMTPConnection;
  /** True once the connection can't be used any more. */
  ended = false;
  #onEnd: () => void = () => {};
  #pending: ((error: LibraryError) => void) | null = null;

  constructor(options: SMTPConnectionOptions) {
    this.library = new SMTPConnection(options);
    const fields = this.#fields;
    const createSendStream = fields._createSendStream.bind(this.library);
    fields._createSendStream = (callback) => {
      const stream = createSendStream(callback);
      skipWhatIsPlain(stream);
      return stream;
    };
    const sendCommand = fields._sendCommand.bind(this.library);
    fields._sendCommand = (command, shown) =>
      // RFC 6531 §3.4
      sendCommand(this.#asksForUtf8(command) ? `${command} SMTPUTF8` : command, shown);
    this.library.on('error', (error: LibraryError) => this.#pending?.(error));
    this.library.on('end', () => {
      this.ended = true;
      // A reply that ends the session, such as 421, calls back right after this event and is more informative.
      setImmediate(() => this.#pending?.(connectionClosed()));
      this.#onEnd();
    });
  }

  /** At most one listener. */
  set onEnd(listener: () => void) {
    this.#onEnd = listener;
  }

  /** Runs one operation of the library to its end; only one at a time. Rejects with the library's error. */
  run<T>(start: (done: Done<T>) => void): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#pending = (error) => {
        this.#pending = null;
        reject(error);
      };
      start((error, result) => {
        if (error) {
          this.#pending?.(error);
        } else if (this.#pending !== null) {
          this.#pending = null;
          resolve(result);
        }
      });
    });
  }

  /** Fails the operation under way as if the line had broken, and drops the connection without QUIT. */
  abort(error: LibraryError): void {
    const pending = this.#pending;
    this.destroy();
    pending?.(error);
  }

  destroy(): void {
    // socketCloseTimeout is 0, so this cuts the line and nothing more is written.
    this.library.close();
  }

  /** Service extensions that EHLO listed, in upper case: those that nodemailer recognises. */
  supports(extension: 'SMTPUTF8' | '8BITMIME' | 'PIPELINING' | 'SIZE'): boolean {
    return this.#fields._supportedExtensions.includes(extension);
  }

  /** RFC 1870: the largest message that the server takes, in bytes; null when it announced no limit. */
  get maxSizeBytes(): number | null {
    return this.#fields._maxAllowedSize || null;
  }

  /** False when replies arrived that belong to no command: the next command would take them for its own. */
  get inStep(): boolean {
    return this.#fields._responseQueue.length === 0 && this.#fields._remainder === '';
  }

  /** The TLS socket once TLS is on; null or false without a connection. */
  get socket(): unknown {
    return this.library._socket;
  }

  /** Silence after which the socket gives up, in ms; 0: never. */
  setSocketTimeout(timeoutMs: number): void {
    if (this.library._socket) this.library._socket.setTimeout(timeoutMs);
  }

  /** Bytes written from now on wait for `uncork`, and leave together. */
  cork(): void {
    if (this.library._socket) this.library._socket.cork();
  }

  uncork(): void {
    if (this.library._socket) this.library._socket.uncork();
  }

  #asksForUtf8(command: string): boolean {
    const { _envelope: books } = this.#fields;
    return (
      books !== false && books?.hasUtf8Header === true && /^MAIL FROM:<[^>]*>(?!.* SMTPUTF8\b)/.test(command)
    );
  }

  get #fields(): PrivateFields {
    return this.library as unknown as PrivateFields;
  }
}

function connectionClosed(): LibraryError {
  return Object.assign(new Error('Connection closed unexpectedly'), { code: 'ECONNECTION' });
}
