/**
 * The tree of a received message's parts, found in one pass over its bytes: RFC 2045 and RFC 2046, lenient. Bytes
 * arrive in chunks of any size; chunk borders leave no trace. Kept in memory are headers, text and reports, within
 * the limits; of everything else only where it stands, so memory does not grow with attachments.
 *
 * Lines end in CRLF or LF. A delimiter of any open multipart ends what is within it (RFC 2046 §5.1.2). Contained
 * messages (message/rfc822) are not entered.
 */
import { ByteCollector } from './byte-collector.ts';
import { BodyDigest } from './body-digest.ts';
import { messageIdOf, parseHeaderBlock } from './header-fields.ts';
import { MAX_CONTAINED_MESSAGE_BYTES, MAX_LINE_PIECE_BYTES, MAX_RECEIVED_BOUNDARY_CHARS } from './limits.ts';
import type { ParseLimitName, ParseLimits } from './parse-limits.ts';
import { createPart } from './received-part.ts';
import type { Keep, ReceivedPart } from './received-part.ts';

/** What was read of a whole message. */
export interface Structure {
  readonly root: ReceivedPart;
  readonly sizeBytes: number;
  /** In the order in which they were passed. */
  readonly passedLimits: readonly ParseLimitName[];
  /** See `ParsedMessage.bodyDigest`. */
  readonly bodyDigest: string | null;
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
  #digest: BodyDigest | null = null;
  #stopped = false;

  constructor(limits: ParseLimits) {
    this.#limits = limits;
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
    if (this.#current === null && !this.#stopped) this.#endHeader(false);
    if (this.#current !== null) this.#current.end = this.#offset;
    for (const part of this.#open) {
      part.end = this.#offset;
      part.defects.add('missing_closing_boundary');
    }
    return {
      root: this.#root ?? createPart([], null, this.#offset),
      sizeBytes: this.#offset,
      passedLimits: [...this.#passed],
      bodyDigest: this.#digest?.end() ?? null,
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
    if (!this.#stopped) {
      this.#digest?.update(piece);
      if (!isLineStart || !this.#readDelimiter(piece)) {
        if (this.#current === null) this.#readHeaderPiece(piece, isLineStart);
        else this.#keep(this.#current, piece);
      }
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
    if (this.#root === null) this.#startRoot(part);
    this.#current = part;
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

  #startRoot(part: ReceivedPart): void {
    this.#root = part;
    if (messageIdOf(part.fields) === null) this.#digest = new BodyDigest();
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
    }
    this.#current = null;
    this.#partCount++;
    if (this.#partCount > this.#limits.parts) {
      this.#passed.add('parts');
      this.#stopped = true;
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
    if (part.keep === 'nothing') return;
    const budget = BUDGETS[part.keep];
    const own = part.keep === 'contained' ? MAX_CONTAINED_MESSAGE_BYTES - part.kept.length : piece.length;
    const taken = Math.max(0, Math.min(piece.length, this.#left[budget], own));
    this.#left[budget] -= taken;
    if (taken > 0) part.kept.append(piece.subarray(0, taken));
    if (taken === piece.length) return;
    part.isCut = true;
    if (part.keep === 'text') this.#passed.add('text_bytes');
  }
}

function lineEndBytes(piece: Buffer): number {
  if (piece[piece.length - 1] !== LF) return 0;
  return piece[piece.length - 2] === CR ? 2 : 1;
}
