/** Examines the DNS of the domain that an account sends from, and of the server that sends its mail. */
import type { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isPublic } from '../connectors/webhooks/public-addresses.ts';
import { BoundedLookups, type Lookup } from '../connectors/mail-auth/bounded-lookups.ts';
import type { AccountConfig } from '../config/config-accounts.ts';
import { checkSenderRecords, hostOf, NO_RECORD } from './sender-dns.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

/** Of one mail server; checking more would reveal nothing new. */
const MAX_ADDRESSES = 4;

/** What to do about records, and about mail that is not signed. */
export interface DnsAdvice {
  readonly records: string;
  readonly signing: string;
}

/** MX, SPF, DKIM and DMARC of the domain; SPF and the reverse name of the server, if its addresses are public. @param signal ends the queries */
export async function examineDns(
  account: AccountConfig,
  resolver: Resolver,
  advice: DnsAdvice,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await ofDomain(account, resolver, advice);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function ofDomain(
  account: AccountConfig,
  resolver: Resolver,
  advice: DnsAdvice,
): Promise<readonly Finding[]> {
  const { from, dkim } = account;
  // A name without a dot has nothing to look up; the configuration check reports it.
  if (!from.domain.includes('.')) return [];
  const [mx, records, server] = await Promise.all([
    ofMx(from.domain, resolver),
    checkSenderRecords(account, resolver),
    ofServer(account, resolver),
  ]);
  return [
    mx,
    ...records.map(({ kind, name, text }): Finding => {
      if (kind === 'good') return ok(`${name}: ${text}`);
      return kind === 'wrong'
        ? problem(`${name}: ${text}`, advice.records, 'dns_record')
        : warning(`${name}: ${text}`, advice.records, 'dns_record');
    }),
    ...(dkim === null
      ? [warning(`mail from ${from.domain} is not signed here`, advice.signing, 'not_signed')]
      : []),
    ...server,
  ];
}

async function ofMx(domain: string, resolver: Resolver): Promise<Finding> {
  const advice =
    'Publish MX records, so that answers and bounces come back; or send from a domain that has them.';
  try {
    const servers = await resolver.resolveMx(domain);
    // RFC 7505: a domain that takes no mail publishes an empty name.
    if (servers.every(({ exchange }) => exchange === ''))
      return problem(`${domain} says that it takes no mail (MX .)`, advice, 'dns_record');
    const names = servers.sort((one, other) => one.priority - other.priority).map(({ exchange }) => exchange);
    return ok(`${domain} takes mail at ${names.slice(0, MAX_ADDRESSES).join(', ')}`);
  } catch (error) {
    const code = codeOf(error);
    if (NO_RECORD.has(code)) return problem(`${domain} has no MX record`, advice, 'dns_record');
    return problem(
      `DNS does not say where ${domain} takes mail: ${code}`,
      'See that this machine reaches its DNS server.',
      'dns_record',
    );
  }
}

/**
 * The checks that are possible when mail leaves from the addresses of this very server; providers use other addresses, with their own
 * reverse names.
 */
async function ofServer({ from, smtpUrl }: AccountConfig, resolver: Resolver): Promise<readonly Finding[]> {
  const host = hostOf(smtpUrl)?.replace(/^\[|\]$/g, '') ?? null;
  if (host === null) return [];
  const addresses = (await addressesOf(host, resolver)).filter(isPublic).slice(0, MAX_ADDRESSES);
  const lookups = new BoundedLookups(
    (name, type) => resolver.resolve(name, type) as ReturnType<Lookup>,
    () => performance.now(),
  );
  const findings = await Promise.all(
    addresses.map(async (address) => [
      ...(await ofSpf(address, host, from.domain, lookups.ofCheck())),
      await ofReverseName(address, host, resolver),
    ]),
  );
  return findings.flat();
}

async function ofSpf(
  address: string,
  host: string,
  domain: string,
  lookup: Lookup,
): Promise<readonly Finding[]> {
  // Loaded late: the library takes an eighth of a start.
  const { checkSpf } = await import('../connectors/mail-auth/check-message.ts');
  const spf = await checkSpf({ address, helo: host }, `postmaster@${domain}`, lookup);
  switch (spf?.result) {
    case 'pass':
      return [ok(`SPF of ${domain} allows ${address} (${host}) to send for it`)];
    case 'fail':
    case 'softfail':
    case 'neutral':
      return [
        warning(
          `SPF of ${domain} does not name ${address} (${host})`,
          `If mail goes out by this address, add ${isIP(address) === 6 ? 'ip6' : 'ip4'}:${address} or a:${host}.`,
          'dns_record',
        ),
      ];
    default:
      // The finding about the record already reports the fault.
      return [];
  }
}

/** The address has a name, and that name resolves to the address: large receivers demand this of a sender. */
async function ofReverseName(address: string, host: string, resolver: Resolver): Promise<Finding> {
  const names = await resolver.reverse(address).catch(() => []);
  for (const name of names.slice(0, MAX_ADDRESSES)) {
    if ((await addressesOf(name, resolver)).some((one) => isSame(one, address)))
      return ok(`the reverse name of ${address} is ${name}, which leads back to it`);
  }
  const text =
    names.length === 0
      ? `${address} (${host}) has no reverse name (PTR)`
      : `the reverse name of ${address} is ${names[0] ?? ''}, which does not lead back to it`;
  return warning(
    text,
    'If the server delivers mail to the internet directly, ask its provider to set the reverse name to the name of the server.',
    'dns_record',
  );
}

async function addressesOf(host: string, resolver: Resolver): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const [four, six] = await Promise.all([
    resolver.resolve4(host).catch(() => []),
    resolver.resolve6(host).catch(() => []),
  ]);
  return [...four, ...six];
}

const isSame = (one: string, other: string): boolean =>
  ipaddr.parse(one).toNormalizedString() === ipaddr.parse(other).toNormalizedString();
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
