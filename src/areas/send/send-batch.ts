/**
 * Many sends in one request: each is checked, carried out and answered separately, as if it had come alone. Emails that
 * an interrupted batch had not begun were never tried, so a batch is repeated as a whole: under the same key each email
 * is sent at most once.
 */
import { ServiceError } from '../../core/errors.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { Limit } from '../../platform/base/limit.ts';
import type { Spool, SpoolFolder } from '../../platform/files/file-ports.ts';
import { asksForQueue } from './queue-request.ts';
import type { AskedSend, CheckedEmail, SendOnceResult, SendOutcome, SendResult } from './use-cases.ts';

/** Emails of one batch. */
export const MAX_BATCH_EMAILS = 500;

/** Sends that are queued at the same moment: as many as one statement records. */
const QUEUED_AT_ONCE = 64;
/** Sends that wait for a mail server at the same moment: the rest of its connections is for other callers. */
const SENT_AT_ONCE = 8;

/** Sends in the name of a caller, and within its accounts. All take over the folder. */
export interface CallersSends {
  readonly send: (asked: AskedSend, folder: SpoolFolder) => Promise<SendResult>;
  readonly sendOnce: (key: string, asked: AskedSend, folder: SpoolFolder) => Promise<SendOnceResult>;
  readonly check: (asked: AskedSend, folder: SpoolFolder) => Promise<CheckedEmail>;
}

export interface BatchPorts {
  readonly sends: CallersSends;
  readonly spool: Spool;
  readonly logger: Logger;
  /** Once aborted, no other email is begun. */
  readonly stopping: AbortSignal;
}

export interface Batch {
  /** 1 to 256 visible ASCII characters; null: a repeat sends again. */
  readonly key: string | null;
  /** True: each email is only checked. */
  readonly dryRun: boolean;
  /** An email that could not be read is represented by its error. */
  readonly emails: readonly (AskedSend | ServiceError)[];
}

/** `refused`: nothing was sent, unless the error code says otherwise. */
export type BatchResult =
  | { readonly kind: 'ended'; readonly outcome: SendOutcome; readonly replayed: boolean }
  | { readonly kind: 'checked'; readonly email: CheckedEmail }
  | { readonly kind: 'refused'; readonly error: ServiceError };

/**
 * Takes over `folder`, which holds the large attachments. One result for each email, in their order. Never throws because
 * of one of them.
 */
export async function sendBatch(
  ports: BatchPorts,
  { key, emails, dryRun }: Batch,
  folder: SpoolFolder,
): Promise<readonly BatchResult[]> {
  const queueing = new Limit({ size: QUEUED_AT_ONCE });
  const sending = new Limit({ size: SENT_AT_ONCE });
  try {
    return await Promise.all(
      emails.map(async (email, index): Promise<BatchResult> => {
        if (email instanceof ServiceError) return { kind: 'refused', error: email };
        const ownKey = key === null ? null : keyOf(key, index);
        const limit = asksForQueue(email) ? queueing : sending;
        return limit.run(() => sendElement(ports, ownKey, email, dryRun));
      }),
    );
  } finally {
    await folder.remove();
  }
}

/** No caller can use such a key: callers' keys have no spaces. */
const keyOf = (key: string, index: number): string => `batch ${index} ${key}`;

async function sendElement(
  { sends, spool, logger, stopping }: BatchPorts,
  key: string | null,
  email: AskedSend,
  dryRun: boolean,
): Promise<BatchResult> {
  try {
    if (stopping.aborted) throw new ServiceError('shutting_down');
    const { request, folder } = await inOwnFolder(spool, email);
    if (dryRun) return { kind: 'checked', email: await sends.check(request, folder) };
    if (key !== null) return { kind: 'ended', ...(await sends.sendOnce(key, request, folder)) };
    return { kind: 'ended', outcome: await sends.send(request, folder), replayed: false };
  } catch (thrown) {
    const error =
      thrown instanceof ServiceError ? thrown : new ServiceError('internal_error', { cause: thrown });
    if (error.code === 'internal_error') logger.error({ err: error }, 'an email of a batch failed');
    return { kind: 'refused', error };
  }
}

/** A send takes over the folder of its files, until the journal does. */
async function inOwnFolder(
  spool: Spool,
  email: AskedSend,
): Promise<{ readonly request: AskedSend; readonly folder: SpoolFolder }> {
  const folder = spool.create();
  try {
    const attachments: AskedSend['attachments'][number][] = [];
    for (const attachment of email.attachments) {
      const { content } = attachment;
      attachments.push(
        content.kind === 'file' ? { ...attachment, content: await folder.adopt(content) } : attachment,
      );
    }
    return { request: { ...email, attachments }, folder };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}
