import { describe, expect, it } from 'vitest';
import { parseAddress } from '../address/address-list.ts';
import { ownAddresses, type Sender } from '../accounts/sender-addresses.ts';
import { classifyAutomatic } from '../delivery/automatic.ts';
import type { MailAuthentication } from '../message/authentication.ts';
import { parseMessage } from '../mime/parse/parse.ts';
import { absenceRecipient, type AbsenceFacts } from './absence-recipient.ts';

const account: Sender = {
  from: parseAddress('Vertrieb <sales@firma.test>', 'from'),
  addresses: [{ address: parseAddress('*@shop.test', 'from'), replyTo: null }],
};
const other: Sender = { from: parseAddress('info@firma.test', 'from') };
const isOwn = ownAddresses([account, other]);

const PLAIN = {
  'Return-Path': '<ada@kunde.test>',
  From: 'Ada <ada@kunde.test>',
  To: 'sales@firma.test',
  Subject: 'Angebot',
};

/** @param fields replace those of PLAIN; null removes one */
function recipientOf(
  fields: Readonly<Record<string, string | null>> = {},
  facts: Partial<Pick<AbsenceFacts, 'mailFrom' | 'authentication'>> = {},
): string | null {
  const lines = Object.entries({ ...PLAIN, ...fields }).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  );
  const message = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\nGuten Tag\r\n`));
  const { mailFrom } = facts;
  const automatic = classifyAutomatic(message, mailFrom === undefined ? {} : { mailFrom });
  return absenceRecipient({
    message,
    mailFrom,
    automatic,
    authentication: null,
    account,
    isOwn,
    ...facts,
  });
}

const judged = (verdict: MailAuthentication['verdict']): MailAuthentication => ({
  source: 'checked',
  spf: null,
  dkim: [],
  dmarc: null,
  arc: null,
  verdict,
});

describe('an absence answers', () => {
  it.each([
    ['a person who writes to the account', {}],
    ['a person in other letters', { From: 'ADA@Kunde.test', 'Return-Path': '<ada@KUNDE.test>' }],
    ['a person who names the account in Cc', { To: 'bob@kunde.test', Cc: 'Vertrieb <SALES@firma.test>' }],
    ['a person who writes to +detail of the account', { To: 'sales+angebot@firma.test' }],
    ['a person who writes to a domain of the account', { To: 'kasse@shop.test' }],
    ['mail that says that a person sent it', { 'Auto-Submitted': 'no' }],
    ['mail that is no spam', { 'X-Spam-Status': 'No, score=0.1', 'X-Spam-Flag': 'NO' }],
  ])('%s', (_title, fields) => {
    expect(recipientOf(fields)).toBe('ada@kunde.test');
  });

  it('the envelope sender where the message came by SMTP or LMTP, whatever Return-Path says', () => {
    expect(recipientOf({ 'Return-Path': null }, { mailFrom: 'ada@kunde.test' })).toBe('ada@kunde.test');
    expect(recipientOf({}, { mailFrom: 'opfer@anderswo.test' })).toBeNull();
    expect(recipientOf({}, { mailFrom: null })).toBeNull();
  });

  it('a sender whose check proved something, or nothing, but not one whose check failed', () => {
    expect(recipientOf({}, { authentication: judged('passed') })).toBe('ada@kunde.test');
    expect(recipientOf({}, { authentication: judged('unknown') })).toBe('ada@kunde.test');
    expect(recipientOf({}, { authentication: judged('failed') })).toBeNull();
  });
});

describe('an absence does not answer', () => {
  it.each([
    ['the null sender', { 'Return-Path': '<>' }],
    ['mail without Return-Path, RFC 3834 §4', { 'Return-Path': null }],
    [
      'a Return-Path of another mailbox: a list, a forwarder, or a victim',
      { 'Return-Path': '<x@opfer.test>' },
    ],
    [
      'a second Return-Path, which the sender wrote',
      { 'return-path': '<ada@kunde.test>', 'Return-Path': '<x@b.test>' },
    ],
    ['two writers', { From: 'ada@kunde.test, bob@kunde.test' }],
    ['no writer', { From: null }],
    ['automatic mail', { 'Auto-Submitted': 'auto-generated' }],
    ['automatic answers', { 'Auto-Submitted': 'auto-replied (vacation)' }],
    ['a value of Auto-Submitted of no standard', { 'Auto-Submitted': 'yes' }],
    ['bulk mail', { Precedence: 'bulk' }],
    ['junk mail', { Precedence: 'junk' }],
    ['mail of a list', { Precedence: 'list' }],
    ['mail with List-Id', { 'List-Id': '<news.firma.test>' }],
    ['mail with any field of lists', { 'List-Help': '<mailto:help@kunde.test>' }],
    ['mail that asks for no answers', { 'X-Auto-Response-Suppress': 'OOF' }],
    ['mail that asks for no answers at all', { 'X-Auto-Response-Suppress': 'All' }],
    ['spam', { 'X-Spam-Flag': 'YES' }],
    ['spam by its status', { 'X-Spam-Status': 'Yes, score=9.1' }],
    ['mail that does not name the account: Bcc, a list, a forwarder', { To: 'undisclosed-recipients:;' }],
    ['mail to another account', { To: 'info@firma.test' }],
    ['answers that go to one of us', { 'Reply-To': 'info@firma.test' }],
    ['an answer to a list', { 'Reply-To': 'liste-request@kunde.test' }],
    ['a vacation subject', { Subject: 'Abwesenheitsnotiz: Angebot' }],
  ])('%s', (_title, fields) => {
    expect(recipientOf(fields)).toBeNull();
  });

  it.each([
    'MAILER-DAEMON@kunde.test',
    'postmaster@kunde.test',
    'noreply@kunde.test',
    'no-reply@kunde.test',
    'shop.noreply@kunde.test',
    'DoNotReply@kunde.test',
    'keine-antwort@kunde.test',
    'owner-liste@kunde.test',
    'liste-request@kunde.test',
    'listserv@kunde.test',
    'majordomo@kunde.test',
    'bounces+17@kunde.test',
    'sales@firma.test',
    'sales+x@firma.test',
    'info@firma.test',
    'jemand@shop.test',
  ])('%s', (address) => {
    expect(recipientOf({ From: address, 'Return-Path': `<${address}>` })).toBeNull();
  });
});
