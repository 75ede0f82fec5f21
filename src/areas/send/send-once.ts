/**
 * A send under an `Idempotency-Key`: carried out for the first request with the key, answered again for the others.
 *
 * The key is claimed durably before the send begins, so that of any number of requests, in any number of processes,
 * one sends. A send that was tried keeps its outcome: sent, partial, failed, deferred, unknown. A send that was refused
 * before anything was tried gives its key back, so that the corrected request may use it.
 */
import { ServiceError } from '../../core/errors.ts';
import type { SendFailure, SendOnceResult, SendOutcome, SendRequest, SendResult } from './use-cases.ts';
import { fingerprintSend } from './fingerprint-send.ts';
import type { ClaimResult, KeyHold, KeyWork } from './idempotency.ts';
import { asksForQueue } from './queue-request.ts';
import type { IdSource, Logger } from '../../platform/base/basics.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { settleKey, type SettleKeyPorts } from './settle-keys.ts';

export interface SendOncePorts extends SettleKeyPorts {
  readonly work: KeyWork;
  readonly logger: Logger;
  readonly ids: IdSource;
  readonly openFile: (path: string) => AsyncIterable<Buffer>;
  /** Sends under the given email id; takes over the folder. */
  readonly send: (request: SendRequest, folder: SpoolFolder, emailId: string) => Promise<SendResult>;
}

/** A send that is carried out once under a key. */
export interface KeyedSend {
  /** The request is for the queue: once its email is recorded, the answer is `queued`, whatever becomes of the email. */
  readonly queued: boolean;
  /** SHA-256 of the request: a repeat has the same. */
  fingerprint(): Promise<Buffer>;
  /** Sends under the given email id; takes over the folder. */
  send(folder: SpoolFolder, emailId: string): Promise<SendResult>;
}

/** See `SendUseCases.sendOnce`. */
export function sendOnce(
  ports: SendOncePorts,
  key: string,
  request: SendRequest,
  folder: SpoolFolder,
): Promise<SendOnceResult> {
  const keyed: KeyedSend = {
    queued: asksForQueue(request),
    fingerprint: () => fingerprintSend(ports, request),
    send: (own, emailId) => ports.send(request, own, emailId),
  };
  return carryOutOnce(ports, key, keyed, folder);
}

/** Like sendOnce, for sends that are built only once the key is claimed. */
export async function carryOutOnce(
  ports: SendOncePorts,
  key: string,
  request: KeyedSend,
  folder: SpoolFolder,
): Promise<SendOnceResult> {
  const hold: KeyHold = { key, emailId: ports.ids.uuid(), queued: request.queued };
  ports.work.begin(hold.emailId);
  try {
    const earlier = await claim(ports, hold, request).catch(async (error: unknown) => {
      await folder.remove();
      throw error;
    });
    if (earlier === null) return { outcome: await sendFirst(ports, hold, request, folder), replayed: false };
    await folder.remove();
    return { outcome: earlier, replayed: true };
  } finally {
    ports.work.end(hold.emailId);
  }
}

/** null when the key is ours, otherwise the outcome of the request that has it. */
async function claim(ports: SendOncePorts, hold: KeyHold, request: KeyedSend): Promise<SendOutcome | null> {
  const fingerprint = await request.fingerprint();
  let result: ClaimResult;
  try {
    result = await ports.keys.claim(hold, fingerprint);
  } catch (error) {
    // The connection may have broken after the claim was stored.
    ports.work.needsSettling();
    throw error;
  }
  if (result.kind === 'claimed') return null;
  if (!result.fingerprint.equals(fingerprint)) throw new ServiceError('idempotency_key_reused');
  if (result.outcome === null) throw new ServiceError('idempotency_in_progress');
  return result.outcome;
}

async function sendFirst(
  ports: SendOncePorts,
  hold: KeyHold,
  request: KeyedSend,
  folder: SpoolFolder,
): Promise<SendResult> {
  try {
    const result = await request.send(folder, hold.emailId);
    await complete(ports, hold, result);
    return result;
  } catch (error) {
    const failure = toFailure(error);
    if (failure !== null) await complete(ports, hold, failure);
    else if (isAnswered(error)) await giveBack(ports, hold);
    else ports.work.needsSettling();
    throw error;
  }
}

/** Never throws: the caller gets the answer even when it can't be stored yet. */
async function complete(ports: SendOncePorts, hold: KeyHold, outcome: SendOutcome): Promise<void> {
  try {
    await ports.keys.complete(hold, outcome);
  } catch (err) {
    ports.logger.warn(
      { err, emailId: hold.emailId },
      'an outcome could not be stored with its idempotency key yet',
    );
    ports.work.keep(hold, outcome);
  }
}

/** Decided by the journal and the record, not by the error: one of our own failures may come after the hand-over. */
async function giveBack(ports: SendOncePorts, hold: KeyHold): Promise<void> {
  try {
    if (!(await settleKey(ports, hold))) ports.work.needsSettling();
  } catch (err) {
    ports.logger.warn({ err, emailId: hold.emailId }, 'an idempotency key could not be released yet');
    ports.work.needsSettling();
  }
}

/** False when the database may still carry out a statement of the send, unknown to us. */
function isAnswered(error: unknown): boolean {
  return error instanceof ServiceError && error.code !== 'database_unavailable';
}

/** null for errors that do not show whether something was tried. */
function toFailure(error: unknown): SendFailure | null {
  if (!(error instanceof ServiceError)) return null;
  const { code } = error;
  if (code !== 'send_failed' && code !== 'send_deferred' && code !== 'send_unknown') return null;
  const { emailId, details = null } = error;
  return { kind: 'failed', code, ...(emailId === undefined ? {} : { id: emailId }), details };
}
