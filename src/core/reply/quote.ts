/**
 * The quote below a reply, and the header block and text of a forward, in the form of mail programs, so that mail programs
 * and core/mime/text/reply-text.ts recognise its beginning. Work and result are bounded for any received email.
 */
import { escapeText } from 'entities';
import { QUOTE_TEXTS } from '../texts.ts';
import { MAX_QUOTE_CHARS, MAX_QUOTE_DEPTH, MAX_QUOTE_HTML_CHARS, MAX_SHOWN_RECIPIENTS } from './limits.ts';
import type { Mailbox } from './reply-recipients.ts';

/** The languages of attributions and header blocks. */
export const REPLY_LANGUAGES = ['de', 'en'] as const;
export type ReplyLanguage = (typeof REPLY_LANGUAGES)[number];

export interface QuotedEmail {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly date: Date;
  readonly subject: string;
  readonly textBody: string;
  /** Safe to show and to send on; null: there is none, and the text is quoted. */
  readonly safeHtml: string | null;
}

export interface QuoteOptions {
  readonly kind: 'reply' | 'forward';
  readonly language: ReplyLanguage;
  /** IANA name, known to the runtime. */
  readonly timeZone: string;
}

export interface Quote {
  /** `\n` line ends, no line end at the end. */
  readonly text: string;
  readonly html: string;
  /** True if the quote contains the email's HTML, and not its text. */
  readonly isHtml: boolean;
  /** A part of the email was too long, or quoted too deep, and was left out. */
  readonly isCut: boolean;
}

export function makeQuote(email: QuotedEmail, options: QuoteOptions): Quote {
  const body = toBody(email.textBody, options.language);
  const html =
    email.safeHtml !== null && email.safeHtml.length <= MAX_QUOTE_HTML_CHARS ? email.safeHtml : null;
  const isCut = body.isCut || (email.safeHtml !== null && html === null);
  const isHtml = html !== null;
  if (options.kind === 'forward') {
    const block = headerBlock(email, options);
    return {
      text: `${block.join('\n')}\n\n${body.lines.join('\n')}`,
      html: `${headOf(block)}<div>${html ?? toHtml(body.lines)}</div>`,
      isHtml,
      isCut,
    };
  }
  const attribution = attributionOf(email, options);
  return {
    text: [attribution, '', ...body.lines.map(quoteLine)].join('\n'),
    html:
      `<div>${escapeText(attribution)}</div>` +
      `<blockquote type="cite" style="${BLOCKQUOTE_STYLE}">${html ?? toHtml(body.lines)}</blockquote>`,
    isHtml,
    isCut,
  };
}

/** What a forward has before and in place of the email's HTML. */
export interface Forward {
  /** The header block and the whole text. */
  readonly text: string;
  /** The header block in HTML. */
  readonly head: string;
  /** The whole text in HTML, for an email without HTML. */
  readonly textHtml: string;
}

/** The email as it was, below a header block. */
export function makeForward(
  email: Omit<QuotedEmail, 'safeHtml'>,
  options: Omit<QuoteOptions, 'kind'>,
): Forward {
  const block = headerBlock(email, options);
  return {
    text: `${block.join('\n')}\n\n${email.textBody}`,
    head: headOf(block),
    textHtml: toHtml(email.textBody.split('\n')),
  };
}

const headOf = (block: readonly string[]): string => `<div>${block.map(escapeText).join('<br>')}</div><br>`;

/** Gmail's style. */
const BLOCKQUOTE_STYLE = 'margin:0 0 0 0.8ex;border-left:1px solid #ccc;padding-left:1ex';

/** RFC 3676 §4.5: no space between marks, and one before the text. */
function quoteLine(line: string): string {
  if (line === '') return '>';
  return line.startsWith('>') ? `>${line}` : `> ${line}`;
}

interface Body {
  readonly lines: readonly string[];
  readonly isCut: boolean;
}

function toBody(text: string, language: ReplyLanguage): Body {
  const isLong = text.length > MAX_QUOTE_CHARS;
  const all = (isLong ? text.slice(0, MAX_QUOTE_CHARS).toWellFormed() : text)
    .replace(/\r\n?/g, '\n')
    .trimEnd()
    .split('\n');
  const lines = all.filter((line) => depthOf(line) < MAX_QUOTE_DEPTH).map((line) => line.trimEnd());
  const isCut = isLong || lines.length < all.length;
  return { lines: isCut ? [...lines, QUOTE_TEXTS[language].cut] : lines, isCut };
}

/** Number of quote marks at the beginning of a line, with or without spaces between them. Counts up to MAX_QUOTE_DEPTH. */
function depthOf(line: string): number {
  let depth = 0;
  for (let at = 0; at < line.length && depth < MAX_QUOTE_DEPTH; at += 1) {
    if (line[at] === '>') depth += 1;
    else if (line[at] !== ' ') break;
  }
  return depth;
}

/** Keeps the white space of the text. */
function toHtml(lines: readonly string[]): string {
  return `<div style="white-space:pre-wrap">${lines.map(escapeText).join('<br>')}</div>`;
}

function attributionOf({ from, date }: QuotedEmail, options: QuoteOptions): string {
  const values = { ...momentOf(date, options), writer: shown(from) };
  return QUOTE_TEXTS[options.language].attribution.replace(
    /\{(day|time|writer)\}/g,
    (_, name: keyof typeof values) => values[name],
  );
}

function headerBlock(
  email: Omit<QuotedEmail, 'safeHtml'>,
  options: Omit<QuoteOptions, 'kind'>,
): readonly string[] {
  const labels = QUOTE_TEXTS[options.language];
  const { day, time } = momentOf(email.date, options);
  return [
    labels.title,
    `${labels.from}: ${shown(email.from)}`,
    `${labels.date}: ${day} ${time}`,
    `${labels.subject}: ${oneLine(email.subject)}`,
    ...[`${labels.to}: ${shownList(email.to)}`].filter(() => email.to.length > 0),
    ...[`${labels.cc}: ${shownList(email.cc)}`].filter(() => email.cc.length > 0),
  ];
}

function shownList(list: readonly Mailbox[]): string {
  const names = list.slice(0, MAX_SHOWN_RECIPIENTS).map(shown);
  return [...names, ...(list.length > MAX_SHOWN_RECIPIENTS ? ['…'] : [])].join(', ');
}

function shown({ name, address }: Mailbox): string {
  if (address === '') return oneLine(name);
  return oneLine(name === '' ? `<${address}>` : `${name} <${address}>`);
}

/** A stranger's name or subject becomes a single line. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** `22.11.2026` and `18:16 (MEZ)`: the zone is named, since the reader may live in another one. */
function momentOf(
  date: Date,
  { language, timeZone }: Omit<QuoteOptions, 'kind'>,
): { day: string; time: string } {
  const locale = language === 'de' ? 'de-DE' : 'en-GB';
  const day = new Intl.DateTimeFormat(locale, {
    timeZone,
    day: '2-digit',
    month: language === 'de' ? '2-digit' : 'short',
    year: 'numeric',
  }).format(date);
  const parts = new Intl.DateTimeFormat(locale, {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  }).formatToParts(date);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return { day, time: `${of('hour')}:${of('minute')} (${of('timeZoneName')})` };
}

/** True if the runtime supports the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
