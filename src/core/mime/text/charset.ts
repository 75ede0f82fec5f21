/**
 * Decodes the bytes of received mail to text, by their charset label or, if the label is wrong or unknown, by the bytes
 * themselves. TextDecoder (WHATWG Encoding) reads most charsets; `iconv-lite`, used only in this file, reads those that
 * TextDecoder lacks, such as UTF-7 and the IBM code pages.
 */
import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { trimEnds } from '../../trim-ends.ts';
import { MAX_CHARSET_LABEL_CHARS } from '../limits.ts';
import { WHATWG_CHARSETS } from './charset-labels.ts';
import { repairUtf8 } from './damaged-utf8.ts';
import { hzToGbk } from './hz.ts';
import { joinEscapes } from './japanese-escapes.ts';

/** The defect of the label or the bytes. */
export type CharsetDefect = 'unknown_charset' | 'wrong_charset' | 'invalid_characters';

export interface DecodedText {
  /** Well-formed, no byte order mark; meaningless bytes become U+FFFD. */
  readonly text: string;
  readonly defect: CharsetDefect | null;
}

/** Labels under which UTF-8 is often sent: the defaults of programs that never set one. */
const WEAK_LABELS = new Set(['windows-1252', 'utf-8']);

/** Decoded by this service: neither decoder has it. */
const HZ = 'hz-gb-2312';

/**
 * Charsets that are read as a larger one than TextDecoder's of the same name: Korean syllables beyond KS X 1001, characters
 * of Hong Kong, and those of four bytes, which programs write under any Chinese name.
 */
const FULLER: Readonly<Record<string, string>> = { 'euc-kr': 'cp949', big5: 'big5hkscs' };
const FULLER_CHINESE = 'gb18030';

/** Names that neither decoder accepts. Seen in practice. */
const ALIASES: Readonly<Record<string, string>> = {
  utf8mb4: 'utf-8',
  'utf-8n': 'utf-8',
  unicode: 'utf-16',
  ascii8: 'windows-1252',
  '8bit': 'windows-1252',
  binary: 'windows-1252',
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  ms949: 'euc-kr',
  uhc: 'euc-kr',
  cp936: 'gbk',
  cp950: 'big5',
  hz: HZ,
  hzgb2312: HZ,
  // ISO-2022-JP with more characters, all of which begin with those of JIS X 0208.
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  'iso-2022-jp-3': 'iso-2022-jp',
  'iso-2022-jp-2004': 'iso-2022-jp',
  'iso-2022-jp-ms': 'iso-2022-jp',
  cp50220: 'iso-2022-jp',
  cp50221: 'iso-2022-jp',
  'iso-8859-8-e': 'iso-8859-8',
  'x-mac-ce': 'maccenteuro',
  'x-mac-centraleurroman': 'maccenteuro',
  'x-mac-centraleurope': 'maccenteuro',
  'x-mac-croatian': 'maccroatian',
  'x-mac-romanian': 'macromania',
  'x-mac-turkish': 'macturkish',
  'x-mac-greek': 'macgreek',
  'x-mac-icelandic': 'maciceland',
  'x-mac-thai': 'macthai',
  'x-unknown': 'utf-8',
  unknown: 'utf-8',
  'unknown-8bit': 'utf-8',
};

/** windows-1252 at 0x80 to 0x9f; the five bytes without a character are the C1 controls, as in WHATWG Encoding. */
const WINDOWS_1252_HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** windows-1252 at 0x80 to 0xff, in UTF-8. */
const HIGH_BYTES = Array.from({ length: 128 }, (_, at) =>
  Buffer.from(WINDOWS_1252_HIGH.charAt(at) || String.fromCharCode(0x80 + at)),
);

/** Codecs of iconv-lite that are not charsets. */
const NO_CHARSETS: ReadonlySet<string> = new Set(['base64', 'hex', 'binary', 'ucs2']);

const UTF8 = new TextDecoder('utf-8');

type Decode = (bytes: Buffer) => string;

/** Decoders by name of the charset, of which there are some hundreds: creating one takes some 10 µs. */
const decoders = new Map<string, Decode>();
/** Names of iconv-lite's charsets; null until the first label that needs them. */
let iconvNames: ReadonlySet<string> | null = null;

/**
 * Decodes; never throws. `label` is the charset as given, null when there was none. Bytes that are valid UTF-8 are
 * read as such under the labels UTF-8, US-ASCII, ISO-8859-1 and windows-1252, and without a known label: text in
 * another charset that happens to be valid UTF-8 does not occur. If UTF-8 is only partly damaged, the rest is still read as
 * UTF-8, see damaged-utf8.ts. Other bytes under these labels are windows-1252.
 */
