/**
 * A part of the composition root: stores the outcomes left in the journal of a stopped service, as the service does at
 * its start.
 */
import { createOutboundStore } from '../areas/send/outbound-store.ts';
import { createSendQueue } from '../areas/send/send-queue-store.ts';
import type { Logger } from '../platform/base/basics.ts';
import { createHeldClaims } from '../areas/send/held-claims.ts';
import { settleJournal } from '../areas/send/settle-journal.ts';
import { createSettling } from '../areas/send/settling.ts';
import type { Config } from '../config/config.ts';
import type { OpenData } from './open-data.ts';

/** Returns how many are left. Does nothing beside a running service, which settles them itself. */
export async function settleLeftSends(
  config: Config,
  data: Pick<OpenData, 'journal' | 'pool' | 'blobs'>,
  logger: Logger,
): Promise<number> {
  const { journal, pool, blobs } = data;
  if (journal === null || countEntries(journal) === 0) return 0;
  await settleJournal(
    {
      journal,
      // Nothing is given up here: the service decides, which watches the clocks.
      queue: createSendQueue(pool, () => new Date(0)),
      store: createOutboundStore(pool),
      blobs,
      retry: { schedule: config.retrySchedule, random: Math.random },
      logger,
      held: createHeldClaims(),
      settling: createSettling(),
      // The service compares all copies that are not compared yet.
      compareCopies: () => Promise.resolve(),
    },
    () => undefined,
  );
  return countEntries(journal);
}

const countEntries = (journal: NonNullable<OpenData['journal']>): number => [...journal.keys()].length;
