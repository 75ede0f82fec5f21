/**
 * Reads a JSON body without holding its attachments: 20 requests with 25 MiB of files each must not need a gigabyte.
 *
 * A scanner over the bytes tracks only whether it is inside a string literal, and the last key. A string that is the value of a key
 * `content` and longer than a threshold is cut out: its Base64 is decoded into a file while it arrives, and an unguessable placeholder
 * takes its place. The rest is small, stays in memory and is read by parseJson, which alone decides what is valid JSON (RFC 8259).
 *
 * It does not reject bad Base64, but reports it as `invalid`, so that errors come in the same order whatever the size of the body. See
 * send-body.ts.
 */
import { isUtf8 } from 'node:buffer';
import type { Content, SpoolFolder } from '../../files/file-ports.ts';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import { Base64Decoder } from './base64-decoder.ts';
import { ByteText } from './byte-text.ts';
import { JsonStringReader } from './json-string-reader.ts';
import { parseJson } from './parse-json.ts';

export interface LongStringOptions {
  /** Strings that take more bytes than this in the JSON are cut out. */
  readonly threshold: number;
  /** Bound of the rest of the body, in bytes; more is `payload_too_large`. */
  readonly maxTextBytes: number;
  /** Bound of objects, arrays and commas; more is `invalid_request`. */
  readonly maxElements: number;
  /** Bound of nesting; more is `invalid_request`. */
  readonly maxDepth: number;
  /** Bound of the fields of one object; more is `invalid_request`. */
  readonly maxFields: number;
  /** Bound of all decoded bytes; more is `attachments_too_large`, at once. */
  readonly maxDecodedBytes: number;
  /** The folder for the files. */
  readonly folder: Pick<SpoolFolder, 'write'>;
  /** Returns JSON string content that occurs nowhere else: letters and digits, different at each call. */
  readonly placeholder: () => string;
}

export interface JsonWithLongStrings {
  /** The result of JSON.parse for the rest, placeholders included. */
  readonly value: unknown;
  /** By placeholder: the decoded file, or `invalid` when it was not Base64. */
  readonly longStrings: ReadonlyMap<string, Content | 'invalid'>;
}

/** The key whose long values are cut out. */
const CONTENT_KEY = 'content';
/** The length of a key `content` with its quotes and every letter written as `\u0000`; longer literals need not be checked. */
const MAX_CONTENT_KEY_BYTES = CONTENT_KEY.length * 6 + 2;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;

/** Throws `invalid_json`, `duplicate_field` and the errors that the options name; errors of `source` pass through. */
export function readJsonWithLongStrings(
  source: AsyncIterator<Buffer>,
  options: LongStringOptions,
): Promise<JsonWithLongStrings> {
  return new Scanner(source, options).read();
}

class Scanner {
  readonly #source: AsyncIterator<Buffer>;
  readonly #options: LongStringOptions;
  readonly #text: ByteText;
  readonly #longStrings = new Map<string, Content | 'invalid'>();
  #decodedBytes = 0;

  #chunk: Buffer = Buffer.alloc(0);
  #position = 0;
  /** Next quote and backslash at or after #position, or the chunk's length; -1 before the search. */
  #nextQuote = -1;
  #nextBackslash = -1;
  /** The previous chunk ended inside a string, right after a backslash. */
  #escaped = false;

  #depth = 0;
  #elements = 0;
  /** By depth: the fields so far of the object that is open there. */
  readonly #fields: number[] = [];
  /** The position in #text of the string literal before this byte; null when something else came between. */
  #lastLiteralAt: number | null = null;
  /** The next value belongs to a key `content`. */
  #isContent = false;

  constructor(source: AsyncIterator<Buffer>, options: LongStringOptions) {
    this.#source = source;
    this.#options = options;
    this.#text = new ByteText(options.maxTextBytes);
  }

