/**
 * docs/concurrency.md lists every lease, lock and limit of the source. `docs.test.ts` checks that the things it
 * names exist.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { allSources } from '../helpers/sources.ts';

const DOCS = path.join(import.meta.dirname, '../../docs');
const PAGE = readFileSync(path.join(DOCS, 'concurrency.md'), 'utf8');

/** Constants whose name shows that they bound or delimit work. Statements have names such as `TRY_LOCK`. */
const BY_NAME =
  /^(?:export )?const ((?:\w+_)?(?:AT_ONCE|LEASE_MS|PER_LEASE|LEASE_RESERVE|LOCK|TIMEOUT_MS|DEADLINE_MS|CONNECTIONS|SLOTS)) = (?!statement)/gm;
/** The options of an object of the class `Limit`. */
const OF_LIMITS = /\bnew Limit\(\{([^}]*)\}\)/g;
const ADVISORY = /\bpg_(?:try_)?advisory/;

/** They bound no work: so many octets are made of one. */
const OTHERS = new Set(['core/mime/compose/dkim-body.ts: MAX_OCTETS_AT_ONCE']);

const sources = allSources();

/** In the form of the page: `A`, `B` and `C` in `a/file.ts`. */
const named = new Set(
  [...PAGE.matchAll(/((?:`\w+`(?:, | and | to )?)+) in `([\w/-]+\.ts)`/g)].flatMap(
    ([, names = '', file = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${file}: ${name}`),
  ),
);
const isLeftOut = (constant: string) => !named.has(constant) && !OTHERS.has(constant);

describe('docs/concurrency.md', () => {
  it('names every constant of a lease, a lock, a time limit or work at the same moment', () => {
    const found = sources.flatMap(({ file, text }) =>
      [...text.matchAll(BY_NAME)].map(([, name]) => `${file}: ${name}`),
    );
    expect(found.length).toBeGreaterThan(40);
    expect(found.filter(isLeftOut)).toEqual([]);
  });

  it('names every constant that a Limit is made with', () => {
    const found = sources.flatMap(({ file, text }) =>
      [...text.matchAll(OF_LIMITS)].flatMap(([, options = '']) =>
        [...options.matchAll(/: ([A-Z]\w+)/g)].map(([, name]) => `${file}: ${name}`),
      ),
    );
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(isLeftOut)).toEqual([]);
  });

  it('names every file with an advisory lock', () => {
    const found = sources.filter(({ text }) => ADVISORY.test(text)).map(({ file }) => file);
    expect(found.length).toBeGreaterThan(6);
    expect(found.filter((file) => !PAGE.includes(`\`${file}\``))).toEqual([]);
  });

  it('names every setting of a lease, a time limit, a pool or work at the same moment', () => {
    const text = readFileSync(path.join(DOCS, 'configuration.md'), 'utf8');
    const found = [
      ...text.matchAll(
        /^\| `(\w+_(?:LEASE_MS|TIMEOUT_MS|POOL_SIZE|MAX_CONNECTIONS|MAX_CLIENTS\w*|PROCESSES))`/gm,
      ),
    ].map(([, name = '']) => name);
    expect(found.length).toBeGreaterThan(12);
    expect(found.filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([]);
  });
});
