/** A part of the composition root: copies of sent emails in the Sent mailboxes of their accounts. */
import { createSentCopyQueue } from '../areas/sent-copies/sent-copies.ts';
import type { Logger } from '../platform/base/basics.ts';
import type { SentCopyQueue } from '../areas/sent-copies/sent-copy-ports.ts';
import { startSentCopier } from '../areas/sent-copies/sent-copier.ts';
import type { Parts } from './open-parts.ts';
import type { Teardown } from './teardown.ts';

export function startSentCopies(parts: Parts, teardown: Teardown): void {
  const { config, pool, guard, mailboxSource, blobs, ids, logger, watch, registry } = parts;
  const queue = createSentCopyQueue(pool, guard.certainUntil);
  const notes = new Map<string, string | null>();
  /** Account → whether it keeps copies. */
  let kept = new Map<string, boolean>();
  let givenUp = Promise.resolve();
  registry.follow(() => {
    for (const { id, sentCopies } of registry.settings) {
      if (sentCopies.note !== null && notes.get(id) !== sentCopies.note)
        logger.info({ accountId: id }, sentCopies.note);
      notes.set(id, sentCopies.note);
    }
    const keeps = new Map(registry.settings.map(({ id, sentCopies }) => [id, sentCopies.areKept]));
    const changed = [...keeps].filter(([id, isKept]) => !isKept && kept.get(id) !== false);
    const deleted = [...kept.keys()].filter((id) => !registry.known.has(id));
    kept = keeps;
    const without = [...changed.map(([id]) => id), ...deleted];
    if (without.length > 0) givenUp = givenUp.then(() => giveUpCopies(queue, without, logger));
  });
  teardown.push(() => givenUp);
  const copier = startSentCopier(
    {
      queue,
      mailboxes: mailboxSource,
      blobs,
      ids,
      logger,
      random: Math.random,
    },
    { accountIds: () => registry.keepingCopies, leaseMs: config.mailboxes.leaseMs },
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
