import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createMessageId,
  formatMessageId,
  isMadeUpMessageId,
  isTelling,
  isWorthlessMessageId,
  normaliseMessageId,
  parseMessageId,
} from './message-id.ts';

describe('parseMessageId', () => {
  it.each([
    ['with brackets', '<a@x.test>', 'a@x.test'],
    ['without brackets', 'a@x.test', 'a@x.test'],
    ['with white space around', ' \r\n <a@x.test>\t', 'a@x.test'],
    ['with characters that the RFC forbids', '<a:b[c@d]@e@x>', 'a:b[c@d]@e@x'],
    ['with a quoted local part', '<"a"@x.test>', '"a"@x.test'],
    ['without @, in brackets', '<ticket-4711>', 'ticket-4711'],
    ['of 995 octets', `${'a'.repeat(993)}@x`, `${'a'.repeat(993)}@x`],
  ])('reads an id %s', (_, text, expected) => {
    expect(parseMessageId(text)).toBe(expected);
  });

  it.each([
    ['nothing', ''],
    ['empty brackets', '<>'],
    ['no @ and no brackets', 'abc'],
    ['an open bracket', '<a@x.test'],
    ['two ids', '<a@x.test> <b@x.test>'],
    ['two ids side by side', '<a@x.test><b@x.test>'],
    ['a space', 'a b@x.test'],
    ['a header behind a line break', 'a@x.test>\r\nBcc: <b@x.test'],
    ['a control character', 'a\u0000@x.test'],
    ['a line separator', 'a\u2028@x.test'],
    ['half a character', 'a\ud800@x.test'],
    ['996 octets', `${'a'.repeat(994)}@x`],
  ])('refuses %s', (_, text) => {
    expect(parseMessageId(text)).toBeNull();
  });
});

describe('normaliseMessageId', () => {
  it.each([
    ['quotes around a dot-atom', '"q.1"@a', 'q.1@a'],
    ['quotes around one word', 'a."b"."c"@x', 'a.b.c@x'],
    ['a backslash that is not needed', '"q\\.1"@a', 'q.1@a'],
    ['quotes around an id without @', '"ticket-4711"', 'ticket-4711'],
  ])('drops %s', (_, id, expected) => {
    expect(normaliseMessageId(parseMessageId(`<${id}>`)!)).toBe(expected);
  });

  it.each(['q.1@a', '"a@b"@x', '"a,b"@x', '"a\\"b"@x', '"a"b"@x', '""@x', '"@x', 'a:b[c@d]@e'])(
    'leaves %s as it is',
    (id) => {
      expect(normaliseMessageId(parseMessageId(`<${id}>`)!)).toBe(id);
    },
  );
});

it('tells ids that were made up here by their domain, in any letter case', () => {
  const made = (id: string) => isMadeUpMessageId(parseMessageId(id)!);
  expect(made('a@missing-message-id.invalid')).toBe(true);
  expect(made('a@Missing-Message-ID.invalid')).toBe(true);
  expect(made('a@x.missing-message-id.invalid')).toBe(false);
  expect(made('<ticket-4711>')).toBe(false);
});

describe('createMessageId', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');

  it('holds time, random bytes and domain', () => {
    expect(createMessageId(Buffer.alloc(16, 0xab), now, 'x.test')).toBe(`mm7p6yo0.${'ab'.repeat(16)}@x.test`);
  });

  it('is a dot-atom that reads back and survives software that ignores case', () => {
    for (const domain of ['x.test', 'localhost', 'xn--bcher-kva.example', '[192.0.2.1]']) {
      const id = createMessageId(randomBytes(16), now, domain);
      expect(id).toMatch(/^[a-z0-9]+\.[a-z0-9]+@/);
      expect(parseMessageId(formatMessageId(id).toLowerCase())).toBe(id);
    }
  });

  it('refuses too few random bytes and a domain that breaks the header', () => {
    expect(() => createMessageId(Buffer.alloc(15), now, 'x.test')).toThrow(RangeError);
    expect(() => createMessageId(Buffer.alloc(16), now, 'x>\r\n')).toThrow(RangeError);
  });
});

describe('an id that names no email', () => {
  it.each([
    '0',
    '1',
    '-1',
    '@',
    ' @ ',
    'none@none',
    'NONE',
    'null@null',
    'undefined',
    'undefined@undefined',
    'unknown@localhost',
    'test',
    'test@test',
    'test@localhost.localdomain',
    'root@localhost',
    'www-data@localhost',
    'nobody@localdomain',
    'Message-ID',
    'n/a',
    'id@local',
    '000@localhost',
    'noreply@localhost',
  ])('is found by its form: %s', (id) => {
    expect(isWorthlessMessageId(id)).toBe(true);
  });

  it.each([
    'a@x',
    'ticket-4711',
    '20260301',
    'test@shop.example',
    'root@web1.example',
    '1234',
    '0@shop.example',
    'real@localhost',
    'a@b@none',
  ])('is not %s', (id) => {
    expect(isWorthlessMessageId(id)).toBe(false);
  });
});

describe('a telling Message-ID', () => {
  it.each([
    '1k2j3h4g.9f8e7d6c5b4a39281706f5e4d3c2b1a0@ours.example',
    'CAKxyzAbCdEfGhIjKlMnOp+qrstu@mail.example',
    '20260301120000.GA1234@host.example',
    '4D5E6F70.1020304@host.example',
    '2024567.jE0xQCEvom@host.example',
    '1234567890',
    'k3jqxzmwpvtrh8yblnsdg2fc@host.example',
    'qWeRtYuIoPaSdFgHjKlZxCvBnM@host.example',
  ])('looks as if it was made for one email: %s', (id) => {
    expect(isTelling(id)).toBe(true);
  });

  it.each([
    'contact@shop.example',
    'ticket-template@crm.example',
    'order-confirmation-2024@crm.example',
    'test@1234567890.shop.example',
    'ticket-4711',
    'kontaktformular.website.2024@shop.example',
    'order-confirmation-template-v2@crm.example',
    'NewOrderConfirmationTemplate@crm.example',
    'NO_REPLY_CUSTOMER_NOTIFICATION_1@crm.example',
    '00000000-0000-0000-0000-000000000000@crm.example',
    '0000000000@crm.example',
    '',
  ])('is not one that a person chose for all: %s', (id) => {
    expect(isTelling(id)).toBe(false);
  });
});
