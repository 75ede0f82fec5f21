/** Hands over a claimed send of the queue: fetches its message, and puts the send off while that can not be read. */
import { ServiceError } from '../../core/errors.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import { sizeOf } from '../../platform/files/content.ts';
import type { BlobStore, Content, Spool } from '../../platform/files/file-ports.ts';
import { openStored } from '../../platform/files/open-stored.ts';
import {
  endHandOver,
  handOver,
  type HandOverOptions,
  type HandOverPorts,
  type HandOverResult,
} from './hand-over.ts';
import type { Claim } from './queue-ports.ts';
import type { TransportResult } from './transport-ports.ts';

export interface HandOverClaimPorts extends HandOverPorts {
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'>;
  readonly spool: Spool;
  /** False while the storage of files can't be used. */
  readonly mayReadFiles: () => boolean;
}

/** `not_read`: the message could not be read, and nothing was handed over; the send waits for its next attempt. */
export type ClaimResult = HandOverResult | { readonly kind: 'not_read' };

/** @param options the claim is fenced at its row in the database, through `mayBegin` */
export async function handOverClaim(
  ports: HandOverClaimPorts,
  claim: Claim,
  options: Required<Pick<HandOverOptions, 'mayBegin' | 'onAnswered'>>,
): Promise<ClaimResult> {
  if (claim.envelope.rcptTo.length === 0) return await endUnsent(ports, claim, 'no recipient is left');
  const folder = ports.spool.create();
  try {
    const raw = await openRaw(ports, claim, (source) => folder.write(source));
    if (raw.kind !== 'unreadable') {
      const complete = (result: TransportResult) => withSuppressed(claim, result);
      return await handOver(ports, { ...claim, raw, email: null }, { ...options, complete });
    }
    const { emailId } = claim;
    ports.logger.error(
      { err: raw.error, emailId },
      'the message of a send could not be read; the send is deferred',
    );
    await endUnsent(ports, claim, `the message can not be read: ${raw.detail}`);
    return { kind: 'not_read' };
  } finally {
    await folder.remove();
  }
}

/** Stores an attempt that ended before the mail server was asked; open recipients, if any, are tried again. */
async function endUnsent(ports: HandOverClaimPorts, claim: Claim, detail: string): Promise<HandOverResult> {
  const { emailId, claimId, attempt, envelope } = claim;
  const now = ports.clock();
  const result = withSuppressed(claim, {
    kind: 'refused',
    temporary: envelope.rcptTo.length > 0,
    recipients: envelope.rcptTo.map((address): RecipientOutcome => ({
      address,
      state: 'deferred',
      reply: null,
    })),
    reply: null,
    detail,
    relayMessageId: null,
  });
  const ended = { emailId, claimId, attempt, envelope, email: null, startedAt: now, endedAt: now, result };
  return await endHandOver(ports, ended);
}

interface Unreadable {
  readonly kind: 'unreadable';
  readonly detail: string;
  readonly error: unknown;
}

/**
 * A message that is missing is no fault of the send: the storage may be another one or restored only in part, and an
 * operator can bring the file back.
 */
async function openRaw(
  { blobs }: HandOverClaimPorts,
  { raw, rawPath, rawSizeBytes }: Claim,
  write: (source: AsyncIterable<Buffer>) => Promise<Content>,
): Promise<Content | Unreadable> {
  if (raw !== null) return { kind: 'bytes', bytes: raw };
  try {
    const content = await write(await openStored(blobs, rawPath));
    const sizeBytes = sizeOf(content);
    if (sizeBytes === rawSizeBytes) return content;
    const error = new Error(`${rawPath} has ${sizeBytes} bytes, and not ${rawSizeBytes}`);
    return { kind: 'unreadable', detail: error.message, error };
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : 'it breaks off';
    const detail = code === 'content_missing' ? `no file ${rawPath}` : code;
    return { kind: 'unreadable', detail, error };
  }
}

/** Adds recipients on the suppression list, or who left the list of the email: nothing was sent to them, nor will be. */
function withSuppressed({ suppressed }: Claim, result: TransportResult): TransportResult {
  if (suppressed.length === 0) return result;
  const refused = suppressed.map((address): RecipientOutcome => ({
    address,
    state: 'rejected',
    reply: null,
  }));
  const count = suppressed.length === 1 ? '1 recipient is' : `${suppressed.length} recipients are`;
  return {
    ...result,
    recipients: [...result.recipients, ...refused],
    detail: `${count} on the suppression list or unsubscribed; ${result.detail}`,
  };
}
