import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../test/readers/cpu-time.ts';
import { MAX_REFERENCES, MAX_REFERENCES_OCTETS } from './limits.ts';
import { parseMessageId, type MessageId } from './message-id.ts';
import { buildReferences, parseMessageIdList, parseMessageIdLists, withoutAddresses } from './references.ts';

const id = (text: string): MessageId => parseMessageId(text)!;

describe('parseMessageIdList', () => {
  it.each([
    ['nothing from pieces of a bracket with an odd quote', '<!@;@"=>', []],
    ['no bare id from within brackets', '<x;a@b"c>', []],
    ['an @ alone as nothing', '@', []],
    ['ids, oldest first', '<a@x> <b@x>', ['a@x', 'b@x']],
    ['a folded header', '<a@x>\r\n <b@x>\r\n\t<c@x>', ['a@x', 'b@x', 'c@x']],
    ['ids without separators', '<a@x><b@x>,<c@x>', ['a@x', 'b@x', 'c@x']],
    ['repeats once', '<a@x> <b@x> <a@x>', ['a@x', 'b@x']],
    ['comments', '(of <no@x> (b)) <a@x> (by \\) <no@x>) <b@x>', ['a@x', 'b@x']],
    ['parentheses within brackets', '<a(b)@x>', ['a(b)@x']],
    ['ids behind a comment that never ends', '(see <a@x> <b@x>', ['a@x', 'b@x']],
    ['a phrase, as RFC 822 allowed', 'Your message of "Tue, 3 Jan" <a@x>', ['a@x']],
    ['an id that was folded inside', '<aaa\r\n bbb@x>', ['aaabbb@x']],
    ['a quoted local part', '<"a"@x> <b@x>', ['"a"@x', 'b@x']],
    ['no half of a quoted local part', '<"a>b"@x> <b@x>', ['b@x']],
    ['ids without @', '<20260301-abcdef0123> <ticket-4711>', ['20260301-abcdef0123', 'ticket-4711']],
    ['no id that was made up here', '<1@missing-message-id.invalid> <a@x>', ['a@x']],
    ['no words in brackets', '<yes> <a@x>', ['a@x']],
    ['bare ids', 'a@x, b@x', ['a@x', 'b@x']],
    ['a lost closing bracket', '<a@x <b@x>', ['b@x']],
    ['a cut last id', '<a@x> <b@', ['a@x']],
    ['empty brackets', '<> <a@x>', ['a@x']],
    ['nothing', '', []],
    ['nonsense', 'hello (world', []],
    [
      'an id in encoded words',
      '=?utf-8?q?=3CAM0PR0=40eu=2Eexample?= =?utf-8?q?=2Ecom=3E?=',
      ['AM0PR0@eu.example.com'],
    ],
    ['an encoded word among others', '<a@x> =?utf-8?q?=3Cb=40x=3E?= <c@x>', ['a@x', 'b@x', 'c@x']],
    ['several ids in one encoded word', '=?utf-8?b?PGFAeD4gPGJAeD4=?=', ['a@x', 'b@x']],
    ['an id of which the end is encoded', '<aaa =?utf-8?q?bbb=40x=3E?=', ['aaabbb@x']],
    ['what stands in brackets as it is', '<=?utf-8?q?a?=@x>', ['=?utf-8?q?a?=@x']],
    ['no line break out of an encoded word', '=?utf-8?q?=3Ca=40x=0D=0ABcc:_b=40y=3E?=', ['a@xBcc:b@y']],
    ['no control out of an encoded word', '=?utf-8?q?=3Ca=40x=00=3E?= <b@x>', ['b@x']],
    ['no author that a phrase names', 'Message from Bob <bob@third.example> of Monday', []],
    [
      'an id behind an author',
      'Message from Bob <bob@third.example> of "Mon, 3 Jan 2000" <real@x>',
      ['real@x'],
    ],
    ['no author without a name', 'Message from <bob@third.example>', []],
    ['no author at the end of a phrase', 'Your message from Bob <bob@third.example>', []],
    ['no author in German', 'Ihre Nachricht von Bob Muster <bob@third.example>', []],
    ['no author in French', 'Votre message de Bob <bob@third.example> du 3 janvier', []],
    ['no author in Dutch', 'Bericht van "Bob" <bob@third.example>', []],
    ['no author in Danish', 'Besked fra Bob <bob@third.example>', []],
    ['no author in Russian', 'Сообщение от Bob <bob@third.example>', []],
    ['an id behind an author in German', 'Nachricht von Bob <bob@third.example> <real@x>', ['real@x']],
    ['an id before an author, as elm wrote it', '<real@x> from "Bob" at Jan 3, 2000 10:00:00 pm', ['real@x']],
    ['an id and an author as a comment, as VM wrote it', '<real@x> (message from Bob on Mon)', ['real@x']],
    ['an id behind a date', 'Your message from 3 March 2026 <real@x>', ['real@x']],
    ['an id behind a date in German', 'Ihre Nachricht vom Montag <real@x>', ['real@x']],
    ['an id behind a date in quotes', 'Bob\'s message of "Mon, 3 Jan" <real@x>', ['real@x']],
    ['no address among words', 'box22@example.com\'s message of "Mon, 3 Jan 2000"', []],
    ['no address behind words', 'Ihre Mail von box22@example.com.', []],
    ['no address before words', 'box22@example.com wrote', []],
    ['no bare id among words', 'see a@x please', []],
    ['no id that names no email', '<0> <@> <none@none> <root@localhost> <null> <real@x>', ['real@x']],
    ['a bare id alone', ' 20260301.abc@mail.example ', ['20260301.abc@mail.example']],
    ['bare ids in lines', 'a@x\r\n\tb@x', ['a@x', 'b@x']],
    ['an id with a control character', '<a\u0000@x> <b@x>', ['b@x']],
  ])('reads %s', (_, text, expected) => {
    expect(parseMessageIdList(text)).toEqual(expected);
  });

  it('keeps the first and the newest of very many', () => {
    const list = parseMessageIdList(Array.from({ length: 5000 }, (_, n) => `<${n}@x>`).join(' '));
    expect(list).toHaveLength(100);
    expect([list[0], list[1], list.at(-1)]).toEqual(['0@x', '4901@x', '4999@x']);
  });

  it.each(['(', '<', '<a', '(<', '\\(', '"', '<"', ' ', 'a@', '=?'])(
    'needs linear time for many %j',
    (unit) => {
      expectCpuBelow(500, () => parseMessageIdList(unit.repeat(500_000)));
    },
  );

  it.each(['=?utf-8?q?', '=?utf-8?q?=3C?=', '=?utf-8?q?=3Ca=40x=3E?= ', '<>=?utf-8?q?a?='])(
    'needs linear time for a header of %j',
    (unit) => {
      expectCpuBelow(1000, () => parseMessageIdList(unit.repeat(1_000_000 / unit.length)));
    },
  );
});

