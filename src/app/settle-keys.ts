/**
 * Settles open keys that nobody works on: after a crash, a failed claim, or an outcome that could not be stored.
 *
 * What the journal still has is not decided yet. The journal is asked first: an email leaves it only after it was
 * recorded, so what neither has was never handed to a mail server, and its key is free again.
 */
import type { SendOutcome } from './application.ts';
import type { IdempotencyKeys, KeyHold, KeyWork } from './idempotency.ts';
import type { EmailDetail, Journal, Logger, MessageStore } from './ports.ts';

export interface SettleKeysPorts {
  readonly keys: IdempotencyKeys;
  readonly work: KeyWork;
  readonly journal: Pick<Journal, 'has'>;
  readonly store: Pick<MessageStore, 'readEmail'>;
  readonly logger: Logger;
}

/** Goes once over the open keys of this instance. Asks for another round when some can't be settled yet. */
export async function settleKeys(ports: SettleKeysPorts): Promise<void> {
  const { keys, work, logger } = ports;
  for (const { hold, outcome } of work.kept()) {
    await keys.complete(hold, outcome);
    work.forget(hold.emailId);
  }
  let settled = 0;
  for (const hold of await keys.listOpen()) {
    if (work.has(hold.emailId)) continue;
    if (await settleKey(ports, hold)) settled += 1;
    else work.needsSettling();
  }
  if (settled > 0) logger.info({ settled }, 'idempotency keys of interrupted requests were settled');
}

/** False when it can't be known yet. The caller makes sure that no send with this key is under way. */
export async function settleKey(ports: SettleKeysPorts, hold: KeyHold): Promise<boolean> {
  if (ports.journal.has(hold.emailId)) return false;
  const email = await ports.store.readEmail(hold.emailId);
  if (email === null) await ports.keys.release(hold);
  else await ports.keys.complete(hold, outcomeOf(email));
  return true;
}

/** The answer that the caller got, or would have got, as far as the record tells. */
function outcomeOf(email: EmailDetail): SendOutcome {
  const { id, messageId, threadId, stateDetail: details } = email;
  switch (email.state) {
    case 'failed':
      return { kind: 'failed', code: 'send_failed', details };
    case 'unknown':
      return { kind: 'failed', code: 'send_unknown', details };
    default:
      return { kind: 'sent', id, messageId, threadId };
  }
}
