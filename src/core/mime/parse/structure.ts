/**
 * The tree of a received message's parts, found in one pass over its bytes: RFC 2045 and RFC 2046, lenient. Bytes
 * arrive in chunks of any size; chunk borders leave no trace. Kept in memory are headers, text and reports, within
 * the limits; of everything else only the location, so memory does not grow with attachments.
 *
 * Lines end in CRLF or LF, or in CR if there is no LF (line-ends.ts). A delimiter of any open multipart ends everything
 * within it (RFC 2046 §5.1.2). Contained messages (message/rfc822) are entered only for their digest.
 */
import { startsBase64 } from './base64-text.ts';
import { ByteCollector } from './byte-collector.ts';
import { digestContent, digestOf, isSentAsLines, type ContentDigests } from './content-digest.ts';
import { fieldValue, parseHeaderBlock } from './header-fields.ts';
import { ByteDigest, type LeafDigest } from './leaf-digest.ts';
import { LineEnds } from './line-ends.ts';
import {
  MAX_CONTAINED_DEPTH,
  MAX_CONTAINED_MESSAGE_BYTES,
  MAX_CONTAINED_TEXT_BYTES,
  MAX_LEADING_EMPTY_LINES,
  MAX_LINE_PIECE_BYTES,
  MAX_RECEIVED_BOUNDARY_CHARS,
} from '../limits.ts';
import type { ParseLimitName, ParseLimits } from './parse-limits.ts';
import { createPart, type Keep, type ReceivedPart } from './received-part.ts';
import { createTransferDecoder, type TransferDecoder, type TransferEncoding } from './transfer-decoding.ts';

/** The result of reading a whole message. */
export interface Structure extends ContentDigests {
  readonly root: ReceivedPart;
  readonly sizeBytes: number;
  /** In the order in which they were exceeded. */
  readonly passedLimits: readonly ParseLimitName[];
}

type Budget = 'text' | 'other_text' | 'report' | 'tnef' | 'cms' | 'calendar';

const BUDGETS: Readonly<Record<Exclude<Keep, 'nothing'>, Budget>> = {
  text: 'text',
  other_text: 'other_text',
  preamble: 'text',
  report: 'report',
  contained: 'report',
  tnef: 'tnef',
  cms: 'cms',
  calendar: 'calendar',
};

const LF = 0x0a;
const CR = 0x0d;
const HYPHEN = 0x2d;
/** The beginning of a delimiter (RFC 2046 §5.1.1), after the end of the previous line. */
const LINE_OF_HYPHENS = Buffer.from('\n--');

/** A delimiter line: the level of its multipart, and whether it closes that multipart. */
interface Delimiter {
  readonly level: number;
  readonly isLast: boolean;
}

/** Reads one message: `write` its bytes, then `end` once. */
export class StructureReader {
  readonly #limits: ParseLimits;
  readonly #lineEnds = new LineEnds();
  readonly #passed = new Set<ParseLimitName>();
  /** Bytes that may still be kept. */
  readonly #left: Record<Budget, number>;
  /** Open multiparts, outermost first. */
  readonly #open: ReceivedPart[] = [];
  /** Their delimiters, without the leading hyphens: one look-up per line, however many are open. */
  readonly #delimiters = new Map<string, Delimiter>();
  #root: ReceivedPart | null = null;
  /** The part whose body is being read; null while a header is. */
  #current: ReceivedPart | null = null;
  readonly #header = new ByteCollector();
  /** Empty lines that may still precede the header of the message. */
  #emptyLinesLeft = MAX_LEADING_EMPTY_LINES;
  #headerBytes = 0;
  #fieldCount = 0;
  #partCount = 1;
  /** A line whose end has not come yet. */
  readonly #pending = new ByteCollector();
  /** Offset of the line, or piece of a line, that is read next. */
  #offset = 0;
  /** False after a piece of a line that was too long to wait for. */
  #atLineStart = true;
  /** Length of the line end before `#offset`; it belongs to a delimiter that follows (RFC 2046 §5.1.1). */
  #lineEndBytes = 0;
  /** The previous piece ended in CR, and the LF of its line end is still to come. */
  #isWithinLineEnd = false;
  /** Digest of the bytes after the last part that may be read; null while everything is read. */
  #rest: LeafDigest | null = null;
  /** Digest of headers beyond a limit; null while none exceeded one. */
  #cutHeader: LeafDigest | null = null;
  /** Number of messages that contain this one. */
  readonly #depth: number;

