/**
 * Decides whether words that end in a colon are an attribution, `On … wrote:`, and not a sentence that reports another
 * person's words. All patterns see at most MAX_MARKER_CHARS characters.
 */
import { DATE, DATED, DATE_FIRST, OWN_WRITING, TIME, VERB_FILLER, WROTE, YEAR } from './reply-markers.ts';

/** @param isStart the words begin like an attribution, see ATTRIBUTION_START */
export function readsAsAttribution(joined: string, isStart: boolean): boolean {
  if (OWN_WRITING.test(joined)) return false;
  const address = [...joined.matchAll(ADDRESS)].at(-1);
  if (address === undefined) return isStart && DATE.test(joined) && namesWriter(joined);
  const before = joined.slice(0, address.index);
  const tail = joined.slice(address.index + address[0].length);
  const isLast = /^[>)\]"'\s:：]*$/.test(tail);
  if (isLast && DATED.test(joined)) return true;
  // Mail.ru, Gmail in Russian, Tutanota: a date and an address, and no verb.
  const isBracketed = /[<([]\s*(?:mailto:)?$/i.test(before);
  const isDateFirst = isStart || DATE_FIRST.test(joined) || /^\P{Script=Latin}/u.test(joined);
  const hasMoment = TIME.test(before) && YEAR.test(before);
  if (
    isLast &&
    hasMoment &&
    isDateFirst &&
    (isBracketed || DATE_FIRST.test(joined)) &&
    isName(afterDate(before))
  ) {
    return true;
  }
  const isDated = isStart || TIME.test(joined) || YEAR.test(joined);
  if (!isDated || /[!?;]/.test(before)) return false;
  // `Am … schrieb Eva <eva@…>:`
  if (isLast) return WROTE.test(before);
  return endsInVerb(tail);
}

/** Input: at most 500 characters, MAX_MARKER_CHARS. */
const ADDRESS = /[^\s<>@()[\]]{1,64}@[^\s<>@()[\],:]{1,255}/gu;

/** `> wrote:`, `> schrieb am 2. März 2026:`, `> het volgende geschreven:`: only a date surrounds the verb. */
function endsInVerb(tail: string): boolean {
  const verb = WROTE.exec(tail);
  if (verb === null) return false;
  const before = tail.slice(0, verb.index);
  const after = tail.slice(verb.index + verb[0].length);
  const words = before.split(/[^\p{L}]+/u).filter((word) => word !== '');
  const isFiller = words.every((word) => VERB_FILLER.test(word)) || YEAR.test(before);
  return isFiller && (/^[\s:：)(]*$/.test(after) || /\d/.test(after));
}

/** True if a name is between the date and the verb, or after the verb. */
function namesWriter(joined: string): boolean {
  const verb = WROTE.exec(joined);
  if (verb === null) return false;
  return isName(afterDate(joined.slice(0, verb.index))) && isName(joined.slice(verb.index + verb[0].length));
}

/** The text after the last digit. */
function afterDate(text: string): string {
  // Input: at most 500 characters, MAX_MARKER_CHARS.
  return text.slice(text.search(/\D*$/));
}

/** Words of a name begin with capitals, in scripts that have them. */
function isName(text: string): boolean {
  return text
    .split(/[^\p{L}]+/u)
    .every((word) => word === '' || !/^\p{Ll}/u.test(word) || NAME_PARTICLE.test(word));
}

/** Also half days, and words that precede a name, such as `from`. */
const NAME_PARTICLE =
  /^(?:am|pm|a|p|m|uhr|h|kl|klo|г|р|von|vom|van|der|den|de|del|della|di|da|do|dos|du|la|le|el|al|af|av|zu|zum|zur|bin|ibn|from|by|fra|från|od|от|від|hat|heeft|har|ha|о|π|μ|ο|χρήστης|в|klokken)$/iu;
