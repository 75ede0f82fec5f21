import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { ADDRESS_PATTERN } from '../address/address-pattern.ts';
import { isCaptured, leftOutBy, type CaptureFacts, type CaptureRules } from './capture.ts';

const NONE: CaptureRules = {
  folders: [],
  neverAddresses: [],
  neverSubjects: [],
  internalDomains: [],
  leaveOutPrivate: false,
  onlyCustomers: false,
};
const MAIL: CaptureFacts = {
  messageId: 'a@customer.test',
  from: ['ada@customer.test'],
  recipients: ['sales@company.test'],
  replyTo: [],
  subject: 'Angebot',
  sensitivity: null,
  answers: [],
  isReport: false,
};
const judge = (rules: Partial<CaptureRules>, mail: Partial<CaptureFacts>) =>
  leftOutBy({ ...NONE, ...rules }, { ...MAIL, ...mail });

describe('leftOutBy', () => {
  it.each<[string, Partial<CaptureRules>, Partial<CaptureFacts>, string | null]>([
    ['an address', { neverAddresses: ['ada@customer.test'] }, {}, 'address'],
    ['a domain', { neverAddresses: ['*@customer.test'] }, {}, 'address'],
    ['not what is below a domain', { neverAddresses: ['*@test'] }, {}, null],
    ['what is below a domain', { neverAddresses: ['*@*.test'] }, {}, 'address'],
    ['not the domain itself', { neverAddresses: ['*@*.customer.test'] }, {}, null],
    ['not a domain that ends alike', { neverAddresses: ['*@*.tomer.test'] }, {}, null],
    [
      'what goes to it alone',
      { neverAddresses: ['*@bank.test'] },
      { from: ['sales@company.test'], recipients: ['a@bank.test', 'b@bank.test'] },
      'address',
    ],
    [
      'not what goes to others, too',
      { neverAddresses: ['*@bank.test'] },
      { recipients: ['a@bank.test', 'sales@company.test'] },
      null,
    ],
    ['part of a subject', { neverSubjects: ['[privat]'] }, { subject: 'AW: [Privat] Feier' }, 'subject'],
    ['a decomposed subject', { neverSubjects: ['grüße'] }, { subject: 'Gru\u0308ße' }, 'subject'],
    [
      'internal mail',
      { internalDomains: ['company.test'] },
      { from: ['eva@company.test'], recipients: ['max@company.test'] },
      'internal',
    ],
    [
      'not what is answered outside',
      { internalDomains: ['company.test'] },
      { from: ['form@company.test'], recipients: ['max@company.test'], replyTo: ['ada@customer.test'] },
      null,
    ],
    ['not mail from outside', { internalDomains: ['company.test'] }, {}, null],
    [
      'not mail to outside',
      { internalDomains: ['company.test'] },
      { from: ['eva@company.test'], recipients: ['max@company.test', 'ada@customer.test'] },
      null,
    ],
    [
      'not mail whose recipients are hidden',
      { internalDomains: ['company.test'] },
      { from: ['eva@company.test'], recipients: [] },
      null,
    ],
    ['private mail', { leaveOutPrivate: true }, { sensitivity: ' Private ' }, 'private'],
    ['not private mail without the rule', {}, { sensitivity: 'Private' }, null],
    ['not an unknown mark', { leaveOutPrivate: true }, { sensitivity: 'Normal' }, null],
    ['not an empty header', { neverAddresses: ['*@*.test'] }, { from: [], recipients: [] }, null],
  ])('knows %s', (_, rules, mail, expected) => {
    expect(judge(rules, mail)).toBe(expected);
  });

  it('leaves out nothing without rules', () => {
    const address = fc.emailAddress();
    const facts = fc.record({
      messageId: fc.option(fc.string()),
      from: fc.array(address),
      recipients: fc.array(address),
      replyTo: fc.array(address),
      subject: fc.string({ unit: 'grapheme' }),
      sensitivity: fc.option(fc.string()),
      answers: fc.array(fc.string()),
      isReport: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (mail) => {
        expect(leftOutBy(NONE, mail)).toBeNull();
      }),
      { numRuns: runs(500) },
    );
  });
});

it.each([
  ['ada@customer.test', true],
  ['*@customer.test', true],
  ['*@*.customer.test', true],
  ['*', false],
  ['*@*', false],
  ['a*@customer.test', false],
  ['customer.test', false],
  ['a b@customer.test', false],
])('an address pattern: %s', (pattern, isOne) => {
  expect(ADDRESS_PATTERN.test(pattern)).toBe(isOne);
});

describe('isCaptured', () => {
  it.each<[readonly string[], string, string | null, boolean]>([
    [['Projekte'], 'Projekte', null, true],
    [['Projekte'], 'projekte', null, false],
    [['Projekte/*'], 'Projekte/2026/Alpha', null, true],
    [['Projekte/*'], 'Projekte', null, false],
    [['*/Kunden/*'], 'A/Kunden/B', null, true],
    [['a*a'], 'a', null, false],
    [['*'], 'Archiv', '\\Archive', true],
    [['*'], 'Papierkorb', '\\Trash', false],
    [['*'], 'Spam', '\\Junk', false],
    [['Spam'], 'Spam', '\\Junk', true],
    [['\\archive'], 'Archiv', '\\Archive', true],
    [['\\Archive'], 'Archiv', null, false],
    [[], 'Archiv', null, false],
  ])('%j takes %s (%s): %s', (folders, path, specialUse, expected) => {
    expect(isCaptured(folders, { path, specialUse })).toBe(expected);
  });

  it('agrees with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (folder, path) => {
        const pattern = new RegExp(`^${folder.replaceAll('*', '.*')}$`, 's');
        expect(isCaptured([folder], { path, specialUse: null })).toBe(pattern.test(path));
      }),
      { numRuns: runs(3000) },
    );
  });
});
