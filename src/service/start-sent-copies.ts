/** A part of the composition root: copies of sent emails in the Sent mailboxes of their accounts. */
import { createSentCopyQueue } from '../adapters/postgres/sent-copies/sent-copies.ts';
import type { Logger } from '../app/base/basics.ts';
import type { SentCopyQueue } from '../app/sent-copies/sent-copy-ports.ts';
import { startSentCopier } from '../worker/sent-copier.ts';
import type { Parts } from './open-parts.ts';
import type { Teardown } from './teardown.ts';

export function startSentCopies(parts: Parts, teardown: Teardown): void {
  const { config, pool, guard, mailboxSource, blobs, ids, logger, watch } = parts;
  for (const { id, sentCopies } of config.accounts) {
    if (sentCopies.note !== null) logger.info({ accountId: id }, sentCopies.note);
  }
  const queue = createSentCopyQueue(pool, guard.certainUntil);
  const without = config.accounts.filter(({ sentCopies }) => !sentCopies.areKept).map(({ id }) => id);
  const givenUp = giveUpCopies(queue, without, logger);
  teardown.push(() => givenUp);
  const accountIds = config.accounts.flatMap(({ id, sentCopies }) => (sentCopies.areKept ? [id] : []));
  if (accountIds.length === 0) return;
  const copier = startSentCopier(
    {
      queue,
      mailboxes: mailboxSource,
      blobs,
      ids,
      logger,
      random: Math.random,
    },
    { accountIds, leaseMs: config.mailboxes.leaseMs },
  );
  watch.on('sentCopies', copier.wake);
  teardown.push(() => copier.stop());
}

/** Copies of accounts that no longer keep copies would wait for ever. */
async function giveUpCopies(
  queue: SentCopyQueue,
  accountIds: readonly string[],
  logger: Logger,
): Promise<void> {
  try {
    const copies = await queue.giveUp(accountIds, 'the account no longer puts copies into its Sent mailbox');
    if (copies > 0) logger.warn({ accountIds, copies }, 'pending copies of sent emails were given up');
  } catch (err) {
    // The next start tries again.
    logger.warn({ err }, 'pending copies of sent emails could not be given up');
  }
}
