/**
 * Checks one message with the library mailauth: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and ARC (RFC 8617). The writer of a
 * forged message wants it to pass, or its check to end without a result. So From is read as it is recorded and shown; each method has look-ups
 * of its own, and the policy of From is asked for first; signatures of From's domain are checked before all others; and a message that the
 * library reads in another way than the rest of this service, or that breaks it, has not passed.
 */
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { arc, dmarc, spf } from 'mailauth';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import type { SenderFacts } from '../../areas/receive/sender-check.ts';
import { addrSpec } from '../../core/address/address.ts';
import { toAsciiDomain } from '../../core/address/domain.ts';
import {
  isSameSite,
  toOutcome,
  type AuthOutcome,
  type AuthResults,
} from '../../core/message/authentication.ts';
import { MAX_HEADER_BYTES } from '../../core/mime/limits.ts';
import { readHead, type MessageHead } from '../../core/mime/parse/message-head.ts';
import type { Lookup } from './bounded-lookups.ts';
import { NOT_CHECKED } from './not-checked.ts';

/** The signatures that are checked; RFC 6376 §6.1 lets verifiers choose. Each may need a hash of the whole body. */
const MAX_SIGNATURES = 10;
/**
 * Different hashes of the body that they need: each form and length is one. Real mail needs 1 or 2. Measured: the library takes up to 0.2 s of
 * processor time for one of a hostile body of 1 MB, in short lines.
 */
const MAX_BODY_HASHES = 3;
/** Signature fields that are read, from the top. Real mail has up to 6. */
const MAX_SIGNATURE_FIELDS = 50;
/** The time that the library takes for a header grows with the square of its lines. Real ones have up to 60,000 bytes and 1000 lines. */
const MAX_SIGNED_HEADER_BYTES = 300_000;
const MAX_SIGNED_HEADER_LINES = 5000;
/** Appears only in texts that are not used. */
const MTA = 'localhost';

/**
 * @param lookups creates the look-ups of one method
 * @param tell gets what is known before the signatures are checked: the policy of From, as if nothing met it. Should the message break the
 * check, that is its result.
 *
 * Throws when the message can't be read.
 */
export async function checkMessage(
  message: Readable,
  { client, mailFrom }: Pick<SenderFacts, 'client' | 'mailFrom'>,
  lookups: () => Lookup,
  tell: (known: AuthResults) => void = () => {},
): Promise<AuthResults> {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const start = await readStart(chunks);
  const head = readHead(start);
  const domain = domainOf(head);
  const policyFound = findPolicy(domain, lookups()).then((policy) => {
    tell({ ...NOT_CHECKED, dmarc: toDmarc(policy, []) });
    return policy;
  });
  const sentFound = client === null ? null : checkSpf(client, mailFrom, lookups());
  const [policy, sent, signed] = await Promise.all([
    policyFound,
    sentFound,
    checkSignatures(rest(start, chunks), { start, head, domain }, lookups()),
  ]);
  const passes = [
    ...signed.results.map((one) => ({ ...one, method: 'dkim' as const })),
    ...(sent === null ? [] : [{ ...sent, method: 'spf' as const }]),
  ].filter(({ result }) => result === 'pass');
  return {
    spf: sent,
    dkim: signed.results,
    dmarc: toDmarc(policy, passes),
    arc: await checkArc(signed.verifier, lookups()),
  };
}

/** The message up to where no header reaches, or all of it. */
async function readStart(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  while (length <= MAX_HEADER_BYTES) {
    const next = await chunks.next();
    if (next.done === true) break;
    pieces.push(next.value);
    length += next.value.length;
  }
  return Buffer.concat(pieces);
}

async function* rest(start: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  yield* { [Symbol.asyncIterator]: () => chunks };
}

/** The domain of From, in A-labels; null when it names none, or several. */
function domainOf({ fromFields: { count, domains } }: MessageHead): string | null {
  const [domain, ...others] = new Set(domains);
  return count === 1 && domain !== undefined && others.length === 0 ? domain : null;
}

interface Facts {
  readonly start: Buffer;
  readonly head: MessageHead;
  /** Of From. */
  readonly domain: string | null;
}

/** What only shows how a message is to be read. A second one that no signature covers is another message than the one that was signed. */
const SHOWN_ONCE = ['from', 'subject', 'date', 'reply-to', 'content-type', 'content-transfer-encoding'];

