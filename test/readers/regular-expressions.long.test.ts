/**
 * No regular expression of the source takes more than linear time in the length of its input (ReDoS): recheck proves it, or looks for a
 * counterexample. An expression with a counterexample has a bound on its input beside it, `Input: at most 320 characters`; then the worst
 * input of that length is tried.
 *
 * A proof takes up to a second and a search two, so both are kept: proven-expressions.txt has the digest of each expression that recheck proved, or
 * whose counterexample takes linear time, and kept-attacks.json the worst input of each that has a bound. What is in neither is examined each time; `WRITE_PROVEN=1` adds it, and
 * `RUN_ALL=1` examines all of them.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { check } from 'recheck';
import { afterAll, describe, expect, it } from 'vitest';
import { bestCpuMs, expectCpuBelow } from './cpu-time.ts';
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
/** Length of the larger input, in lengths of the smaller one: so much apart that noise makes neither growth look like the other. */
const FACTOR = 4;
/** 4 is linear, 16 is quadratic. */
const MAX_GROWTH = 8;

const PROVEN_FILE = path.join(import.meta.dirname, 'proven-expressions.txt');
const { RUN_ALL, WRITE_PROVEN } = process.env;
const kept = new Set(readFileSync(PROVEN_FILE, 'utf8').split('\n').filter(Boolean));
/** Of this run, those that were kept among them. */
const proven = new Set<string>();

/** The worst input that was found; null: none was found. */
type Attack = { readonly pumps: readonly Pump[]; readonly suffix: string } | null;
const ATTACKS_FILE = path.join(import.meta.dirname, 'kept-attacks.json');
const keptAttacks = new Map(
  Object.entries(JSON.parse(readFileSync(ATTACKS_FILE, 'utf8')) as Readonly<Record<string, Attack>>),
);
/** Of this run, those that were kept among them. */
const attacks = new Map<string, Attack>();

const digestOf = (source: string, flags: string): string =>
  createHash('sha256')
    .update(JSON.stringify([source, flags]))
    .digest('base64url')
    .slice(0, 22);

afterAll(() => {
  if (WRITE_PROVEN === undefined) return;
  writeFileSync(PROVEN_FILE, `${[...proven].toSorted().join('\n')}\n`);
  const byDigest = [...attacks].toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(ATTACKS_FILE, `${JSON.stringify(Object.fromEntries(byDigest), null, 2)}\n`);
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
      const isKept =
        RUN_ALL === undefined && (kept.has(digest) || (maxChars !== null && keptAttacks.has(digest)));
      const attack = isKept ? (keptAttacks.get(digest) ?? null) : await findAttack(source, flags, maxChars);
      if (maxChars === null) {
        proven.add(digest);
        return;
      }
      attacks.set(digest, attack);
      if (attack === null) return;
      const { pumps, suffix } = attack;
      const expression = new RegExp(source, flags);
      expectCpuBelow(MAX_BOUNDED_MS, () => attackOf(pumps, suffix, maxChars).search(expression));
    },
    2 * CHECK_TIMEOUT_MS,
  );
});

/** Fails for an expression without a bound that is not proven, unless what recheck found takes linear time. */
async function findAttack(source: string, flags: string, maxChars: number | null): Promise<Attack> {
  const timeout = maxChars === null ? CHECK_TIMEOUT_MS : BOUNDED_CHECK_TIMEOUT_MS;
  const found = await check(source, flags, { timeout });
  expect(found.status === 'unknown' && maxChars === null).toBe(false);
  if (found.status !== 'vulnerable') return null;
  const { pumps, suffix } = found.attack;
  if (maxChars === null) expectNoGrowth(new RegExp(source, flags), (chars) => attackOf(pumps, suffix, chars));
  return { pumps: pumps.map(({ prefix, pump }) => ({ prefix, pump })), suffix };
}

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
  for (let chars = SHORT_ATTACK; chars <= LONG_ATTACK; chars *= 2) {
    if (measure(chars) < NOTICEABLE_MS) continue;
    // Twice: the machine may become slower between two measurements.
    const growths = [1, 2].map(() => measure(FACTOR * chars) / measure(chars));
    expect(Math.min(...growths), `growth from ${chars} characters`).toBeLessThan(MAX_GROWTH);
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
