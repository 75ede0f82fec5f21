/** What deletes because of the time asks whether the clock is certain: a clock that jumped expires nothing. */
import { expect, it } from 'vitest';
import { sqlSources } from '../../../test/helpers/sources.ts';

/** The reasons why these may delete at any time. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['leave-mailboxes', 'a process that lives registers again with its next look'],
  ['retire-generations', 'by the generation of the mailbox; the time is only written down'],
  ['number_events', 'moves events into the feed'],
  ['use-login-link', 'used up by its use'],
  ['take-consent', 'used up by its use'],
]);

/** Backquoted texts with the name before them, as `statement` and migrations have them. */
const textsOf = (source: string) =>
  [...source.matchAll(/(?:'([a-z0-9-]+)',\s*)?(?:`([^`]*)`|'([^'\n]*)')/g)].map(([, name, long, short]) => ({
    name: name ?? /^create function (\w+)/.exec(long ?? '')?.[1] ?? '',
    text: (long ?? short ?? '').replaceAll(/--.*$/gm, ''),
  }));

it('every statement and function that deletes by time asks for a certain clock', () => {
  const deleting = sqlSources().flatMap((source) =>
    textsOf(source.text).filter(
      ({ text }) => /\bdelete from\b|'drop table %/.test(text) && /\bnow\(\)/.test(text),
    ),
  );
  expect(deleting.length).toBeGreaterThan(5);
  const bare = deleting.filter(
    ({ name, text }) => !/\bclock_is_certain\(\)|\$\{isCertain\(/.test(text) && !EXCEPTIONS.has(name),
  );
  expect(bare.map(({ name, text }) => name || text.slice(0, 60))).toEqual([]);
});
