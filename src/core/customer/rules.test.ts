import { describe, expect, it } from 'vitest';
import { ServiceError } from '../errors.ts';
import { MAX_CUSTOMER_ADDRESSES, MAX_CUSTOMER_DOMAINS } from './limits.ts';
import { parseCustomerRules } from './rules.ts';

function refusalOf(addresses: readonly string[], domains: readonly string[]): ServiceError {
  try {
    parseCustomerRules(addresses, domains);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('parseCustomerRules', () => {
  it('brings each rule into one spelling, once', () => {
    expect(
      parseCustomerRules(
        ['Ada@ACME.test', 'ada@acme.test', 'Info <info@Bücher.example>', 'ann+news@acme.test'],
        ['ACME.test', '*.ACME.test', 'bücher.example', 'acme.test', 'localhost'],
      ),
    ).toEqual({
      addresses: ['ada@acme.test', 'info@xn--bcher-kva.example', 'ann+news@acme.test'],
      domains: ['acme.test', '*.acme.test', 'xn--bcher-kva.example', 'localhost'],
    });
  });

  it('takes addresses of mail providers', () => {
    expect(parseCustomerRules(['ada@gmail.com'], []).addresses).toEqual(['ada@gmail.com']);
  });

  it.each([
    'gmail.com',
    'googlemail.com',
    'web.de',
    'gmx.de',
    'gmx.net',
    'gmx.at',
    'outlook.com',
    'hotmail.de',
    't-online.de',
    'freenet.de',
    'posteo.de',
    'mailbox.org',
    'bluewin.ch',
    'icloud.com',
    'GMAIL.com',
    '*.gmail.com',
    'co.uk',
    '*.co.uk',
    'de',
    '*.de',
    '*.com',
    '*.github.io',
    '*.uk.com',
  ])('refuses %s as public', (domain) => {
    const error = refusalOf([], ['acme.test', domain]);
    expect(error.code).toBe('public_domain');
    expect(error.text).toContain(domain.toLowerCase());
    expect(error.text).not.toContain('acme');
  });

  it('names all public domains at once, and at most ten', () => {
    expect(refusalOf([], ['gmail.com', 'acme.test', 'web.de']).text).toContain('gmail.com, web.de');
    const many = refusalOf(
      [],
      ['de', 'com', 'net', 'org', 'fr', 'nl', 'at', 'ch', 'it', 'es', 'pl', 'cz'],
    ).text;
    expect(many).toContain('es, …');
  });

  it.each(['example.com', 'acme.co.uk', '*.acme.co.uk', 'siemens.com', 'uk.com', 'intranet', '*.internal'])(
    'takes %s',
    (domain) => {
      expect(parseCustomerRules([], [domain]).domains).toEqual([domain]);
    },
  );

  it.each([
    ['', 'invalid_domain'],
    ['*.', 'invalid_domain'],
    ['*', 'invalid_domain'],
    ['*.*.acme.test', 'invalid_domain'],
    ['ada@acme.test', 'invalid_domain'],
    ['acme.test.', 'invalid_domain'],
    ['192.0.2.1', 'invalid_domain'],
    ['[192.0.2.1]', 'invalid_domain'],
    ['acme..test', 'invalid_domain'],
    [`${'a'.repeat(64)}.test`, 'invalid_domain'],
    ['acme.test/x', 'invalid_domain'],
  ])('refuses %j as a domain', (domain, code) => {
    const error = refusalOf([], ['acme.test', domain]);
    expect(error.code).toBe(code);
    expect(error.text).toContain('domains[1]');
  });

  it.each([
    ['', 'invalid_address'],
    ['acme.test', 'invalid_address'],
    ['a@acme.test, b@acme.test', 'invalid_address'],
    ['*@acme.test\r\n', 'header_injection'],
    [`${'x'.repeat(2000)}@acme.test`, 'invalid_address'],
  ])('refuses %j as an address', (address, code) => {
    const error = refusalOf(['ok@acme.test', address], []);
    expect(error.code).toBe(code);
    expect(error.text).toContain('addresses[1]');
  });

  it('refuses more than its limits', () => {
    const addresses = Array.from({ length: MAX_CUSTOMER_ADDRESSES + 1 }, (_, index) => `a${index}@acme.test`);
    const domains = Array.from({ length: MAX_CUSTOMER_DOMAINS + 1 }, (_, index) => `a${index}.test`);
    expect(parseCustomerRules(addresses.slice(1), domains.slice(1)).addresses).toHaveLength(
      MAX_CUSTOMER_ADDRESSES,
    );
    expect(refusalOf(addresses, []).code).toBe('too_many_entries');
    expect(refusalOf([], domains).text).toContain(String(MAX_CUSTOMER_DOMAINS));
  });
});
