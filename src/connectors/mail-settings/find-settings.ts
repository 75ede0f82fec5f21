/**
 * Finds the servers of a mailbox by its address: in the list of providers, and else in the DNS of its domain (SRV: RFC 6186, RFC 8314; MX) and
 * in the file that the domain publishes for mail programs. Nothing is asked but the DNS servers of this machine and, by https, public
 * addresses; the servers that are found are not connected to.
 */
import type { MxRecord, SrvRecord } from 'node:dns';
import type { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { readAutoconfig, toFoundServer } from '../../core/accounts/autoconfig.ts';
import {
  toFoundSettings,
  type FoundServer,
  type FoundServers,
  type FoundSettings,
} from '../../core/accounts/found-settings.ts';
import { logInAt, providerOfDomain, providerOfExchange } from '../../core/accounts/known-providers.ts';
import type { Address } from '../../core/address/address.ts';
import type { FindAccountSettings } from '../../areas/accounts/account-ports.ts';
import { createPublicFetcher, readBounded } from '../../platform/base/fetch-public.ts';

/** Of one file, with its redirects, in ms. */
const FILE_MS = 5000;
/** Real ones have some kB. */
const MAX_FILE_BYTES = 64 * 1024;
/** Of one kind of records; real domains have one to five. */
const MAX_RECORDS = 20;

export interface FindSettingsPorts {
  readonly createResolver: () => Resolver;
  /** Resolves names to permitted addresses only. */
  readonly lookup: LookupFunction;
  /** Throws for an address that may not be connected to. */
  readonly checkAddress: (address: string) => void;
  /** Default: 5 s for each file. */
  readonly timeoutMs?: number;
  /** Default: 443. */
  readonly port?: number;
  /** Certificates of trusted authorities, in PEM; default: those of Node.js. */
  readonly ca?: string;
}

export function createFindSettings(ports: FindSettingsPorts): FindAccountSettings {
  const { createResolver, lookup, checkAddress, timeoutMs = FILE_MS, port = 443, ca } = ports;
  const fetchFile = createPublicFetcher({
    what: 'file',
    lookup,
    checkAddress,
    headers: { accept: 'text/xml, application/xml', 'accept-encoding': 'identity' },
    timeoutMs,
    toTarget: toHttps,
    read: async (response, signal) => (await readBounded(response, MAX_FILE_BYTES, signal)).toString('utf8'),
    ...(ca === undefined ? {} : { ca }),
  });

  async function ofFile(address: Address, url: string, signal: AbortSignal): Promise<FoundServers | null> {
    const fetched = await fetchFile(url, signal);
    const file = fetched.kind === 'fetched' ? readAutoconfig(fetched.value, address) : null;
    return file === null ? null : { ...file, source: 'autoconfig', logIn: 'password', consentOf: null };
  }

  /** The first of the two files that there is. */
  async function ofFiles(address: Address, signal: AbortSignal): Promise<FoundServers | null> {
    const { domain } = address;
    const place = port === 443 ? '' : `:${port}`;
    // The address is not sent along: it belongs to no file name.
    const [first, second] = await Promise.all([
      ofFile(address, `https://autoconfig.${domain}${place}/mail/config-v1.1.xml`, signal),
      ofFile(address, `https://${domain}${place}/.well-known/autoconfig/mail/config-v1.1.xml`, signal),
    ]);
    return first ?? second;
  }

  return async (address, signal) => {
    const { domain } = address;
    // An address literal, or a name of this machine.
    if (domain.startsWith('[') || isIP(domain) !== 0 || !domain.includes('.')) return [];
    const known = providerOfDomain(domain);
    if (known !== null) return [toFoundSettings(address, { ...known, source: 'provider' })];
    const resolver = createResolver();
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const found = await Promise.all([
        ofSrv(resolver, domain),
        ofFiles(address, signal),
        ofMx(resolver, domain),
      ]);
      return distinct(
        found.flatMap((servers) => (servers === null ? [] : [toFoundSettings(address, withLogIn(servers))])),
      );
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** Only https, without a user that a stranger would log in as. */
function toHttps(address: string): string | null {
  const url = new URL(address);
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
}

/** RFC 8314 §3.3 prefers TLS from the beginning, as long as the domain does not order otherwise. */
async function ofSrv(resolver: Resolver, domain: string): Promise<FoundServers | null> {
  const find = (service: string) => best(resolver.resolveSrv(`_${service}._tcp.${domain}`));
  const [submissions, submission, imaps, imap] = await Promise.all([
    find('submissions'),
    find('submission'),
    find('imaps'),
    find('imap'),
  ]);
  const servers = { smtp: preferred(submissions, submission), imap: preferred(imaps, imap) };
  if (servers.smtp === null && servers.imap === null) return null;
  return { source: 'srv', name: null, ...servers, logIn: 'password', consentOf: null };
}

/** RFC 6186 §3.4: the target "." means that the domain has no such service. */
async function best(asked: Promise<SrvRecord[]>): Promise<SrvRecord | null> {
  const records = await asked.catch(() => []);
  return (
    records
      .slice(0, MAX_RECORDS)
      .filter(({ name }) => name !== '')
      .toSorted((one, other) => one.priority - other.priority || other.weight - one.weight)[0] ?? null
  );
}

function preferred(tls: SrvRecord | null, plain: SrvRecord | null): FoundServer | null {
  const isTls = tls !== null && (plain === null || tls.priority <= plain.priority);
  const record = isTls ? tls : plain;
  return record === null ? null : toFoundServer(record.name, String(record.port), isTls);
}

async function ofMx(resolver: Resolver, domain: string): Promise<FoundServers | null> {
  const records: MxRecord[] = await resolver.resolveMx(domain).catch(() => []);
  for (const { exchange } of records
    .slice(0, MAX_RECORDS)
    .toSorted((one, other) => one.priority - other.priority)) {
    const provider = providerOfExchange(exchange.toLowerCase());
    if (provider !== null) return { ...provider, source: 'mx' };
  }
  return null;
}

/**
 * Servers of a provider want its log-in, wherever their names were found. Only if all of them are its own: beside one of them, another server
 * would get the tokens that are meant for the provider.
 */
function withLogIn(servers: FoundServers): FoundServers {
  const hosts = [servers.imap, servers.smtp].flatMap((server) => (server === null ? [] : [server.host]));
  const [known = null, other = known] = hosts.map(logInAt);
  if (known === null || other?.consentOf !== known.consentOf || other.logIn !== known.logIn) return servers;
  const { name, logIn, consentOf } = known;
  return { ...servers, name: servers.name ?? name, logIn, consentOf };
}

/** The same servers once, under the first source. */
function distinct(all: readonly FoundSettings[]): readonly FoundSettings[] {
  const keyOf = ({ smtpUrl, imapUrl }: FoundSettings) => `${smtpUrl ?? ''} ${imapUrl ?? ''}`;
  return [...new Map(all.toReversed().map((found) => [keyOf(found), found])).values()].toReversed();
}
