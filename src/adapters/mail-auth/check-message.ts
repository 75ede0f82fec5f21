/**
 * Checks one message with the library mailauth: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and ARC (RFC 8617). The writer of a
 * forged message wants it to pass: each method has look-ups of its own, so that a slow DNS server of the forger can't hide another domain's
 * records, and a message that breaks the library has not passed.
 */
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { arc, dmarc, spf } from 'mailauth';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import type { SenderFacts } from '../../app/receive/sender-check.ts';
import { toOutcome, type AuthOutcome, type AuthResults } from '../../core/message/authentication.ts';
import type { Lookup } from './bounded-lookups.ts';

/** Only the topmost signatures; RFC 6376 §6.1 lets verifiers choose. Each may need a hash of the whole body. */
const MAX_SIGNATURES = 10;
/** Appears only in texts that are not used. */
const MTA = 'localhost';

/** @param lookups creates the look-ups of one method. Throws when the message can't be read. */
export async function checkMessage(
  message: Readable,
  { client, mailFrom }: Pick<SenderFacts, 'client' | 'mailFrom'>,
  lookups: () => Lookup,
): Promise<AuthResults> {
  const [signed, sent] = await Promise.all([
    checkSignatures(message, lookups()),
    client === null ? null : checkSpf(client, mailFrom, lookups()),
  ]);
  const [policy, chain] = await Promise.all([
    checkDmarc(signed, sent, lookups()),
    checkArc(signed, lookups()),
  ]);
  return { spf: sent, dkim: signed.results, dmarc: policy, arc: chain };
}

type Signed = Awaited<ReturnType<typeof checkSignatures>>;

class BoundedVerifier extends DkimVerifier {
  protected override async messageHeaders(headers: { parsed: readonly { readonly key: string }[] }) {
    let left = MAX_SIGNATURES;
    const parsed = headers.parsed.filter(({ key }) => key !== 'dkim-signature' || left-- > 0);
    await super.messageHeaders({ ...headers, parsed });
    // The library verifies the ARC seal as if it were a signature, too.
    this.signatureHeaders = this.signatureHeaders.filter(({ type }) => type !== 'AS');
  }
}

async function checkSignatures(message: Readable, resolver: Lookup) {
  const verifier = new BoundedVerifier({ resolver });
  message.on('error', (error) => {
    verifier.destroy(
      Object.assign(new Error('the message could not be read', { cause: error }), { unread: true }),
    );
  });
  try {
    await finished(message.pipe(verifier));
  } catch (error) {
    if (error instanceof Error && 'unread' in error) throw error;
    return { verifier: null, results: [], fromDomains: [] };
  }
  const results = verifier.results
    .filter(({ status }) => status.result !== 'none')
    .map((result) => ({
      result: outcomeOf(result),
      domain: lowerCase(result.signingDomain),
      selector: result.selector ?? null,
    }));
  const fromDomains = verifier.headerFrom.map((address) =>
    address.slice(address.lastIndexOf('@') + 1).toLowerCase(),
  );
  return { verifier, results, fromDomains };
}

function outcomeOf({ status, signingHeaders }: DkimVerifier['results'][number]): AuthOutcome {
  const outcome = toOutcome(status.result);
  if (outcome !== 'pass') return outcome;
  // RFC 6376 §6.1.1: a signature that does not cover From says nothing about the author.
  const fields = (signingHeaders?.keys ?? '').toLowerCase().split(/: ?/);
  if (!fields.includes('from')) return 'permerror';
  // RFC 6376 §8.2: anything after the signed part may come from anywhere.
  return status.underSized ? 'policy' : 'pass';
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
    return { result: 'temperror', domain: null };
  }
}

/** `permerror` without a domain when From does not name exactly one: then no policy applies to the message. */
async function checkDmarc(
  { results, fromDomains }: Signed,
  sent: AuthResults['spf'],
  resolver: Lookup,
): Promise<NonNullable<AuthResults['dmarc']>> {
  const [domain, ...others] = new Set(fromDomains);
  if (domain === undefined || domain === '' || others.length > 0) return NO_FROM;
  try {
    const checked = await dmarc({
      headerFrom: domain,
      spfDomains: sent?.result === 'pass' && sent.domain !== null ? [sent.domain] : [],
      dkimDomains: results.flatMap((one) =>
        one.result === 'pass' && one.domain !== null ? [{ domain: one.domain }] : [],
      ),
      resolver,
    });
    return checked === false
      ? NO_FROM
      : { result: toOutcome(checked.status.result), domain: lowerCase(checked.domain) };
  } catch {
    return { result: 'temperror', domain };
  }
}

async function checkArc({ verifier }: Signed, resolver: Lookup): Promise<AuthOutcome> {
  if (verifier === null) return 'fail';
  try {
    return toOutcome((await arc(verifier.arc, { resolver })).status.result);
  } catch {
    // Seen in practice: the library throws on a key that is too short.
    return 'fail';
  }
}

const NO_FROM = { result: 'permerror', domain: null } as const;

const lowerCase = (domain: string | false | undefined): string | null =>
  typeof domain === 'string' && domain !== '' ? domain.toLowerCase() : null;
