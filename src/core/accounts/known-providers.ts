/** Mail servers of providers, by the domain of an address, by the servers that take its mail, and by their own names. */
import wellKnown from 'nodemailer/lib/well-known';
import type { FoundServer, FoundServers } from './found-settings.ts';

type Provider = Omit<FoundServers, 'source'>;

interface Listed extends Provider {
  readonly domains: readonly string[];
  /** The ends of the names of servers that take mail for domains of customers. */
  readonly mx: readonly string[];
}

/** `host`, `host:port`; 993 and 465 begin with TLS. */
function server(text: string, usual: number): FoundServer {
  const [host = '', port = String(usual)] = text.split(':');
  return { host, port: Number(port), isTls: port === '993' || port === '465', user: null };
}

const provider = (
  name: string,
  imap: string,
  smtp: string,
  domains: readonly string[],
  mx: readonly string[] = [],
  more: Partial<Pick<Provider, 'logIn' | 'consentOf'>> = {},
): Listed => ({
  name,
  imap: server(imap, 993),
  smtp: server(smtp, 465),
  domains,
  mx,
  logIn: 'password',
  consentOf: null,
  ...more,
});

const APP_PASSWORD = { logIn: 'app_password' } as const;
const GOOGLE = { logIn: 'consent', consentOf: 'google' } as const;
const MICROSOFT = { logIn: 'consent', consentOf: 'microsoft' } as const;

/** From the providers' own pages, November 2026. nodemailer's list has no IMAP servers, and other domains. */
const PROVIDERS: readonly Listed[] = [
  provider(
    'Google',
    'imap.gmail.com',
    'smtp.gmail.com',
    ['gmail.com', 'googlemail.com'],
    ['google.com', 'googlemail.com'],
    GOOGLE,
  ),
  provider(
    'Outlook.com',
    'outlook.office365.com',
    'smtp-mail.outlook.com:587',
    ['outlook.com', 'outlook.de', 'hotmail.com', 'hotmail.de', 'live.com', 'live.de', 'msn.com'],
    [],
    MICROSOFT,
  ),
  provider(
    'Microsoft 365',
    'outlook.office365.com',
    'smtp.office365.com:587',
    [],
    ['mail.protection.outlook.com', 'mx.microsoft'],
    MICROSOFT,
  ),
  provider('GMX', 'imap.gmx.net', 'mail.gmx.net', ['gmx.de', 'gmx.net', 'gmx.at', 'gmx.ch']),
  provider('WEB.DE', 'imap.web.de', 'smtp.web.de:587', ['web.de']),
  provider('T-Online', 'secureimap.t-online.de', 'securesmtp.t-online.de', ['t-online.de', 'magenta.de']),
  provider('freenet', 'mx.freenet.de', 'mx.freenet.de', ['freenet.de']),
  provider('mailbox.org', 'imap.mailbox.org', 'smtp.mailbox.org', ['mailbox.org'], ['mailbox.org']),
  provider('Posteo', 'posteo.de', 'posteo.de', ['posteo.de', 'posteo.net']),
  provider('IONOS', 'imap.ionos.de', 'smtp.ionos.de', [], ['kundenserver.de', 'ionos.de']),
  provider('STRATO', 'imap.strato.de', 'smtp.strato.de', [], ['rzone.de']),
  provider('Hetzner', 'mail.your-server.de', 'mail.your-server.de', [], ['your-server.de']),
  provider(
    'Infomaniak',
    'mail.infomaniak.com',
    'mail.infomaniak.com',
    ['ik.me', 'ikmail.com', 'etik.com'],
    ['infomaniak.ch'],
  ),
  provider('OVH', 'ssl0.ovh.net', 'ssl0.ovh.net', [], ['ovh.net']),
  provider('Gandi', 'mail.gandi.net', 'mail.gandi.net', [], ['gandi.net']),
  provider(
    'iCloud',
    'imap.mail.me.com',
    'smtp.mail.me.com:587',
    ['icloud.com', 'me.com', 'mac.com'],
    ['mail.icloud.com'],
    APP_PASSWORD,
  ),
  provider(
    'Yahoo',
    'imap.mail.yahoo.com',
    'smtp.mail.yahoo.com',
    ['yahoo.com', 'yahoo.de'],
    [],
    APP_PASSWORD,
  ),
  provider('AOL', 'imap.aol.com', 'smtp.aol.com', ['aol.com', 'aol.de'], [], APP_PASSWORD),
  provider(
    'Fastmail',
    'imap.fastmail.com',
    'smtp.fastmail.com',
    ['fastmail.com', 'fastmail.fm'],
    ['messagingengine.com'],
    APP_PASSWORD,
  ),
  provider('Zoho', 'imap.zoho.eu', 'smtp.zoho.eu', ['zoho.eu'], ['zoho.eu'], APP_PASSWORD),
  provider('Zoho', 'imap.zoho.com', 'smtp.zoho.com', ['zoho.com'], ['zoho.com'], APP_PASSWORD),
];

/** @param domain in lower case */
export function providerOfDomain(domain: string): Provider | null {
  const listed = PROVIDERS.find(({ domains }) => domains.includes(domain));
  if (listed !== undefined) return toProvider(listed);
  const service = wellKnown(domain);
  if (service === false || service.host === undefined) return null;
  const port = Number(service.port);
  return {
    name: service.description ?? service.host,
    smtp: { host: service.host, port, isTls: port === 465, user: null },
    imap: null,
    logIn: 'password',
    consentOf: null,
  };
}

/** The provider at which a domain has its mailboxes. @param exchange the name of a server that takes its mail, in lower case */
export function providerOfExchange(exchange: string): Provider | null {
  const listed = PROVIDERS.find(({ mx }) =>
    mx.some((end) => exchange === end || exchange.endsWith(`.${end}`)),
  );
  return listed === undefined ? null : toProvider(listed);
}

/** How to log in at a server that was found elsewhere. */
export function logInAt(host: string): Pick<Provider, 'name' | 'logIn' | 'consentOf'> | null {
  const listed = PROVIDERS.find(({ imap, smtp }) => imap?.host === host || smtp?.host === host);
  return listed === undefined ? null : toProvider(listed);
}

const toProvider = ({ domains: _domains, mx: _mx, ...provider }: Listed): Provider => provider;
