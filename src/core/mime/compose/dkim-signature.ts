/**
 * Signs a composed message: DKIM-Signature fields by RFC 6376, with RSA and SHA-256 (RFC 8301) or Ed25519 (RFC 8463), relaxed
 * for header and body. The message itself is not changed, and is read once, in pieces.
 *
 * Written by hand because the libraries hold the whole message in memory, or can't forbid adding fields; the tests have
 * mailauth and OpenDKIM verify the signatures.
 */
import { createHash, sign, type KeyObject } from 'node:crypto';
import { DkimBodyHash } from './dkim-body.ts';

export interface DkimKey {
  /** The name below `_domainkey` where the public key is published. */
  readonly selector: string;
  /** RSA or Ed25519. */
  readonly privateKey: KeyObject;
}

/** How the messages of an account are signed. */
export interface DkimSigning {
  /** In lower-case ASCII; From's domain or one above it, or receivers ignore the signature (RFC 7489 §3.1). */
  readonly domain: string;
  /** At least one; each signs the message. */
  readonly keys: readonly DkimKey[];
  /** The mail server writes a Date of its own, which would break signatures that cover ours. */
  readonly relayReplacesDate: boolean;
}

/**
 * Fields that are signed once more than they occur, so that a further one breaks the signature (RFC 6376 §8.15).
 * Message-ID is not among them, as RFC 6376 §5.4.1 does not ask for it. Seen in practice: Amazon SES and others write their own.
 */
const GUARDED_FIELDS = [
  'from',
  'reply-to',
  'subject',
  'date',
  'to',
  'cc',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
];

/** Fields that are signed only as often as they occur. Mailing lists add their own. */
const SIGNED_FIELDS = new Set([
  'sender',
  'auto-submitted',
  'feedback-id',
  'list-archive',
  'list-help',
  'list-id',
  'list-owner',
  'list-post',
  'list-subscribe',
  'list-unsubscribe',
  'list-unsubscribe-post',
]);

/** The end of the head. A head is composed here from bounded fields; a message without this end is not ours. */
const HEAD_END = '\r\n\r\n';

/** Characters of base64 in a line of a signature. */
const BASE64_LINE_CHARS = 72;
const BASE64_LINES = new RegExp(`.{1,${BASE64_LINE_CHARS}}`, 'g');
/** Characters of names in a line of `h=`. */
const NAMES_LINE_CHARS = 70;

interface Field {
  /** Lower-case. */
  readonly name: string;
  /** In the canonical form of RFC 6376 §3.4.2, without its CRLF. */
  readonly canonical: string;
}

/**
 * The DKIM-Signature fields of a message, each with its CRLF: they go before its first field. Empty without keys.
 *
 * @param message as composed, in any pieces
 * @param signedAt written into the signature, in whole seconds
 */
export async function dkimFields(
  message: AsyncIterable<Buffer> | Iterable<Buffer>,
  { domain, keys, relayReplacesDate }: DkimSigning,
  signedAt: Date,
): Promise<string> {
  const { fields, bodyHash } = await readMessage(message);
  const left = relayReplacesDate ? 'date' : null;
  const names = [
    ...GUARDED_FIELDS.filter((name) => name !== left),
    ...fields.map(({ name }) => name).filter((name) => GUARDED_FIELDS.includes(name) && name !== left),
    ...fields.map(({ name }) => name).filter((name) => SIGNED_FIELDS.has(name)),
  ].sort();
  const signed = signedFields(fields, names);
  const signatures = await Promise.all(
    keys.map(async ({ selector, privateKey }) => {
      const isRsa = privateKey.asymmetricKeyType === 'rsa';
      const unsigned =
        `DKIM-Signature: v=1; a=${isRsa ? 'rsa' : 'ed25519'}-sha256; c=relaxed/relaxed;\r\n` +
        ` d=${domain};\r\n s=${selector};\r\n` +
        ` t=${Math.floor(signedAt.getTime() / 1000)};\r\n` +
        ` h=${foldNames(names)};\r\n` +
        ` bh=${bodyHash};\r\n b=`;
      // RFC 6376 §3.7: the field itself comes last, with an empty b= and without its CRLF.
      const data = Buffer.from(`${signed}${canonicalField(unsigned)}`, 'latin1');
      const signature = await (isRsa ? signRsa(data, privateKey) : signEd25519(data, privateKey));
      return `${unsigned}${foldBase64(signature.toString('base64'))}\r\n`;
    }),
  );
  return signatures.join('');
}

/** Octets are characters here (latin1): a local part that is not ASCII is signed as its UTF-8 bytes. */
async function readMessage(
  message: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<{ readonly fields: readonly Field[]; readonly bodyHash: string }> {
  const body = new DkimBodyHash();
  let head: string | null = '';
  let fields: readonly Field[] = [];
  for await (const piece of message) {
    if (head === null) {
      body.update(piece);
      continue;
    }
    head += piece.toString('latin1');
    const end: number = head.indexOf(HEAD_END);
    if (end < 0) continue;
    fields = splitFields(head.slice(0, end));
    body.update(Buffer.from(head.slice(end + HEAD_END.length), 'latin1'));
    head = null;
  }
  if (head !== null) throw new RangeError('a message without a body can not be signed');
  return { fields, bodyHash: body.end() };
}

function splitFields(head: string): readonly Field[] {
  return head.split(/\r\n(?![ \t])/).map((field) => ({
    name: field.slice(0, field.indexOf(':')).trimEnd().toLowerCase(),
    canonical: canonicalField(field),
  }));
}

/** RFC 6376 §3.4.2. White space is SP, TAB and folding only. */
function canonicalField(field: string): string {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '');
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value}`;
}

/** RFC 6376 §5.4.2: of fields with one name, the last is signed first; a further mention of the name signs nothing. */
function signedFields(fields: readonly Field[], names: readonly string[]): string {
  const left = [...fields];
  return names
    .map((name) => {
      const at = left.findLastIndex((field) => field.name === name);
      const [field] = at < 0 ? [] : left.splice(at, 1);
      return field === undefined ? '' : `${field.canonical}\r\n`;
    })
    .join('');
}

/** Runs in a thread of libuv: a signature takes about a millisecond. */
function signRsa(data: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', data, privateKey, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
}

/** RFC 8463 §3: the hash of the data is signed. */
async function signEd25519(data: Buffer, privateKey: KeyObject): Promise<Buffer> {
  return sign(null, createHash('sha256').update(data).digest(), privateKey);
}

function foldNames(names: readonly string[]): string {
  let folded = '';
  let line = '';
  for (const name of names) {
    if (line.length + name.length > NAMES_LINE_CHARS) {
      folded += `${line}\r\n `;
      line = '';
    }
    line += `${name}:`;
  }
  return (folded + line).slice(0, -1);
}

function foldBase64(text: string): string {
  return (text.match(BASE64_LINES) ?? []).join('\r\n ');
}
