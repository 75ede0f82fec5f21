/**
 * Sends one email and records it, or puts it into the queue.
 *
 * The order keeps the promises. Every mistake of a caller is found before anything is written (prepare-send.ts); then the
 * email is handed over (hand-over.ts) like a queued one, except that its caller waits. So whatever breaks, and whenever,
 * the email is sent at most once and recorded exactly once.
 */
import { ServiceError } from '../../core/errors.ts';
import type { SendRequest, SendResult } from './use-cases.ts';
import type { BlobStore, SpoolFolder } from '../../platform/files/file-ports.ts';
import { isInline } from '../../platform/files/raw-location.ts';
import type { ActiveSends } from './active-sends.ts';
import { directClaim } from './claim.ts';
import { enqueueSend } from './enqueue-send.ts';
import { handOver, type HandOverPorts } from './hand-over.ts';
import { useRoomOf, type RateLimitPorts } from './limit-rate.ts';
import type { OutboundStore } from './outbound-ports.ts';
import { notAcceptedOf } from './not-accepted.ts';
import { prepareSend, type PreparedSend, type PrepareSendPorts } from './prepare-send.ts';
import type { SendQueue } from './queue-ports.ts';
import { asksForQueue } from './queue-request.ts';

export interface SendMessagePorts extends PrepareSendPorts, RateLimitPorts, HandOverPorts {
  readonly store: OutboundStore;
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'>;
  readonly queue: Pick<SendQueue, 'takeRoom' | 'settle'>;
  /** Throws while the storage of files can't be used. */
  readonly requireStorage: () => Promise<void>;
  /** For the end of the service, which waits for these sends. */
  readonly active: Pick<ActiveSends, 'begin' | 'end'>;
  /** Notifies the queue that something may be due. */
  readonly wakeQueue: () => void;
}

/** See `SendUseCases.sendMessage`. `id` is the email's: given by a caller that must find the email whatever happens. */
export async function sendMessage(
  ports: SendMessagePorts,
  request: SendRequest,
  folder: SpoolFolder,
  id: string = ports.ids.uuid(),
): Promise<SendResult> {
  ports.active.begin(id);
  try {
    const prepared = await prepareSend(ports, request, folder, id);
    if (asksForQueue(request)) return await enqueueSend(ports, prepared, folder, request.ifNewest);
    // Else it would be sent, and could not be recorded.
    if (needsFiles(prepared.email)) await ports.requireStorage();
    await useRoomOf(ports, prepared.email.record.accountId);
    return await sendNow(ports, prepared, folder);
  } finally {
    ports.active.end(id);
    // Does nothing once the journal has taken it over.
    await folder.remove();
  }
}

const needsFiles = ({ raw, attachments }: PreparedSend['email']): boolean =>
  attachments.length > 0 || !isInline(raw);

async function sendNow(
  ports: SendMessagePorts,
  { email, envelope }: PreparedSend,
  folder: SpoolFolder,
): Promise<SendResult> {
  const { id, accountId, messageId, threadId } = email.record;
  const claim = directClaim(id);
  ports.held.begin(claim);
  const handedOver = await handOver(
    ports,
    { ...claim, accountId, envelope, raw: email.raw, email },
    { folder },
  );
  if (handedOver.kind === 'given_up') throw new Error('a direct send was given up');
  const { result, storageError } = handedOver;
  if (result.kind === 'unknown')
    throw new ServiceError('send_unknown', { details: result.detail, emailId: id });
  if (result.kind === 'refused') {
    const code = result.temporary ? 'send_deferred' : 'send_failed';
    throw new ServiceError(code, { details: result.detail, emailId: id });
  }
  if (storageError !== null) return { kind: 'partial', messageId, error: describeStorageError(storageError) };
  return { kind: 'sent', id, messageId, threadId, ...notAcceptedOf(result.recipients) };
}

/** German, like every text a caller sees; the cause is in the log. */
function describeStorageError(error: unknown): string {
  return error instanceof ServiceError ? error.text : new ServiceError('internal_error').text;
}
