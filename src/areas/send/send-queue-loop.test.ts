/** The guarantees of the loop itself, each tested in one order; `test/model/` tests them in thousands. */
import { expect, it } from 'vitest';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import type { ClaimRef } from './claim.ts';
import type { Journal } from './journal-ports.ts';
import type { SendQueue } from './queue-ports.ts';
import { createHeldClaims } from './held-claims.ts';
import { createSettling } from './settling.ts';
import type { Transport } from './transport-ports.ts';
import { createMemoryJournal, type Disk } from '../../../test/helpers/memory-journal.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import { QueueDatabase } from '../../../test/model/queue-database.ts';
import { startSendQueue, type SendQueuePorts } from './send-queue-loop.ts';

const LEASE_MS = 60;

function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const RATE = { perMinute: null, perDay: null };

/** Runs on the model of the database; every hand-over is accepted, unless `changes` specify otherwise. */
function createPorts(
  database: QueueDatabase,
  disk: Disk,
  changes: {
    readonly queue?: Partial<SendQueue>;
    readonly journal?: (journal: Journal) => Journal;
    readonly send?: Transport['send'];
  },
): SendQueuePorts {
  const journal = createMemoryJournal('one', disk, async (_label, effect) => effect());
  return {
    queue: {
      dueAccounts: async () => database.dueAccounts(),
      claim: async ({ owner, limit, leaseMs, afterLane }) => ({
        claims: database.claim(owner, limit, leaseMs).map((ref) => ({
          ...ref,
          accountId: 'default',
          envelope: { mailFrom: null, rcptTo: ['b@example.com'] },
          suppressed: [],
          raw: Buffer.alloc(0),
          rawPath: null,
          rawSizeBytes: 1,
        })),
        lastLane: afterLane,
        waitMs: 0,
      }),
      renew: async (owner, refs, leaseMs) => database.renew(owner, refs, leaseMs),
      begin: async (owner, ref, leaseMs) => database.begin(owner, ref, leaseMs),
      showSending: async (owner, refs) => database.showSending(owner, refs),
      release: async (owner, ref, { evenBegun }) => database.release(owner, ref, evenBegun),
      claimsOf: async (owner) => database.claimsOf(owner),
      expire: async (owner) => database.expire(owner),
      async settle(owner, ended, decide) {
        database.settle(owner, ended, decide);
        return { cameBack: false, orphans: [] };
      },
      giveUpOrphans: async () => 0,
      takeRoom: async () => 0,
      ...changes.queue,
    },
    journal: changes.journal?.(journal) ?? journal,
    held: createHeldClaims(),
    settling: createSettling(),
    store: { recordOutbound: () => Promise.reject(new Error('unused')) },
    compareCopies: async () => {},
    retry: { schedule: { delaysMs: [10], giveUpAfterMs: 60_000 }, random: () => 0.5 },
    clock: () => new Date(),
    blobs: {} as BlobStore,
    mayReadFiles: () => true,
    spool: {
      create: () => ({
        write: () => Promise.reject(new Error('unused')),
        adopt: () => Promise.reject(new Error('unused')),
        remove: async () => {},
      }),
    },
    transportOf: () => ({
      send: changes.send ?? takeAll,
      verify: async () => {},
      close: async () => {},
    }),
    logger: silentLogger,
  };
}

const takeAll: Transport['send'] = async ({ rcptTo }, _raw, beforeFirstByte) => {
  await beforeFirstByte?.();
  const recipients = rcptTo.map((address) => ({ address, state: 'accepted', reply: null }) as const);
  return { kind: 'accepted', recipients, reply: null, detail: 'ok', relayMessageId: null };
};