type Headers = Parameters<DkimVerifier['messageHeaders']>[0];
type Result = DkimVerifier['results'][number];

class BoundedVerifier extends DkimVerifier {
  readonly #domain: string | null;
  headers: Headers = { parsed: [] };

  constructor(domain: string | null, resolver: Lookup) {
    super({ resolver });
    this.#domain = domain;
  }

  override async messageHeaders(headers: Headers): Promise<void> {
    let left = MAX_SIGNATURE_FIELDS;
    const parsed = headers.parsed.filter(({ key }) => key !== 'dkim-signature' || left-- > 0);
    await super.messageHeaders({ ...headers, parsed });
    this.headers = { ...headers, parsed };
    // The library verifies the ARC seal as if it were a signature, too.
    const isOfFrom = (domain: string): boolean => this.#domain !== null && isSameSite(this.#domain, domain);
    const seals = this.signatureHeaders.filter(({ type }) => type === 'ARC');
    const signatures = this.signatureHeaders.filter(({ type, selector, signingDomain }) => {
      // RFC 6376 §3.1 and §3.5: both are domain names, so that their keys can be asked for.
      return type === 'DKIM' && toAsciiDomain(selector) !== null && toAsciiDomain(signingDomain) !== null;
    });
    const ofFrom = signatures.filter(({ signingDomain }) => isOfFrom(signingDomain));
    const others = signatures.filter(({ signingDomain }) => !isOfFrom(signingDomain));
    const used = new Set(seals.map(({ bodyHashKey }) => bodyHashKey));
    const checked = [...ofFrom, ...others].slice(0, MAX_SIGNATURES).filter(({ bodyHashKey }) => {
      if (used.size < MAX_BODY_HASHES) used.add(bodyHashKey);
      return used.has(bodyHashKey);
    });
    this.signatureHeaders = [...checked, ...seals];
    for (const key of this.bodyHashes.keys()) if (!used.has(key)) this.bodyHashes.delete(key);
  }
}

interface Signed {
  /** null: the message could not be verified. */
  readonly verifier: DkimVerifier | null;
  readonly results: AuthResults['dkim'];
}

async function checkSignatures(
  message: AsyncIterable<Buffer>,
  { start, head, domain }: Facts,
  resolver: Lookup,
): Promise<Signed> {
  if (!isBounded(start)) return { verifier: null, results: [] };
  const verifier = new BoundedVerifier(domain, resolver);
  const source = Readable.from(message);
  source.on('error', (error) => {
    verifier.destroy(
      Object.assign(new Error('the message could not be read', { cause: error }), { unread: true }),
    );
  });
  try {
    await finished(source.pipe(verifier));
  } catch (error) {
    if (error instanceof Error && 'unread' in error) throw error;
    return { verifier: null, results: [] };
  }
  const isSameHead = readsTheSame(verifier.headers, start, head);
  const results = verifier.results
    .filter(({ status }) => status.result !== 'none')
    .map((result) => {
      const outcome = outcomeOf(result, verifier.headers);
      return {
        result: outcome === 'pass' && !isSameHead ? ('policy' as const) : outcome,
        domain: lowerCase(result.signingDomain),
        selector: result.selector ?? null,
      };
    });
  return { verifier, results };
}

/** False for a header that would take the library too long. */
function isBounded(start: Buffer): boolean {
  const end = bodyStartOf(start);
  if (end > MAX_SIGNED_HEADER_BYTES) return false;
  let lines = 0;
  for (let at = start.indexOf('\n'); at !== -1 && at < end; at = start.indexOf('\n', at + 1)) lines++;
  return lines <= MAX_SIGNED_HEADER_LINES;
}

/** The start of the body as the library finds it: after the first empty line. */
function bodyStartOf(start: Buffer): number {
  const ends = ['\n\n', '\n\r\n'].flatMap((empty) => {
    const at = start.indexOf(empty);
    return at === -1 ? [] : [at + empty.length];
  });
  return Math.min(start.length, ...ends);
}

/**
 * Otherwise a signed message could be wrapped in lines that only one of the two readers takes for its header, and would be shown as someone
 * else's, or with another text, though its signature is valid.
 */
function readsTheSame(
  { parsed }: Headers,
  start: Buffer,
  { from, fromFields, bodyStart }: MessageHead,
): boolean {
  const fields = parsed.filter(({ key }) => key === 'from');
  const [field] = fields;
  if (fields.length !== fromFields.count || field === undefined || bodyStart !== bodyStartOf(start))
    return false;
  const theirs = readHead(field.line).from.map(addrSpec);
  return theirs.join() === from.map(addrSpec).join();
}

