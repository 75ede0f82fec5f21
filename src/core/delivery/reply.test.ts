import { describe, expect, it } from 'vitest';
import { classifyReply, cleanReplyText, formatReply, parseRelayMessageId, parseReply } from './reply.ts';

describe('parseReply', () => {
  it.each([
    ['a line', '250 Ok\r\n', { code: 250, enhancedStatus: null, text: 'Ok' }],
    [
      'a line with a status',
      '550 5.1.1 No such user',
      { code: 550, enhancedStatus: '5.1.1', text: 'No such user' },
    ],
    ['a code alone', '250', { code: 250, enhancedStatus: null, text: '' }],
    ['a code and a space', '250 ', { code: 250, enhancedStatus: null, text: '' }],
    ['a status alone', '250 2.0.0', { code: 250, enhancedStatus: '2.0.0', text: '' }],
    [
      'several lines, each with the status',
      '550-5.7.1 Your message\r\n550-5.7.1 is spam:\r\n550 5.7.1 http://example.com\r\n',
      { code: 550, enhancedStatus: '5.7.1', text: 'Your message is spam: http://example.com' },
    ],
    ['lines ended by LF', '250-one\n250 two\n', { code: 250, enhancedStatus: null, text: 'one two' }],
    [
      'a status of three digits each',
      '452 4.123.456 x',
      { code: 452, enhancedStatus: '4.123.456', text: 'x' },
    ],
    [
      'a version that is no status',
      '220 1.2.3 ready',
      { code: 220, enhancedStatus: null, text: '1.2.3 ready' },
    ],
    ['an address that is no status', '250 2.0.0.1 x', { code: 250, enhancedStatus: null, text: '2.0.0.1 x' }],
  ])('reads %s', (_, raw, reply) => {
    expect(parseReply(raw)).toEqual(reply);
  });

  it.each([
    ['nothing', ''],
    ['a line break', '\r\n'],
    ['two digits', '25 Ok'],
    ['four digits', '2500 Ok'],
    ['a code below 200', '150 Wait'],
    ['a code above 599', '600 What'],
    ['text', 'Ok'],
    ['lines with different codes', '250-Ok\r\n550 No'],
    ['a last line that announces another', '250-Ok'],
    ['a line that ends too early', '250 Ok\r\n250 Ok'],
    ['a line without a code in between', '250-Ok\r\nmore\r\n250 Ok'],
    ['another separator', '250_Ok'],
  ])('takes %s for no reply', (_, raw) => {
    expect(parseReply(raw)).toBeNull();
  });

  it('drops control characters and keeps a thousand characters', () => {
    const reply = parseReply(`550 a\u0000b\u001b[31mc\u0085\td${'x'.repeat(2000)}`);
    expect(reply?.text.startsWith('ab[31mc dx')).toBe(true);
    expect(reply?.text).toHaveLength(1000);
  });

  it('never cuts a character in half', () => {
    expect(cleanReplyText(`${'x'.repeat(999)}😀`)).toBe('x'.repeat(999));
    expect(cleanReplyText('\ud83d alone').isWellFormed()).toBe(true);
  });
});

describe('classifyReply', () => {
  it.each([
    [250, 'accepted'],
    [299, 'accepted'],
    [354, null],
    [421, 'deferred'],
    [451, 'deferred'],
    [503, 'rejected'],
    [554, 'rejected'],
  ])('takes %d for %s', (code, outcome) => {
    expect(classifyReply({ code, enhancedStatus: null, text: '' })).toBe(outcome);
  });
});

describe('formatReply', () => {
  it('writes a reply on one line and leaves out what is missing', () => {
    expect(formatReply({ code: 550, enhancedStatus: '5.1.1', text: 'No' })).toBe('550 5.1.1 No');
    expect(formatReply({ code: 250, enhancedStatus: null, text: '' })).toBe('250');
  });
});

describe('parseRelayMessageId', () => {
  const SES = '250 Ok 0100018B5C3C0A4F-1a2b3c4d-1111-2222-3333-444455556666-000000';
  const OUTLOOK =
    '250 2.0.0 OK <AM0PR01MB1234@AM0PR01MB1234.eurprd01.prod.outlook.com> [Hostname=AM0PR01MB1234.eurprd01.prod.outlook.com]';
  const read = (raw: string, host: string): string | null => parseRelayMessageId(parseReply(raw)!, host);

  it('reads what Microsoft 365 says', () => {
    expect(read(OUTLOOK, 'smtp.office365.com')).toBe('AM0PR01MB1234@AM0PR01MB1234.eurprd01.prod.outlook.com');
  });

  it.each([
    ['email-smtp.us-east-1.amazonaws.com', 'email.amazonses.com'],
    ['email-smtp.eu-west-1.amazonaws.com', 'eu-west-1.amazonses.com'],
    ['EMAIL-SMTP.AP-SOUTHEAST-2.AMAZONAWS.COM.', 'ap-southeast-2.amazonses.com'],
    ['vpce-1-2.email-smtp.eu-central-1.vpce.amazonaws.com', 'eu-central-1.amazonses.com'],
  ])('completes what Amazon SES says at %s', (host, domain) => {
    expect(read(SES, host)).toBe(`0100018b5c3c0a4f-1a2b3c4d-1111-2222-3333-444455556666-000000@${domain}`);
  });

  it.each([
    ['the form of SES from another host', SES, 'smtp.example.com'],
    ['the form of SES from a look-alike', SES, 'email-smtp.eu-west-1.amazonaws.com.example.com'],
    ['an AWS host without a region', SES, 'smtp.amazonaws.com'],
    ['a queue number', '250 2.0.0 Ok: queued as 4F3A2B1C0D', 'email-smtp.eu-west-1.amazonaws.com'],
    ['an address in brackets', '250 2.1.5 OK <bob@example.com> delivered', 'smtp.example.com'],
    ['a refusal', `550${SES.slice(3)}`, 'email-smtp.eu-west-1.amazonaws.com'],
  ])('reads nothing from %s', (_, raw, host) => {
    expect(read(raw, host)).toBeNull();
  });
});
