/**
 * References and In-Reply-To, RFC 5322 §3.6.4: read them from any mail, build them for an answer.
 */
import { decodeHeaderText } from '../mime/text/header-text.ts';
import { MAX_PARSED_REFERENCES, MAX_REFERENCES, MAX_REFERENCES_OCTETS, MIN_WORD_ID_CHARS } from './limits.ts';
import {
  isMadeUpMessageId,
  isWorthlessMessageId,
  normaliseMessageId,
  toMessageId,
  type MessageId,
} from './message-id.ts';

/** CRLF, space and two angle brackets: the cost of each id in a header besides its own octets. */
const ID_OVERHEAD_OCTETS = 5;

/** `<…>`, outside of comments; a second `<` starts a new match, in case a `>` is missing. */
const BRACKETED = /<([^<>]*)>/g;

/** A phrase that ends in `from` and a name. A number is of a date: `your message from 3 March <…>`. */
// Input: at most 200 characters, MAX_PHRASE_CHARS.
const AUTHOR = /(?:^|\s)(?:from|by|von|de|di|da|van|fra|från|af|od|от)(?:\s[^\d<>]*|\s*)$/iu;
/** Ours: names are shorter. */
const MAX_PHRASE_CHARS = 200;

/**
 * Reads the value of References or In-Reply-To, folded or not: oldest first, each id once, at its first place.
 * Anything else is skipped. Never throws. Of very many ids the first and the newest are kept.
 *
 * Seen in practice, and accepted: commas or nothing between ids, white space from folding inside an id, comments and
 * phrases around ids, ids without `@`, and, when no id is in brackets, bare ids and nothing else. Encoded words too: see decodeIdWords.
 *
 * Seen in practice, and no ids: the address of an author that a phrase names, in brackets or not, as RFC 822 allowed (`Message from Ann
 * <ann@x.example> of Monday <id@x.example>`). As an id it would join all who answer that author.
 */
export function parseMessageIdList(text: string): readonly MessageId[] {
  const visible = withoutComments(decodeIdWords(text));
  const ids = new Set<MessageId>();
  const add = (candidate: string): void => {
    const id = toMessageId(candidate);
    if (id !== null && !isWord(id) && !isMadeUpMessageId(id) && !isWorthlessMessageId(id)) ids.add(id);
  };
  let from = 0;
  for (const { 0: bracketed, 1: content = '', index } of visible.matchAll(BRACKETED)) {
    const isAuthor = AUTHOR.test(visible.slice(Math.max(from, index - MAX_PHRASE_CHARS), index));
    from = index + bracketed.length;
    // An odd quote means that a bracket within a quoted local part ended the match: not an id that could be quoted.
    if (!isAuthor && content.split('"').length % 2 === 1) add(content.replace(/\s+/g, ''));
  }
  if (ids.size === 0) {
    // Text in brackets that is not an id is not split into ids.
    const tokens = visible
      .replace(BRACKETED, ' ')
      .split(/[\s,;"]+/)
      .filter((token) => token !== '');
    if (tokens.every((token) => /[^@]@[^@]/.test(token))) for (const token of tokens) add(token);
  }
  return keepFirstAndNewest([...ids], MAX_PARSED_REFERENCES, Number.POSITIVE_INFINITY);
}

/** The ids of all fields of one name, in order, each once. Like parseMessageIdList, whose bound applies to all together. */
export function parseMessageIdLists(values: readonly string[]): readonly MessageId[] {
  const ids = new Set(values.flatMap(parseMessageIdList));
  return keepFirstAndNewest([...ids], MAX_PARSED_REFERENCES, Number.POSITIVE_INFINITY);
}

/**
 * Decodes encoded words, though no standard allows them here. Seen in practice: Python's EmailMessage writes ids that are
 * too long for a line as `=?utf-8?q?=3Cid=40example=2Ecom=3E?=`. Text within angle brackets is an id and stays as it is.
 */
export function decodeIdWords(text: string): string {
  if (!text.includes('=?')) return text;
  let decoded = '';
  let from = 0;
  for (const { 0: bracketed, index } of text.matchAll(BRACKETED)) {
    decoded += decodeHeaderText(text.slice(from, index)) + bracketed;
    from = index + bracketed.length;
  }
  return decoded + decodeHeaderText(text.slice(from));
}

/**
 * The ids without those that are among `addresses`, `local@domain`. Seen in practice:
 * `In-Reply-To: Message from <support@shop.example>`, as RFC 822 allowed, in all answers to that address.
 */
export function withoutAddresses(
  ids: readonly MessageId[],
  addresses: readonly string[],
): readonly MessageId[] {
  const known = new Set(addresses.map((address) => address.toLowerCase()));
  return ids.filter((id) => !known.has(normaliseMessageId(id).toLowerCase()));
}

const isWord = (id: string): boolean => /^[a-z]+$/i.test(id) && id.length < MIN_WORD_ID_CHARS;

/**
 * References of an answer: the parent's own, then the parent (RFC 5322 §3.6.4), each id once. `references` is oldest
 * first. When the header would grow too long, the first id, which names the thread, and the newest ones stay.
 */
export function buildReferences(parent: {
  readonly messageId: MessageId;
  readonly references: readonly MessageId[];
}): readonly MessageId[] {
  const ids = new Set(parent.references);
  // The parent comes last, even when its own References name it.
  ids.delete(parent.messageId);
  ids.add(parent.messageId);
  return keepFirstAndNewest([...ids], MAX_REFERENCES, MAX_REFERENCES_OCTETS);
}

/** Drops ids after the first; the last one always stays. */
function keepFirstAndNewest(
  ids: readonly MessageId[],
  maxCount: number,
  maxOctets: number,
): readonly MessageId[] {
  const cost = (id: MessageId): number => Buffer.byteLength(id) + ID_OVERHEAD_OCTETS;
  const [first, ...rest] = ids;
  if (first === undefined) return ids;
  const newest: MessageId[] = [];
  let octets = cost(first);
  for (const id of rest.reverse()) {
    octets += cost(id);
    if (octets > maxOctets || newest.length + 1 >= maxCount) break;
    newest.push(id);
  }
  return [first, ...newest.reverse()];
}

/**
 * Removes comments (RFC 5322 §3.2.2), nested ones too, but not parentheses within angle brackets. When a comment never
 * ends, the parentheses count as text, so that no id after them is lost.
 */
function withoutComments(text: string): string {
  if (!text.includes('(')) return text;
  let kept = '';
  let keptFrom = 0;
  let depth = 0;
  let inBrackets = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (depth > 0) {
      if (character === '\\') at++;
      else if (character === '(') depth++;
      else if (character === ')' && --depth === 0) keptFrom = at + 1;
    } else if (character === '<') inBrackets = true;
    else if (character === '>') inBrackets = false;
    else if (character === '(' && !inBrackets) {
      kept += `${text.slice(keptFrom, at)} `;
      depth = 1;
    }
  }
  return depth > 0 ? text : kept + text.slice(keptFrom);
}
