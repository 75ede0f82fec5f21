/** The loop's own promises, in one order each; `test/model/` tries them in thousands. */
import { expect, it } from 'vitest';
import type { BlobStore } from '../app/files/file-ports.ts';
import type { ClaimRef } from '../app/send/claim.ts';
import { createHeldClaims } from '../app/send/held-claims.ts';
import { createSettling } from '../app/send/settling.ts';
import { createMemoryJournal, type Disk } from '../../test/helpers/memory-journal.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { waitUntil } from '../../test/helpers/wait-until.ts';
import { QueueDatabase } from '../../test/model/queue-database.ts';
import { startSendQueue, type SendQueuePorts } from './send-queue.ts';

const LEASE_MS = 60;

function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

it('does not take the next claim of an email for forgotten when the answer to giving back the first one is late', async () => {
  const database = new QueueDatabase(() => performance.now());
  database.enqueue('a');
  const disk: Disk = new Map();
  const [releaseAnswered, secondPrepared] = [createGate(), createGate()];
  const released: ClaimRef[] = [];
  let handedOver = 0;
  let begun = 0;
  let looks = 0;
  const journal = createMemoryJournal('one', disk, async (_label, effect) => effect());
  const ports: SendQueuePorts = {
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
        })),
        lastLane: afterLane,
      }),
      renew: async (owner, refs, leaseMs) => database.renew(owner, refs, leaseMs),
      async begin(owner, ref, leaseMs) {
        begun += 1;
        return begun > 1 && database.begin(owner, ref, leaseMs);
      },
      showSending: async (owner, refs) => database.showSending(owner, refs),
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
      expire: async (owner) => database.expire(owner),
      async settle(owner, ended, decide) {
        database.settle(owner, ended, decide);
        return { cameBack: false, orphans: [] };
      },
      giveUpOrphans: async () => 0,
      takeRoom: async () => 0,
    },
    journal: {
      ...journal,
      async prepare(attempt, folder) {
        if (attempt.claimId === 'claim-2') await secondPrepared.opened;
        await journal.prepare(attempt, folder);
      },
    },
    held: createHeldClaims(),
    settling: createSettling(),
    store: { recordOutbound: () => Promise.reject(new Error('unused')) },
    compareCopies: async () => {},
    retry: { schedule: { delaysMs: [10], giveUpAfterMs: 60_000 }, random: () => 0.5 },
    clock: () => new Date(),
    blobs: {} as BlobStore,
    spool: {
      create: () => ({
        write: () => Promise.reject(new Error('unused')),
        adopt: () => Promise.reject(new Error('unused')),
        remove: async () => {},
      }),
    },
    transportOf: () => ({
      async send(envelope, _raw, beforeFirstByte) {
        await beforeFirstByte?.();
        handedOver += 1;
        const recipients = envelope.rcptTo.map(
          (address) => ({ address, state: 'accepted', reply: null }) as const,
        );
        return { kind: 'accepted', recipients, reply: null, detail: 'ok', relayMessageId: null };
      },
      verify: async () => {},
      close: async () => {},
    }),
    logger: silentLogger,
  };
  const rate = { perMinute: null, perDay: null };
  const accounts = [{ id: 'default', slots: 2, rate }];
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
