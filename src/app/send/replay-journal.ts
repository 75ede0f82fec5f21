/** Stores what was sent but not stored: after a 207, a crash or a restart. */
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../base/basics.ts';
import type { PendingSends } from './pending-sends.ts';
import { storeSend, type StoreSendPorts } from './store-send.ts';

export interface ReplayPorts extends StoreSendPorts {
  readonly pending: PendingSends;
  readonly logger: Logger;
}

export interface ReplayResult {
  readonly stored: number;
  /** Entries that are still in the journal and want another try. */
  readonly remaining: number;
}

/**
 * Goes through the journal once, oldest first. An entry without an outcome is from a process that was killed in the
 * middle of a hand-over: it is recorded as `unknown` and never sent again. Stops at the first sign that a dependency
 * is unavailable; an entry that is itself at fault is skipped, so that it blocks no other.
 */
export async function replayJournal(ports: ReplayPorts): Promise<ReplayResult> {
  let stored = 0;
  let remaining = 0;
  for await (const entry of ports.journal.entries()) {
    const { id } = entry.record;
    if (ports.pending.has(id)) continue;
    try {
      await storeSend(ports, entry);
      await ports.journal.remove(id);
      stored += 1;
    } catch (err) {
      remaining += 1;
      ports.logger.warn({ err, emailId: id }, 'a send from the journal could not be stored yet');
      if (err instanceof ServiceError && err.temporary) break;
    }
  }
  if (remaining > 0) ports.pending.needsReplay();
  if (stored > 0) ports.logger.info({ stored, remaining }, 'sends from the journal were stored');
  return { stored, remaining };
}