export function decodeCharset(bytes: Buffer, label: string | null): DecodedText {
  const charset = label === null ? null : knownCharset(label);
  const unknown = label !== null && charset === null ? 'unknown_charset' : null;
  if (charset !== null && !WEAK_LABELS.has(charset)) {
    const text = decoderOf(charset)(bytes);
    if (!text.includes('\ufffd')) return { text, defect: null };
    // Seen in practice: UTF-8 under the label of the program's own language.
    const utf8 = decodeUtf8(bytes);
    return utf8 === null ? { text, defect: 'invalid_characters' } : { text: utf8, defect: 'wrong_charset' };
  }
  const utf8 = decodeUtf8(bytes);
  if (utf8 !== null) {
    const wrong = charset === 'windows-1252' && utf8.length < bytes.length ? 'wrong_charset' : null;
    return { text: utf8, defect: unknown ?? wrong };
  }
  const repaired = repairUtf8(bytes, HIGH_BYTES);
  if (repaired !== null) {
    const wrong = charset === 'windows-1252' ? 'wrong_charset' : 'invalid_characters';
    return { text: repaired.toString('utf8').replace(/^\ufeff/, ''), defect: unknown ?? wrong };
  }
  return {
    text: decodeWindows1252(bytes),
    defect: unknown ?? (charset === 'utf-8' ? 'wrong_charset' : null),
  };
}

/**
 * The charset's canonical name for `decodeKnownCharset`; null when it is unknown here. `label` may be in any case, with
 * quotes or white space around it.
 */
export function knownCharset(label: string): string | null {
  const clean = trimEnds(label.trim(), (character) => character === '"' || character === "'");
  // No name contains a space, and looking up an unknown one takes longest.
  if (clean.length > MAX_CHARSET_LABEL_CHARS || clean.includes(' ')) return null;
  const lower = clean.toLowerCase();
  const name = Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? lower) : lower;
  return name === HZ ? HZ : (WHATWG_CHARSETS.get(name) ?? iconvName(name));
}

/**
 * iconv-lite accepts a name in any spelling, and throws for unknown ones: a header may contain 70,000 different ones, and an
 * exception for each would take seconds.
 */
function iconvName(label: string): string | null {
  const name = label.replace(/:\d{4}$|[^0-9a-z]/g, '');
  iconvNames ??= readIconvNames();
  return iconvNames.has(name) ? name : null;
}

function readIconvNames(): ReadonlySet<string> {
  // The encodings are loaded with the first query, and are not part of the library's types.
  iconv.encodingExists('utf8');
  const names = Object.keys(Reflect.get(iconv, 'encodings') as object);
  return new Set(names.filter((name) => !name.startsWith('_') && !NO_CHARSETS.has(name)));
}

/** Decodes bytes of one charset, as knownCharset names it; bytes that it does not allow become U+FFFD. */
export function decodeKnownCharset(bytes: Buffer, charset: string): string {
  return decoderOf(charset)(bytes);
}

/** null when the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Buffer): string | null {
  return isUtf8(bytes) ? UTF8.decode(bytes) : null;
}

function decoderOf(charset: string): Decode {
  let decoder = decoders.get(charset);
  if (decoder === undefined) decoders.set(charset, (decoder = createDecoder(charset)));
  return decoder;
}

/** `charset` is a name of WHATWG Encoding or, for a charset that WHATWG lacks, its name in iconv-lite. */
function createDecoder(charset: string): Decode {
  if (charset === 'windows-1252') return decodeWindows1252;
  if (charset === HZ) return (bytes) => decoderOf(FULLER_CHINESE)(hzToGbk(bytes));
  if (charset === 'gbk') return decoderOf(FULLER_CHINESE);
  const fuller = FULLER[charset];
  if (fuller !== undefined) return (bytes) => iconv.decode(bytes, fuller).toWellFormed();
  try {
    const decoder = new TextDecoder(charset);
    if (charset === 'iso-2022-jp') return (bytes) => decoder.decode(joinEscapes(bytes));
    return (bytes) => decoder.decode(bytes);
  } catch {
    return (bytes) => iconv.decode(bytes, charset).toWellFormed();
  }
}

/** Own code, since some versions of Node.js read this label as ISO-8859-1, which has controls in place of `€`. */
function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (byte) => WINDOWS_1252_HIGH.charAt(byte.charCodeAt(0) - 0x80));
}
