/**
 * The tree of a received message's parts, found in one pass over its bytes: RFC 2045 and RFC 2046, lenient. Bytes
 * arrive in chunks of any size; chunk borders leave no trace. Kept in memory are headers, text and reports, within
 * the limits; of everything else only where it stands, so memory does not grow with attachments.
 *
 * Lines end in CRLF or LF. A delimiter of any open multipart ends what is within it (RFC 2046 §5.1.2). Contained
 * messages (message/rfc822) are not entered, but for their digest.
 */
import { ByteCollector } from './byte-collector.ts';
import { digestContent, digestOf, isSentAsLines } from './content-digest.ts';
import { fieldValue, parseHeaderBlock } from './header-fields.ts';
import { ByteDigest, type LeafDigest } from './leaf-digest.ts';
import {
  MAX_CONTAINED_DEPTH,
  MAX_CONTAINED_MESSAGE_BYTES,
  MAX_CONTAINED_TEXT_BYTES,
  MAX_LINE_PIECE_BYTES,
  MAX_RECEIVED_BOUNDARY_CHARS,
} from './limits.ts';
import type { ParseLimitName, ParseLimits } from './parse-limits.ts';
import { createPart } from './received-part.ts';
import type { Keep, ReceivedPart } from './received-part.ts';
import { createTransferDecoder, type TransferDecoder, type TransferEncoding } from './transfer-decoding.ts';

/** What was read of a whole message. */
export interface Structure {
  readonly root: ReceivedPart;
  readonly sizeBytes: number;
  /** In the order in which they were passed. */
  readonly passedLimits: readonly ParseLimitName[];
  /** See `ParsedMessage.contentDigest`. */
  readonly contentDigest: string;
}

type Budget = 'text' | 'report' | 'tnef';

const BUDGETS: Readonly<Record<Exclude<Keep, 'nothing'>, Budget>> = {
  text: 'text',
  preamble: 'text',
  report: 'report',
  contained: 'report',
  tnef: 'tnef',
};

const LF = 0x0a;
const CR = 0x0d;
const HYPHEN = 0x2d;

/** Reads one message: `write` its bytes, then `end` once. */
export class StructureReader {
  readonly #limits: ParseLimits;
  readonly #passed = new Set<ParseLimitName>();
  /** Bytes that may still be kept. */
  readonly #left: Record<Budget, number>;
  /** Multiparts that are open, outermost first. */
  readonly #open: ReceivedPart[] = [];
  #root: ReceivedPart | null = null;
  /** The part whose body is being read; null while a header is. */
  #current: ReceivedPart | null = null;
  readonly #header = new ByteCollector();
  #headerBytes = 0;
  #fieldCount = 0;
  #partCount = 1;
  /** A line whose end has not come yet. */
  readonly #pending = new ByteCollector();
  /** Offset of the line, or piece of a line, that is read next. */
  #offset = 0;
  /** False behind a piece of a line that was too long to wait for. */
  #atLineStart = true;
  /** Length of the line end before `#offset`; it belongs to a delimiter that follows (RFC 2046 §5.1.1). */
  #lineEndBytes = 0;
  /** Of what stands behind the last part that may be read; null while all is read. */
  #rest: LeafDigest | null = null;
  /** Messages that this one is contained in. */
  readonly #depth: number;

