/**
 * The base subject of RFC 5256 §2.1: the rest of a subject without everything that programs put before and after it.
 * RFC 5256 covers `Re`, `Fw` and `Fwd`; programs write these in many languages.
 */

/** Lower-case. `vs` is Finnish, and a Danish or Norwegian forward, which is the rarer one. */
const REPLY_PREFIXES =
  're aw antw antwort sv vs vá r rif res ref odp ynt yan atb bls tl απ σχετ ha отв ответ відп השב رد ' +
  '答复 回复 回覆 返信 회신 답장';
const FORWARD_PREFIXES =
  'fw fwd wg weitergeleitet videresend redir redir. tr rv enc vb vl doorst i pd ilt továbbítás fs yml trs πρθ пер пересл הועבר ' +
  '转发 轉寄 転送 전달';

const PREFIXES = new Map<string, 'reply' | 'forward'>([
  ...REPLY_PREFIXES.split(' ').map((prefix) => [prefix, 'reply'] as const),
  ...FORWARD_PREFIXES.split(' ').map((prefix) => [prefix, 'forward'] as const),
]);
/** A longer word is not a prefix, since none in the table is longer; so long subjects cost no more. */
const MAX_PREFIX_CHARS = Math.max(...[...PREFIXES.keys()].map((prefix) => prefix.length));

export interface BaseSubject {
  /** Lower-case, white space as single spaces; empty when nothing is left. */
  readonly base: string;
  /** The outermost prefix is one of a reply. */
  readonly isReply: boolean;
  /** The outermost prefix is one of a forward. */
  readonly isForward: boolean;
}

/** Subjects are read this far, in UTF-16 units: mailing lists and replies repeat themselves at the beginning. */
const COMPARED_CHARS = 1000;
/** Prefixes and blobs that are removed; a subject with more keeps the rest. */
const MAX_ROUNDS = 50;

export function readBaseSubject(subject: string): BaseSubject {
  let text = subject.slice(0, COMPARED_CHARS).normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
  let outermost: 'reply' | 'forward' | null = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = text;
    // RFC 5256 §2.1 (2): subj-trailer
    if (text.endsWith('(fwd)')) {
      outermost ??= 'forward';
      text = text.slice(0, -'(fwd)'.length).trimEnd();
    }
    // (3): subj-leader, blobs before a prefix included
    const leader = readLeader(text);
    if (leader !== null) {
      outermost ??= leader.kind;
      text = text.slice(leader.length);
    } else {
      // (4): a blob that is not the whole subject
      const blob = blobLength(text);
      if (blob > 0 && text.slice(blob).trim() !== '') text = text.slice(blob);
    }
    // (6): [fwd: …]
    if (/^\[fwd:.*\]$/.test(text)) {
      outermost ??= 'forward';
      text = text.slice('[fwd:'.length, -1);
    }
    text = text.trim();
    if (text === before) break;
  }
  return { base: text, isReply: outermost === 'reply', isForward: outermost === 'forward' };
}

/**
 * The subject without the prefixes of one kind at its beginning, in any language, letter case kept, so that a new prefix
 * appears only once. Blobs of mailing lists before a prefix stay.
 */
export function withoutPrefixes(subject: string, kind: 'reply' | 'forward'): string {
  let text = subject.trim();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const blobs = /^(?:\[[^[\]]*\]\s*)*/.exec(text)?.[0] ?? '';
    const rest = text.slice(blobs.length);
    const leader = readPrefix(rest);
    if (leader?.kind !== kind) break;
    text = blobs + rest.slice(leader.length).trimStart();
  }
  return text;
}

/** The subject without any prefixes at its beginning, letter case kept; a subject of only prefixes stays. */
export function withoutAnyPrefix(subject: string): string {
  let text = subject.trim();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const leader = text.includes(':') || text.includes('：') ? readPrefix(text) : null;
    if (leader === null) break;
    text = text.slice(leader.length).trimStart();
  }
  return text === '' ? subject : text;
}

/** `[list] Re[2] [blob]: `: any blobs, a prefix, a count or a blob, a colon. */
function readLeader(text: string): { readonly kind: 'reply' | 'forward'; readonly length: number } | null {
  let at = 0;
  for (let blob = blobLength(text); blob > 0; blob = blobLength(text.slice(at))) at += blob;
  const leader = readPrefix(text.slice(at));
  return leader === null ? null : { ...leader, length: at + leader.length };
}

/** `Re[2] [blob]: ` at the beginning. */
function readPrefix(rest: string): { readonly kind: 'reply' | 'forward'; readonly length: number } | null {
  const match = /^([^\s:：[\](){}^]+) ?(?:\^?\d{1,3}|[[(]\d{1,3}[\])])? ?(?:\[[^[\]]*\])? ?[:：] ?/u.exec(
    rest.slice(0, MAX_PREFIX_CHARS + 200),
  );
  // Turkish `İLT`: its small letter is an `i` and a dot (U+0307).
  const kind = PREFIXES.get((match?.[1] ?? '').normalize('NFC').toLowerCase().replaceAll('\u0307', ''));
  return match === null || kind === undefined ? null : { kind, length: match[0].length };
}

/** `[…] ` at the beginning, without brackets inside (RFC 5256's subj-blob); 0 for none. */
function blobLength(text: string): number {
  return /^\[[^[\]]*\]\s*/.exec(text)?.[0].length ?? 0;
}

/** The database key that emails of one subject share; null when nothing is left of the subject. */
export function subjectKeyOf(subject: string): string | null {
  const key = readBaseSubject(subject).base.replaceAll('\u0000', '').slice(0, MAX_KEY_CHARS).toWellFormed();
  return key === '' ? null : key;
}

/** Keeps entries of the index below PostgreSQL's limit of 2,704 bytes. */
const MAX_KEY_CHARS = 200;
