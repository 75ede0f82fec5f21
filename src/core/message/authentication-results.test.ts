import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/helpers/runs.ts';
import { completeResults, judge, type AuthResults, type FromFields } from './authentication.ts';
import { readAuthenticationResults } from './authentication-results.ts';

const field = (value: string) => ({ name: 'authentication-results', value });
const read = (values: readonly string[], ...trusted: string[]) =>
  readAuthenticationResults(values.map(field), trusted);

const GMAIL =
  'mx.google.com; dkim=pass header.i=@shop.example header.s=s1 header.b=AbC; ' +
  'spf=pass (google.com: domain of bounce@mail.shop.example designates 192.0.2.1 as permitted; sender) ' +
  'smtp.mailfrom=bounce@mail.shop.example; dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=shop.example';

describe('Authentication-Results', () => {
  it('are read as servers write them', () => {
    expect(read([GMAIL], 'mx.google.com')).toEqual({
      spf: { result: 'pass', domain: 'mail.shop.example' },
      dkim: [{ result: 'pass', domain: 'shop.example', selector: 's1' }],
      dmarc: { result: 'pass', domain: 'shop.example' },
      arc: null,
    });
    expect(
      read(
        [
          '"mx.a.test" 1; arc=pass; dkim/1 = fail reason="bad; signature" header.d=A.Test; spf=hardfail smtp.helo=x.test',
        ],
        'mx.a.test',
      ),
    ).toEqual({
      spf: { result: 'fail', domain: 'x.test' },
      dkim: [{ result: 'fail', domain: 'a.test', selector: null }],
      dmarc: null,
      arc: 'pass',
    });
  });

  it('may have no name, as those of Microsoft', () => {
    const value =
      'spf=fail (sender IP is 192.0.2.1) smtp.mailfrom=a.test; dkim=none (message not signed) header.d=none;dmarc=fail action=none header.from=a.test;';
    expect(read([value], '*')).toMatchObject({
      spf: { result: 'fail' },
      dmarc: { result: 'fail', domain: 'a.test' },
    });
    expect(read([value], 'mx.a.test')).toBeNull();
  });

  it.each([
    ['no server is trusted', [GMAIL], []],
    ['the server is not trusted', [GMAIL], ['mx.a.test']],
    ['a stranger wrote one on top', ['evil.test; dmarc=pass', GMAIL], ['mx.google.com']],
    ['nothing was checked', ['mx.google.com; none'], ['mx.google.com']],
    ['there is none', [], ['mx.google.com']],
  ])('say nothing when %s', (_, values, trusted) => {
    expect(read(values, ...trusted)).toBeNull();
  });

  it('count only above those that the sender may have forged', () => {
    const genuine = 'mx.a.test; spf=fail smtp.mailfrom=a.test';
    expect(read([genuine, 'mx.a.test; dmarc=pass header.from=a.test'], 'mx.a.test')?.dmarc).toBeNull();
    expect(read([genuine, 'b.test; x=y', 'c.test; dmarc=pass'], 'mx.a.test', 'c.test')?.dmarc).toBeNull();
    expect(read([genuine, 'c.test; dmarc=pass'], 'mx.a.test', 'c.test')?.dmarc?.result).toBe('pass');
    expect(read([genuine, 'x.test; dmarc=pass'], '*')?.dmarc).toBeNull();
    // In a comment or in quotes.
    expect(read(['mx.a.test (; dmarc=pass); spf=fail reason="; dmarc=pass"'], 'mx.a.test')?.dmarc).toBeNull();
  });

  it.each([
    ['('.repeat(100_000)],
    ['mx.a.test;'.repeat(50_000)],
    [`mx.a.test; dkim=pass ${'a.b='.repeat(50_000)}`],
    [`mx.a.test; spf=pass "${'\\'.repeat(100_000)}`],
    ['mx.a.test; spf=\u0000\ud800; dkim=pass header.d=<>@ header.s="'],
  ])('are read in little time, whatever they say: %#', (value) => {
    expect(() =>
      read(
        Array.from({ length: 20 }, () => value),
        'mx.a.test',
        '*',
      ),
    ).not.toThrow();
  });
});

