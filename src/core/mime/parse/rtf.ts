/**
 * Reads the text of Rich Text Format, or the HTML that Outlook wraps in it ([MS-OXRTFEX]). Formatting, pictures and objects are not read.
 * Own code: the package for it allocates what a stranger declares and takes quadratic time. One pass, and no more output than input.
 */
import { decodeCharset } from '../text/charset.ts';
import { charsetOfCodepage } from '../text/codepage.ts';
import { MAX_RTF_DEPTH } from '../limits.ts';

export interface RtfContent {
  /** null: none, or it wraps HTML. */
  readonly text: string | null;
  readonly html: string | null;
  /** It has a picture or an object, or could not be read to its end. */
  readonly hasMore: boolean;
}

/** A link, whose text follows its target. */
interface Field {
  instruction: string;
  /** Where its text begins in the output. */
  readonly start: number;
}

/** What braces limit. */
interface Group {
  /** A destination that is not shown, such as the table of colours. */
  isSkipped: boolean;
  /** HTML as it was. */
  isTag: boolean;
  /** RTF that only repeats the HTML. */
  isSuppressed: boolean;
  isHidden: boolean;
  isFonts: boolean;
  isInstruction: boolean;
  /** Characters after each `\u` that repeat it for older programs. */
  repeated: number;
  charset: string | null;
  field: Field | null;
}

/** A control word with its number, an escaped byte, a control symbol, a brace, line ends, which mean nothing, or text. */
const TOKEN =
  /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]{1,1000}|([^\\{}\r\n]{1,1000})/giy;

const LINE = '\n';
const WORDS: Readonly<Record<string, string>> = {
  par: LINE,
  line: LINE,
  sect: LINE,
  page: LINE,
  row: LINE,
  nestrow: LINE,
  tab: '\t',
  cell: '\t',
  nestcell: '\t',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emdash: '—',
  endash: '–',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
};

const SYMBOLS: Readonly<Record<string, string>> = {
  '\\': '\\',
  '{': '{',
  '}': '}',
  '\r': LINE,
  '\n': LINE,
  '\t': '\t',
  '~': '\u00a0',
  _: '-',
};

/** Destinations that are not marked as ones to skip. */
const SKIPPED: ReadonlySet<string> = new Set([
  'fonttbl',
  'colortbl',
  'stylesheet',
  'info',
  'filetbl',
  'pict',
  'objdata',
  'fldinst',
  'header',
  'headerl',
  'headerr',
  'headerf',
  'footer',
  'footerl',
  'footerr',
  'footerf',
  'xe',
  'tc',
]);

