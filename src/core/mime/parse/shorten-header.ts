/**
 * The fields by which a received message is recorded and found, cut to lengths that every reader handles quickly: for a
 * header on which reading failed. Takes time in proportion to its input, and decodes nothing.
 */

import { MAX_HEADER_BYTES } from '../limits.ts';
import { startOfFields } from './header-fields.ts';

/** The longest value, in bytes, and the character after which it is cut, so that no half of an address or id is left. */
const KEPT: Readonly<Record<string, { readonly maxBytes: number; readonly cutBehind: string }>> = {
  'message-id': { maxBytes: 1000, cutBehind: '>' },
  date: { maxBytes: 200, cutBehind: '' },
  from: { maxBytes: 1000, cutBehind: ',' },
  sender: { maxBytes: 1000, cutBehind: ',' },
  'reply-to': { maxBytes: 1000, cutBehind: ',' },
  to: { maxBytes: 2000, cutBehind: ',' },
  cc: { maxBytes: 2000, cutBehind: ',' },
  subject: { maxBytes: 2000, cutBehind: ' ' },
  'in-reply-to': { maxBytes: 2000, cutBehind: '>' },
  references: { maxBytes: 10_000, cutBehind: '>' },
};

/** A field's name and colon are within this many bytes. */
const MAX_NAME_BYTES = 100;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const COLON = 0x3a;

interface Field {
  readonly name: string;
  readonly lines: string[];
  /** Bytes that may still be added to the value. */
  left: number;
}

/**
 * A header with the first field of each kept kind, with CRLF and an empty line at its end.
 *
 * @param bytes a message from its beginning; may be cut
 */
export function shortenHeader(bytes: Buffer): Buffer {
  const fields = new Map<string, Field>();
  const block = bytes.subarray(0, MAX_HEADER_BYTES);
  /** The field to which continuation lines belong; null: they are left out. */
  let current: Field | null = null;
  const start = startOfFields(block.toString('latin1')) ?? block.length;
  for (let at = start; at < block.length;) {
    const lf = block.indexOf(LF, at);
    const end = lf === -1 ? block.length : lf;
    const lineEnd = end > at && block[end - 1] === CR ? end - 1 : end;
    if (lineEnd === at) break;
    if (block[at] === SPACE || block[at] === TAB) {
      if (current !== null) append(current, block, at, lineEnd);
    } else {
      current = null;
      const colon = block.subarray(at, Math.min(lineEnd, at + MAX_NAME_BYTES)).indexOf(COLON);
      const name =
        colon === -1
          ? ''
          : block
              .toString('latin1', at, at + colon)
              .trimEnd()
              .toLowerCase();
      const kept = Object.hasOwn(KEPT, name) ? KEPT[name] : undefined;
      if (kept !== undefined && !fields.has(name)) {
        current = { name, lines: [], left: kept.maxBytes };
        fields.set(name, current);
        append(current, block, at + colon + 1, lineEnd);
      }
    }
    at = end + 1;
  }
  const lines = [...fields.values()].map(({ name, lines }) => `${name}:${lines.join('\r\n')}\r\n`);
  return Buffer.from(`${lines.join('')}\r\n`, 'latin1');
}

/** Adds a line as far as there is room, and nothing after one that was cut. */
function append(field: Field, block: Buffer, start: number, end: number): void {
  if (field.left <= 0) return;
  if (end - start <= field.left) {
    field.lines.push(block.toString('latin1', start, end));
    field.left -= end - start;
    return;
  }
  const line = block.toString('latin1', start, start + field.left);
  field.left = 0;
  const sign = KEPT[field.name]?.cutBehind ?? '';
  const at = sign === '' ? -1 : line.lastIndexOf(sign);
  const whole = line.slice(0, at + (sign === ',' ? 0 : 1));
  if (at !== -1 && whole.trim() !== '') field.lines.push(whole);
  // A value that is a single part is better cut than missing; later lines each end with a part.
  else if (field.lines.length === 0) field.lines.push(line);
}
