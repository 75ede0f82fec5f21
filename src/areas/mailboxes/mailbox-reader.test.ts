/** Which failures of an account last: those after which INBOX could not be read either, however long an attempt takes. */
import { expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { MailboxError, type MailboxSession } from './mailbox-ports.ts';
import type { MailboxRecords } from './mailbox-record-ports.ts';
import { startMailboxReader, type MailboxReaderPorts } from './mailbox-reader.ts';

const OWNER = 'this-process';
const LEASE_MS = 1e9;
const PROGRESS = { uidValidity: null, uidNext: null, exists: 0, highestModSeq: null, since: null };

function cut(): never {
  throw new MailboxError('connection', 'cut');
}

/** @param session of an empty mailbox, but for this @returns whether each of the first three failures lasts */
async function failuresWith(
  session: (pass: (ms: number) => void) => Partial<MailboxSession>,
): Promise<readonly boolean[]> {
  let now = 0;
  const failures: boolean[] = [];
  const records: Partial<MailboxRecords> = {
    claim: async () => ({ holders: new Map([['one', OWNER]]), due: new Set(), others: [] }),
    release: async () => {},
    leave: async () => {},
    noteAttempt: async () => {},
    noteAccountFailure: async (_owner, _id, { isLasting }) => void failures.push(isLasting),
    noteMailboxFailure: async () => {},
    openMailboxes: async (_owner, _id, found) =>
      found.map(({ path, specialUse }) => ({ id: path, path, specialUse, progress: PROGRESS })),
    readUids: async () => [],
    recordChanges: async () => {},
    recordProgress: async () => {},
    nextMessages: async () => [],
    concludePass: async () => ({ waiting: 0, nextTryMs: null }),
  };
  const connected: Partial<MailboxSession> = {
    canIdle: true,
    listMailboxes: async () => [{ path: 'INBOX', specialUse: '\\Inbox' }],
    open: async () => ({ uidValidity: 1, uidNext: 1, exists: 0, highestModSeq: null, vanished: null }),
    listUids: async () => [],
    waitForChange: async () => cut(),
    close: async () => {},
    ...session((ms) => void (now += ms)),
  };
  const ports = {
    records,
    source: { connect: async () => connected },
    mayStoreFiles: () => true,
    clock: () => new Date(now),
    logger: silentLogger,
    random: () => 0.5,
  } as unknown as MailboxReaderPorts;
  const reader = startMailboxReader(ports, {
    owner: OWNER,
    accounts: [{ id: 'one', since: null, isOwn: () => false, capture: null }],
    leaseMs: LEASE_MS,
    pollMs: 50,
    timers: {
      now: () => now,
      after(_delayMs, run) {
        const timer = setTimeout(run, 1);
        return () => clearTimeout(timer);
      },
    },
  });
  try {
    await waitUntil('it fails', async () => failures.length >= 3);
  } finally {
    await reader.stop();
  }
  return failures.slice(0, 3);
}

it('lasts when the next attempt fails too, also when each of them takes minutes', async () => {
  const hanging = await failuresWith((pass) => ({
    async open() {
      pass(120_000);
      return cut();
    },
  }));
  expect(hanging).toEqual([false, true, true]);
});

it('does not last when INBOX was read in between, however soon the connection ends', async () => {
  expect(await failuresWith(() => ({}))).toEqual([false, false, false]);
});
