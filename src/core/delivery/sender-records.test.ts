import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dkimRecord, formatTxtRecord, judgeDkimRecord, judgeDmarc, judgeSpf } from './sender-records.ts';

const expected = dkimRecord(
  'example.com',
  's',
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
);
const KEY = /p=(.*)$/.exec(expected.value)?.[1] ?? '';
const other = dkimRecord('example.com', 's', generateKeyPairSync('ed25519').privateKey);

describe('judgeDkimRecord', () => {
  it.each([
    ['good', [expected.value], 'the public key is the one of the service'],
    ['good', [`p=${KEY}`], 'the public key is the one of the service'],
    [
      'good',
      [`v=DKIM1;k=rsa;h=sha1:sha256;s=email;p=${KEY.slice(0, 90)} ${KEY.slice(90)};`],
      'the public key is',
    ],
    ['advice', [`v=DKIM1; t=y:s; p=${KEY}`], 'is being tested'],
    ['wrong', [], 'there is no TXT record; publish "v=DKIM1; k=rsa; p='],
    ['wrong', [expected.value, other.value], 'there are 2 TXT records'],
    ['wrong', ['hello'], 'not made of tags'],
    ['wrong', [`p=${KEY}; v=DKIM1`], 'v=DKIM1 must come first'],
    ['wrong', [`v=DKIM2; p=${KEY}`], 'v=DKIM1 must come first'],
    ['wrong', ['v=DKIM1; k=rsa'], 'has no public key'],
    ['wrong', ['v=DKIM1; p='], 'was withdrawn'],
    ['wrong', [other.value], 'a key of the type ed25519, the private key is of rsa'],
    ['wrong', [`v=DKIM1; p=${KEY.slice(0, 200)}`], 'cut off'],
    ['wrong', [`v=DKIM1; p=${KEY.replace(/.{4}$/, 'AAAA')}`], 'another private key'],
    ['wrong', [`v=DKIM1; h=sha1; p=${KEY}`], 'does not allow SHA-256'],
    ['wrong', [`v=DKIM1; s=tlsrpt; p=${KEY}`], 'does not allow email'],
  ] as const)('%s: %j', (kind, published, text) => {
    const finding = judgeDkimRecord(expected, published);
    expect([finding.kind, finding.name]).toEqual([kind, 's._domainkey.example.com']);
    expect(finding.text).toContain(text);
  });
});

describe('judgeSpf', () => {
  it.each([
    ['good', null, ['google-site=1', 'v=spf1 mx -all'], 'SPF: v=spf1 mx -all'],
    ['good', 'smtp.office365.com', ['v=spf1 include:spf.protection.outlook.com ~all'], 'SPF:'],
    ['good', null, ['v=spf1 redirect=_spf.example.org'], 'SPF:'],
    ['advice', 'email-smtp.eu-west-1.amazonaws.com', ['v=spf1 mx ~all'], 'add include:amazonses.com'],
    ['advice', null, ['v=spf1 mx'], 'end it with ~all'],
    ['wrong', 'mail.example.com', [], 'publish one such as "v=spf1 a:mail.example.com ~all"'],
    ['wrong', '192.0.43.10', [], 'publish one such as "v=spf1 ip4:192.0.43.10 ~all"'],
    ['wrong', '2001:db8::1', [], 'publish one such as "v=spf1 ip6:2001:db8::1 ~all"'],
    ['wrong', '127.0.0.1', [], 'publish one such as "v=spf1 a mx ~all"'],
    ['wrong', 'localhost', [], 'publish one such as "v=spf1 a mx ~all"'],
    ['wrong', null, ['v=spf10 -all'], 'there is no SPF record'],
    ['wrong', null, ['v=spf1 -all', 'v=spf1 mx -all'], 'there are 2 SPF records'],
    ['wrong', null, ['v=spf1 +all'], 'allows every machine'],
    ['wrong', null, ['v=spf1 all'], 'allows every machine'],
  ] as const)('%s for the server %s: %j', (kind, host, published, text) => {
    const finding = judgeSpf('example.com', host, published);
    expect([finding.kind, finding.text]).toEqual([kind, expect.stringContaining(text)]);
  });
});

describe('judgeDmarc', () => {
  it.each([
    ['good', 'example.com', ['v=DMARC1; p=reject'], 'DMARC: v=DMARC1'],
    ['good', 'example.com', ['v=DMARC1;p=quarantine;adkim=s'], 'DMARC:'],
    ['advice', 'example.com', ['v=DMARC1; p=none'], 'go on to p=quarantine'],
    ['wrong', 'mail.example.com', ['v=DMARC1; p=reject; adkim=s'], 'counts signatures of example.com only'],
    ['wrong', 'example.com', [], 'there is no DMARC record'],
    ['wrong', 'example.com', ['v=DMARC1'], 'has no policy'],
    ['wrong', 'example.com', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'there are 2 DMARC records'],
  ] as const)('%s when %s signs: %j', (kind, dkimDomain, published, text) => {
    const question = { fromDomain: 'example.com', dkimDomain, name: '_dmarc.example.com', published };
    const finding = judgeDmarc(question);
    expect([finding.kind, finding.text]).toEqual([kind, expect.stringContaining(text)]);
  });
});

describe('formatTxtRecord', () => {
  it('splits a value that is too long for one string', () => {
    const line = formatTxtRecord(expected);
    const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
    expect(line.startsWith('s._domainkey.example.com. IN TXT "v=DKIM1; ')).toBe(true);
    expect(strings.join('')).toBe(expected.value);
    expect(strings[0]).toHaveLength(255);
  });
});
