/**
 * Stores what the journal knows of a send: files first, then the record, then the journal may forget it. Each step
 * may be repeated, so the whole may be called again after any failure or crash.
 */
import type { EmailState, RecipientOutcome } from '../core/delivery/states.ts';
import { RAW_INLINE_MAX_BYTES } from './limits.ts';
import type {
  BlobStore,
  Journal,
  JournalEntry,
  MessageStore,
  RecordedOutcome,
  TransportResult,
} from './ports.ts';

export interface StoreSendPorts {
  readonly store: MessageStore;
  readonly blobs: BlobStore;
  readonly journal: Journal;
}

/** Throws what the stores throw; the entry is then still in the journal. */
export async function storeSend(ports: StoreSendPorts, entry: JournalEntry): Promise<void> {
  const { record, raw } = entry;
  const rawSizeBytes = raw.kind === 'bytes' ? raw.bytes.length : raw.sizeBytes;
  const inline = raw.kind === 'bytes' && rawSizeBytes <= RAW_INLINE_MAX_BYTES ? raw.bytes : null;
  const rawPath = inline === null ? rawStoragePath(record) : null;

  if (rawPath !== null) await ports.blobs.put(rawPath, raw, 'message/rfc822');
  for (const [index, attachment] of record.attachments.entries()) {
    const content = entry.attachments[index];
    if (content === undefined) throw new Error('a journal entry lacks the content of an attachment');
    await ports.blobs.put(attachment.storagePath, content, attachment.contentType);
  }
  await ports.store.recordOutbound({ ...record, ...outcomeOf(entry), rawSizeBytes, raw: inline, rawPath });
  await ports.journal.remove(record.id);
}

/** Apart from the attachments, whose paths begin with an account's name: no account's name begins with `_`. */
function rawStoragePath(record: JournalEntry['record']): string {
  return `_raw/${record.accountId}/${record.id}.eml`;
}

const STATE_OF: Readonly<Record<TransportResult['kind'], EmailState>> = {
  accepted: 'sent',
  refused: 'failed',
  unknown: 'unknown',
};

function outcomeOf(entry: JournalEntry): RecordedOutcome {
  const { result } = entry;
  if (result === null) {
    return {
      state: 'unknown',
      stateDetail: 'the service ended while the email was being handed over',
      deliveries: entry.envelope.rcptTo.map((address): RecipientOutcome => ({
        address,
        state: 'unknown',
        reply: null,
      })),
      relayMessageId: null,
    };
  }
  return {
    state: STATE_OF[result.kind],
    stateDetail: result.kind === 'accepted' ? null : result.detail,
    deliveries: result.recipients,
    relayMessageId: result.relayMessageId,
  };
}