function outcomeOf({ status, algo, signingHeaders }: Result, { parsed }: Headers): AuthOutcome {
  const outcome = toOutcome(status.result);
  if (outcome !== 'pass') return outcome;
  // RFC 8301 §3.1
  if (algo?.toLowerCase().endsWith('sha1') === true) return 'permerror';
  // RFC 6376 §6.1.1: a signature that does not cover From says nothing about the author.
  const signedFields = (signingHeaders?.keys ?? '').toLowerCase().split(/: ?/);
  if (!signedFields.includes('from')) return 'permerror';
  // RFC 6376 §8.15: fields that were added to those that are signed.
  const isAdded = SHOWN_ONCE.some((name) => {
    const signedCount = signedFields.filter((one) => one === name).length;
    return signedCount > 0 && parsed.filter(({ key }) => key === name).length > signedCount;
  });
  // RFC 6376 §8.2: anything after the signed part may come from anywhere.
  return isAdded || status.underSized ? 'policy' : 'pass';
}

/** The SPF result: does the domain of `mailFrom` allow the client to send for it? */
export async function checkSpf(
  { address, helo }: NonNullable<SenderFacts['client']>,
  mailFrom: string | null,
  resolver: Lookup,
): Promise<AuthResults['spf']> {
  const name = isIP(helo) === 0 ? helo : `[${helo}]`;
  try {
    const checked = await spf({ ip: address, helo: name, sender: mailFrom ?? '', mta: MTA, resolver });
    return { result: toOutcome(checked.status.result), domain: lowerCase(checked.domain) };
  } catch {
    const domain = (mailFrom ?? helo).split('@').at(-1);
    return { result: 'temperror', domain: lowerCase(domain) };
  }
}

/** The DMARC policy of a domain. */
interface Policy {
  readonly result: 'none' | 'temperror' | 'permerror' | 'published';
  /** Of From; null when From does not name exactly one: then no policy applies to the message. */
  readonly domain: string | null;
  /** The site that the policy is for, or that was asked. */
  readonly site: string | null;
  /** Whose alignment must be strict: the very same domain (RFC 7489 §3.1). */
  readonly strict: readonly ('spf' | 'dkim')[];
}

async function findPolicy(domain: string | null, resolver: Lookup): Promise<Policy> {
  if (domain === null) return { result: 'permerror', domain: null, site: null, strict: [] };
  // RFC 5321 §4.1.3: an address literal has no records.
  if (domain.startsWith('[')) return { result: 'none', domain, site: domain, strict: [] };
  try {
    const found = await dmarc({ headerFrom: domain, spfDomains: [], dkimDomains: [], resolver });
    if (found === false) return { result: 'permerror', domain: null, site: null, strict: [] };
    const { status, alignment } = found;
    const site = lowerCase(found.domain);
    if (status.result === 'none' || status.result === 'temperror') {
      return { result: status.result, domain, site, strict: [] };
    }
    const strict = (['spf', 'dkim'] as const).filter((method) => alignment?.[method].strict === true);
    return { result: 'published', domain, site, strict };
  } catch {
    return { result: 'temperror', domain, site: domain, strict: [] };
  }
}

/** The library treats strict alignment as relaxed. */
function toDmarc(
  { result, domain, site, strict }: Policy,
  passes: readonly { readonly method: 'spf' | 'dkim'; readonly domain: string | null }[],
): NonNullable<AuthResults['dmarc']> {
  if (result !== 'published' || domain === null) return { result: toOutcome(result), domain: site };
  const isMet = passes.some((one) =>
    strict.includes(one.method) ? one.domain === domain : isSameSite(domain, one.domain),
  );
  return { result: isMet ? 'pass' : 'fail', domain: site };
}

async function checkArc(verifier: DkimVerifier | null, resolver: Lookup): Promise<AuthOutcome> {
  if (verifier === null) return 'fail';
  try {
    return toOutcome((await arc(verifier.arc, { resolver })).status.result);
  } catch {
    // Seen in practice: the library throws on a key that is too short.
    return 'fail';
  }
}

const lowerCase = (domain: string | false | undefined): string | null =>
  typeof domain === 'string' && domain !== '' ? domain.toLowerCase() : null;
