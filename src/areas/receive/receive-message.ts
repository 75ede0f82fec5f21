/**
 * Receives one email: parse its bytes, check whether it is known, store its files, record it.
 *
 * Every step may be repeated, and many may run at the same moment: the database takes an email once, by its identity,
 * and a second request gets the record of the first. Nothing is acknowledged before the record is committed.
 */
import { addrSpec } from '../../core/address/address.ts';
import { ServiceError } from '../../core/errors.ts';
import { completeResults, judge } from '../../core/message/authentication.ts';
import { readAuthenticationResults } from '../../core/message/authentication-results.ts';
import { toFromFields } from '../../core/mime/parse/message-head.ts';
import { readReceivedDate } from '../../core/message/received-date.ts';
import {
  bytesKey,
  contentKeys,
  identityKey,
  identityOf,
  keyedContentOf,
} from '../../core/message/identity.ts';
import { readUnsubscribeSubject } from '../../core/unsubscribe/mailto.ts';
import type { Account } from '../../platform/base/basics.ts';
import { sha256 } from '../../platform/files/content.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { locationOfRaw } from '../../platform/files/raw-location.ts';
import { readReceived } from '../../platform/reading/read-received.ts';
import { absenceRequest } from '../absence/absence-request.ts';
import { applyReport, type ApplyReportsPorts } from './apply-reports.ts';
import { readFiles, record, wasReceived, type Arrival, type ReadFiles } from './arrival.ts';
import type { KnownEmail } from '../emails/find-recorded.ts';
import { ownAddressesIn } from '../../platform/base/own-addresses.ts';
import { isFromAccount, refuseUnrecordedSend } from './match-sent-copy.ts';
import { answerKnown, receiveKnown, toDeleted, toReceived } from './receive-known.ts';
import { receiveSentCopy, type SentCopyPorts } from './receive-sent-copy.ts';
import { toReading } from './to-reading.ts';
import type { ReceiveRequest, ReceiveResult } from './use-cases.ts';
import { isAsSent } from './variants.ts';

export interface ReceiveMessagePorts extends ApplyReportsPorts, SentCopyPorts {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly defaultAccountId: string;
  /** What is received may need files stored, or replaced. Throws `storage_mismatch` and `storage_unavailable`. */
  readonly requireStorage: () => Promise<void>;
  /** Takes a recipient off a list, if the token is one of ours; null: no mail does, as when it is imported. */
  readonly unsubscribe: ((token: string) => Promise<unknown>) | null;
}

/** See `ReceiveUseCases.receiveMessage`. */
export async function receiveMessage(
  ports: ReceiveMessagePorts,
  request: ReceiveRequest,
  folder: SpoolFolder,
): Promise<ReceiveResult> {
  try {
    await ports.requireStorage();
    return await receive(ports, await readArrival(ports, request), folder);
  } finally {
    await folder.remove();
  }
}

async function receive(
  ports: ReceiveMessagePorts,
  arrival: Arrival,
  folder: SpoolFolder,
): Promise<ReceiveResult> {
  for await (const keys of keysOf(ports, arrival)) {
    const result = await receiveAs(ports, { ...arrival, ...keys }, folder);
    if (result !== null) return result;
  }
  throw new Error('a message is another one than that with its bytes');
}

/**
 * The keys under which a message may be recorded: that of its identity; when another email has that one, those with its
 * content; when it can't be kept there either, a key with its bytes.
 */
async function* keysOf(
  ports: ReceiveMessagePorts,
  { key, content, raw }: Arrival,
): AsyncGenerator<Pick<Arrival, 'key' | 'sharedKey'>> {
  yield { key, sharedKey: null };
  for (const own of contentKeys(key, content)) yield { key: own, sharedKey: key };
  yield { key: bytesKey(key, await sha256(ports, raw)), sharedKey: key };
}

/** null: the record with that key is another email. */
async function receiveAs(
  ports: ReceiveMessagePorts,
  arrival: Arrival,
  folder: SpoolFolder,
): Promise<ReceiveResult | null> {
  const { accountId, identity, isSentCopy } = arrival;
  if (arrival.restores) await ports.store.forgetDeletion(arrival);
  const known = await findBeforeFiles(ports, arrival);
  if (known?.isDeleted === true) return toDeleted(known);
  if (known !== null && !(isSentCopy && wasReceived(known))) return await receiveKnown(ports, arrival, known);
  const files = await readFiles(ports, arrival, folder);
  await refuseUnrecordedSend(ports, accountId, identity, files.copy, isSentCopy);
  return await (isSentCopy
    ? receiveSentCopy(ports, arrival, files, known)
    : receiveNew(ports, arrival, files));
}

