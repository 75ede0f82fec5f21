import { describe, expect, it } from 'vitest';
import { parseMessage } from '../mime/parse/parse.ts';
import { toCopyContent } from './copy-content.ts';
import { chooseSent, isRewrittenCopy, type SentCandidate } from './sent-copy.ts';
import type { MessageId } from './message-id.ts';

const SENT: SentCandidate = {
  id: 'a',
  state: 'sent',
  hasRelayMessageId: false,
  messageId: 'ours@example.com' as MessageId,
  date: new Date('2026-03-02T08:15:00Z'),
  from: ['sales@example.com'],
  to: ['Ada@customer.test', 'max@customer.test'],
  cc: [],
  bcc: ['boss@example.com'],
  subject: 'Angebot  12',
  inReplyTo: ['q@customer.test'],
  text: 'Guten Tag,\n\nanbei.\n',
  html: '<p>Guten Tag,</p><p>anbei.</p>',
  attachmentDigests: ['d1', 'd2'],
};

const FIELDS = [
  'From: Sales <SALES@example.com>',
  'To: max@customer.test, Ada <ada@customer.test>',
  'Subject: Angebot 12',
  'Date: Mon, 2 Mar 2026 09:15:00 +0100',
  'Message-ID: <relay@relay.test>',
  'In-Reply-To: <q@customer.test>',
];
const copyOf = (fields = FIELDS, body = 'Guten Tag,\r\n\r\nanbei.', digests = ['d2', 'd1']) => ({
  ...toCopyContent(parseMessage(Buffer.from(`${fields.join('\r\n')}\r\n\r\n${body}`)), digests),
  html: SENT.html,
});
const withField = (name: string, value: string) =>
  FIELDS.map((field) => (field.startsWith(`${name}:`) ? `${name}: ${value}` : field));

describe('a copy with another Message-ID', () => {
  it('is the sent email when all that a relay leaves alone is the same', () => {
    expect(isRewrittenCopy(copyOf(), SENT)).toBe(true);
  });

  it('is it when its HTML is, though its text was made anew', () => {
    const copy = {
      ...copyOf(),
      text: 'Guten Tag, anbei. [https://x]',
      html: '<p>Guten Tag,</p>\n<p>anbei.</p>',
    };
    expect(isRewrittenCopy(copy, SENT)).toBe(true);
    expect(isRewrittenCopy({ ...copy, text: 'Guten Tag, anbei. Und mehr' }, SENT)).toBe(false);
    expect(isRewrittenCopy({ ...copy, html: '<p>Guten Abend</p>' }, SENT)).toBe(false);
    expect(isRewrittenCopy({ ...copy, html: null }, SENT)).toBe(false);
    expect(isRewrittenCopy(copy, { ...SENT, html: null })).toBe(false);
  });

  it('may name the hidden recipients, but no others', () => {
    expect(isRewrittenCopy(copyOf([...FIELDS, 'Bcc: BOSS@example.com']), SENT)).toBe(true);
    expect(isRewrittenCopy(copyOf([...FIELDS, 'Bcc: eve@example.com']), SENT)).toBe(false);
  });

  it.each([
    ['second', copyOf(withField('Date', 'Mon, 2 Mar 2026 09:15:01 +0100'))],
    ['date at all', copyOf(withField('Date', 'nonsense'))],
    ['sender', copyOf(withField('From', 'info@example.com'))],
    ['subject', copyOf(withField('Subject', '[liste] Angebot 12'))],
    ['recipient', copyOf(withField('To', 'eve@customer.test, max@customer.test'))],
    ['number of recipients', copyOf([...FIELDS, 'Cc: max@customer.test'])],
    ['answered email', copyOf(withField('In-Reply-To', '<other@customer.test>'))],
    ['text', copyOf(FIELDS, 'Guten Tag,\r\n\r\nanbei.\r\n\r\nDiese E-Mail ist vertraulich.')],
    ['file', copyOf(FIELDS, undefined, ['d1', 'd3'])],
    ['number of files', copyOf(FIELDS, undefined, ['d1'])],
  ])('is another email with another %s', (_name, copy) => {
    expect(isRewrittenCopy(copy, SENT)).toBe(false);
  });

  it('is another email when its links lead elsewhere', () => {
    const html = (target: string) => `<p>Guten Tag, <a href="${target}">anbei</a>.</p>`;
    const sent = { ...SENT, html: html('https://a.test') };
    const copy = { ...copyOf(), html: html('https://a.test').replaceAll('"', "'") };
    expect(isRewrittenCopy(copy, sent)).toBe(true);
    expect(isRewrittenCopy({ ...copy, html: html('https://b.test') }, sent)).toBe(false);
  });

  it('is another email when it only claims to be ours', () => {
    const named = [...FIELDS, 'X-Microsoft-Original-Message-ID:\r\n <ours@example.com>'];
    expect(isRewrittenCopy(copyOf(named), SENT)).toBe(true);
    expect(isRewrittenCopy(copyOf(named, 'other'), SENT)).toBe(false);
    expect(isRewrittenCopy(copyOf(named, undefined, []), SENT)).toBe(false);
    expect(isRewrittenCopy(copyOf([...named, 'Subject: x'].toReversed()), SENT)).toBe(false);
  });
});

describe('of several sent emails', () => {
  const choose = (...candidates: readonly Partial<SentCandidate>[]) =>
    chooseSent(
      copyOf(),
      candidates.map((fields): SentCandidate => ({ ...SENT, ...fields })),
    )?.id ?? null;

  it('that are the same in all, the one that certainly went out is taken first', () => {
    expect(choose({ id: 'a', state: 'unknown' }, { id: 'b' }, { id: 'c' })).toBe('b');
    expect(choose({ id: 'a', state: 'unknown' }, { id: 'b', hasRelayMessageId: true })).toBe('a');
    expect(choose({ id: 'a', state: 'unknown' }, { id: 'b', state: 'sending' })).toBe('b');
  });

  it('none is taken when they went to other hidden recipients', () => {
    expect(choose({ id: 'a' }, { id: 'b', bcc: ['eve@customer.test'] })).toBe(null);
  });

  it('that the relay names is taken, and none when all have their copy', () => {
    const copy = copyOf([...FIELDS, 'X-Google-Original-Message-ID: <b@example.com>']);
    const other = { ...SENT, id: 'b', messageId: 'b@example.com' as MessageId };
    expect(chooseSent(copy, [SENT, other])?.id).toBe('b');
    expect(choose({ hasRelayMessageId: true })).toBe(null);
    expect(choose()).toBe(null);
  });
});
