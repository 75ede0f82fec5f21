/**
 * Hands one claimed send to its mail server and stores what became of it.
 *
 * The order is what keeps the promise of at most one copy: the attempt is in the journal, on the disk, before the
 * first byte goes out; then the database says that the claim still stands, and marks it as begun; the outcome is in the
 * journal before the database is asked again. A process that dies in between leaves evidence; without it, only an
 * operator may send again. A claim that the process has lost, for whatever reason, fails at its row in the database.
 */
import type { Readable } from 'node:stream';
import { ServiceError } from '../../core/errors.ts';
import type { RecipientOutcome } from '../../core/delivery/states.ts';
import type { BlobStore, Content, Spool } from '../files/file-ports.ts';
import type { Transport, TransportResult } from './transport-ports.ts';
import type { Claim, EndedAttempt } from './queue-ports.ts';
import { isConnectionFailure, storeAttempt, type StoreAttemptPorts } from './store-attempt.ts';

export interface HandOverPorts extends StoreAttemptPorts {
  readonly blobs: BlobStore;
  readonly spool: Spool;
  readonly transportOf: (accountId: string) => Transport;
}

/**
 * - `stored`: the outcome is in the database; `unreachable` when the mail server could not be talked to.
 * - `given_up`: nothing was handed over; the claim is to be given back, and the journal may still have the attempt.
 * - `unstored`: the outcome is in the journal only.
 */
export type HandOverResult =
  | { readonly kind: 'stored'; readonly unreachable: boolean }
  | { readonly kind: 'given_up' }
  | { readonly kind: 'unstored' };

/** @param begin asked right before the first byte: false when this process has lost the claim, or may have lost it */
export async function handOverClaim(
  ports: HandOverPorts,
  claim: Claim,
  begin: () => Promise<boolean>,
): Promise<HandOverResult> {
  const folder = ports.spool.create();
  try {
    const { emailId, claimId, envelope } = claim;
    const attempt = { emailId, claimId, attempt: claim.attempt, envelope };
    const startedAt = ports.clock();
    if (envelope.rcptTo.length === 0) {
      const result = withSuppressed(claim, toRefused(claim, NOBODY_LEFT));
      return await store(ports, { ...attempt, startedAt, endedAt: startedAt, result });
    }
    const raw = await openRaw(ports, claim, (source) => folder.write(source));
    let result: TransportResult;
    if (raw.kind === 'missing') {
      result = toRefused(claim, raw);
    } else {
      await ports.attempts.prepareAttempt({ ...attempt, startedAt });
      const sent = await sendFenced(ports, claim, raw, begin);
      if (sent === null) return { kind: 'given_up' };
      result = sent;
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

class NotBegun extends Error {}

/** null when the hand-over did not begin. */
async function sendFenced(
  { transportOf, logger }: HandOverPorts,
  claim: Claim,
  raw: Content,
  begin: () => Promise<boolean>,
): Promise<TransportResult | null> {
  const fence = async () => {
    let begun = false;
    try {
      begun = await begin();
    } catch (err) {
      logger.warn({ err, emailId: claim.emailId }, 'whether a claim still stands could not be asked');
    }
    if (!begun) throw new NotBegun();
  };
  try {
    return await transportOf(claim.accountId).send(claim.envelope, raw, fence);
  } catch (error) {
    if (error instanceof NotBegun) return null;
    throw error;
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

/** A recipient on the suppression list was not sent to, and will not be. */
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
