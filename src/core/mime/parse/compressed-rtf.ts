/**
 * Unpacks compressed RTF ([MS-OXRTFCP]), the form in which Outlook stores rich text. Own code: the package for it writes as much as a
 * stranger declares.
 */
import { MAX_TEXT_BYTES } from '../limits.ts';

const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;
const HEADER_BYTES = 16;
/** The first field, which does not count itself. */
const SIZE_BYTES = 4;

/** What the dictionary holds at the beginning (§2.1.3.1.2). */
const DICTIONARY = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial' +
    'Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
);
const DICTIONARY_BYTES = 4096;
/** A reference of two bytes is a copy of this many. */
const MAX_COPIED_BYTES = 17;

/** null when it is damaged or larger than a text may be. */
export function unpackRtf(file: Buffer): Buffer | null {
  if (file.length < HEADER_BYTES) return null;
  const end = file.readUInt32LE(0) + SIZE_BYTES;
  const size = file.readUInt32LE(4);
  const type = file.readUInt32LE(8);
  if (end > file.length || size > MAX_TEXT_BYTES) return null;
  if (type === UNCOMPRESSED) return file.subarray(HEADER_BYTES, Math.min(HEADER_BYTES + size, end));
  if (type !== COMPRESSED || size > (end - HEADER_BYTES) * MAX_COPIED_BYTES) return null;
  return decompress(file.subarray(HEADER_BYTES, end), size);
}

/** The position in the dictionary is that in the output, which begins with it, modulo its size. */
function decompress(input: Buffer, size: number): Buffer | null {
  const output = Buffer.alloc(DICTIONARY.length + size);
  DICTIONARY.copy(output);
  let written = DICTIONARY.length;
  let at = 0;
  while (at < input.length && written < output.length) {
    const control = input.readUInt8(at++);
    for (let bit = 0; bit < 8 && written < output.length; bit++) {
      if ((control & (1 << bit)) === 0) {
        if (at >= input.length) return null;
        written = output.writeUInt8(input.readUInt8(at++), written);
        continue;
      }
      if (at + 2 > input.length) return null;
      const reference = input.readUInt16BE(at);
      at += 2;
      const offset = reference >> 4;
      let from = written - (written % DICTIONARY_BYTES) + offset;
      // A reference to the place of the next byte is the end.
      if (from === written) return output.subarray(DICTIONARY.length, written);
      if (from > written) from -= DICTIONARY_BYTES;
      if (from < 0) return null;
      const copied = Math.min((reference & 0xf) + 2, output.length - written);
      // Byte by byte: a copy may overlap what it writes.
      for (let left = copied; left > 0; left--)
        written = output.writeUInt8(output.readUInt8(from++), written);
    }
  }
  return output.subarray(DICTIONARY.length, written);
}
