/**
 * Stores how a hand-over ended: that of a direct send together with its email, that of a queued one with its attempt.
 * Every step may be repeated, so the whole may be called again after any failure or crash.
 */
import { conclude, type Conclusion } from '../../core/delivery/conclude.ts';
import { nextAttemptInMs } from '../../core/delivery/retry-schedule.ts';
import { deleteFiles } from '../../platform/files/delete-files.ts';
import type { BlobStore, RecordedRaw } from '../../platform/files/file-ports.ts';
import { locationOfRaw } from '../../platform/files/raw-location.ts';
import { tookMs } from '../../core/statistics/latency.ts';
import type { Logger } from '../../platform/base/basics.ts';
import type { EndedAttempt, Journal, UnrecordedEmail } from './journal-ports.ts';
import type { OutboundRecord, OutboundStore } from './outbound-ports.ts';
import type { RetryPolicy, SendQueue, Situation } from './queue-ports.ts';
import type { TransportResult } from './transport-ports.ts';

export interface StoreOutcomePorts {
  readonly journal: Journal;
  readonly queue: Pick<SendQueue, 'settle'>;
  readonly store: Pick<OutboundStore, 'recordOutbound'>;
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly retry: RetryPolicy;
  readonly logger: Logger;
  /** See compareCopies. */
  readonly compareCopies: (emailId: string) => Promise<void>;
}

/** Throws the errors of the stores. The caller removes the entry from the journal afterwards, and only then. */
export async function storeOutcome(ports: StoreOutcomePorts, ended: EndedAttempt): Promise<void> {
  const { emailId, email } = ended;
  const decide = (situation: Situation) => decideAfter(ports, ended, situation);
  const { cameBack, orphans } =
    email === null
      ? await ports.queue.settle(ports.journal.owner, ended, decide)
      : await ports.store.recordOutbound(toRecord(ended, email, await storeFiles(ports, email), decide));
  await deleteFiles(ports, orphans);
  if (!cameBack) return;
  try {
    await ports.compareCopies(emailId);
  } catch (err) {
    // The outcome is stored; areas/receive/copy-comparer.ts continues with the copies.
    ports.logger.warn({ err, emailId }, 'copies of a sent email could not be compared yet');
  }
}

/** Stores the files of an email before its record, which names them. */
export async function storeFiles(
  { blobs }: Pick<StoreOutcomePorts, 'blobs'>,
  { record, raw, attachments }: UnrecordedEmail,
): Promise<RecordedRaw> {
  const location = locationOfRaw(raw, record.accountId, record.id);
  if (location.rawPath !== null) await blobs.put(location.rawPath, raw, 'message/rfc822');
  for (const [index, attachment] of record.attachments.entries()) {
    const content = attachments[index];
    if (content === undefined) throw new Error('an unrecorded email lacks the content of an attachment');
    await blobs.put(attachment.storagePath, content, attachment.contentType);
  }
  return location;
}

/** The server did not judge the message: the next attempt need not wait as long. */
export function isConnectionFailure(result: TransportResult): boolean {
  return result.kind === 'refused' && result.temporary && result.reply === null;
}

function decideAfter(
  { retry }: StoreOutcomePorts,
  { attempt, email, result }: EndedAttempt,
  { states, giveUpInMs }: Situation,
): Conclusion {
  // The caller of a direct send learns that it failed, so it must not go out later.
  if (email !== null && result.kind === 'refused') {
    return { state: 'failed', detail: result.detail, dueInMs: null };
  }
  const dueInMs = nextAttemptInMs(retry.schedule, {
    attempts: attempt,
    failure: isConnectionFailure(result) ? 'connection' : 'reply',
    giveUpInMs,
    random: retry.random(),
  });
  return conclude(states, result.detail, dueInMs);
}

function toRecord(
  { attempt: number, startedAt, endedAt, result }: EndedAttempt,
  { record, queue }: UnrecordedEmail,
  location: RecordedRaw,
  decide: (situation: Situation) => Conclusion,
): OutboundRecord {
  const { recipients: deliveries, kind: outcome, reply, detail, relayMessageId } = result;
  const states = deliveries.map((delivery) => delivery.state);
  const conclusion = decide({ states, giveUpInMs: queue.giveUpAfterMs });
  const { dueInMs } = conclusion;
  return {
    ...record,
    ...location,
    state: conclusion.state,
    stateDetail: conclusion.detail,
    deliveries,
    attempt: { number, startedAt, endedAt, outcome, reply, detail },
    queue: dueInMs === null ? null : { ...queue, dueInMs },
    tookMs: conclusion.state === 'sent' && endedAt !== null ? tookMs(queue.timedFrom, endedAt) : null,
    relayMessageId: relayMessageId === record.messageId ? null : relayMessageId,
  };
}
