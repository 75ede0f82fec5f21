/**
 * Message-ID, RFC 5322 §3.6.4: parse, format and make one. Lists of them are in references.ts.
 */
import { MAX_MESSAGE_ID_OCTETS, MIN_MESSAGE_ID_RANDOM_BYTES } from './limits.ts';

declare const brand: unique symbol;

/** A Message-ID without its angle brackets; they are added at the HTTP and the header edge. */
export type MessageId = string & { readonly [brand]: 'MessageId' };

/** Characters that end a Message-ID or break out of its header: white space, controls and angle brackets. */
const FORBIDDEN = /[\s<>\u0000-\u001f\u007f-\u009f]/;

/**
 * Reads one Message-ID that a caller gives, with angle brackets or, when it has an `@`, without; white space around it is
 * dropped.
 * null when the text is not one. Seen in practice: ids that RFC 5322 forbids, with `[`, `:` or several `@`; they are kept
 * as they are, since an answer has to quote them exactly.
 */
export function parseMessageId(text: string): MessageId | null {
  const trimmed = text.trim();
  const bracketed = trimmed.startsWith('<') && trimmed.endsWith('>');
  const id = bracketed ? trimmed.slice(1, -1) : trimmed;
  return bracketed || id.includes('@') ? toMessageId(id) : null;
}

/** RFC 5322 §3.2.3 and RFC 6532 §3.2, with the dots of a dot-atom anywhere. */
const ATOMS = /^[^\s"(),:;<>@[\\\]\u0000-\u001f\u007f-\u009f]+$/;
/** A dot, a quoted string or the rest of a word. */
const WORDS = /"((?:[^"\\]|\\.)*)"|[^"]+/g;

/**
 * The form in which Message-IDs are compared: unneeded quotes are dropped (RFC 5256 §2.2), so that `"q.1"@a` becomes
 * `q.1@a`. Message-IDs that we write into a header keep the form in which they came.
 */
export function normaliseMessageId(id: MessageId): MessageId {
  if (!id.includes('"')) return id;
  const at = id.lastIndexOf('@');
  const local = at < 0 ? id : id.slice(0, at);
  const bare = local.replace(WORDS, (word, quoted: string | undefined) =>
    quoted === undefined ? word : quoted.replace(/\\(.)/g, '$1'),
  );
  return ATOMS.test(bare) ? ((bare + id.slice(local.length)) as MessageId) : id;
}

/** Domain of Message-IDs made up here for messages without one. RFC 2606 §2: no host can have it. */
export const MADE_UP_DOMAIN = 'missing-message-id.invalid';

/**
 * True if the id was made up here: it must never appear in In-Reply-To or References of mail that we send. No received
 * message has one: in a header such an id does not count as a Message-ID.
 */
export function isMadeUpMessageId(id: MessageId): boolean {
  return id.slice(id.lastIndexOf('@') + 1).toLowerCase() === MADE_UP_DOMAIN;
}

/** What programs write that have no id: names of nothing, and of machines and users that every machine has. */
const NO_NAMES = new Set(
  (
    ' - . 0 1 none null nil undefined unknown nan n/a na no yes test empty false true id uid guid messageid message-id msgid mail email ' +
    'root admin administrator nobody noreply no-reply user www www-data apache php mailer'
  ).split(' '),
);
const NO_HOSTS = new Set(['localhost', 'localhost.localdomain', 'localdomain', 'local', 'host', 'invalid']);

/**
 * True if the form of the id shows that many emails of strangers have it: it names none of them. Seen in practice: `<0>`, `<@>`,
 * `<none@none>`, `<root@localhost>`, `<test>`, `<null>`.
 */
export function isWorthlessMessageId(id: string): boolean {
  const [local = '', host = ''] = id
    .toLowerCase()
    .split('@')
    .map((part) => part.trim());
  const hasHost = id.includes('@');
  const isNoName = NO_NAMES.has(local) || /^[\d.\-_]{1,3}$/.test(local);
  return id.split('@').length <= 2 && isNoName && (!hasHost || NO_NAMES.has(host) || NO_HOSTS.has(host));
}

/** Accepts text as a Message-ID without brackets if it can appear in a header; else null. It may lack an `@`. */
export function toMessageId(text: string): MessageId | null {
  if (text === '' || FORBIDDEN.test(text) || !text.isWellFormed()) return null;
  return Buffer.byteLength(text) <= MAX_MESSAGE_ID_OCTETS ? (text as MessageId) : null;
}

/** Letters and digits that make a local part unguessable; a UUID has 32. */
const MIN_UNGUESSABLE_CHARS = 22;

/**
 * True if the local part has room for randomness: enough letters and digits, and not only digits, as in a time and a
 * counter. Ids made here always have it; some programs count.
 */
export function isUnguessable(id: MessageId): boolean {
  const local = id.slice(0, id.lastIndexOf('@')).replace(/[^a-z0-9]+/gi, '');
  return local.length >= MIN_UNGUESSABLE_CHARS && /[a-z]/i.test(local);
}

/** Fewer are the year in a name, or the number of a form. */
const MIN_TELLING_DIGITS = 6;

/** A word, words in camel case, or capitals. */
const WORD = /^(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)$/;

/** True if the local part is words, perhaps with a number behind one: random text has digits or capitals within. */
const isWords = (local: string): boolean =>
  !/[a-z]\d{1,9}[a-z]/i.test(local) &&
  local
    .split(/[^a-z]+/i)
    .filter((part) => part !== '')
    .every((part) => WORD.test(part));

/**
 * True if the form of the id shows that it was made for one email, so that who names it has seen that email. False for what a person
 * may have chosen for all emails of a program: `contact@shop.example`, `order-confirmation-template-2024@crm.example`. Seen in practice: a
 * UUID that was never set, all zeros.
 */
export function isTelling(id: string): boolean {
  const local = id.includes('@') ? id.slice(0, id.lastIndexOf('@')) : id;
  if (/^(.)\1*$/.test(local.replace(/[^a-z0-9]+/gi, ''))) return false;
  if (local.replace(/\D/g, '').length >= MIN_TELLING_DIGITS) return true;
  return isUnguessable(id as MessageId) && !isWords(local);
}

/** `<local@domain>`, as headers and the HTTP interface write it. */
export function formatMessageId(id: MessageId): string {
  return `<${id}>`;
}

/**
 * Makes an unguessable Message-ID: the time, then the random bytes (16 or more) in lower-case hex, which survives
 * software that ignores case. `domain` is lower-case ASCII, as in Address. Throws RangeError for too few bytes.
 */
export function createMessageId(randomBytes: Buffer, now: Date, domain: string): MessageId {
  if (randomBytes.length < MIN_MESSAGE_ID_RANDOM_BYTES) {
    throw new RangeError(`a Message-ID needs ${MIN_MESSAGE_ID_RANDOM_BYTES} random bytes`);
  }
  const id = toMessageId(`${now.getTime().toString(36)}.${randomBytes.toString('hex')}@${domain}`);
  if (id === null) throw new RangeError(`no Message-ID can be made for the domain ${domain}`);
  return id;
}

/** The form that createMessageId makes, with any number of random bytes. */
const OWN_LOCAL_PART = /^[0-9a-z]{7,10}\.[0-9a-f]{32,}$/;

/** True if createMessageId may have made the id for the domain. */
export function isOwnMessageId(id: MessageId, domain: string): boolean {
  const at = id.lastIndexOf('@');
  return id.slice(at + 1).toLowerCase() === domain && OWN_LOCAL_PART.test(id.slice(0, at));
}
