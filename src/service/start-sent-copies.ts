/** A part of the composition root: copies of sent emails in the Sent mailboxes of their accounts. */
import { createSentCopyQueue } from '../adapters/postgres/sent-copies/sent-copies.ts';
import { startSentCopier } from '../worker/sent-copier.ts';
import type { Parts, Teardown } from './open-parts.ts';

export function startSentCopies(parts: Parts, teardown: Teardown): void {
  const { config, pool, mailboxSource, blobs, ids, logger, watch } = parts;
  for (const { id, sentCopies } of config.accounts) {
    if (sentCopies.note !== null) logger.info({ accountId: id }, sentCopies.note);
  }
  const accountIds = config.accounts.flatMap(({ id, sentCopies }) => (sentCopies.areKept ? [id] : []));
  if (accountIds.length === 0) return;
  const copier = startSentCopier(
    {
      queue: createSentCopyQueue(pool),
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
