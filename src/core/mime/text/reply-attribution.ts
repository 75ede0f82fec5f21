/**
 * Reads the line that mail programs put above a quote, `On … wrote:`, by what it consists of: a date, a name, an address, a
 * verb, and nothing else. A sentence that reports another person's words has other words, and is not one. All patterns see at
 * most MAX_MARKER_CHARS characters.
 */
import { DATE_WORDS } from './date-words.ts';
import { ADDRESS, ATTRIBUTION_START, DATE_FIRST, OWN_WRITING, WROTE, YOUR_WRITING } from './reply-markers.ts';

export interface Attribution {
  readonly hasAddress: boolean;
  readonly hasDate: boolean;
  /** It proves a quote by itself. Otherwise `>` has to follow. */
  readonly isComplete: boolean;
}

/** Words of the longest names. */
const MAX_NAME_WORDS = 12;

/** Small words of a name, such as `bob`, in an attribution above `>`. */
const MAX_SMALL_WORDS = 3;

/** @param text one line, or a few joined ones, without direction marks */
export function readAttribution(text: string): Attribution | null {
  // Zoho: `---- On … wrote ----`
  const bare = text
    .replace(/^-{2,}\s*/, '')
    .replace(/(?<!-)-{2,}$/, '')
    .trimEnd();
  const isEnd = /[:：]$/.test(bare) || (text.startsWith('--') && text.endsWith('--'));
  const rest = bare.replace(ADDRESS, ' ');
  if (OWN_WRITING.test(rest) || /[!?]/.test(rest)) return null;
  const addresses = [...bare.matchAll(ADDRESS)];
  const [address] = addresses;
  const last = addresses.at(-1);
  const date = DATE.exec(bare);
  const isDateFirst =
    date !== null && (ATTRIBUTION_START.test(bare) || DATE_FIRST.test(bare) || OTHER_SCRIPT.test(bare));
  const isNameFirst = address !== undefined && (date === null || date.index > address.index);
  const hasVerb = rest.search(WROTE) !== -1;
  const isVerbLast = hasVerb && /^[\s:：)(]*$/.test(rest.split(WROTE).at(-1) ?? '');
  const isAddressLast =
    last !== undefined && /^[>)\]"'\s:：]*$/.test(bare.slice(last.index + last[0].length));
  // Mail.ru, Gmail in Russian, Tutanota, Yandex: a date and an address, and no verb.
  if (!hasVerb && !(isDateFirst && isAddressLast)) return null;
  // `Eva Beispiel writes:`
  const isNameAndVerb = isVerbLast && /^\p{Lu}/u.test(bare);
  if (!isDateFirst && !isNameFirst && !isNameAndVerb) return null;

  const words = rest
    .replace(WROTE, ' ')
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '' && !DATE_WORDS.has(word.toLowerCase()));
  const small = words.filter((word) => /^\p{Ll}/u.test(word));
  if (words.length > MAX_NAME_WORDS || small.length > MAX_SMALL_WORDS) return null;
  const isNamed = isVerbLast || isAddressLast;
  if (small.length > 0 && !isNamed) return null;
  const isMoment = YEAR.test(bare) && TIME.test(bare);
  // The word before the address may be small: `Zoe xxx <zoe@…>`.
  const isName =
    small.length === 0 ||
    (small.length === 1 && address !== undefined && endsWith(bare.slice(0, address.index), small[0] ?? ''));
  if (!isName && !YEAR.test(bare) && address === undefined) return null;
  return {
    hasAddress: address !== undefined,
    hasDate: date !== null,
    isComplete:
      isEnd &&
      isMoment &&
      isName &&
      (isDateFirst || address !== undefined) &&
      !YOUR_WRITING.test(rest) &&
      !/;/.test(rest),
  };
}

function endsWith(text: string, word: string): boolean {
  return text.replace(/(?<=\p{L})[^\p{L}]+$/u, '').endsWith(word);
}

/** A text in another script, such as Hebrew, whose words for dates are not listed. */
const OTHER_SCRIPT = /^\p{L}(?<!\p{Script=Latin})/u;

/** A time that is no part of a date: `9:15`, `kl. 09.15`, `17h30`. */
const TIME = /(?<![\d.])\d{1,2}[:.h]\d{2}(?![\d.])/u;
const YEAR = /(?<!\d)(?:19|20)\d{2}(?!\d)|(?<!\d)\d{1,2}([./-])\d{1,2}\1\d{2}(?!\d)/u;

/** A year, or a day and a month. */
const DATE =
  /(?<!\d)(?:19|20)\d{2}(?!\d)|(?<!\d)\d{1,2}[./-] ?\d{1,2}[./-]|(?<!\d)\d{1,2}\.? \p{L}{3,14}|\p{L}{3,14}\.? \d{1,2}(?!\d)/u;
