import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accepted, silentLogger, uuid } from '../../../test/helpers/journal-entry.mjs';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import type { EndedAttempt, JournalAttempt } from '../../app/send/queue-ports.ts';
import { LmdbAttempts } from './lmdb-attempts.ts';

let temp: TempFolder;
let attempts: LmdbAttempts;

const reopen = async () => {
  attempts = await LmdbAttempts.open({ folder: temp.path, logger: silentLogger });
};

beforeEach(async () => {
  temp = await makeTempFolder();
  await reopen();
});

afterEach(async () => {
  await attempts.close();
  await temp.remove();
});

const make = (n: number, attempt = 1): JournalAttempt => ({
  emailId: uuid(n),
  claimId: uuid(1_000_000 + attempt),
  attempt,
  envelope: { mailFrom: 'a@example.com', rcptTo: ['bob@example.com', 'zoë@example.com'] },
  startedAt: new Date('2026-01-02T03:04:05.678Z'),
});

const end = (attempt: JournalAttempt): EndedAttempt => ({
  ...attempt,
  endedAt: new Date('2026-01-02T03:04:06.000Z'),
  result: { ...accepted },
});

async function all() {
  const entries = [];
  for await (const entry of attempts.attempts()) entries.push(entry);
  return entries;
}

describe('the journal of attempts', () => {
  it('gives back what was put in, also after it was closed', async () => {
    await attempts.prepareAttempt(make(1));
    await attempts.prepareAttempt(make(2));
    await attempts.settleAttempt(end(make(2))).flush();
    const expected = [
      { attempt: make(1), ended: null },
      { attempt: make(2), ended: expect.objectContaining({ ...make(2), endedAt: end(make(2)).endedAt }) },
    ];
    expect(await all()).toEqual(expected);
    await attempts.close();
    await reopen();
    expect(await all()).toEqual(expected);
    expect((await all())[1]?.ended?.result).toMatchObject({ kind: 'accepted', detail: '250 2.0.0 queued' });
  });

  it('keeps its identity, and a new one has another', async () => {
    const { owner } = attempts;
    expect(owner).toMatch(/^[0-9a-f-]{36}$/);
    await attempts.close();
    await reopen();
    expect(attempts.owner).toBe(owner);
    const other = await makeTempFolder();
    const second = await LmdbAttempts.open({ folder: other.path, logger: silentLogger });
    expect(second.owner).not.toBe(owner);
    await second.close();
    await other.remove();
  });

  it('knows an end before it is on the disk', async () => {
    await attempts.prepareAttempt(make(1));
    const { flush } = attempts.settleAttempt(end(make(1)));
    expect((await all())[0]?.ended?.result.kind).toBe('accepted');
    await flush();
  });

  it('keeps the attempts of one email apart', async () => {
    await attempts.prepareAttempt(make(1, 1));
    await attempts.prepareAttempt(make(1, 2));
    await attempts.settleAttempt(end(make(1, 2))).flush();
    await attempts.removeAttempt(make(1, 2));
    expect(attempts.hasAttempt(make(1, 1))).toBe(true);
    expect(attempts.hasAttempt(make(1, 2))).toBe(false);
    expect(await all()).toEqual([{ attempt: make(1, 1), ended: null }]);
  });

  it('accepts a second removal', async () => {
    await attempts.prepareAttempt(make(1));
    await attempts.removeAttempt(make(1));
    await attempts.removeAttempt(make(1));
    expect(await all()).toEqual([]);
  });

  it('lists more than a page', async () => {
    await Promise.all(Array.from({ length: 1200 }, (_, n) => attempts.prepareAttempt(make(n))));
    expect(await all()).toHaveLength(1200);
  });

  it('drops an end whose attempt is gone', async () => {
    await attempts.prepareAttempt(make(1));
    const { flush } = attempts.settleAttempt(end(make(1)));
    await attempts.removeAttempt(make(1));
    await flush();
    await attempts.close();
    await reopen();
    expect(await all()).toEqual([]);
    expect(attempts.hasAttempt(make(1))).toBe(false);
  });
});