it('does not take the next claim of an email for forgotten when the answer to giving back the first one is late', async () => {
  const database = new QueueDatabase(() => performance.now());
  database.enqueue('a');
  const disk: Disk = new Map();
  const [releaseAnswered, secondPrepared] = [createGate(), createGate()];
  const released: ClaimRef[] = [];
  let handedOver = 0;
  let begun = 0;
  let looks = 0;
  const ports = createPorts(database, disk, {
    queue: {
      async begin(owner, ref, leaseMs) {
        begun += 1;
        return begun > 1 && database.begin(owner, ref, leaseMs);
      },
      async release(owner, ref, { evenBegun }) {
        released.push(ref);
        const isReleased = database.release(owner, ref, evenBegun);
        if (ref.claimId === 'claim-1') await releaseAnswered.opened;
        return isReleased;
      },
      async claimsOf(owner) {
        looks += 1;
        return database.claimsOf(owner);
      },
    },
    journal: (journal) => ({
      ...journal,
      async prepare(attempt, folder) {
        if (attempt.claimId === 'claim-2') await secondPrepared.opened;
        await journal.prepare(attempt, folder);
      },
    }),
    async send(envelope, raw, beforeFirstByte) {
      const result = await takeAll(envelope, raw, beforeFirstByte);
      handedOver += 1;
      return result;
    },
  });
  const accounts = [{ id: 'default', slots: 2, rate: RATE }];
  const loop = startSendQueue(ports, { accounts, leaseMs: LEASE_MS, pollMs: 5 });

  await waitUntil('the email is claimed again', () => database.claimsOf('one')[0]?.claimId === 'claim-2');
  releaseAnswered.open();
  const before = looks;
  await waitUntil('the claims are looked through twice', () => looks >= before + 2);
  secondPrepared.open();
  await waitUntil('it is sent', () => database.emails.get('a')?.state === 'sent');
  await loop.stop();
  expect(released.map(({ claimId }) => claimId)).toEqual(['claim-1']);
  expect(handedOver).toBe(1);
});

/** Emails of one account with one hand-over at a time, so four claims in hand. */
function runOne(database: QueueDatabase, changes: Parameters<typeof createPorts>[2]) {
  for (let index = 0; index < 50; index += 1) database.enqueue(`email-${index}`);
  const accounts = [{ id: 'default', slots: 1, rate: RATE }];
  return startSendQueue(createPorts(database, new Map(), changes), {
    accounts,
    leaseMs: 60_000,
    pollMs: 60_000,
  });
}

it('looks again when the rate limits let the next message through, however long it rests else', async () => {
  const database = new QueueDatabase(() => performance.now());
  let claims = 0;
  const loop = runOne(database, {
    queue: {
      async claim({ afterLane }) {
        claims += 1;
        return { claims: [], lastLane: afterLane, waitMs: 20 };
      },
    },
  });
  await waitUntil('it has looked three times', () => claims >= 3);
  await loop.stop();
  expect(claims).toBeGreaterThanOrEqual(3);
});

it('goes on while outcomes are being stored, up to a bound', async () => {
  const database = new QueueDatabase(() => performance.now());
  const stored = createGate();
  let handedOver = 0;
  const loop = runOne(database, {
    queue: {
      async settle(owner, ended, decide) {
        await stored.opened;
        database.settle(owner, ended, decide);
        return { cameBack: false, orphans: [] };
      },
    },
    async send(...handOver) {
      handedOver += 1;
      return takeAll(...handOver);
    },
  });
  await waitUntil('all are handed over', () => handedOver === 50);
  expect([...database.emails.values()].every(({ state }) => state === 'queued')).toBe(true);
  stored.open();
  await waitUntil('all are sent', () => [...database.emails.values()].every(({ state }) => state === 'sent'));
  await loop.stop();
});

it('claims nothing more for a server that can not be reached, even before that is stored', async () => {
  const database = new QueueDatabase(() => performance.now());
  const stored = createGate();
  let claimed = 0;
  let failed = 0;
  const loop = runOne(database, {
    queue: {
      async begin(owner, ref, leaseMs) {
        claimed = Math.max(claimed, database.claimsOf(owner).length);
        return database.begin(owner, ref, leaseMs);
      },
      async settle(owner, ended, decide) {
        await stored.opened;
        claimed = Math.max(claimed, database.claimsOf(owner).length);
        database.settle(owner, ended, decide);
        return { cameBack: false, orphans: [] };
      },
    },
    async send({ rcptTo }, _raw, beforeFirstByte) {
      await beforeFirstByte?.();
      failed += 1;
      const recipients = rcptTo.map((address) => ({ address, state: 'deferred', reply: null }) as const);
      return {
        kind: 'refused',
        temporary: true,
        recipients,
        reply: null,
        detail: 'no connection',
        relayMessageId: null,
      };
    },
  });
  await waitUntil('the others are given back', () => failed > 0 && database.claimsOf('one').length === 1);
  // Long enough for the loop to have claimed again.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  stored.open();
  await loop.stop();
  expect({ failed, claimed }).toEqual({ failed: 1, claimed: 4 });
});
