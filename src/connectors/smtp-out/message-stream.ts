/**
 * The bytes of one message on their way into an SMTP connection (nodemailer applies RFC 5321 §4.5.2 behind it). Records exactly whether the
 * first byte and whether the last byte was handed over: nodemailer writes the final dot only after this stream has ended, so until then the
 * server cannot have the whole message.
 */
import { isAscii } from 'node:buffer';
import { open, stat } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import type { Content } from '../../platform/files/file-ports.ts';

type FileContent = Extract<Content, { kind: 'file' }>;

/** Large messages go to the socket in pieces of this size, so that it can apply back-pressure. */
const CHUNK_BYTES = 64 * 1024;

/** The file of a message is gone or has changed. */
export class ContentChangedError extends Error {
  override readonly name = 'ContentChangedError';
}

/** A failure to read a message, fit for a result: without paths of this machine. */
export function describeContentError(error: unknown): string {
  if (error instanceof ContentChangedError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `the file of the message can't be read: ${code}`;
}

export function sizeOfContent(content: Content): number {
  return content.kind === 'bytes' ? content.bytes.length : content.sizeBytes;
}

/** What a message needs of a server. */
export interface MessageNeeds {
  /** It contains bytes above 127 (RFC 6152). */
  readonly eightBit: boolean;
  /** Its header contains them (RFC 6531 §3.4), as only senders write it that compose their messages themselves. */
  readonly utf8Header: boolean;
}

const ASCII_ONLY: MessageNeeds = { eightBit: false, utf8Header: false };

/**
 * Inspects a message before a connection is taken for it, so that a missing file costs no transaction. A file that is not known to be ASCII
 * or not is read whole, of one that is not the header.
 *
 * @throws {ContentChangedError} when the file is missing or of another size; or the error of the file system
 */
export async function findNeeds(content: Content): Promise<MessageNeeds> {
  if (content.kind === 'bytes')
    return isAscii(content.bytes)
      ? ASCII_ONLY
      : { eightBit: true, utf8Header: !isAscii(headerOf(content.bytes)) };
  if (content.isAscii !== undefined) {
    const { size } = await ofExisting(stat(content.path));
    if (size !== content.sizeBytes) throw otherSize();
    if (content.isAscii) return ASCII_ONLY;
  }
  let eightBit = content.isAscii === false;
  let utf8Header = false;
  /** null: the header has ended. */
  let before: Buffer | null = Buffer.alloc(0);
  for await (const chunk of readExactly(content)) {
    eightBit ||= !isAscii(chunk);
    if (before === null) {
      if (content.isAscii === false) break;
      continue;
    }
    const joined: Buffer = Buffer.concat([before, chunk]);
    utf8Header ||= !isAscii(headerOf(joined));
    before = joined.includes(HEADER_END) ? null : joined.subarray(-(HEADER_END.length - 1));
  }
  return { eightBit, utf8Header };
}

const HEADER_END = '\r\n\r\n';

function headerOf(message: Buffer): Buffer {
  const end = message.indexOf(HEADER_END);
  return end === -1 ? message : message.subarray(0, end);
}

/** A message on its way, in either form. */
export interface MovingMessage {
  /** True from the moment the connection asks for the first byte: the server has answered DATA. */
  readonly started: boolean;
  /** True when the connection has the last byte; from here on the final dot may reach the server. */
  readonly handedOver: boolean;
  destroy(): void;
}

/**
 * A small message, in the place of a stream: it goes in one piece, without the cost of a stream, and the final dot goes with it in one
 * packet.
 */
export class WholeMessage implements MovingMessage {
  started = false;
  handedOver = false;
  readonly #bytes: Buffer;
  readonly #mayStart: () => Error | null;
  readonly #onHandedOver: () => void;
  readonly #socket: Pick<Writable, 'cork' | 'uncork'>;
  #onError: (error: Error) => void = () => {};

  /** @param socket the connection's socket; for the other parameters see `MessageStream` */
  constructor(
    bytes: Buffer,
    mayStart: () => Error | null,
    onHandedOver: () => void,
    socket: Pick<Writable, 'cork' | 'uncork'>,
  ) {
    this.#bytes = bytes;
    this.#mayStart = mayStart;
    this.#onHandedOver = onHandedOver;
    this.#socket = socket;
  }

  /** True for a message that needs no back-pressure. */
  static fits(content: Content): content is Extract<Content, { kind: 'bytes' }> {
    return content.kind === 'bytes' && content.bytes.length <= CHUNK_BYTES;
  }

  on(event: string, listener: (error: Error) => void): void {
    if (event === 'error') this.#onError = listener;
  }

  pipe(connection: Writable): void {
    const error = this.#mayStart();
    if (error !== null) {
      this.#onError(error);
      return;
    }
    this.started = true;
    this.#socket.cork();
    // Not at the end of the message: bytes that exceed the socket's buffer wait until it is emptied.
    setImmediate(() => this.#socket.uncork());
    connection.write(this.#bytes);
    this.handedOver = true;
    this.#onHandedOver();
    connection.end();
  }

  removeListener(): void {
    this.#onError = () => {};
  }

  unpipe(): void {}

  destroy(): void {}
}

export class MessageStream extends Readable implements MovingMessage {
  started = false;
  handedOver = false;
  readonly #chunks: AsyncIterator<Buffer> | Iterator<Buffer>;
  readonly #mayStart: () => Error | null;

  /**
   * @param mayStart called before the first byte leaves; an error that it returns ends the stream
   * @param onHandedOver called once, before the connection writes the final dot
   */
  constructor(content: Content, mayStart: () => Error | null, onHandedOver: () => void) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#chunks = content.kind === 'bytes' ? sliceBytes(content.bytes) : readExactly(content);
    this.#mayStart = mayStart;
    // Registered before pipe(), so it runs before the connection's stream is ended.
    this.once('end', () => {
      this.handedOver = true;
      onHandedOver();
    });
  }

  override _read(): void {
    if (!this.started) {
      const error = this.#mayStart();
      if (error !== null) {
        this.destroy(error);
        return;
      }
      this.started = true;
    }
    const next = this.#chunks.next();
    if (next instanceof Promise) {
      next.then(
        (result) => this.#push(result),
        (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    } else {
      this.#push(next);
    }
  }

  override _destroy(reason: Error | null, done: (error?: Error | null) => void): void {
    // Closes the file when it was not read to the end.
    const closed = this.#chunks.return?.();
    const finish = (): void => done(reason);
    if (closed instanceof Promise) closed.then(finish, finish);
    else finish();
  }

  #push(result: IteratorResult<Buffer>): void {
    this.push(result.done === true ? null : result.value);
  }
}

function* sliceBytes(bytes: Buffer): Generator<Buffer, undefined> {
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
    yield bytes.subarray(offset, offset + CHUNK_BYTES);
  }
}

/**
 * Reads the file of a message. Fails before its end unless it has exactly `sizeBytes`: half a message must never pass for a whole one.
 *
 * @throws {ContentChangedError} or the error of the file system
 */
export async function* readExactly({ path, sizeBytes }: FileContent): AsyncGenerator<Buffer, undefined> {
  const file = await ofExisting(open(path, 'r'));
  try {
    let position = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(
        Buffer.allocUnsafe(CHUNK_BYTES),
        0,
        CHUNK_BYTES,
        position,
      );
      if (bytesRead === 0) break;
      position += bytesRead;
      if (position > sizeBytes) break;
      yield buffer.subarray(0, bytesRead);
    }
    if (position !== sizeBytes) {
      throw otherSize();
    }
  } finally {
    await file.close();
  }
}

const otherSize = () => new ContentChangedError('the file of the message has another size than announced');

async function ofExisting<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new ContentChangedError('the file of the message is missing', { cause: error });
    }
    throw error;
  }
}
