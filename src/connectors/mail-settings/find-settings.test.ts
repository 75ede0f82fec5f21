/** Domains that publish the servers of their mailboxes, rightly and wrongly: a DNS server and web servers of this machine. */
import { once } from 'node:events';
import https from 'node:https';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Resolver } from 'node:dns/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createCertificate } from '../../../test/helpers/certificate.ts';
import { startDnsServer, type DnsServer } from '../../../test/helpers/dns-server.ts';
import { parseAddress } from '../../core/address/address-list.ts';
import { guardedLookup } from '../webhooks/guarded-lookup.ts';
import { isPublic } from '../webhooks/public-addresses.ts';
import { createFindSettings } from './find-settings.ts';

const NEVER = new AbortController().signal;
const { cert, key } = createCertificate({
  names: ['autoconfig.company.test', 'company.test', 'elsewhere.test'],
});

let dns: DnsServer;
let server: https.Server;
let answer: RequestListener;
let asked: string[] = [];
beforeAll(async () => {
  dns = await startDnsServer();
  server = https.createServer({ cert, key }, (request, response) => {
    asked.push(`${request.headers.host?.split(':')[0] ?? ''}${request.url ?? ''}`);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await dns.stop();
});
afterEach(() => {
  dns.others.clear();
  asked = [];
  answer = notFound;
});

const notFound: RequestListener = (_, response) => void response.writeHead(404).end();
const portOf = () => (server.address() as AddressInfo).port;
answer = notFound;

function requirePublic(address: string): void {
  if (!isPublic(address)) throw Object.assign(new Error(), { code: 'not_a_public_address' });
}

/** As in the service, but that `publicNames` have an address of this machine that counts as public. */
function find(
  address: string,
  { publicNames = ['autoconfig.company.test', 'company.test', 'elsewhere.test'], timeoutMs = 5000 } = {},
) {
  const findSettings = createFindSettings({
    createResolver() {
      const resolver = new Resolver({ timeout: 1000, tries: 1 });
      resolver.setServers([dns.address]);
      return resolver;
    },
    lookup: guardedLookup(
      async () => ['127.0.0.1'],
      (found, host) => {
        if (!publicNames.includes(host)) requirePublic(found);
      },
    ),
    checkAddress: requirePublic,
    port: portOf(),
    ca: cert,
    timeoutMs,
  });
  return findSettings(parseAddress(address, 'address'), NEVER);
}

const FILE = `<?xml version="1.0"?>
<clientConfig version="1.1">
  <emailProvider id="company.test">
    <displayName>Company &amp; Sons</displayName>
    <incomingServer type="pop3"><hostname>pop.company.test</hostname><port>995</port><socketType>SSL</socketType></incomingServer>
    <incomingServer type="imap"><hostname>plain.company.test</hostname><port>143</port><socketType>plain</socketType></incomingServer>
    <incomingServer type="imap">
      <hostname>imap.%EMAILDOMAIN%</hostname><port>993</port><socketType>SSL</socketType>
      <username>%EMAILLOCALPART%</username><authentication>password-cleartext</authentication>
    </incomingServer>
    <outgoingServer type="smtp">
      <hostname>smtp.company.test</hostname><port>587</port><socketType>STARTTLS</socketType>
      <username>%EMAILADDRESS%</username>
    </outgoingServer>
  </emailProvider>
</clientConfig>`;

it('is found in the list of providers without asking anything', async () => {
  expect(await find('ann@gmail.com')).toEqual([
    {
      source: 'provider',
      name: 'Google',
      logIn: 'consent',
      smtpUrl: 'smtps://ann%40gmail.com@smtp.gmail.com:465',
      imapUrl: 'imaps://ann%40gmail.com@imap.gmail.com:993',
      oauth2: { provider: 'google' },
      note: null,
    },
  ]);
  // Only in nodemailer's list.
  expect(await find('ann@kolabnow.com')).toMatchObject([
    { source: 'provider', imapUrl: null, smtpUrl: 'smtps://ann%40kolabnow.com@smtp.kolabnow.com:465' },
  ]);
  expect(asked).toEqual([]);
});

it('is found by SRV, the file of the domain and MX, in this order, and the same servers once', async () => {
  dns.others.set('SRV _submissions._tcp.company.test', ['10 1 465 b.company.test', '5 1 465 a.company.test']);
  dns.others.set('SRV _submission._tcp.company.test', ['5 1 587 plain.company.test']);
  dns.others.set('SRV _imaps._tcp.company.test', ['0 0 0 .']);
  dns.others.set('SRV _imap._tcp.company.test', ['0 1 143 imap.other.test']);
  dns.others.set('MX company.test', [
    '20 backup.company.test',
    '10 company-test.mail.protection.outlook.com',
  ]);
  answer = (_, response) => void response.end(FILE);
  expect(await find('ann@company.test')).toEqual([
    {
      source: 'srv',
      name: null,
      logIn: 'password',
      smtpUrl: 'smtps://ann%40company.test@a.company.test:465',
      imapUrl: 'imap://ann%40company.test@imap.other.test:143',
      oauth2: null,
      note: expect.stringContaining('outside the domain') as string,
    },
    {
      source: 'autoconfig',
      name: 'Company & Sons',
      logIn: 'password',
      smtpUrl: 'smtp://ann%40company.test@smtp.company.test:587',
      imapUrl: 'imaps://ann@imap.company.test:993',
      oauth2: null,
      note: null,
    },
    {
      source: 'mx',
      name: 'Microsoft 365',
      logIn: 'consent',
      smtpUrl: 'smtp://ann%40company.test@smtp.office365.com:587',
      imapUrl: 'imaps://ann%40company.test@outlook.office365.com:993',
      oauth2: { provider: 'microsoft' },
      note: null,
    },
  ]);
  // Nothing of the address but its domain is asked for.
  expect(asked.toSorted()).toEqual([
    'autoconfig.company.test/mail/config-v1.1.xml',
    'company.test/.well-known/autoconfig/mail/config-v1.1.xml',
  ]);
});

it('logs in as the provider of the servers wants it, wherever their names were found', async () => {
  dns.others.set('SRV _imaps._tcp.company.test', ['0 1 993 imap.gmail.com']);
  dns.others.set('SRV _submissions._tcp.company.test', ['0 1 465 smtp.gmail.com']);
  dns.others.set('MX company.test', ['1 aspmx.l.google.com']);
  expect(await find('ann@company.test')).toMatchObject([
    { source: 'srv', name: 'Google', logIn: 'consent', oauth2: { provider: 'google' }, note: null },
  ]);
});

it.each([
  ['imap.gmail.com', 'smtp.attacker.test'],
  ['imap.attacker.test', 'smtp.gmail.com'],
  ['outlook.office365.com', 'smtp.gmail.com'],
])('asks no consent for %s beside %s, which would get the token as well', async (imap, smtp) => {
  dns.others.set('SRV _imaps._tcp.company.test', [`0 1 993 ${imap}`]);
  dns.others.set('SRV _submissions._tcp.company.test', [`0 1 465 ${smtp}`]);
  expect(await find('ann@company.test')).toMatchObject([
    { source: 'srv', name: null, logIn: 'password', oauth2: null, note: expect.stringContaining('outside') },
  ]);
});

it('follows a redirect to https, and to nothing else', async () => {
  const redirects: string[] = [];
  answer = ({ url, headers: { host = '' } }, response) => {
    if (url?.startsWith('/file') === true) return void response.end(FILE);
    const location = host.startsWith('autoconfig.') ? redirects[0] : undefined;
    response.writeHead(location === undefined ? 404 : 302, location === undefined ? {} : { location }).end();
  };
  redirects[0] = `https://elsewhere.test:${portOf()}/file`;
  expect(await find('ann@company.test')).toMatchObject([{ source: 'autoconfig' }]);
  for (const target of [
    'http://elsewhere.test/file',
    `https://ann:x@elsewhere.test:${portOf()}/file`,
    'file:///etc/passwd',
  ]) {
    redirects[0] = target;
    expect(await find('ann@company.test')).toEqual([]);
  }
});

it.each([
  ['by its name', []],
  ['by a redirect', ['autoconfig.company.test', 'company.test']],
])('asks no private address: %s', async (_, publicNames) => {
  answer = ({ url }, response) =>
    void (url?.startsWith('/file') === true
      ? response.end(FILE)
      : response.writeHead(302, { location: `https://127.0.0.1:${portOf()}/file` }).end());
  expect(await find('ann@company.test', { publicNames })).toEqual([]);
  expect(asked.filter((path) => path.includes('/file'))).toEqual([]);
  expect(asked.length).toBe(publicNames.length);
});

it.each(['ann@[127.0.0.1]', 'ann@localhost'])('asks nothing about %s', async (address) => {
  expect(await find(address)).toEqual([]);
  expect(asked).toEqual([]);
});

const INSIDE = (text: string) =>
  `<clientConfig><emailProvider><incomingServer type="imap">${text}</incomingServer></emailProvider></clientConfig>`;
const SERVER = '<port>993</port><socketType>SSL</socketType>';

it.each([
  [
    'entities',
    `<!DOCTYPE c [<!ENTITY h "imap.company.test">]>${INSIDE(`<hostname>&h;</hostname>${SERVER}`)}`,
  ],
  ['a document type', `<!DOCTYPE c SYSTEM "https://company.test/c.dtd">${FILE}`],
  ['elements without end', '<a>'.repeat(20_000)],
  ['more than the file may have', FILE + ' '.repeat(64 * 1024)],
  ['an address for a name', INSIDE(`<hostname>127.0.0.1</hostname>${SERVER}`)],
  ['a name of this machine', INSIDE(`<hostname>a.localhost</hostname>${SERVER}`)],
  ['a name with more than a name', INSIDE(`<hostname>imap.company.test@other.test/?</hostname>${SERVER}`)],
  [
    'a port that is none',
    INSIDE('<hostname>imap.company.test</hostname><port>99999</port><socketType>SSL</socketType>'),
  ],
  ['no TLS', INSIDE('<hostname>imap.company.test</hostname><port>143</port><socketType>plain</socketType>')],
  ['no XML', '\u0000{"a": 1}'],
])('reads nothing from a file with %s', async (_, file) => {
  answer = (_request, response) => void response.end(file);
  expect(await find('ann@company.test')).toEqual([]);
});

it('does not wait for a server that goes on without end', async () => {
  answer = (_, response) => void response.write('<clientConfig>');
  expect(await find('ann@company.test', { timeoutMs: 200 })).toEqual([]);
});
