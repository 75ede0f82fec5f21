/**
 * Hands one claimed send to its mail server and stores what became of it.
 *
 * The order is what keeps the promise of at most one copy: the attempt is in the journal, on the disk, before the
 * first byte goes out; the outcome is in the journal before the database is asked. A process that dies in between
 * leaves evidence, and nobody but an operator sends again without it.
 */
import type { Readable } from 'node:stream';
import { ServiceError } from '../core/errors.ts';
import type { RecipientOutcome } from '../core/delivery/states.ts';
import type { BlobStore, Content, Spool, Transport, TransportResult } from './ports.ts';
import type { Claim, EndedAttempt } from './queue-ports.ts';
import { isConnectionFailure, storeAttempt, type StoreAttemptPorts } from './store-attempt.ts';

export interface HandOverPorts extends StoreAttemptPorts {
  readonly blobs: BlobStore;
  readonly spool: Spool;
  readonly transportOf: (accountId: string) => Transport;
}

/**
 * - `stored`: the outcome is in the database; `unreachable` when the mail server could not be talked to.
 * - `released`: nothing was handed over, somebody may claim it again.
 * - `unstored`: the outcome is in the journal only.
 */
export type HandOverResult =
  | { readonly kind: 'stored'; readonly unreachable: boolean }
  | { readonly kind: 'released' }
  | { readonly kind: 'unstored' };

/** @param mayBegin asked right before the hand-over: false when the claim may have passed to somebody else */
export async function handOverClaim(
  ports: HandOverPorts,
  claim: Claim,
  mayBegin: () => boolean,
): Promise<HandOverResult> {
  const folder = ports.spool.create();
  try {
    const attempt = { emailId: claim.emailId, attempt: claim.attempt, envelope: claim.envelope };
    const startedAt = ports.clock();
    if (claim.envelope.rcptTo.length === 0) {
      const result = withSuppressed(claim, toRefused(claim, NOBODY_LEFT));
      return await store(ports, { ...attempt, startedAt, endedAt: startedAt, result });
    }
    const raw = await openRaw(ports, claim, (source) => folder.write(source));
    let result: TransportResult;
    if (raw.kind === 'missing') {
      result = toRefused(claim, raw);
    } else {
      await ports.attempts.prepareAttempt({ ...attempt, startedAt });
      if (!mayBegin()) {
        await ports.attempts.removeAttempt(claim);
        return await release(ports, claim);
      }
      result = await ports.transportOf(claim.accountId).send(claim.envelope, raw);
    }
    result = withSuppressed(claim, result);
    return await store(ports, { ...attempt, startedAt, endedAt: ports.clock(), result });
  } finally {
    await folder.remove();
  }
}

async function store(ports: HandOverPorts, ended: EndedAttempt): Promise<HandOverResult> {
  const { emailId, result } = ended;
  const { flush } = ports.attempts.settleAttempt(ended);
  try {
    await storeAttempt(ports, ended);
    return { kind: 'stored', unreachable: isConnectionFailure(result) };
  } catch (err) {
    ports.logger.error({ err, emailId }, 'an attempt could not be stored yet; it stays in the journal');
    // What fails is logged there; the outcome stays in memory then.
    await flush().catch(() => undefined);
    return { kind: 'unstored' };
  }
}

/** Never throws: a claim that can't be given back now is found among this instance's claims later. */
async function release(ports: HandOverPorts, claim: Claim): Promise<HandOverResult> {
  try {
    await ports.queue.release(ports.owner, claim);
    return { kind: 'released' };
  } catch (err) {
    ports.logger.warn({ err, emailId: claim.emailId }, 'a claim could not be given back yet');
    return { kind: 'unstored' };
  }
}

interface MissingRaw {
  readonly kind: 'missing';
  readonly detail: string;
  /** Whether it may be there later. */
  readonly temporary: boolean;
}

async function openRaw(
  { blobs }: HandOverPorts,
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

const NOBODY_LEFT: MissingRaw = { kind: 'missing', detail: 'no recipient is left', temporary: false };

/** Who is on the suppression list was not sent to, and will not be. */
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
    detail: `${count} on the suppression list; ${result.detail}`,
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