  constructor(limits: ParseLimits, depth = 0) {
    this.#limits = limits;
    this.#depth = depth;
    this.#left = { text: limits.textBytes, report: limits.reportBytes, tnef: limits.tnefBytes };
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const lf = chunk.indexOf(LF, at);
      const lineEnd = lf === -1 ? chunk.length : lf + 1;
      // A line without an end is taken in pieces, so that it costs no memory.
      const end = Math.min(lineEnd, at + MAX_LINE_PIECE_BYTES - this.#pending.length);
      const piece = chunk.subarray(at, end);
      at = end;
      const isWhole = lf !== -1 && end === lineEnd;
      if (this.#pending.length === 0 && (isWhole || piece.length === MAX_LINE_PIECE_BYTES)) {
        this.#readPiece(piece);
        continue;
      }
      this.#pending.append(piece);
      if (isWhole || this.#pending.length === MAX_LINE_PIECE_BYTES) this.#readPending();
    }
  }

  end(): Structure {
    if (this.#pending.length > 0) this.#readPending();
    if (this.#current === null && this.#rest === null) this.#endHeader(false);
    if (this.#current !== null) this.#current.end = this.#offset;
    for (const part of this.#open) {
      part.end = this.#offset;
      part.defects.add('missing_closing_boundary');
    }
    const root = this.#root ?? createPart([], null, this.#offset);
    return {
      root,
      sizeBytes: this.#offset,
      passedLimits: [...this.#passed],
      contentDigest: digestContent(root, this.#rest),
    };
  }

  #readPending(): void {
    // A copy: reading may go on to fill the collector again.
    const piece = Buffer.from(this.#pending.bytes());
    this.#pending.reset();
    this.#readPiece(piece);
  }

  /** Reads a line with its end, or a piece of a line that is too long. */
  #readPiece(piece: Buffer): void {
    const isLineStart = this.#atLineStart;
    if (this.#rest !== null) this.#rest.update(piece);
    else if (!isLineStart || !this.#readDelimiter(piece)) {
      if (this.#current === null) this.#readHeaderPiece(piece, isLineStart);
      else this.#keep(this.#current, piece);
    }
    this.#offset += piece.length;
    this.#lineEndBytes = lineEndBytes(piece);
    this.#atLineStart = this.#lineEndBytes > 0;
  }

  #readHeaderPiece(piece: Buffer, isLineStart: boolean): void {
    if (isLineStart && piece.length === lineEndBytes(piece)) {
      const end = this.#offset + piece.length;
      const isBody = this.#endHeader(true);
      if (this.#current === null) return;
      if (isBody) this.#keep(this.#current, piece);
      else this.#current.start = end;
      return;
    }
    this.#headerBytes += piece.length;
    if (this.#headerBytes > this.#limits.headerBytes) this.#passed.add('header_bytes');
    else this.#header.append(piece);
  }

  /** Makes a part of the header that ends at `#offset`. True when lines that were taken for header are its body. */
  #endHeader(hasEmptyLine: boolean): boolean {
    const block = Buffer.from(this.#header.bytes());
    this.#header.reset();
    const fieldsLeft = this.#limits.headerFields - this.#fieldCount;
    const { fields, bodyStart, malformed, isCut } = parseHeaderBlock(block, fieldsLeft);
    this.#fieldCount += fields.length;
    if (isCut) this.#passed.add('header_fields');

    const part = createPart(fields, this.#open.at(-1) ?? null, this.#offset);
    if (malformed) part.defects.add('malformed_header');
    if (!hasEmptyLine && block.length > 0) part.defects.add('header_without_end');
    this.#open.at(-1)?.children.push(part);
    this.#root ??= part;
    this.#current = part;
    if (part.boundary === null && part.keep !== 'text') part.digest = this.#createDigest(part);
    if (part.boundary !== null) {
      if (this.#open.length < this.#limits.partDepth) this.#open.push(part);
      else this.#passed.add('part_depth');
    }
    // Offsets would be wrong if bytes of the header had been dropped.
    if (bodyStart === null || this.#passed.has('header_bytes')) return false;
    this.#readAgain(part, block.subarray(bodyStart));
    return true;
  }

  /** Lines in front of `#offset` turned out to be body. */
  #readAgain(part: ReceivedPart, lines: Buffer): void {
    this.#offset -= lines.length;
    part.start = this.#offset;
    for (let at = 0; at < lines.length;) {
      const lf = lines.indexOf(LF, at);
      const end = lf === -1 ? lines.length : lf + 1;
      this.#readPiece(lines.subarray(at, end));
      at = end;
    }
  }

  #createDigest(part: ReceivedPart): LeafDigest {
    const isMessage = part.mediaType === 'message/rfc822' || part.mediaType === 'message/global';
    if (!isMessage || this.#depth >= MAX_CONTAINED_DEPTH) {
      return new ByteDigest(part.encoding, isSentAsLines(part));
    }
    const limits = { ...this.#limits, textBytes: Math.min(this.#limits.textBytes, MAX_CONTAINED_TEXT_BYTES) };
    return new ContainedDigest(part.encoding, new StructureReader(limits, this.#depth + 1));
  }

  /** Whether the line is a delimiter of an open multipart; then reads it. */
  #readDelimiter(line: Buffer): boolean {
    if (this.#open.length === 0 || line[0] !== HYPHEN || line[1] !== HYPHEN) return false;
    if (line.length > MAX_RECEIVED_BOUNDARY_CHARS + 100) return false;
    // RFC 2046 §5.1.1: white space may follow ("transport-padding").
    const text = line.toString('latin1', 2).trimEnd();
    for (let level = this.#open.length - 1; level >= 0; level--) {
      const boundary = this.#open[level]?.boundary ?? '';
      if (text === boundary || text === `${boundary}--`) {
        this.#closeWithin(level);
        if (text === boundary) this.#startChild(level);
        else this.#closeMultipart();
        return true;
      }
    }
    return false;
  }

  /** Ends everything that is open within the multipart at `level`. */
  #closeWithin(level: number): void {
    if (this.#current === null) this.#endHeader(false);
    const end = this.#offset - this.#lineEndBytes;
    if (this.#current !== null) this.#current.end = Math.max(this.#current.start, end);
    for (const part of this.#open.splice(level + 1)) {
      part.end = Math.max(part.start, end);
      part.defects.add('missing_closing_boundary');
    }
  }

  #startChild(level: number): void {
    const parent = this.#open[level];
    if (parent?.keep === 'preamble') {
      this.#left.text += parent.kept.length;
      parent.kept.reset();
      parent.keep = 'nothing';
      parent.digest = null;
    }
    this.#current = null;
    this.#partCount++;
    if (this.#partCount > this.#limits.parts) {
      this.#passed.add('parts');
      this.#rest = new ByteDigest('identity', true);
    }
  }

  #closeMultipart(): void {
    const part = this.#open.pop();
    if (part === undefined) return;
    part.end = this.#offset;
    // What follows is its epilogue, which nobody reads.
    if (part.keep === 'preamble' && part.children.length > 0) part.keep = 'nothing';
    this.#current = part;
  }

  #keep(part: ReceivedPart, piece: Buffer): void {
    part.digest?.update(piece);
    if (part.keep === 'nothing') return;
    const budget = BUDGETS[part.keep];
    const own = part.keep === 'contained' ? MAX_CONTAINED_MESSAGE_BYTES - part.kept.length : piece.length;
    const taken = Math.max(0, Math.min(piece.length, this.#left[budget], own));
    this.#left[budget] -= taken;
    if (taken > 0) part.kept.append(piece.subarray(0, taken));
    if (taken === piece.length) return;
    part.isCut = true;
    if (part.keep === 'text') this.#passed.add('text_bytes');
    if (part.digest === null) {
      part.digest = this.#createDigest(part);
      part.digest.update(part.kept.bytes());
      part.digest.update(piece.subarray(taken));
    }
  }
}

/** Of a message in a message: servers encode its parts anew as well. */
class ContainedDigest implements LeafDigest {
  readonly #decoder: TransferDecoder;
  readonly #reader: StructureReader;

  constructor(encoding: TransferEncoding, reader: StructureReader) {
    this.#decoder = createTransferDecoder(encoding);
    this.#reader = reader;
  }

  update(piece: Buffer): void {
    this.#reader.write(this.#decoder.write(piece));
  }

  end(): string {
    this.#reader.write(this.#decoder.end());
    const { root, contentDigest } = this.#reader.end();
    const fields = CONTAINED_FIELDS.map(
      (name) => fieldValue(root.fields, name)?.replace(/\s+/g, ' ').trim() ?? '',
    );
    return digestOf([...fields, contentDigest]);
  }
}

/** Those that tell a message from another one, and that no server changes. */
const CONTAINED_FIELDS = ['message-id', 'date', 'from', 'subject'];

function lineEndBytes(piece: Buffer): number {
  if (piece[piece.length - 1] !== LF) return 0;
  return piece[piece.length - 2] === CR ? 2 : 1;
}
