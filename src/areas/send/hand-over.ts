/**
 * Hands one claimed email to its mail server and stores the outcome: the only way out, for direct sends and for those of
 * the queue.
 *
 * The order keeps the promise of at most one copy: the attempt is in the journal, on the disk, before the first byte goes
 * out, and with it an email that the database does not have yet; then the database confirms that the claim of a queued
 * send still stands, and marks it as begun; the outcome is in the journal before the database is asked to store it. A
 * process that dies in between leaves evidence; without evidence, only an operator may send again.
 */
import type { Clock, Logger } from '../../platform/base/basics.ts';
import type { Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { ClaimKey, ClaimRef } from './claim.ts';
import type { HeldClaims } from './held-claims.ts';
import type { EndedAttempt, JournalAttempt, UnrecordedEmail } from './journal-ports.ts';
import type { Settling } from './settling.ts';
import { storeOutcome, type StoreOutcomePorts } from './store-outcome.ts';
import type { Envelope, Transport, TransportResult } from './transport-ports.ts';

export interface HandOverPorts extends StoreOutcomePorts {
  readonly transportOf: (accountId: string) => Transport;
  /** For the record of the attempt. */
  readonly clock: Clock;
  readonly held: HeldClaims;
  readonly settling: Settling;
}

/** An email that this process is to hand over; `held` has its claim. */
export interface HandOver extends ClaimRef {
  readonly accountId: string;
  readonly envelope: Envelope;
  readonly raw: Content;
  /** Of a direct send; null when the database has the email. */
  readonly email: UnrecordedEmail | null;
}

/**
 * - `ended`: the journal has the outcome, and so has the database unless there is a `storageError`.
 * - `given_up`: nothing was handed over; the claim is to be given back, and the journal still has the attempt.
 */
export type HandOverResult =
  | { readonly kind: 'ended'; readonly result: TransportResult; readonly storageError: unknown }
  | { readonly kind: 'given_up' };

export interface HandOverOptions {
  /** Holds the files of an unrecorded email; the journal takes it over. */
  readonly folder?: SpoolFolder;
  /** Called right before the first byte: false when this process has lost the claim, or may have lost it. */
  readonly mayBegin?: () => Promise<boolean>;
  /** Adds the facts that the mail server does not know to its result. */
  readonly complete?: (result: TransportResult) => TransportResult;
  /** Called when the mail server has answered, before the outcome is stored. */
  readonly onAnswered?: (result: TransportResult) => void;
}

/** Throws the journal's error when it can't take the attempt; then nothing was handed over. */
export async function handOver(
  ports: HandOverPorts,
  { emailId, claimId, attempt: number, envelope, email, accountId, raw }: HandOver,
  { folder, mayBegin, complete = (result) => result, onAnswered }: HandOverOptions,
): Promise<HandOverResult> {
  const attempt = { emailId, claimId, attempt: number, envelope, startedAt: ports.clock(), email };
  let result: TransportResult | null;
  try {
    await ports.journal.prepare(attempt, folder ?? null);
    const transport = ports.transportOf(accountId);
    result =
      mayBegin === undefined
        ? await transport.send(envelope, raw)
        : await sendFenced(ports.logger, transport, attempt, raw, mayBegin);
  } catch (error) {
    leaveToJournal(ports, attempt);
    throw error;
  }
  if (result === null) {
    ports.held.giveUp(attempt);
    return { kind: 'given_up' };
  }
  const ended = { ...attempt, endedAt: ports.clock(), result: complete(result) };
  const stored = endHandOver(ports, ended);
  onAnswered?.(ended.result);
  return await stored;
}

/** Stores an outcome, in the database or else in the journal. Never throws. */
export async function endHandOver(ports: HandOverPorts, ended: EndedAttempt): Promise<HandOverResult> {
  const { emailId, result } = ended;
  const { journal, held, logger } = ports;
  const { flush } = journal.settle(ended);
  try {
    await storeOutcome(ports, ended);
  } catch (err) {
    logger.error({ err, emailId }, 'a send could not be stored yet; it stays in the journal');
    // The journal logs a failure; the outcome then stays in memory.
    await flush().catch(() => undefined);
    leaveToJournal(ports, ended);
    return { kind: 'ended', result, storageError: err };
  }
  // Not awaited: an entry that outlives a crash is stored again, which changes nothing.
  journal.remove(ended).then(
    () => held.end(ended),
    (err: unknown) => {
      logger.warn({ err, emailId }, 'a stored send could not be removed from the journal');
      leaveToJournal(ports, ended);
    },
  );
  return { kind: 'ended', result, storageError: null };
}

/** Ends the claim first: a round requested before that would skip it. */
function leaveToJournal({ held, settling }: HandOverPorts, key: ClaimKey): void {
  held.end(key);
  settling.ask(key);
}

class NotBegun extends Error {}

/** null when the hand-over did not begin. */
async function sendFenced(
  logger: Logger,
  transport: Transport,
  { emailId, envelope }: JournalAttempt,
  raw: Content,
  mayBegin: () => Promise<boolean>,
): Promise<TransportResult | null> {
  const fence = async () => {
    let begun = false;
    try {
      begun = await mayBegin();
    } catch (err) {
      logger.warn({ err, emailId }, 'the database could not confirm a claim');
    }
    if (!begun) throw new NotBegun();
  };
  try {
    return await transport.send(envelope, raw, fence);
  } catch (error) {
    if (error instanceof NotBegun) return null;
    throw error;
  }
}