const NOTHING: AuthResults = { spf: null, dkim: [], dmarc: null, arc: null };
const dkim = (result: 'pass' | 'fail' | 'temperror', domain: string) => ({ result, domain, selector: null });

describe('the verdict', () => {
  it.each<[string, AuthResults, string]>([
    ['DMARC passed', { ...NOTHING, dmarc: { result: 'pass', domain: 'a.com' } }, 'passed'],
    [
      'DMARC failed',
      { ...NOTHING, dmarc: { result: 'fail', domain: 'a.com' }, dkim: [dkim('pass', 'b.com')] },
      'failed',
    ],
    ['the domain of From signed', { ...NOTHING, dkim: [dkim('pass', 'mail.a.com')] }, 'passed'],
    ['another domain signed', { ...NOTHING, dkim: [dkim('pass', 'b.com')] }, 'unknown'],
    ['its own SPF passed', { ...NOTHING, spf: { result: 'pass', domain: 'bounce.a.com' } }, 'passed'],
    ['SPF failed and nothing is signed', { ...NOTHING, spf: { result: 'fail', domain: 'a.com' } }, 'failed'],
    [
      'SPF and DKIM failed',
      { ...NOTHING, spf: { result: 'fail', domain: 'a.com' }, dkim: [dkim('fail', 'a.com')] },
      'failed',
    ],
    [
      'SPF failed, but somebody signed',
      { ...NOTHING, spf: { result: 'fail', domain: 'a.com' }, dkim: [dkim('pass', 'b.com')] },
      'unknown',
    ],
    ['SPF failed softly', { ...NOTHING, spf: { result: 'softfail', domain: 'a.com' } }, 'unknown'],
    [
      'DNS did not tell the key',
      { ...NOTHING, dmarc: { result: 'fail', domain: 'a.com' }, dkim: [dkim('temperror', 'a.com')] },
      'unknown',
    ],
    [
      'DNS did not tell the key of another domain',
      { ...NOTHING, dmarc: { result: 'fail', domain: 'a.com' }, dkim: [dkim('temperror', 'b.com')] },
      'failed',
    ],
    [
      'DNS did not tell the SPF of another domain',
      {
        ...NOTHING,
        dmarc: { result: 'fail', domain: 'a.com' },
        spf: { result: 'temperror', domain: 'b.com' },
      },
      'failed',
    ],
    [
      'DNS did not tell the SPF of no domain',
      { ...NOTHING, dmarc: { result: 'fail', domain: 'a.com' }, spf: { result: 'temperror', domain: null } },
      'failed',
    ],
    [
      'DNS did not tell the policy',
      { ...NOTHING, dmarc: { result: 'temperror', domain: 'a.com' } },
      'unknown',
    ],
    ['DMARC passed for no domain', { ...NOTHING, dmarc: { result: 'pass', domain: null } }, 'unknown'],
    ['nothing is known', NOTHING, 'unknown'],
  ])('when %s', (_, results, verdict) => {
    expect(judge('header', results, { count: 1, domains: ['a.com'] }).verdict).toBe(verdict);
  });
});

describe('the verdict about what From shows', () => {
  const PASSED: AuthResults = { ...NOTHING, dkim: [dkim('pass', 'a.com')] };
  const of = (count: number, ...domains: string[]): FromFields => ({ count, domains });

  it.each<[string, AuthResults, FromFields, string]>([
    ['one author', PASSED, of(1, 'a.com'), 'passed'],
    ['two authors of one company', PASSED, of(1, 'a.com', 'mail.a.com'), 'passed'],
    ['authors of two companies', PASSED, of(1, 'a.com', 'b.com'), 'failed'],
    ['two fields', PASSED, of(2, 'a.com'), 'failed'],
    ['no address', PASSED, of(1), 'unknown'],
    [
      'no address, and DMARC for one',
      { ...NOTHING, dmarc: { result: 'pass', domain: 'a.com' } },
      of(1),
      'failed',
    ],
    [
      'no address, and no DMARC',
      { ...NOTHING, dmarc: { result: 'permerror', domain: null } },
      of(1),
      'unknown',
    ],
    [
      'another domain than DMARC asked for',
      { ...PASSED, dmarc: { result: 'pass', domain: 'b.com' } },
      of(1, 'a.com'),
      'failed',
    ],
    [
      'the same domain, written otherwise',
      { ...NOTHING, dmarc: { result: 'pass', domain: 'xn--mnchen-3ya.de' } },
      of(1, 'mail.MÜNCHEN.de'),
      'passed',
    ],
    [
      'nothing that DMARC could ask for',
      { ...PASSED, dmarc: { result: 'permerror', domain: null } },
      of(1, 'a.com'),
      'failed',
    ],
    [
      'a neighbour at a host of many',
      { ...NOTHING, dkim: [dkim('pass', 'evil.github.io')] },
      of(1, 'ada.github.io'),
      'unknown',
    ],
  ])('with %s', (_, results, from, verdict) => {
    expect(judge('checked', results, from).verdict).toBe(verdict);
  });
});

