import { describe, expect, it } from 'vitest';
import { parseSearchQuery } from '../../core/search/query.ts';
import { planSearch } from './search-plan.ts';
import { toStatistics } from './word-statistics.ts';

describe('planSearch', () => {
  const situation = { emails: 1_000_000, share: 0.5, limit: 51, walkCost: 1 };

  it.each([
    ['a common word walks a few pages', {}, { kind: 'walk', steps: 500 }],
    ['a rare word looks up', { share: 0.0001 }, { kind: 'look up' }],
    ['a word of medium rarity looks up', { share: 0.005 }, { kind: 'look up' }],
    ['a list whose walk costs more looks up sooner', { share: 0.01, walkCost: 3 }, { kind: 'look up' }],
    ['a small mailbox looks up', { emails: 500 }, { kind: 'look up' }],
    ['nothing at all looks up', { share: 0 }, { kind: 'look up' }],
  ])('for %s', (_, change, plan) => {
    expect(planSearch({ ...situation, ...change })).toEqual(plan);
  });
});

describe('toStatistics', () => {
  const { estimate, rarest } = toStatistics(
    1000,
    ['und', 'rechnung', 'rechnungen', 'com'],
    [0.9, 0.2, 0.1, 0.4, 0.1, 0.9],
  );
  const share = (text: string) => estimate(parseSearchQuery(text)!);

  it('takes what is known of a word, and of those that begin with it', () => {
    expect(share('"rechnung"')).toBeCloseTo(0.2);
    expect(share('rechnung')).toBeCloseTo(0.3);
  });

  it('takes an unknown word as rarer than the others', () => {
    expect(share('zitrone')).toBeCloseTo(0.05);
  });

  it('takes several words as rarer than the rarest, but not as rare as if they were independent', () => {
    expect(share('und rechnung')).toBeLessThan(0.3);
    expect(share('und rechnung')).toBeGreaterThan(0.9 * 0.3);
  });

  it('looks up the rare words, and only the rarest when all are common', () => {
    const lookUp = (text: string) => rarest(parseSearchQuery(text)!);
    expect(lookUp('und "zitrone com" -rechnung')).toBe(`(('zitrone'))`);
    expect(lookUp('und com')).toBe(`(('com':*))`);
    const rare = toStatistics(1000, ['und', 'selten'], [0.9, 0.01]);
    expect(rare.rarest(parseSearchQuery('und selten zitrone')!)).toBe(`(('zitrone':*)) & (('selten':*))`);
  });

  it('looks up words together that are about as common as each other', () => {
    const alike = toStatistics(1000, ['ann', 'bob', 'com'], [0.3, 0.4, 0.9]);
    expect(alike.rarest(parseSearchQuery('com bob ann')!)).toBe(`(('ann':*)) & (('bob':*))`);
  });

  it('takes a word of one part for as common as it is there', () => {
    const parts = toStatistics(1000, ['ann', '<ann', '>ann', '>anna'], [0.9, 0.01, 0.2, 0.1]);
    expect(parts.estimate(parseSearchQuery(null, { from: 'ann' })!)).toBeCloseTo(0.01);
    expect(parts.estimate(parseSearchQuery(null, { to: 'ann' })!)).toBeCloseTo(0.3);
    expect(parts.estimate(parseSearchQuery('ann')!)).toBeCloseTo(0.9);
    expect(parts.rarest(parseSearchQuery('ann', { from: 'ann' })!)).toBe(`(('<ann':*))`);
  });

  it('knows nothing before the first ANALYZE, and says that', () => {
    expect(toStatistics(0, [], []).estimate(parseSearchQuery('rom')!)).toBe(0.005);
  });
});
