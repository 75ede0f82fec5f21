/**
 * Takes messages that wait in an open mailbox: recognises recorded ones by their headers, fetches the others, has them
 * recorded, and notes the result of each. It may be interrupted anywhere: a message without a noted result comes again.
 */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import type { CaptureFacts, CaptureRules } from '../../core/mailbox/capture.ts';
import { summariseHeader } from '../../core/mailbox/header-summary.ts';
import { messageRetry, type MessageFailure, type MessageTries } from '../../core/mailbox/retry.ts';
import { NO_UIDS, toUidSet } from '../../core/mailbox/uid-set.ts';
import { identityKey, type MessageIdentity } from '../../core/message/identity.ts';
import type { ReceiveRequest, ReceiveResult } from '../receive/use-cases.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import { DELIVERY_IN_MEMORY_MAX_BYTES } from '../../platform/base/limits.ts';
import { judgeMessages } from './judge-messages.ts';
import {
  MailboxError,
  type MailboxSession,
  type MessageSummary,
  type SummaryFields,
  type Uid,
} from './mailbox-ports.ts';
import type {
  FailedMessage,
  GenerationRef,
  ArrivedMessage,
  MailboxRecords,
  TakenMessage,
  WaitingMessage,
} from './mailbox-record-ports.ts';
import type { Limit } from '../../platform/base/limit.ts';
import type { Content, Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { readRaw } from '../../platform/files/read-raw.ts';
import { readHeaders } from '../../platform/reading/read-received.ts';
import type { MessageReader } from '../../platform/reading/reading-ports.ts';

export interface TakeMessagesPorts {
  readonly records: MailboxRecords;
  readonly receive: (request: ReceiveRequest, folder: SpoolFolder) => Promise<ReceiveResult>;
  readonly reader: MessageReader;
  readonly spool: Spool;
  readonly logger: Logger;
  /** How many messages are recorded at the same moment, over all accounts. */
  readonly recordLimits: { readonly received: Limit; readonly sent: Limit };
  /** Larger messages are set aside. */
  readonly maxBytes: number;
}

export interface TakeFrom {
  readonly session: MailboxSession;
  readonly mailbox: GenerationRef;
  /** The path of the mailbox. */
  readonly path: string;
  /** `other`: what is in it was received or sent. */
  readonly kind: MailboxKind;
  /** True for an address of the account, in lower case. */
  readonly isOwn: (address: string) => boolean;
  /** null: everything is recorded. */
  readonly capture: CaptureRules | null;
  readonly signal: AbortSignal;
  /** Called whenever the server sends something. */
  readonly onActivity: () => void;
  /** Called when messages were recorded, or found to be recorded. */
  readonly onTaken: () => void;
  /** True: no further batch is begun. */
  readonly isOver: () => boolean;
}

export type MailboxKind = 'inbox' | 'sent' | 'other';

/** Messages whose headers are requested together, and which are looked up in the database together. */
const SLICE_MESSAGES = 200;
/**
 * Small messages are fetched together, so that a distant server costs one round trip for many, and recorded together,
 * each of them in memory or in the spool: their number after no failure, after one, and so on. When the connection
 * breaks, the message at which it broke is unknown; in the last tries each message is fetched alone.
 */
const BATCH_MESSAGES = [200, 8, 1] as const;
const BATCH_BYTES = 2 * 1024 * 1024;
/** After this many failures of unknown cause in a row, the messages are not at fault. */
const MAX_FAILURES_IN_A_ROW = 20;

/** Failures that keep every message from being recorded, and so say nothing about the current one. */
const AWAY: ReadonlySet<ErrorCode> = new Set([
  'database_unavailable',
  'storage_unavailable',
  'storage_mismatch',
  'reading_unavailable',
  'disk_full',
  'shutting_down',
]);

/** Takes the newest waiting messages. Returns how many there were; 0: none waits, or none is due yet. */
export async function takeSlice(ports: TakeMessagesPorts, from: TakeFrom): Promise<number> {
  const { mailbox } = from;
  const waiting = await ports.records.nextMessages(mailbox.mailboxId, mailbox.uidValidity, SLICE_MESSAGES);
  if (waiting.length === 0) return 0;
  const waitingByUid = new Map(waiting.map((message) => [message.uid, message]));
  const summaries: MessageSummary[] = [];
  for (const group of groupsOf(waiting, SLICE_MESSAGES)) {
    summaries.push(...(await summarise(ports, from, group, 'trace')));
  }

  const headers = await readHeaders(
    ports.reader,
    summaries.map(({ header }) => header),
  );
  const found = summaries.map((summary, index): FoundMessage => {
    const { identity = null, facts = null } = headers[index] ?? {};
    return {
      ...UNTRIED,
      ...waitingByUid.get(summary.uid),
      ...summary,
      identity,
      isSent: isSent(from, summary, facts),
    };
  });
  const recorded = await findRecorded(ports, from, found);
  const unknown = found.filter(({ uid }) => !recorded.has(uid));
  const toTake = await leaveOut(ports, from, unknown);
  const isTooLarge = ({ sizeBytes }: WantedMessage) => sizeBytes > ports.maxBytes;
  const taken = summaries.flatMap((summary): TakenMessage[] => {
    const emailId = recorded.get(summary.uid);
    return emailId === undefined ? [] : [{ uid: summary.uid, emailId, arrival: arrivalOf(summary) }];
  });
  const failed = toTake
    .filter(isTooLarge)
    .map((message) => failureOf(message, 'bad', tooLarge(message.sizeBytes, ports.maxBytes)));
  if (taken.length + failed.length > 0) await ports.records.conclude(mailbox, { taken, failed });
  if (taken.length > 0) from.onTaken();

  const wanted = toTake.filter((message) => !isTooLarge(message)).toSorted((a, b) => b.uid - a.uid);
  const trouble = { inARow: 0 };
  for (const batch of batchesOf(wanted)) {
    await takeBatch(ports, from, batch, trouble);
    if (from.isOver()) break;
  }
  return waiting.length;
}

interface WantedMessage extends WaitingMessage, MessageSummary {
  /** It is a copy of a sent email. */
  readonly isSent: boolean;
}

interface FoundMessage extends WantedMessage {
  readonly identity: MessageIdentity | null;
}

const UNTRIED: MessageTries = { tries: 0, quarantineDelays: null };

/**
 * Messages that failed equally often, in groups that become smaller with each failure; messages without a failure first.
 */
function* groupsOf<T extends WaitingMessage>(messages: readonly T[], most: number): Generator<readonly T[]> {
  const byTries = new Map<number, T[]>();
  for (const message of messages) {
    const kind = Math.min(message.tries, BATCH_MESSAGES.length - 1);
    const alike = byTries.get(kind);
    if (alike === undefined) byTries.set(kind, [message]);
    else alike.push(message);
  }
  for (const [kind, alike] of [...byTries].toSorted(([a], [b]) => a - b)) {
    const size = kind === 0 ? most : (BATCH_MESSAGES[kind] ?? 1);
    for (let start = 0; start < alike.length; start += size) yield alike.slice(start, start + size);
  }
}

/** Large messages alone, others together as long as their sum stays small. */
function* batchesOf(messages: readonly WantedMessage[]): Generator<readonly WantedMessage[]> {
  const isLarge = ({ sizeBytes }: WantedMessage) => sizeBytes > DELIVERY_IN_MEMORY_MAX_BYTES;
  for (const group of groupsOf(messages, BATCH_MESSAGES[0])) {
    let batch: WantedMessage[] = [];
    let room = BATCH_BYTES;
    for (const message of group) {
      if (batch.length > 0 && (isLarge(message) || message.sizeBytes > room)) {
        yield batch;
        batch = [];
        room = BATCH_BYTES;
      }
      if (isLarge(message)) {
        yield [message];
        continue;
      }
      batch.push(message);
      room -= message.sizeBytes;
    }
    if (batch.length > 0) yield batch;
  }
}

/** Fetches the summaries of messages; records those that are gone, and those at which the server fails. */
async function summarise(
  ports: TakeMessagesPorts,
  { session, mailbox, signal, onActivity }: TakeFrom,
  messages: readonly WaitingMessage[],
  fields: SummaryFields,
): Promise<readonly MessageSummary[]> {
  const left = new Map(messages.map((message) => [message.uid, message]));
  const summaries: MessageSummary[] = [];
  try {
    for await (const summary of session.fetchSummaries([...left.keys()], fields)) {
      onActivity();
      if (left.delete(summary.uid)) summaries.push(summary);
    }
  } catch (error) {
    if (!(error instanceof MailboxError) || signal.aborted) throw error;
    const failed = suspectsOf(left, error).map((message) => failureOf(message, 'doubtful', error));
    await ports.records.conclude(mailbox, { taken: [], failed });
    if (error.kind !== 'refused') throw error;
    return summaries;
  }
  await noteGone(ports, mailbox, left.keys());
  return summaries;
}

/**
 * UID → email, for messages that were already recorded under another UID: they have the identity, the size and the trace
 * of a message in one of the account's mailboxes. Other messages with the identity of an email are fetched: their content
 * may differ. Messages without a Message-ID, a Date or a trace are recognised only by their content.
 */
async function findRecorded(
  { records }: TakeMessagesPorts,
  { mailbox }: TakeFrom,
  found: readonly FoundMessage[],
): Promise<ReadonlyMap<Uid, string>> {
  const asked = found.flatMap((message): (ArrivedMessage & Pick<FoundMessage, 'uid' | 'isSent'>)[] => {
    const { uid, identity, isSent: isOwn } = message;
    if (identity === null || !(isOwn || hasTrace(message))) return [];
    return [{ uid, isSent: isOwn, identity, key: identityKey(identity), arrival: arrivalOf(message) }];
  });
  const recorded = await records.findArrived(mailbox.accountId, asked);
  const result = new Map<Uid, string>();
  for (const [index, message] of asked.entries()) {
    const email = recorded[index] ?? null;
    if (email !== null && !tellsMore(email, message.isSent)) result.set(message.uid, email.id);
  }
  return result;
}

/**
 * Elsewhere than in INBOX and the Sent mailbox: what has one of our addresses in From, and came over no server. Programs put what they
 * send into a mailbox without a trace; what a stranger sends in our name has one.
 */
function isSent({ kind, isOwn }: TakeFrom, message: MessageSummary, facts: CaptureFacts | null): boolean {
  if (kind !== 'other') return kind === 'sent';
  return facts !== null && facts.from.some(isOwn) && !hasTrace(message);
}

/** Notes what the rules of the account leave out; returns the others. Where a header does not show enough, a message is taken. */
async function leaveOut(
  ports: TakeMessagesPorts,
  from: TakeFrom,
  messages: readonly FoundMessage[],
): Promise<readonly WantedMessage[]> {
  const { capture, mailbox } = from;
  if (capture === null || messages.length === 0) return messages;
  const factsOf = await readFacts(ports, from, messages);
  const areKnown = (facts: readonly CaptureFacts[]) => ports.records.areKnown(mailbox.accountId, facts);
  const reasons = await judgeMessages({ capture, areKnown }, factsOf);
  const leftOut = [...reasons].map(([uid, reason]) => {
    const { messageId = null, answers = [] } = factsOf.get(uid) ?? {};
    // The newest messages are taken first, and INBOX before Sent: what it answers may not be recorded yet.
    return { uid, reason, messageId, isAnswer: reason === 'stranger' && answers.length > 0 };
  });
  if (leftOut.length > 0) await ports.records.conclude(mailbox, { taken: [], failed: [], leftOut });
  return messages.filter(({ uid }) => factsOf.has(uid) && !reasons.has(uid));
}

/** UID → what the rules see, for messages that are still there; null: their header does not show enough. */
async function readFacts(
  ports: TakeMessagesPorts,
  from: TakeFrom,
  messages: readonly WaitingMessage[],
): Promise<ReadonlyMap<Uid, CaptureFacts | null>> {
  const summaries: MessageSummary[] = [];
  // Without what is known of their headers: a failure would store it of messages that may be left out.
  const bare = messages.map(({ uid, tries, quarantineDelays }) => ({ uid, tries, quarantineDelays }));
  for (const group of groupsOf(bare, SLICE_MESSAGES)) {
    summaries.push(...(await summarise(ports, from, group, 'rules')));
  }
  const headers = await readHeaders(
    ports.reader,
    summaries.map(({ header }) => header),
  );
  return new Map(
    summaries.map(({ uid, isHeaderWhole }, index) => [
      uid,
      isHeaderWhole ? (headers[index]?.facts ?? null) : null,
    ]),
  );
}

/** Without one, another message may have the same identity and size. */
const hasTrace = ({ header }: MessageSummary): boolean => /^received:/im.test(header.toString('latin1'));

/**
 * A stranger does not know the trace that a message gets on its last hop, and so can't forge a message that is taken for
 * it.
 */
function arrivalOf({ header, sizeBytes }: Pick<MessageSummary, 'header' | 'sizeBytes'>): string {
  return createHash('sha256').update(`${sizeBytes} `).update(header).digest('hex');
}

/** True if a recorded message changes its record when it is received once more. */
function tellsMore({ state, direction }: KnownEmail, isCopy: boolean): boolean {
  // A copy proves that an unknown send went out; one in Sent proves that an email recorded as received was sent.
  return state === 'unknown' || (isCopy && direction === 'inbound');
}

async function takeBatch(
  ports: TakeMessagesPorts,
  { session, mailbox, path, signal, onActivity, onTaken }: TakeFrom,
  batch: readonly WantedMessage[],
  trouble: { inARow: number },
): Promise<void> {
  const left = new Map(batch.map((message) => [message.uid, message]));
  const taken: TakenMessage[] = [];
  const failed: FailedMessage[] = [];
  const recording: Promise<void>[] = [];
  let bytesInMemory = 0;
  let away: unknown = null;

  const fail = (message: WantedMessage, failure: MessageFailure, error: unknown) => {
    failed.push(failureOf(message, failure, error));
    ports.logger.warn(
      { err: error, accountId: mailbox.accountId, mailboxId: mailbox.mailboxId, uid: message.uid },
      'a message of a mailbox could not be recorded; it is retried later',
    );
  };
  const record = async (message: WantedMessage, raw: Content, folder: SpoolFolder) => {
    try {
      const request: ReceiveRequest = {
        raw,
        accountId: mailbox.accountId,
        isSentCopy: message.isSent,
        isRead: message.isSeen,
        source: { way: 'imap', place: path },
        ...(message.internalDate === null
          ? {}
          : { receivedAt: message.internalDate, cameAt: message.internalDate }),
      };
      const limit = message.isSent ? ports.recordLimits.sent : ports.recordLimits.received;
      const { id } = await limit.run(() => ports.receive(request, folder), { signal });
      taken.push({ uid: message.uid, emailId: id, arrival: arrivalOf(message) });
      trouble.inARow = 0;
      onActivity();
      onTaken();
    } catch (error) {
      await folder.remove();
      const failure = failureOfReceiving(error, signal);
      if (failure !== null && failure !== 'put_off') trouble.inARow += 1;
      if (failure === null || trouble.inARow > MAX_FAILURES_IN_A_ROW) away = error;
      else fail(message, failure, error);
    }
  };

  try {
    for await (const { uid, raw } of session.fetchMessages([...left.keys()])) {
      const message = left.get(uid);
      if (message === undefined) continue;
      const folder = ports.spool.create();
      try {
        const bytes = bounded(raw, ports.maxBytes, onActivity);
        const content = await readRaw(bytes, DELIVERY_IN_MEMORY_MAX_BYTES, folder);
        left.delete(uid);
        recording.push(record(message, content, folder));
        bytesInMemory += content.kind === 'bytes' ? content.bytes.length : 0;
      } catch (error) {
        await folder.remove();
        const failure = failureOfFetching(error);
        if (failure === null) throw error;
        left.delete(uid);
        fail(message, failure, error);
      }
      // Only when the server reported wrong sizes.
      if (bytesInMemory > 2 * BATCH_BYTES) {
        await Promise.all(recording);
        bytesInMemory = 0;
      }
      if (away !== null) break;
    }
    if (away === null) await noteGone(ports, mailbox, left.keys());
  } catch (error) {
    if (!(error instanceof MailboxError) || signal.aborted) throw error;
    for (const message of suspectsOf(left, error)) failed.push(failureOf(message, 'doubtful', error));
    if (error.kind !== 'refused') throw error;
  } finally {
    await Promise.all(recording);
    if (taken.length + failed.length > 0) await ports.records.conclude(mailbox, { taken, failed });
  }
  if (away !== null) throw away;
}

/** The requested messages that did not come: the connection may have broken at any of them. */
function suspectsOf<T extends WaitingMessage>(
  left: ReadonlyMap<Uid, T>,
  { uid }: MailboxError,
): readonly T[] {
  const named = uid === null ? undefined : left.get(uid);
  return named === undefined ? [...left.values()] : [named];
}

/** null: the failure is not about the message. */
function failureOfReceiving(error: unknown, signal: AbortSignal): MessageFailure | null {
  if (signal.aborted) return null;
  if (!(error instanceof ServiceError)) return 'doubtful';
  if (AWAY.has(error.code)) return null;
  return error.code === 'busy' ? 'put_off' : error.temporary ? 'doubtful' : 'bad';
}

function failureOfFetching(error: unknown): MessageFailure | null {
  if (error instanceof MessageTooLarge) return 'bad';
  return error instanceof MailboxError && error.kind === 'refused' ? 'doubtful' : null;
}

class MessageTooLarge extends Error {}

const tooLarge = (sizeBytes: number, maxBytes: number) =>
  new MessageTooLarge(`${sizeBytes} bytes are too large: MAX_INBOUND_BYTES is ${maxBytes}`);

/** The size that the server reported may be wrong. */
async function* bounded(
  raw: AsyncIterable<Buffer>,
  maxBytes: number,
  onActivity: () => void,
): AsyncGenerator<Buffer> {
  let sizeBytes = 0;
  for await (const chunk of raw) {
    onActivity();
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw tooLarge(sizeBytes, maxBytes);
    yield chunk;
  }
}

/** @param message with its header, if that was read */
function failureOf(
  message: WaitingMessage & Partial<Pick<MessageSummary, 'header' | 'sizeBytes'>>,
  failure: MessageFailure,
  error: unknown,
): FailedMessage {
  const { uid, header, sizeBytes = 0 } = message;
  const summary = header === undefined ? null : summariseHeader(header, sizeBytes);
  return { uid, reason: reasonOf(error), summary, ...messageRetry(failure, message) };
}

/** The text for an operator: the error and its causes. */
export function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let cause = error; cause !== undefined && messages.length < MAX_CAUSES;) {
    messages.push(cause instanceof Error ? cause.message : String(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return [...new Set(messages)].join(': ');
}

/** A cause may refer to itself. */
const MAX_CAUSES = 5;

async function noteGone(
  { records }: TakeMessagesPorts,
  mailbox: GenerationRef,
  uids: Iterable<Uid>,
): Promise<void> {
  const gone = toUidSet(uids);
  if (gone.length > 0) await records.recordChanges(mailbox, { arrived: NO_UIDS, gone });
}