/** `\fcharset`: the code page of a font. Those of symbols have none. */
const FONT_CODEPAGES: Readonly<Record<number, number>> = {
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

export function readRtf(rtf: Buffer): RtfContent {
  return new RtfReader(rtf.toString('latin1')).read();
}

class RtfReader {
  readonly #rtf: string;
  readonly #stack: Group[] = [];
  readonly #fonts = new Map<number, string>();
  readonly #output: string[] = [];
  /** Bytes that are not decoded yet: a character may have two. */
  #bytes = '';
  #font = 0;
  #defaultFont = 0;
  #charset = 'windows-1252';
  #isHtml = false;
  #hasMore = false;
  /** The next destination may be left out by programs that do not know it. */
  #isOptional = false;
  /** Characters that repeat the last `\u`. */
  #left = 0;
  #group: Group = {
    isSkipped: false,
    isTag: false,
    isSuppressed: false,
    isHidden: false,
    isFonts: false,
    isInstruction: false,
    repeated: 1,
    charset: null,
    field: null,
  };

  constructor(rtf: string) {
    this.#rtf = rtf;
  }

  read(): RtfContent {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < this.#rtf.length) {
      const token = TOKEN.exec(this.#rtf);
      if (token === null || this.#stack.length > MAX_RTF_DEPTH) {
        this.#hasMore = true;
        break;
      }
      const [, word, number, hex, symbol, brace, text] = token;
      if (word !== undefined)
        this.#readWord(word.toLowerCase(), number === undefined ? null : Number(number));
      else if (hex !== undefined) this.#addBytes(String.fromCharCode(Number.parseInt(hex, 16)));
      else if (text !== undefined) this.#addBytes(text);
      else if (symbol !== undefined) this.#readSymbol(symbol);
      else if (brace === '{') this.#open();
      else if (brace === '}') this.#close();
    }
    this.#flush();
    const all = this.#output.join('').replaceAll('\0', '').toWellFormed();
    const found = all.trim() === '' ? null : all;
    return {
      text: this.#isHtml ? null : (found?.trim() ?? null),
      html: this.#isHtml ? found : null,
      hasMore: this.#hasMore,
    };
  }

  #open(): void {
    this.#flush();
    this.#left = 0;
    this.#stack.push(this.#group);
    this.#group = { ...this.#group };
  }

  #close(): void {
    this.#flush();
    this.#left = 0;
    const { field } = this.#group;
    this.#group = this.#stack.pop() ?? this.#group;
    if (field !== null && field !== this.#group.field) this.#addTarget(field);
  }

  /** As in the text of HTML. */
  #addTarget({ instruction, start }: Field): void {
    const [, target] = /^\s*HYPERLINK\s+"([^"\s]+)"/i.exec(instruction) ?? [];
    if (target === undefined || this.#isHtml) return;
    if (!this.#output.slice(start).join('').includes(target)) this.#add(` [${target}]`);
  }

  #readWord(word: string, number: number | null): void {
    this.#flush();
    if (word === 'bin') {
      TOKEN.lastIndex += Math.max(number ?? 0, 0);
      return;
    }
    if (word !== 'u' && this.#left > 0) {
      this.#left--;
      return;
    }
    const isOptional = this.#isOptional;
    this.#isOptional = false;
    const group = this.#group;
    const isOn = number !== 0;
    switch (word) {
      case 'u':
        this.#add(String.fromCharCode((number ?? 0) & 0xffff));
        this.#left = group.repeated;
        return;
      case 'uc':
        group.repeated = Math.max(number ?? 1, 0);
        return;
      case 'fromhtml':
        this.#isHtml = isOn;
        return;
      case 'htmltag':
        group.isTag = true;
        return;
      case 'htmlrtf':
        group.isSuppressed = isOn;
        return;
      case 'v':
        group.isHidden = isOn;
        return;
      case 'ansicpg':
        this.#charset = charsetOfCodepage(number ?? 1252);
        return;
      case 'deff':
        this.#defaultFont = number ?? 0;
        return;
      case 'f':
        this.#useFont(number ?? 0);
        return;
      case 'plain':
        group.isHidden = false;
        this.#useFont(this.#defaultFont);
        return;
      case 'fcharset': {
        const codepage = FONT_CODEPAGES[number ?? 0];
        if (group.isFonts && codepage !== undefined) this.#fonts.set(this.#font, charsetOfCodepage(codepage));
        return;
      }
      case 'field':
        group.field = { instruction: '', start: this.#output.length };
        return;
    }
    if ((word === 'pict' || word === 'object') && this.#isShown()) this.#hasMore = true;
    if (word === 'fonttbl') group.isFonts = true;
    if (word === 'fldinst') group.isInstruction = true;
    if (isOptional || SKIPPED.has(word)) group.isSkipped = true;
    const shown = WORDS[word];
    if (shown !== undefined) this.#add(shown);
  }

  #useFont(number: number): void {
    this.#font = number;
    this.#group.charset = this.#fonts.get(number) ?? null;
  }

  #readSymbol(symbol: string): void {
    if (symbol === '*') {
      this.#isOptional = true;
      return;
    }
    this.#flush();
    if (this.#left > 0) this.#left--;
    else this.#add(SYMBOLS[symbol] ?? '');
  }

  #addBytes(bytes: string): void {
    this.#isOptional = false;
    const repeated = Math.min(this.#left, bytes.length);
    this.#left -= repeated;
    this.#bytes += bytes.slice(repeated);
  }

  #flush(): void {
    const bytes = this.#bytes;
    if (bytes === '') return;
    this.#bytes = '';
    const { field, isInstruction, charset } = this.#group;
    if (isInstruction && field !== null) field.instruction += bytes;
    if (this.#isShown())
      this.#add(decodeCharset(Buffer.from(bytes, 'latin1'), charset ?? this.#charset).text);
  }

  #isShown(): boolean {
    const { isSkipped, isTag, isSuppressed, isHidden } = this.#group;
    return !isSkipped && (this.#isHtml ? isTag || !isSuppressed : !isHidden);
  }

  #add(text: string): void {
    if (text !== '' && this.#isShown()) this.#output.push(text);
  }
}
