/**
 * No regular expression of the source takes more than linear time in the length of its input (ReDoS): recheck proves it, or looks for a
 * counterexample. An expression with a counterexample has a bound on its input beside it, `Input: at most 320 characters`; then the worst
 * input of that length is tried.
 *
 * A proof takes up to a second, so proofs are kept: proven-expressions.txt has the digest of each expression that recheck proved. One that
 * is not in it is proved again each time; `WRITE_PROVEN=1` adds it, and `RUN_ALL=1` proves all of them.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { check } from 'recheck';
import { afterAll, describe, expect, it } from 'vitest';
import { bestCpuMs, expectCpuBelow, expectCpuGrowthBelow } from './cpu-time.ts';
import { findExpressions, sourceFiles, watchExpressions } from './find-regular-expressions.ts';

/** Time to check one expression. */
const CHECK_TIMEOUT_MS = 60_000;
/** Time to check an expression with a bound: its worst input is searched for, and need not be found. */
const BOUNDED_CHECK_TIMEOUT_MS = 2000;
/** CPU time in ms for the worst input within the bound. */
const MAX_BOUNDED_MS = 20;
/** In characters; up to here, no harmless expression takes a noticeable time. */
const SHORT_ATTACK = 250;
const LONG_ATTACK = 256_000;
/** CPU time in ms that is no longer noise. The longest attack on a quadratic expression takes a thousand times as long. */
const NOTICEABLE_MS = 20;
const FLOOR_MS = 1;
/** Length of the larger input, in lengths of the smaller one: so much apart that noise makes neither growth look like the other. */
const FACTOR = 8;
/** 8 is linear, 64 is quadratic. */
const MAX_GROWTH = 22;

const PROVEN_FILE = path.join(import.meta.dirname, 'proven-expressions.txt');
const { RUN_ALL, WRITE_PROVEN } = process.env;
const kept = new Set(readFileSync(PROVEN_FILE, 'utf8').split('\n').filter(Boolean));
/** Of this run, those that were kept among them. */
const proven = new Set<string>();
const digestOf = (source: string, flags: string): string =>
  createHash('sha256')
    .update(JSON.stringify([source, flags]))
    .digest('base64url')
    .slice(0, 22);

afterAll(() => {
  if (WRITE_PROVEN !== undefined) writeFileSync(PROVEN_FILE, `${[...proven].toSorted().join('\n')}\n`);
});

const found = sourceFiles().map((file) => ({ file, ...findExpressions(file) }));
const literals = found.flatMap((one) => one.literals);
const calls = found.flatMap((one) => one.calls);
const withCalls = [...new Set(calls.map(({ file }) => file))];
const made = await watchExpressions(withCalls);

const places = [
  ...literals.map((one) => ({ ...one, place: `${one.file}:${one.line}` })),
  ...made.map((one) => ({ ...one, place: one.file, maxChars: boundOfCalls(one.file) })),
];
const expressions = [
  ...new Map(places.map((one) => [`${one.place} /${one.source}/${one.flags}`, one])).values(),
];

describe('a regular expression', () => {
  it('is found wherever it stands', () => {
    expect(literals.length).toBeGreaterThan(250);
    expect(made.length).toBeGreaterThan(25);
  });

  it.each(withCalls)('that %s makes is made when it is loaded, or has a bound beside it', (file) => {
    expect(made.some((one) => one.file === file) || boundOfCalls(file) !== null).toBe(true);
  });

  it('is recognised when it is slow', async () => {
    const { status } = await check('^["\']+|["\']+$', 'g', { timeout: CHECK_TIMEOUT_MS });
    expect(status).toBe('vulnerable');
  });

  it('is tried when it may be slow', () => {
    const spaces = (chars: number) => `${' '.repeat(chars)}x`;
    expect(() => expectNoGrowth(/\s+$/, spaces)).toThrow('growth');
    expect(() => expectNoGrowth(/(?:\s|\s\s)+$/, spaces)).toThrow('CPU for');
    expectNoGrowth(/^\s+$/, spaces);
  });

  it.each(expressions.map((one) => [one.place, one.source.slice(0, 60), one] as const))(
    'of %s takes time in proportion to its input: %s',
    async (_place, _source, { source, flags, maxChars }) => {
      const digest = digestOf(source, flags);
      if (maxChars === null && RUN_ALL === undefined && kept.has(digest)) {
        proven.add(digest);
        return;
      }
      const diagnostics = await check(source, flags, {
        timeout: maxChars === null ? CHECK_TIMEOUT_MS : BOUNDED_CHECK_TIMEOUT_MS,
      });
      if (diagnostics.status === 'safe' && maxChars === null) {
        proven.add(digest);
        return;
      }
      expect(diagnostics.status === 'unknown' && maxChars === null).toBe(false);
      if (diagnostics.status !== 'vulnerable') return;
      const { pumps, suffix } = diagnostics.attack;
      const expression = new RegExp(source, flags);
      if (maxChars === null) expectNoGrowth(expression, (chars) => attackOf(pumps, suffix, chars));
      else expectCpuBelow(MAX_BOUNDED_MS, () => attackOf(pumps, suffix, maxChars).search(expression));
    },
    2 * CHECK_TIMEOUT_MS,
  );
});

/** Which call created which expression is unknown, so all of a file must have a bound, and the largest counts. */
function boundOfCalls(file: string): number | null {
  const bounds = calls
    .filter((call) => call.file === file)
    .map(({ maxChars }) => maxChars ?? Number.POSITIVE_INFINITY);
  const bound = Math.max(...bounds);
  return Number.isFinite(bound) ? bound : null;
}

interface Pump {
  readonly prefix: string;
  readonly pump: string;
}

/**
 * On a busy machine recheck considers expressions slow that are not: its attack is tried with longer and longer inputs, so that fast growth
 * shows before a run takes for ever.
 */
function expectNoGrowth(expression: RegExp, attackOfLength: (chars: number) => string): void {
  const measure = (chars: number): number => {
    const input = attackOfLength(chars);
    return bestCpuMs(3, () => input.search(expression));
  };
  for (let chars = 16; chars < SHORT_ATTACK; chars = Math.ceil(chars * 1.25)) {
    expect(measure(chars), `CPU for ${chars} characters`).toBeLessThan(NOTICEABLE_MS);
  }
  const search = (input: string) => input.search(expression);
  for (let chars = SHORT_ATTACK; chars <= LONG_ATTACK; chars *= 2) {
    if (measure(chars) < NOTICEABLE_MS) continue;
    const inputs = [attackOfLength(chars), attackOfLength(FACTOR * chars)] as const;
    expectCpuGrowthBelow(MAX_GROWTH, search, ...inputs, FLOOR_MS, `growth from ${chars} characters`);
    return;
  }
}

/** The attack, pumped as far as the bound allows. */
function attackOf(pumps: readonly Pump[], suffix: string, maxChars: number): string {
  const fixed = pumps.reduce((sum, { prefix }) => sum + prefix.length, suffix.length);
  const each = Math.max(0, maxChars - fixed) / Math.max(1, pumps.length);
  const text = pumps
    .map(({ prefix, pump }) => prefix + pump.repeat(Math.floor(each / Math.max(1, pump.length))))
    .join('');
  return (text + suffix).slice(0, maxChars);
}
