import { describe, expect, it } from 'vitest';
import { judge, type AuthResults } from './authentication.ts';
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
    ['nothing is known', NOTHING, 'unknown'],
  ])('when %s', (_, results, verdict) => {
    expect(judge('header', results, 'a.com').verdict).toBe(verdict);
  });
});
