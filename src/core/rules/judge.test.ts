import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { judgeOf, matchingRules, needsOf, type RuleFacts } from './judge.ts';
import type { Condition, Rule } from './rule.ts';

const MAIL: RuleFacts = {
  accountId: 'sales',
  isHistorical: false,
  from: 'ada@shop.customer.test',
  recipients: ['sales@example.com', 'boss@example.com'],
  fields: [
    { name: 'x-spam-flag', value: 'YES' },
    { name: 'received', value: 'one' },
    { name: 'received', value: 'from relay.example.com by us' },
  ],
  subject: 'Ihre  RECHNUNG für März',
  text: 'Guten Tag,\r\nanbei die\r\nRechnung.',
  sizeBytes: 5000,
  attachments: [{ filename: 'Rechnung 7.PDF', contentType: 'application/pdf' }],
  verdict: 'passed',
  writtenBy: 'person',
  isKnownCustomer: false,
};
const rule = (fields: Partial<Rule> = {}): Rule => ({
  id: 'r',
  name: 'r',
  active: true,
  accounts: null,
  match: 'all',
  conditions: [{ accountId: 'sales' }],
  actions: {},
  stop: false,
  historical: false,
  ...fields,
});
const holds = (condition: Condition, facts: RuleFacts = MAIL) =>
  judgeOf(facts)(rule({ conditions: [condition] }));

describe('a condition', () => {
  it.each<[Condition, boolean]>([
    [{ sender: 'Ada@Shop.Customer.test' }, true],
    [{ sender: '*@shop.customer.test' }, true],
    [{ sender: '*@*.customer.test' }, true],
    [{ sender: '*@customer.test' }, false],
    [{ sender: 'da@shop.customer.test' }, false],
    [{ recipient: 'BOSS@example.com' }, true],
    [{ recipient: 'ada@shop.customer.test' }, false],
    [{ header: { name: 'X-Spam-Flag', equals: 'yes' } }, true],
    [{ header: { name: 'X-Spam-Flag', equals: 'ye' } }, false],
    [{ header: { name: 'Received', contains: 'RELAY.example' } }, true],
    [{ header: { name: 'received' } }, true],
    [{ header: { name: 'x-spam-status' } }, false],
    [{ header: { name: 'received', equals: 'one', contains: 'relay' } }, false],
    [{ subject: 'ihre rechnung' }, true],
    [{ subject: 'Mahnung' }, false],
    [{ text: 'die Rechnung' }, true],
    [{ text: 'die Mahnung' }, false],
    [{ minSizeBytes: 5000 }, true],
    [{ minSizeBytes: 5001 }, false],
    [{ maxSizeBytes: 5000 }, true],
    [{ maxSizeBytes: 4999 }, false],
    [{ hasAttachment: true }, true],
    [{ hasAttachment: false }, false],
    [{ attachmentName: '.pdf' }, true],
    [{ attachmentName: '.exe' }, false],
    [{ attachmentType: 'Application/PDF' }, true],
    [{ attachmentType: 'application/*' }, true],
    [{ attachmentType: 'app/*' }, false],
    [{ verdict: 'passed' }, true],
    [{ verdict: 'failed' }, false],
    [{ writtenBy: 'person' }, true],
    [{ writtenBy: 'machine' }, false],
    [{ knownCustomer: false }, true],
    [{ knownCustomer: true }, false],
    [{ accountId: 'sales' }, true],
    [{ accountId: 'sale' }, false],
    [{}, false],
  ])('%j: %j', (condition, wanted) => {
    expect(holds(condition)).toBe(wanted);
  });

  it('takes a composed and a decomposed character for the same', () => {
    expect(holds({ subject: 'für'.normalize('NFD') })).toBe(true);
  });

  it('does not hold for what was not read', () => {
    expect(holds({ header: { name: 'received' } }, { ...MAIL, fields: [] })).toBe(false);
    expect(holds({ text: 'Rechnung' }, { ...MAIL, text: '' })).toBe(false);
  });

  it('finds nothing by a pattern that an address only looks like', () => {
    expect(holds({ sender: '*@customer.test' }, { ...MAIL, from: '' })).toBe(false);
    expect(holds({ sender: '*@customer.test' }, { ...MAIL, from: 'a@customer.test@evil.test' })).toBe(false);
  });
});

describe('a rule', () => {
  const no: Condition = { accountId: 'support' };
  const yes: Condition = { accountId: 'sales' };

  it('needs all of its conditions, or any', () => {
    const judge = judgeOf(MAIL);
    expect(judge(rule({ conditions: [yes, no] }))).toBe(false);
    expect(judge(rule({ conditions: [no, yes], match: 'any' }))).toBe(true);
    expect(judge(rule({ conditions: [] }))).toBe(false);
    expect(judge(rule({ conditions: [], match: 'any' }))).toBe(false);
  });

  it('judges its accounts alone', () => {
    expect(judgeOf(MAIL)(rule({ accounts: ['support'] }))).toBe(false);
    expect(judgeOf(MAIL)(rule({ accounts: ['support', 'sales'] }))).toBe(true);
  });

  it('ends the judgement when it stops, and only when it matches', () => {
    const names = (rules: readonly Rule[]) => matchingRules(rules, MAIL).map(({ id }) => id);
    const stop = rule({ id: 'stop', stop: true });
    expect(names([rule({ id: 'a' }), stop, rule({ id: 'b' })])).toEqual(['a', 'stop']);
    expect(names([{ ...stop, conditions: [no] }, rule({ id: 'b' })])).toEqual(['b']);
    expect(names([{ ...stop, active: false }, rule({ id: 'b' })])).toEqual(['b']);
  });

  it('leaves mail of the past alone unless it is for it', () => {
    const past = { ...MAIL, isHistorical: true };
    expect(matchingRules([rule(), rule({ id: 'all', historical: true })], past).map(({ id }) => id)).toEqual([
      'all',
    ]);
  });
});

it('asks for texts and headers only where a rule looks at them', () => {
  expect(needsOf([rule()])).toEqual({ text: false, fields: false });
  expect(needsOf([rule({ conditions: [{ text: 'a' }] })])).toEqual({ text: true, fields: false });
  expect(needsOf([rule(), rule({ conditions: [{ header: { name: 'a' } }] })])).toEqual({
    text: false,
    fields: true,
  });
});

it('finds each part of a subject, however it is written', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), fc.string(), (before, part, after) => {
      const subject = `${before} ${part} ${after}`;
      expect(holds({ subject: part }, { ...MAIL, subject })).toBe(true);
    }),
    { numRuns: runs(200) },
  );
});
