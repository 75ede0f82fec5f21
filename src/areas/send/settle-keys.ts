/**
 * Settles open keys that no request works on: after a crash, a failed claim, or an outcome that could not be stored.
 *
 * A send that is still in the journal is not decided yet. The journal is asked first, because an email leaves it only
 * after it was recorded. A send that is neither in the journal nor recorded was never handed to a mail server. Its key
 * becomes free, but not at once: a statement whose connection broke may still record the email and put it into the queue.
 */
import { directClaim } from './claim.ts';
import type { SendOutcome } from './use-cases.ts';
import type { IdempotencyKeys, KeyHold, KeyWork } from './idempotency.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { systemTimers, type Timers } from '../../platform/base/timers.ts';
import type { EmailDetail, EmailStore } from '../emails/email-ports.ts';
import type { Journal } from './journal-ports.ts';
import { notAcceptedOf } from './not-accepted.ts';

export interface SettleKeyPorts {
  readonly keys: IdempotencyKeys;
  readonly journal: Pick<Journal, 'has'>;
  readonly emails: Pick<EmailStore, 'readEmail'>;
}

export interface SettleKeysPorts extends SettleKeyPorts {
  readonly work: KeyWork;
  readonly logger: Logger;
  /** Default: those of the system. */
  readonly timers?: Pick<Timers, 'now'>;
  /** How long a statement may continue after its connection broke, in ms. */
  readonly statementTimeoutMs: number;
}

/** The knowledge about the email of a key; `nothing` when neither the journal nor the record has it. */
type Finding = 'settled' | 'undecided' | 'nothing';

/**
 * Returns a function that goes once over the open keys of this instance. It requests another round when some can't be
 * settled yet. Throws `database_unavailable`.
 */
export function createKeySettlement(ports: SettleKeysPorts): () => Promise<void> {
  const { keys, work, logger, timers = systemTimers } = ports;
  /** Emails about which nothing is known, and the time in ms since which no request works on them. */
  let unknownSince = new Map<string, number>();

  return async () => {
    for (const { hold, outcome } of work.kept()) {
      await keys.complete(hold, outcome);
      work.forget(hold.emailId);
    }
    const now = timers.now();
    const stillUnknown = new Map<string, number>();
    let settled = 0;
    for (const hold of await keys.listOpen()) {
      if (work.has(hold.emailId)) continue;
      const finding = await lookFor(ports, hold);
      const since = unknownSince.get(hold.emailId) ?? now;
      if (finding === 'nothing' && now - since >= ports.statementTimeoutMs) await keys.release(hold);
      else if (finding === 'nothing') stillUnknown.set(hold.emailId, since);
      if (finding === 'undecided' || stillUnknown.has(hold.emailId)) work.needsSettling();
      else settled += 1;
    }
    unknownSince = stillUnknown;
    if (settled > 0) logger.info({ settled }, 'idempotency keys of interrupted requests were settled');
  };
}

/**
 * Settles the key of a send that ended without an outcome, and whose statements have all been answered. False when the
 * outcome can't be known yet.
 */
export async function settleKey(ports: SettleKeyPorts, hold: KeyHold): Promise<boolean> {
  const finding = await lookFor(ports, hold);
  if (finding === 'nothing') await ports.keys.release(hold);
  return finding !== 'undecided';
}

async function lookFor(ports: SettleKeyPorts, hold: KeyHold): Promise<Finding> {
  if (ports.journal.has(directClaim(hold.emailId))) return 'undecided';
  const email = await ports.emails.readEmail(hold.emailId);
  if (email === null) return 'nothing';
  await ports.keys.complete(hold, outcomeOf(hold, email));
  return 'settled';
}

/** The answer that the caller got, or would have got, as far as the record shows. */
function outcomeOf({ queued }: KeyHold, email: EmailDetail): SendOutcome {
  const { id, messageId, threadId, stateDetail: details } = email;
  if (queued) return { kind: 'queued', id, messageId, threadId };
  switch (email.state) {
    case 'failed':
      return { kind: 'failed', code: 'send_failed', id, details };
    case 'unknown':
      // Only until its process is back; it came from the queue, so its caller has had the answer.
      if (email.claimLost) return queuedOutcome(email);
      return { kind: 'failed', code: 'send_unknown', id, details };
    case 'sent':
    case 'received':
      return { kind: 'sent', id, messageId, threadId, ...notAcceptedOf(email.deliveries) };
    case 'deferred':
      return queuedOutcome(email);
    case 'queued':
    case 'sending':
    case 'cancelled':
      return { kind: 'queued', id, messageId, threadId };
  }
}

/** Sent at once to some, and deferred for others: the answer was 200. From the queue: it was 202. */
function queuedOutcome({ id, messageId, threadId, deliveries }: EmailDetail): SendOutcome {
  const accepted = deliveries.some((delivery) => delivery.state === 'accepted');
  return accepted
    ? { kind: 'sent', id, messageId, threadId, ...notAcceptedOf(deliveries) }
    : { kind: 'queued', id, messageId, threadId };
}
