/**
 * Stores what the journal knows of a send: files first, then the record; then the journal may forget it. Each step
 * may be repeated, so the whole may be called again after any failure or crash.
 */
import { conclude } from '../../core/delivery/conclude.ts';
import { nextAttemptAt } from '../../core/delivery/retry-schedule.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { deleteFiles } from '../files/delete-files.ts';
import type { BlobStore } from '../files/file-ports.ts';
import type { Journal, JournalEntry, SettledResult } from './journal-ports.ts';
import type { Logger } from '../base/basics.ts';
import type { OutboundStore, RecordedOutcome, RecordedSend } from './outbound-ports.ts';
import type { RetryPolicy } from './queue-ports.ts';
import { placeOfRaw } from '../files/raw-place.ts';

export interface StoreSendPorts {
  readonly store: OutboundStore;
  readonly blobs: BlobStore;
  readonly journal: Journal;
  readonly retry: RetryPolicy;
  readonly logger: Logger;
  /** See compareCopies. */
  readonly compareCopies: (emailId: string) => Promise<void>;
}

/** Throws what the stores throw. The caller removes the entry from the journal afterwards, and only then. */
export async function storeSend(ports: StoreSendPorts, entry: JournalEntry): Promise<void> {
  const outcome = outcomeOf(entry, ports.retry);
  const { cameBack } = await storeEmail(ports, entry, outcome);
  if (!cameBack) return;
  try {
    await ports.compareCopies(entry.record.id);
  } catch (err) {
    // It is stored; worker/copy-comparer.ts continues with it.
    ports.logger.warn({ err, emailId: entry.record.id }, 'copies of a sent email could not be compared yet');
  }
}

/** Files first, then the record with that outcome. */
export async function storeEmail(
  ports: Pick<StoreSendPorts, 'blobs' | 'store' | 'logger'>,
  entry: JournalEntry,
  outcome: RecordedOutcome,
): Promise<RecordedSend> {
  const { record, raw } = entry;
  const place = placeOfRaw(raw, record.accountId, record.id);
  const { rawPath } = place;

  if (rawPath !== null) await ports.blobs.put(rawPath, raw, 'message/rfc822');
  for (const [index, attachment] of record.attachments.entries()) {
    const content = entry.attachments[index];
    if (content === undefined) throw new Error('a journal entry lacks the content of an attachment');
    await ports.blobs.put(attachment.storagePath, content, attachment.contentType);
  }
  const recorded = await ports.store.recordOutbound({
    ...record,
    ...outcome,
    ...place,
  });
  await deleteFiles(ports, recorded.orphans);
  return recorded;
}

function outcomeOf(entry: JournalEntry, retry: RetryPolicy): RecordedOutcome {
  const { result, record, startedAt } = entry;
  if (result === null) {
    const detail = 'the service ended while the email was being handed over';
    return {
      state: 'unknown',
      stateDetail: detail,
      deliveries: entry.envelope.rcptTo.map((address): RecipientOutcome => ({
        address,
        state: 'unknown',
        reply: null,
      })),
      attempt: { number: 1, startedAt, endedAt: null, outcome: 'unknown', reply: null, detail },
      queue: null,
      relayMessageId: null,
    };
  }
  return {
    ...stateAfter(result, entry, retry),
    deliveries: result.recipients,
    attempt: {
      number: 1,
      startedAt,
      endedAt: result.endedAt,
      outcome: result.kind,
      reply: result.reply,
      detail: result.detail,
    },
    relayMessageId: result.relayMessageId === record.messageId ? null : result.relayMessageId,
  };
}

/** The caller was told that a refused email failed, so only recipients of an accepted one are tried again. */
function stateAfter(
  result: SettledResult,
  entry: JournalEntry,
  retry: RetryPolicy,
): Pick<RecordedOutcome, 'state' | 'stateDetail' | 'queue'> {
  if (result.kind !== 'accepted') {
    const state = result.kind === 'refused' ? 'failed' : 'unknown';
    return { state, stateDetail: result.detail, queue: null };
  }
  const giveUpAt = new Date(entry.startedAt.getTime() + retry.schedule.giveUpAfterMs);
  const next = nextAttemptAt(retry.schedule, {
    attempts: 1,
    failure: 'reply',
    now: result.endedAt,
    giveUpAt,
    random: retry.random(),
  });
  const states = result.recipients.map((recipient) => recipient.state);
  const { state, detail, dueAt } = conclude(states, result.detail, next);
  return { state, stateDetail: detail, queue: dueAt === null ? null : { ...entry.queue, dueAt, giveUpAt } };
}