describe('what a server said that hands a message over', () => {
  const FROM: FromFields = { count: 1, domains: ['a.com'] };
  const failing: AuthResults = { ...NOTHING, dmarc: { result: 'fail', domain: 'a.com' } };
  const verdictOf = (told: AuthResults | null, checked: AuthResults) =>
    judge('header', completeResults(told, checked, FROM), FROM).verdict;

  it('counts before what is found of the message as it came here', () => {
    const told: AuthResults = {
      spf: { result: 'pass', domain: 'b.com' },
      dkim: [dkim('pass', 'a.com')],
      dmarc: { result: 'pass', domain: 'a.com' },
      arc: 'pass',
    };
    expect(completeResults(told, { ...failing, dkim: [dkim('fail', 'a.com')], arc: 'fail' }, FROM)).toEqual(
      told,
    );
  });

  it('is completed by signatures, and by a policy that no SPF could have met', () => {
    const spf = (result: 'pass' | 'fail' | 'temperror', domain: string): AuthResults => ({
      ...NOTHING,
      spf: { result, domain },
    });
    const good: AuthResults = {
      ...NOTHING,
      dkim: [dkim('pass', 'a.com')],
      dmarc: { result: 'pass', domain: 'a.com' },
    };
    expect(verdictOf(null, good)).toBe('passed');
    expect(verdictOf(spf('fail', 'a.com'), good)).toBe('passed');
    // The server may have seen a good SPF without reporting it.
    expect(verdictOf(null, failing)).toBe('unknown');
    expect(verdictOf(spf('temperror', 'a.com'), failing)).toBe('unknown');
    expect(verdictOf(spf('temperror', 'evil.com'), failing)).toBe('failed');
    expect(verdictOf(spf('pass', 'a.com'), failing)).toBe('passed');
    expect(verdictOf(spf('pass', 'evil.com'), failing)).toBe('failed');
    expect(verdictOf(spf('fail', 'evil.com'), failing)).toBe('failed');
  });

  it('stays a failure whatever a stranger writes below', () => {
    const TRUSTED = 'mx.a.test; spf=fail smtp.mailfrom=a.com; dmarc=fail header.from=a.com';
    const forged = fc.oneof(
      fc.constantFrom(
        'mx.a.test; dmarc=pass header.from=a.com',
        'mx.b.test; dkim=pass header.d=a.com; dmarc=pass header.from=a.com',
        'MX.A.TEST 1; spf=pass smtp.mailfrom=a.com',
        'dmarc=pass header.from=a.com',
        '(mx.a.test) "mx.a.test"; arc=pass; dmarc=pass',
        'mx.a.test; none',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(forged, { maxLength: 5 }), fc.boolean(), (values, isComplete) => {
        const told = read([TRUSTED, ...values], 'mx.a.test', 'mx.b.test');
        const results = told !== null && isComplete ? completeResults(told, failing, FROM) : told;
        // A field of another trusted server below it was there before; only the topmost one counts for DMARC.
        expect(results?.dmarc?.result).toBe('fail');
        expect(judge('header', results ?? NOTHING, FROM).verdict).toBe('failed');
      }),
      { numRuns: runs(2000) },
    );
  });
});
