/**
 * The searchable words of an email, as PostgreSQL's text form of a `tsvector`: words with their places. Subject, people,
 * file names, event and body follow each other with gaps, so that no phrase reaches from one into the next. Words of subject and
 * people are included a second time, prefixed with the sign of their part, so that a word of one part is found however
 * common it is elsewhere.
 *
 * PostgreSQL's bounds (a lexeme of 2 kB, places up to 16,383, 1 MB in all) are kept for any input.
 */
import { wordsOf } from './words.ts';

/** Prefixes of the words of these parts, for searches in one part alone. No word of a text has such signs. */
export const PART_SIGNS = { from: '<', to: '>', subject: '#' } as const;

export interface SearchedEmail {
  readonly subject: string;
  /** Names and addresses of senders. */
  readonly from: readonly string[];
  /** Names and addresses of all recipients. */
  readonly to: readonly string[];
  /** Names of attachments. */
  readonly files: readonly string[];
  /** Summary and place of an invitation; empty for none. */
  readonly event: string;
  readonly body: string;
}

/** Characters of a body that are searched, from its beginning: some 16,000 words. */
export const MAX_BODY_CHARS = 100_000;

/** Names and addresses that are searched: those of an email to thousands would leave no room for anything else. */
const MAX_PEOPLE_CHARS = 20_000;

/** Attachments whose names are searched; a name has at most 255 octets. */
export const MAX_FILES = 100;

/** The last place that PostgreSQL distinguishes; later words are found, but not in phrases. */
const MAX_PLACE = 16_000;

/** Bytes of all different words together; a tsvector may have 1 MB with their places. */
const MAX_WORD_BYTES = 300_000;

/** Places of one word that PostgreSQL keeps. */
const MAX_PLACES_OF_WORD = 255;

/** Places between two parts. */
const GAP = 10;

/** Bytes of a UTF-16 unit in UTF-8 at most. */
const MAX_BYTES_PER_CHAR = 3;

/** Contains only letters, digits and signs of parts, so nothing needs quoting. */
export function toSearchDocument({ subject, from, to, files, event, body }: SearchedEmail): string {
  const places = new Map<string, string[]>();
  let place = 1;
  let bytes = 0;
  /** False when the limit of different words is reached. */
  const addWord = (word: string): boolean => {
    let known = places.get(word);
    if (known === undefined) {
      bytes += MAX_BYTES_PER_CHAR * word.length;
      if (bytes > MAX_WORD_BYTES) return false;
      places.set(word, (known = []));
    }
    if (place <= MAX_PLACE && known.length < MAX_PLACES_OF_WORD) known.push(String(place));
    return true;
  };
  const add = (text: string, sign = '') => {
    for (const forms of wordsOf(text)) {
      for (const form of forms) {
        if (!addWord(form) || (sign !== '' && !addWord(sign + form))) return;
      }
      place += 1;
    }
    place += GAP;
  };
  add(subject, PART_SIGNS.subject);
  let peopleChars = 0;
  for (const part of ['from', 'to'] as const) {
    for (const text of part === 'from' ? from : to) {
      peopleChars += text.length;
      if (peopleChars > MAX_PEOPLE_CHARS) break;
      add(text, PART_SIGNS[part]);
    }
  }
  for (const name of files.slice(0, MAX_FILES)) add(name);
  add(event);
  add(body.slice(0, MAX_BODY_CHARS));
  let document = '';
  for (const [word, at] of places) {
    document += at.length === 0 ? `'${word}' ` : `'${word}':${at.join(',')} `;
  }
  return document;
}
