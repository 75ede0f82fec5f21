/** What deletes because of the time asks whether the clock is certain: a clock that jumped expires nothing. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const FOLDER = path.join(import.meta.dirname, '..');

/** The reasons why these may delete at any time. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['leave-mailboxes', 'a process that lives registers again with its next look'],
  ['retire-generations', 'by the generation of the mailbox; the time is only written down'],
  ['number_events', 'moves events into the feed'],
  ['use-login-link', 'used up by its use'],
]);

/** Backquoted texts with the name before them, as `statement` and migrations have them. */
const textsOf = (source: string) =>
  [...source.matchAll(/(?:'([a-z0-9-]+)',\s*)?(?:`([^`]*)`|'([^'\n]*)')/g)].map(([, name, long, short]) => ({
    name: name ?? /^create function (\w+)/.exec(long ?? '')?.[1] ?? '',
    text: (long ?? short ?? '').replaceAll(/--.*$/gm, ''),
  }));

it('every statement and function that deletes by time asks for a certain clock', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.generated.ts'),
  );
  const deleting = files.flatMap((file) =>
    textsOf(readFileSync(path.join(FOLDER, file), 'utf8')).filter(
      ({ text }) => /\bdelete from\b|'drop table %/.test(text) && /\bnow\(\)/.test(text),
    ),
  );
  expect(deleting.length).toBeGreaterThan(5);
  const bare = deleting.filter(
    ({ name, text }) => !/\bclock_is_certain\(\)|\$\{isCertain\(/.test(text) && !EXCEPTIONS.has(name),
  );
  expect(bare.map(({ name, text }) => name || text.slice(0, 60))).toEqual([]);
});
