/** Digests of the contents of a message's leaf parts, computed while it is read, so that memory does not grow with them. */
import { createHash, type Hash } from 'node:crypto';
import { ByteCollector } from './byte-collector.ts';
import { createTransferDecoder, type TransferDecoder, type TransferEncoding } from './transfer-decoding.ts';

/** The digest of one leaf part, from its encoded body in pieces. Call `end` once; it returns lower-case hex. */
export interface LeafDigest {
  update(piece: Buffer): void;
  end(): string;
}

const LF = 0x0a;
const CR = 0x0d;
/** Hashed many at once: a call for each of millions of empty lines would take seconds. */
const LINE_ENDS = Buffer.alloc(4096, LF);
/** Lines are decoded together: one by one takes several times as long. */
const DECODED_AT_ONCE_BYTES = 32_768;

/** The digest of decoded bytes; for lines, trailing line ends and their form do not count. */
export class ByteDigest implements LeafDigest {
  readonly #hash: Hash = createHash('sha256');
  readonly #decoder: TransferDecoder;
  readonly #isLines: boolean;
  readonly #waiting = new ByteCollector();
  /** Line ends that count only when something follows. */
  #lineEnds = 0;

  constructor(encoding: TransferEncoding, isLines: boolean) {
    this.#decoder = createTransferDecoder(encoding);
    this.#isLines = isLines;
  }

  update(piece: Buffer): void {
    for (let at = 0; at < piece.length; at += DECODED_AT_ONCE_BYTES) {
      this.#waiting.append(piece.subarray(at, at + DECODED_AT_ONCE_BYTES));
      if (this.#waiting.length >= DECODED_AT_ONCE_BYTES) this.#decode();
    }
  }

  end(): string {
    this.#decode();
    this.#add(this.#decoder.end());
    return this.#hash.digest('hex');
  }

  #decode(): void {
    this.#add(this.#decoder.write(this.#waiting.bytes()));
    this.#waiting.reset();
  }

  #add(bytes: Buffer): void {
    if (!this.#isLines) {
      this.#hash.update(bytes);
      return;
    }
    const lines = bytes.includes(CR)
      ? Buffer.from(bytes.toString('latin1').replaceAll('\r', ''), 'latin1')
      : bytes;
    let end = lines.length;
    while (end > 0 && lines[end - 1] === LF) end--;
    if (end > 0) {
      for (; this.#lineEnds > 0; this.#lineEnds -= Math.min(this.#lineEnds, LINE_ENDS.length)) {
        this.#hash.update(LINE_ENDS.subarray(0, this.#lineEnds));
      }
      this.#hash.update(lines.subarray(0, end));
    }
    this.#lineEnds += lines.length - end;
  }
}