describe('parseMessageIdLists', () => {
  it('takes the ids of all fields in their order, each once', () => {
    expect(parseMessageIdLists(['<a@x> <b@x>', 'no id', '<b@x> <c@x>'])).toEqual(['a@x', 'b@x', 'c@x']);
    expect(parseMessageIdLists([])).toEqual([]);
  });

  it('reads each field on its own', () => {
    expect(parseMessageIdLists(['(never closed <a@x>', 'b@x', ') <c@x>'])).toEqual(['a@x', 'b@x', 'c@x']);
  });

  it('keeps the first and the newest of very many', () => {
    const list = parseMessageIdLists(Array.from({ length: 500 }, (_, n) => `<${n}@x> <${n}@y>`));
    expect(list).toHaveLength(100);
    expect([list[0], list[1], list.at(-1)]).toEqual(['0@x', '450@y', '499@y']);
  });
});

it('addresses are no Message-IDs', () => {
  const ids = parseMessageIdList('Message from <Support4@acc.test> of <real@x>');
  expect(withoutAddresses(ids, ['support4@acc.test', 'eva@x'])).toEqual(['real@x']);
});

describe('buildReferences', () => {
  it('adds the parent to its own references', () => {
    expect(buildReferences({ messageId: id('c@x'), references: [id('a@x'), id('b@x')] })).toEqual([
      'a@x',
      'b@x',
      'c@x',
    ]);
  });

  it('is the parent alone when it had none', () => {
    expect(buildReferences({ messageId: id('c@x'), references: [] })).toEqual(['c@x']);
  });

  it('names a parent last that its own references name, and nothing twice', () => {
    const references = [id('c@x'), id('a@x'), id('a@x')];
    expect(buildReferences({ messageId: id('c@x'), references })).toEqual(['a@x', 'c@x']);
  });

  it('keeps the first and the newest when there are too many', () => {
    const references = Array.from({ length: 500 }, (_, n) => id(`${n}@x`));
    const built = buildReferences({ messageId: id('new@x'), references });
    expect(built).toHaveLength(MAX_REFERENCES);
    expect(built[0]).toBe('0@x');
    expect(built.slice(-2)).toEqual(['499@x', 'new@x']);
  });

  it('keeps the first and the newest when they are too long', () => {
    const references = Array.from({ length: 50 }, (_, n) => id(`${n}${'a'.repeat(900)}@x`));
    const built = buildReferences({ messageId: id('new@x'), references });
    expect(built).toEqual([references[0], ...references.slice(-7), 'new@x']);
    expect(built.map((one) => `\r\n <${one}>`).join('').length).toBeLessThanOrEqual(MAX_REFERENCES_OCTETS);
  });
});
