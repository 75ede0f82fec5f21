/** Hands over a claimed send of the queue: fetches its message, and refuses a send that has become impossible. */
import type { Readable } from 'node:stream';
import { ServiceError } from '../../core/errors.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import type { BlobStore, Content, Spool } from '../files/file-ports.ts';
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
}

/** @param options the claim is fenced at its row in the database, through `mayBegin` */
export async function handOverClaim(
  ports: HandOverClaimPorts,
  claim: Claim,
  options: Required<Pick<HandOverOptions, 'mayBegin' | 'onAnswered'>>,
): Promise<HandOverResult> {
  const folder = ports.spool.create();
  try {
    const raw =
      claim.envelope.rcptTo.length === 0
        ? NO_RECIPIENT_LEFT
        : await openRaw(ports, claim, (source) => folder.write(source));
    if (raw.kind !== 'missing') {
      const complete = (result: TransportResult) => withSuppressed(claim, result);
      return await handOver(ports, { ...claim, raw, email: null }, { ...options, complete });
    }
    const { emailId, claimId, attempt, envelope } = claim;
    const now = ports.clock();
    const result = withSuppressed(claim, toRefused(claim, raw));
    const ended = { emailId, claimId, attempt, envelope, email: null, startedAt: now, endedAt: now, result };
    return await endHandOver(ports, ended);
  } finally {
    await folder.remove();
  }
}

interface MissingRaw {
  readonly kind: 'missing';
  readonly detail: string;
  /** True if it may exist later. */
  readonly temporary: boolean;
}

async function openRaw(
  { blobs }: HandOverClaimPorts,
  { raw, rawPath }: Claim,
  write: (source: AsyncIterable<Buffer>) => Promise<Content>,
): Promise<Content | MissingRaw> {
  if (raw !== null) return { kind: 'bytes', bytes: raw };
  try {
    const stream: Readable | null = rawPath === null ? null : await blobs.get(rawPath);
    if (stream === null) return { kind: 'missing', detail: `no file ${rawPath}`, temporary: false };
    return await write(stream);
  } catch (error) {
    const detail = error instanceof ServiceError ? error.code : 'it could not be read';
    return { kind: 'missing', detail: `the message is not at hand: ${detail}`, temporary: true };
  }
}

const NO_RECIPIENT_LEFT: MissingRaw = { kind: 'missing', detail: 'no recipient is left', temporary: false };

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

function toRefused({ envelope }: Claim, { detail, temporary }: MissingRaw): TransportResult {
  const state = temporary ? 'deferred' : 'rejected';
  return {
    kind: 'refused',
    temporary,
    recipients: envelope.rcptTo.map((address): RecipientOutcome => ({ address, state, reply: null })),
    reply: null,
    detail,
    relayMessageId: null,
  };
}
