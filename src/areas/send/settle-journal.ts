/**
 * Settles the hand-overs that no run of this process works on any more: after a start, and whenever something could not
 * be stored. The journal decides: an entry in it was, or may have been, handed over. An entry without an outcome is from
 * a process that was killed in the middle: it is recorded as `unknown` and never sent again automatically.
 */
import { ServiceError } from '../../core/errors.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { isDirect, type ClaimKey } from './claim.ts';
import type { HeldClaims } from './held-claims.ts';
import { storeQueued } from './enqueue-send.ts';
import type { EndedAttempt, JournalAttempt, JournalEntry } from './journal-ports.ts';
import type { Settling } from './settling.ts';
import { storeOutcome, type StoreOutcomePorts } from './store-outcome.ts';

export interface SettleJournalPorts extends StoreOutcomePorts {
  readonly held: Pick<HeldClaims, 'has'>;
  readonly settling: Settling;
}

/**
 * Goes once over the journal: first the attempts of the queue, which claims nothing until they are done, then direct
 * sends, the oldest first. An entry that is itself at fault is skipped, so that it blocks no other. Throws when the
 * database is unavailable.
 *
 * @param onQueueSettled called between the two
 */
export async function settleJournal(ports: SettleJournalPorts, onQueueSettled: () => void): Promise<void> {
  let stored = await settleAll(ports, (key) => !isDirect(key));
  ports.settling.queueIsSettled();
  onQueueSettled();
  stored += await settleAll(ports, isDirect);
  if (stored > 0) ports.logger.info({ stored }, 'sends from the journal were stored');
}

/** Returns how many were stored. */
async function settleAll(ports: SettleJournalPorts, isWanted: (key: ClaimKey) => boolean): Promise<number> {
  const { journal, held, settling, logger } = ports;
  let stored = 0;
  for (const key of journal.keys()) {
    if (!isWanted(key) || held.has(key)) continue;
    const entry = journal.read(key);
    if (entry === null) continue;
    try {
      await settleEntry(ports, entry);
      await journal.remove(key);
      stored += 1;
    } catch (err) {
      settling.askAgain();
      logger.warn({ err, emailId: key.emailId }, 'a send from the journal could not be stored yet');
      if (!(err instanceof ServiceError)) continue;
      if (err.code === 'database_unavailable') throw err;
      // File storage is unavailable, for instance: the entries behind it would wait for it one by one.
      if (err.temporary) break;
    }
  }
  return stored;
}

async function settleEntry(ports: SettleJournalPorts, { attempt, ended }: JournalEntry): Promise<void> {
  const { startedAt, email, envelope } = attempt;
  if (ended !== null) await storeOutcome(ports, ended);
  else if (startedAt !== null) await storeOutcome(ports, toUnseenEnd({ ...attempt, startedAt }));
  else if (email !== null) await storeQueued(ports, email, envelope);
}

/** The result of an attempt whose end was not seen. */
function toUnseenEnd(attempt: JournalAttempt & { readonly startedAt: Date }): EndedAttempt {
  return {
    ...attempt,
    endedAt: null,
    result: {
      kind: 'unknown',
      recipients: attempt.envelope.rcptTo.map((address): RecipientOutcome => ({
        address,
        state: 'unknown',
        reply: null,
      })),
      reply: null,
      detail: 'the service ended while the email was being handed over',
      relayMessageId: null,
    },
  };
}