  constructor(limits: ParseLimits, depth = 0) {
    this.#limits = limits;
    this.#depth = depth;
    const { textBytes, reportBytes, tnefBytes } = limits;
    this.#left = {
      text: textBytes,
      other_text: reportBytes,
      report: reportBytes,
      tnef: tnefBytes,
      cms: tnefBytes,
      calendar: reportBytes,
    };
  }

  write(chunk: Buffer): void {
    this.#readLines(this.#lineEnds.write(chunk));
  }

  #readLines(chunk: Buffer): void {
    const lastLineEnd = chunk.lastIndexOf(LF) + 1;
    for (let at = 0; at < chunk.length;) {
      const linesEnd = this.#endOfBodyLines(chunk, at, lastLineEnd);
      if (linesEnd > at) {
        this.#readPiece(chunk.subarray(at, linesEnd));
        at = linesEnd;
        continue;
      }
      // A line without an end is processed in pieces, so that it costs neither memory nor a search of all the rest for each.
      const next = chunk.subarray(at, at + MAX_LINE_PIECE_BYTES - this.#pending.length);
      const lf = next.indexOf(LF);
      const isWhole = lf !== -1;
      const piece = isWhole ? next.subarray(0, lf + 1) : next;
      at += piece.length;
      if (this.#pending.length === 0 && (isWhole || piece.length === MAX_LINE_PIECE_BYTES)) {
        this.#readPiece(piece);
        continue;
      }
      this.#pending.append(piece);
      if (isWhole || this.#pending.length === MAX_LINE_PIECE_BYTES) this.#readPending();
    }
  }

  end(): Structure {
    this.#readLines(this.#lineEnds.end());
    if (this.#pending.length > 0) this.#readPending();
    if (this.#rest === null) this.#endHeaders();
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
      ...digestContent(root, { header: this.#cutHeader, rest: this.#rest }),
    };
  }

  /**
   * The end of the whole lines from `at` on that can only be body, which are processed at once: a call for each of millions
   * of short lines would take seconds. `at` itself when the next line has to be examined.
   */
  #endOfBodyLines(chunk: Buffer, at: number, lastLineEnd: number): number {
    if (at >= lastLineEnd || this.#pending.length > 0) return at;
    if (this.#rest !== null) return lastLineEnd;
    if (this.#current === null) return at;
    if (this.#open.length === 0) return lastLineEnd;
    if (this.#atLineStart && chunk[at] === HYPHEN && chunk[at + 1] === HYPHEN) return at;
    const hyphens = chunk.indexOf(LINE_OF_HYPHENS, at);
    return hyphens === -1 ? lastLineEnd : hyphens + 1;
  }

  #readPending(): void {
    // A copy: further reading may fill the collector again.
    const piece = Buffer.from(this.#pending.bytes());
    this.#pending.reset();
    this.#readPiece(piece);
  }

  /** Reads a line with its end, lines that can only be body, or a piece of a line that is too long. */
  #readPiece(piece: Buffer): void {
    const isLineStart = this.#atLineStart;
    if (this.#rest !== null) this.#rest.update(piece);
    else if (!isLineStart || !this.#readDelimiter(piece)) {
      if (this.#current === null) this.#readHeaderPiece(piece, isLineStart);
      else this.#keep(this.#current, piece);
    }
    this.#offset += piece.length;
    this.#lineEndBytes = lineEndBytes(piece) + (this.#isWithinLineEnd && isLineFeed(piece) ? 1 : 0);
    this.#isWithinLineEnd = piece[piece.length - 1] === CR;
    this.#atLineStart = this.#lineEndBytes > 0;
  }

  #readHeaderPiece(piece: Buffer, isLineStart: boolean): void {
    const isEmpty = isLineStart && piece.length === lineEndBytes(piece);
    if (isEmpty && this.#emptyLinesLeft === 0) {
      const end = this.#offset + piece.length;
      const isBody = this.#endHeader(true);
      // The lines that are body begin a part, whose header ends here, too.
      if (this.#current === null) {
        if (this.#rest === null) this.#readHeaderPiece(piece, true);
        else this.#rest.update(piece);
        return;
      }
      if (isBody) this.#keep(this.#current, piece);
      else this.#current.start = end;
      return;
    }
    // parseHeaderBlock decides whether fields follow the empty lines.
    this.#emptyLinesLeft = isEmpty ? this.#emptyLinesLeft - 1 : 0;
    this.#headerBytes += piece.length;
    if (this.#headerBytes <= this.#limits.headerBytes) this.#header.append(piece);
    else this.#cut('header_bytes', piece);
  }

  /** The unread rest of a header still counts in the digest: it may contain everything that distinguishes two messages. */
  #cut(limit: ParseLimitName, unread: Buffer): void {
    this.#passed.add(limit);
    this.#cutHeader ??= new ByteDigest('identity', true);
    this.#cutHeader.update(unread);
  }

  /** Ends the header that is being read, and the header of a part that begins within it. */
  #endHeaders(): void {
    while (this.#current === null && this.#rest === null) this.#endHeader(false);
  }

  /** Makes a part of the header that ends at `#offset`. True when lines that were read as header are its body. */
  #endHeader(isEnded: boolean): boolean {
    const block = Buffer.from(this.#header.bytes());
    this.#header.reset();
    this.#emptyLinesLeft = 0;
    const fieldsLeft = this.#limits.headerFields - this.#fieldCount;
    const { fields, bodyStart, malformed, isCut, hasEmptyLine } = parseHeaderBlock(
      block,
      fieldsLeft,
      this.#open.length > 0,
    );
    this.#fieldCount += fields.length;
    if (isCut) this.#cut('header_fields', block);

    const part = createPart(fields, this.#open.at(-1) ?? null, this.#offset);
    if (malformed) part.defects.add('malformed_header');
    if (!isEnded && !hasEmptyLine && block.length > 0) part.defects.add('header_without_end');
    this.#open.at(-1)?.children.push(part);
    this.#root ??= part;
    this.#current = part;
    if (part.boundary === null && part.keep !== 'text') part.digest = this.#createDigest(part);
    if (part.boundary !== null) {
      if (this.#open.length < this.#limits.partDepth) {
        this.#open.push(part);
        this.#nameDelimiters();
      } else this.#passed.add('part_depth');
    }
    // Offsets would be wrong if bytes of the header had been dropped.
    if (bodyStart === null || this.#passed.has('header_bytes')) return false;
    this.#readAgain(part, block.subarray(bodyStart));
    return true;
  }

  /** Reads lines before `#offset` again that turned out to be body. */
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

  /** Reads the line and returns true if it is a delimiter of an open multipart. */
  #readDelimiter(line: Buffer): boolean {
    if (this.#open.length === 0 || line[0] !== HYPHEN || line[1] !== HYPHEN) return false;
    if (line.length > MAX_RECEIVED_BOUNDARY_CHARS + 100) return false;
    // RFC 2046 §5.1.1: white space may follow ("transport-padding").
    const delimiter = this.#delimiters.get(line.toString('latin1', 2).trimEnd());
    if (delimiter === undefined) return false;
    this.#closeWithin(delimiter.level);
    if (delimiter.isLast) this.#closeMultipart();
    else this.#startChild(delimiter.level);
    return true;
  }

  /** Ends everything that is open within the multipart at `level`. */
  #closeWithin(level: number): void {
    this.#endHeaders();
    const end = this.#offset - this.#lineEndBytes;
    if (this.#current !== null) this.#current.end = Math.max(this.#current.start, end);
    const unclosed = this.#open.splice(level + 1);
    for (const part of unclosed) {
      part.end = Math.max(part.start, end);
      part.defects.add('missing_closing_boundary');
    }
    if (unclosed.length > 0) this.#nameDelimiters();
  }

  /** Of two multiparts with one boundary the inner one counts; a boundary may also look like the end of another. */
  #nameDelimiters(): void {
    this.#delimiters.clear();
    for (const [level, { boundary }] of this.#open.entries()) {
      this.#delimiters.set(`${boundary}--`, { level, isLast: true });
      this.#delimiters.set(`${boundary}`, { level, isLast: false });
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
    this.#nameDelimiters();
    part.end = this.#offset;
    // The rest is its epilogue, which is not read.
    if (part.keep === 'preamble' && part.children.length > 0) part.keep = 'nothing';
    this.#current = part;
  }

  /** Seen in practice: the label of Base64 on clear text, which the first line shows. */
  #readEncoding(part: ReceivedPart, piece: Buffer): void {
    const isBase64 = startsBase64(piece);
    if (isBase64 === null) return;
    part.isEncodingRead = true;
    if (isBase64) return;
    part.encoding = 'identity';
    part.defects.add('wrong_encoding');
    if (part.digest !== null) part.digest = this.#createDigest(part);
  }

  #keep(part: ReceivedPart, piece: Buffer): void {
    if (part.encoding === 'base64' && !part.isEncodingRead) this.#readEncoding(part, piece);
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

/** Digest of a contained message: servers re-encode its parts as well. */
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

/** Fields that distinguish messages and that no server changes. */
const CONTAINED_FIELDS = ['message-id', 'date', 'from', 'subject'];

function isLineFeed(piece: Buffer): boolean {
  return piece.length === 1 && piece[0] === LF;
}

function lineEndBytes(piece: Buffer): number {
  if (piece[piece.length - 1] !== LF) return 0;
  return piece[piece.length - 2] === CR ? 2 : 1;
}