/** Throws `unknown_account`. */
async function readArrival(ports: ReceiveMessagePorts, request: ReceiveRequest): Promise<Arrival> {
  const {
    raw,
    mailFrom,
    receivedAt = null,
    foundAt = ports.clock(),
    cameAt = ports.clock(),
    isSentCopy = false,
    isRead = false,
    source = null,
    restores = false,
    suppresses = true,
  } = request;
  const accountId = request.accountId ?? ports.defaultAccountId;
  const account = ports.accounts.get(accountId);
  if (account === undefined) throw new ServiceError('unknown_account', { values: { value: accountId } });
  const id = ports.ids.uuid();
  const context = mailFrom === undefined ? {} : { mailFrom };
  const received = await readReceived(ports, raw, context, request.authorKeyId ?? undefined);
  const identity = identityOf(received.message);
  const undatedAt = receivedAt ?? readReceivedDate(received.message.fields) ?? foundAt;
  const reading = toReading(
    received,
    identity,
    earlier(undatedAt, ports.clock()),
    account,
    ownAddressesIn(ports.accounts),
  );
  const authentication = isSentCopy
    ? null
    : authenticationOf(received.message, account, request.authentication);
  const absence = isSentCopy
    ? null
    : absenceRequest({
        ...received,
        mailFrom,
        authentication,
        account,
        isOwn: ownAddressesIn(ports.accounts),
        source,
        mailboxGotItAt: receivedAt,
      });
  return {
    id,
    accountId,
    account,
    raw,
    location: locationOfRaw(raw, accountId, id),
    isSentCopy,
    isRead,
    source,
    cameAt,
    restores,
    authentication,
    absence,
    message: received.message,
    identity,
    content: keyedContentOf(received.message),
    key: identityKey(identity),
    sharedKey: null,
    reading: reading.report === null ? reading : { ...reading, report: { ...reading.report, suppresses } },
  };
}

const earlier = (one: Date, other: Date): Date => (one < other ? one : other);

/** Results of this service's own checks, or of a server that the account trusts. */
function authenticationOf(
  { fields, from }: Arrival['message'],
  { trustedAuthservIds = [] }: Account,
  checked: ReceiveRequest['authentication'],
): Arrival['authentication'] {
  const fromFields = toFromFields(fields, from);
  if (checked?.isWhole === true) return judge('checked', checked.found, fromFields);
  const told = readAuthenticationResults(fields, trustedAuthservIds);
  const results = checked === undefined ? told : completeResults(told, checked.found, fromFields);
  const source = told === null ? 'checked' : 'header';
  return results === null ? null : judge(source, results, fromFields);
}

/**
 * Looked up first only if files would be stored, or the message is compared with sent emails; for all others, recording
 * finds out soon enough.
 */
async function findBeforeFiles(ports: ReceiveMessagePorts, arrival: Arrival): Promise<KnownEmail | null> {
  const { accountId, identity, message, location, isSentCopy } = arrival;
  const hasFiles = message.attachments.length > 0 || location.rawPath !== null;
  const isAsked = hasFiles || isSentCopy || isFromAccount(ports, accountId, identity.from.map(addrSpec));
  return isAsked ? await ports.store.findKnown(arrival) : null;
}

/** Receives mail that came to the account. */
async function receiveNew(
  ports: ReceiveMessagePorts,
  arrival: Arrival,
  files: ReadFiles,
): Promise<ReceiveResult | null> {
  const original = await findOriginal(ports, arrival, files);
  if (original !== null) return await answerKnown(ports, original);
  // Before the mail is recorded, and so acknowledged: it may be repeated.
  const token = ports.unsubscribe === null ? null : readUnsubscribeSubject(arrival.message.subject);
  if (token !== null) await ports.unsubscribe?.(token);
  const result = await record(ports, arrival, files);
  if (result.kind === 'known') return await receiveKnown(ports, arrival, result);
  if (arrival.reading.report !== null) await applyNewReport(ports, result.id);
  return toReceived(result);
}

/** Finds the sent email that this message is, according to a relay that replaced the Message-ID. */
async function findOriginal(
  ports: ReceiveMessagePorts,
  { accountId, identity, content, message }: Arrival,
  { copy }: ReadFiles,
): Promise<KnownEmail | null> {
  // Only mail from the account's own address can have been sent from here; many relays add such a field to every mail.
  if (!isFromAccount(ports, accountId, copy.from)) return null;
  for (const messageId of copy.originalIds) {
    const original = { ...identity, messageId };
    const known = await ports.store.findKnown({
      accountId,
      identity: original,
      key: identityKey(original),
      sharedKey: null,
      content,
    });
    // Any message can claim to be a copy: it is one only if it is what was sent.
    if (known?.isDeleted === true) return known;
    if (known !== null && (await isAsSent(ports, known.id, message))) return known;
  }
  return null;
}

async function applyNewReport(ports: ReceiveMessagePorts, id: string): Promise<void> {
  try {
    await applyReport(ports, id);
  } catch (err) {
    // The report is recorded, and applied later: to its sender, it is received.
    ports.logger.warn({ err, emailId: id }, 'a delivery report could not be applied yet');
  }
}
