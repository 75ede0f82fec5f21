import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { parseAddress } from '../address/address-list.ts';
import { readAutoconfig } from './autoconfig.ts';
import { toFoundSettings } from './found-settings.ts';
import { logInAt, providerOfDomain, providerOfExchange } from './known-providers.ts';

const ADDRESS = parseAddress('Ann <"a b%EMAILDOMAIN%"@company.test>', 'address');

/** Texts that a file could have in each of its places, right and wrong. */
const value = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'imap',
    'smtp',
    'SSL',
    'STARTTLS',
    '993',
    'mail.company.test',
    '%EMAILADDRESS%',
    '127.0.0.1',
    '&#0;',
    '&#xD800;',
  ),
);
const field = fc
  .tuple(
    fc.constantFrom('hostname', 'port', 'socketType', 'username', 'displayName', '__proto__', 'constructor'),
    value,
  )
  .map(([name, text]) => `<${name}>${text}</${name}>`);
const server = fc
  .tuple(fc.constantFrom('incomingServer', 'outgoingServer'), value, fc.array(field, { maxLength: 8 }))
  .map(([name, type, fields]) => `<${name} type="${type}">${fields.join('')}</${name}>`);
const file = fc
  .array(fc.oneof(server, field, fc.string()), { maxLength: 6 })
  .map((parts) => `<clientConfig><emailProvider id="x">${parts.join('')}</emailProvider></clientConfig>`);

describe('the file of a domain', () => {
  it('gives addresses of servers that a URL keeps as they are, or nothing', () => {
    fc.assert(
      fc.property(fc.oneof(file, fc.string({ unit: 'binary' })), (text) => {
        const found = readAutoconfig(text, ADDRESS);
        if (found === null) return;
        const settings = toFoundSettings(ADDRESS, {
          ...found,
          source: 'autoconfig',
          logIn: 'password',
          consentOf: null,
        });
        for (const [url, of] of [
          [settings.smtpUrl, found.smtp],
          [settings.imapUrl, found.imap],
        ] as const) {
          if (url === null || of === null) continue;
          const { hostname, username, password, pathname, search } = new URL(url);
          expect([hostname, password, pathname, search]).toEqual([of.host, '', '', '']);
          expect(of.host).toContain('.');
          expect(decodeURIComponent(username)).toBe(of.user ?? '"a b%EMAILDOMAIN%"@company.test');
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('a provider', () => {
  it.each([
    ['gmail.com', 'imap.gmail.com', 'consent'],
    ['gmx.de', 'imap.gmx.net', 'password'],
    ['icloud.com', 'imap.mail.me.com', 'app_password'],
  ])('is known by the domain %s', (domain, host, logIn) => {
    expect(providerOfDomain(domain)).toMatchObject({ imap: { host, port: 993, isTls: true }, logIn });
  });

  it.each([
    ['aspmx.l.google.com', 'Google'],
    ['company-com.mail.protection.outlook.com', 'Microsoft 365'],
    ['mx00.kundenserver.de', 'IONOS'],
    ['in1-smtp.messagingengine.com', 'Fastmail'],
  ])('is known by the server %s', (exchange, name) => {
    expect(providerOfExchange(exchange)?.name).toBe(name);
  });

  it.each(['notgoogle.com', 'google.com.company.test', 'company.test', ''])('is not found by %s', (name) => {
    expect([providerOfExchange(name), providerOfDomain(name), logInAt(name)]).toEqual([null, null, null]);
  });

  it('makes a name that is cut well formed', () => {
    const server = '<hostname>imap.company.test</hostname><port>993</port><socketType>SSL</socketType>';
    const name = `${'x'.repeat(99)}\u{1f600}`;
    const text = `<emailProvider><displayName>${name}</displayName><incomingServer type="imap">${server}</incomingServer></emailProvider>`;
    expect(readAutoconfig(text, ADDRESS)?.name?.isWellFormed()).toBe(true);
  });
});