  async read(): Promise<JsonWithLongStrings> {
    while (await this.#fill()) {
      if (this.#scanStructure()) await this.#readString();
    }
    const text = this.#text.bytes();
    if (!isUtf8(text)) throw new ServiceError('invalid_json');
    // Seen in practice: .NET clients send a byte order mark; RFC 8259 §8.1 lets a reader ignore it.
    const value = parseJson(text.toString('utf8').replace(/^\ufeff/, ''));
    return { value, longStrings: this.#longStrings };
  }

  /** Fetches chunks until there is an unread byte; false at the end of the body. */
  async #fill(): Promise<boolean> {
    while (this.#position >= this.#chunk.length) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#chunk = next.value;
      this.#position = 0;
      this.#nextQuote = -1;
      this.#nextBackslash = -1;
    }
    return true;
  }

  /** Copies the bytes outside of strings; true when it stopped after the opening quote of a string. */
  #scanStructure(): boolean {
    const chunk = this.#chunk;
    const start = this.#position;
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#text.append(chunk.subarray(start, at));
        this.#position = at + 1;
        return true;
      }
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
      if (byte === COLON) {
        this.#countField();
        this.#isContent = this.#lastLiteralIsContentKey();
      } else {
        this.#isContent = false;
        this.#count(byte);
      }
      this.#lastLiteralAt = null;
    }
    this.#text.append(chunk.subarray(start));
    this.#position = chunk.length;
    return false;
  }

  /** A body of a few megabytes of `[[[[` or `[{},{},…` becomes gigabytes of objects. */
  #count(byte: number | undefined): void {
    if (byte === 0x7b || byte === 0x5b) {
      this.#depth++;
      this.#elements++;
      this.#fields[this.#depth] = 0;
    } else if (byte === 0x7d || byte === 0x5d) {
      this.#depth--;
    } else if (byte === COMMA) {
      this.#elements++;
    }
    if (this.#depth > this.#options.maxDepth) throw invalidRequest('nested_too_deep');
    if (this.#elements > this.#options.maxElements) throw invalidRequest('too_many_elements');
  }

  /** Each object of many fields is a table of its own, which takes ten times as long to build, to copy and to search as a list. */
  #countField(): void {
    const fields = (this.#fields[this.#depth] ?? 0) + 1;
    this.#fields[this.#depth] = fields;
    if (fields > this.#options.maxFields) throw invalidRequest('too_many_fields');
  }

  #lastLiteralIsContentKey(): boolean {
    if (this.#lastLiteralAt === null) return false;
    const literal = this.#text.bytes(this.#lastLiteralAt);
    // White space may separate the literal from the colon.
    const end = literal.lastIndexOf(QUOTE) + 1;
    if (end > MAX_CONTENT_KEY_BYTES) return false;
    try {
      return JSON.parse(literal.toString('utf8', 0, end)) === CONTENT_KEY;
    } catch {
      return false;
    }
  }

  /** Copies a string literal, or cuts it out when it is a long content. The opening quote was already read. */
  async #readString(): Promise<void> {
    const literalAt = this.#text.length;
    const isContent = this.#isContent;
    this.#isContent = false;
    this.#text.append(QUOTE_BYTE);
    let ended = false;
    while (!ended && (await this.#fill())) {
      ended = this.#takeStringPiece((piece) => this.#text.append(piece));
      if (isContent && this.#text.length - literalAt - 1 > this.#options.threshold) {
        const head = Buffer.from(this.#text.bytes(literalAt + 1));
        this.#text.truncate(literalAt + 1);
        await this.#cutOut(head, ended);
        ended = true;
      }
    }
    // An unfinished literal stays unfinished in #text, so that JSON.parse refuses it.
    if (ended) this.#text.append(QUOTE_BYTE);
    this.#lastLiteralAt = literalAt;
  }

  /** Passes on the bytes up to the closing quote, or to the end of the chunk; true when the quote was found. */
  #takeStringPiece(take: (piece: Buffer) => void): boolean {
    const quote = this.#findStringEnd();
    const end = quote === -1 ? this.#chunk.length : quote;
    take(this.#chunk.subarray(this.#position, end));
    this.#position = quote === -1 ? end : end + 1;
    return quote !== -1;
  }

  /** The quote that ends the string, or -1 when it is not in this chunk. Every byte is searched at most twice. */
  #findStringEnd(): number {
    const chunk = this.#chunk;
    let at = this.#position;
    if (this.#escaped) {
      this.#escaped = false;
      at++;
    }
    for (;;) {
      if (this.#nextQuote < at) this.#nextQuote = indexOrEnd(chunk, QUOTE, at);
      if (this.#nextBackslash < at) this.#nextBackslash = indexOrEnd(chunk, BACKSLASH, at);
      if (this.#nextQuote <= this.#nextBackslash) {
        return this.#nextQuote === chunk.length ? -1 : this.#nextQuote;
      }
      at = this.#nextBackslash + 2;
      if (at > chunk.length) {
        this.#escaped = true;
        return -1;
      }
    }
  }

  /** Decodes the string into a file of the folder and leaves a placeholder. */
  async #cutOut(head: Buffer, ended: boolean): Promise<void> {
    const decoder = new Base64Decoder();
    const decoding = this.#decode(decoder, head, ended);
    // The folder may wrap or lose an error of its source; ours is the one that counts.
    let failure: { readonly error: unknown } | null = null;
    async function* source(): AsyncGenerator<Buffer> {
      try {
        yield* decoding;
      } catch (error) {
        failure = { error };
        throw error;
      }
    }
    let content: Content;
    try {
      content = await this.#options.folder.write(source());
    } catch (error) {
      throw (failure as { readonly error: unknown } | null)?.error ?? error;
    }
    const placeholder = this.#options.placeholder();
    this.#longStrings.set(placeholder, decoder.valid ? content : 'invalid');
    this.#text.append(Buffer.from(placeholder, 'latin1'));
  }

  /** The decoded bytes of the current string; reads on to its closing quote even when it is not Base64. */
  async *#decode(decoder: Base64Decoder, head: Buffer, ended: boolean): AsyncGenerator<Buffer> {
    const reader = new JsonStringReader();
    let piece = head;
    let last = ended;
    for (;;) {
      // A piece that the decoder accepts directly contains nothing that JSON forbids in a string, and no escapes.
      const decoded =
        (reader.isAtRest ? decoder.pushAlphabet(piece.toString('latin1')) : null) ??
        // Characters beyond ASCII are not Base64; JsonStringReader only checks that they are valid UTF-8.
        decoder.push(reader.push(piece));
      yield* this.#counted(decoded);
      if (last) break;
      if (!(await this.#fill())) throw new ServiceError('invalid_json');
      last = this.#takeStringPiece((next) => (piece = next));
    }
    reader.end();
    yield* this.#counted(decoder.end());
  }

  *#counted(decoded: Buffer): Generator<Buffer> {
    if (decoded.length === 0) return;
    this.#decodedBytes += decoded.length;
    if (this.#decodedBytes > this.#options.maxDecodedBytes) {
      throw new ServiceError('attachments_too_large', { values: { limit: this.#options.maxDecodedBytes } });
    }
    yield decoded;
  }
}

const QUOTE_BYTE = Buffer.from('"');

function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}
