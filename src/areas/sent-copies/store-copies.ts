/**
 * Puts sent emails of one account into its Sent mailbox, each once, whatever breaks and whenever.
 *
 * IMAP can't store a message on the condition that it does not exist yet, so three things together prevent a second copy:
 * one process at a time has the claim of a copy; the mailbox is searched by Message-ID before each APPEND, also the first
 * one, as some mail servers keep a copy themselves; and after an APPEND whose answer was lost, because the connection
 * broke or the process died, the next search comes only after a delay, or when the lease has run out: by then the server
 * has carried it out or dropped it.
 */
import type { IdSource, Logger } from '../../platform/base/basics.ts';
import { RENEWALS_PER_LEASE } from '../../platform/base/leases.ts';
import type { Limit } from '../../platform/base/limit.ts';
import type { BlobStore } from '../../platform/files/file-ports.ts';
import { openStored } from '../../platform/files/open-stored.ts';
import { MailboxError } from '../mailboxes/mailbox-ports.ts';
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { copyRetryDelay } from '../../core/sent-copies/retry.ts';
import type { ClaimedCopy, SentCopyQueue, SentMailbox, SentMailboxes } from './sent-copy-ports.ts';

export interface StoreCopiesPorts {
  readonly queue: SentCopyQueue;
  readonly mailboxes: SentMailboxes;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly ids: Pick<IdSource, 'uuid'>;
  readonly logger: Logger;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Bounds the messages in memory, by their bytes, over all accounts. */
  readonly memory: Limit;
  /** By a clock that never goes back, in ms. */
  readonly now: () => number;
}

export interface StoreCopiesOptions {
  readonly accountId: string;
  readonly leaseMs: number;
  /** Ends the work, between two copies or by cutting the connection. */
  readonly signal: AbortSignal;
}

/** Copies claimed together: the number that a dying process leaves behind. */
const BATCH = 16;

/** The account can't be worked on now, for example because its server is unavailable; its copies wait. */
export class AccountFailed extends Error {
  readonly reason: MailboxError;
  constructor(reason: MailboxError) {
    super(reason.message, { cause: reason });
    this.reason = reason;
  }
}

/** Stores due copies. Throws `AccountFailed`, `ServiceError('database_unavailable')`, the reason of `signal`. */
export async function storeCopies(ports: StoreCopiesPorts, options: StoreCopiesOptions): Promise<void> {
  const { queue, ids } = ports;
  const { accountId, leaseMs, signal } = options;
  let mailbox: SentMailbox | null = null;
  try {
    for (;;) {
      signal.throwIfAborted();
      const claimId = ids.uuid();
      const copies = await queue.claim({ accountId, claimId, limit: BATCH, leaseMs });
      if (copies.length === 0) return;
      let inHand: ClaimedCopy | null = null;
      try {
        mailbox ??= await open(ports, options);
        for (const copy of copies) {
          signal.throwIfAborted();
          inHand = copy;
          await storeOne(ports, mailbox, copy, { ...options, claimId });
          inHand = null;
        }
      } catch (error) {
        const failure = error instanceof MailboxError && !signal.aborted ? error : null;
        if (failure !== null && inHand !== null) await noteFailure(ports, claimId, inHand, failure);
        // A copy whose APPEND may be under way at the server keeps its lease, and is not searched for until it runs out.
        await queue.release(claimId, inHand?.emailId ?? null);
        throw failure === null ? error : new AccountFailed(failure);
      }
    }
  } finally {
    await mailbox?.close();
  }
}

async function open(
  { mailboxes }: StoreCopiesPorts,
  { accountId, signal }: StoreCopiesOptions,
): Promise<SentMailbox> {
  const mailbox = await mailboxes.openSent(accountId, signal);
  const cut = () => {
    // The close at the end reports its failures.
    mailbox.close().catch(() => undefined);
  };
  signal.addEventListener('abort', cut, { once: true });
  return {
    path: mailbox.path,
    find: (messageId) => mailbox.find(messageId),
    append: (raw, date) => mailbox.append(raw, date),
    async close() {
      signal.removeEventListener('abort', cut);
      await mailbox.close();
    },
  };
}

/**
 * A failure other than of the connection concerns this copy only: the copies behind it are stored nevertheless. Throws
 * any other.
 */
async function storeOne(
  ports: StoreCopiesPorts,
  mailbox: SentMailbox,
  copy: ClaimedCopy,
  options: StoreCopiesOptions & { readonly claimId: string },
): Promise<void> {
  const { queue, memory } = ports;
  const { claimId, signal } = options;
  try {
    const found = await mailbox.find(copy.messageId);
    if (found !== null) {
      await queue.stored(claimId, copy.emailId, { ...found, path: mailbox.path, wasThere: true });
      return;
    }
    await memory.run(
      async () => {
        const raw = await readRaw(ports, copy);
        const stored = await whileLeased(ports, mailbox, copy, options, () =>
          mailbox.append(raw, copy.sentAt),
        );
        if (stored === null) return;
        await queue.stored(claimId, copy.emailId, { ...stored, path: mailbox.path, wasThere: false });
      },
      { weight: copy.sizeBytes, signal },
    );
  } catch (error) {
    const isOwn =
      (error instanceof MailboxError && error.kind === 'refused') ||
      (error instanceof ServiceError && NOT_READ.has(error.code));
    if (!isOwn || signal.aborted) throw error;
    await noteFailure(ports, claimId, copy, error);
  }
}

async function noteFailure(
  { queue, logger, random }: StoreCopiesPorts,
  claimId: string,
  { emailId, tries }: ClaimedCopy,
  error: MailboxError | ServiceError,
): Promise<void> {
  logger.warn({ err: error, emailId }, 'an email could not be stored in the Sent mailbox; it is retried');
  const reason = error instanceof ServiceError ? `the message is not at hand: ${error.code}` : error.message;
  await queue.failed(claimId, { emailId, reason, retryMs: copyRetryDelay(tries + 1, random()) });
}

/**
 * Carries out an APPEND for as long as the claim certainly stands, by our own clock: a process that may have lost the
 * claim cuts the connection rather than store a copy that another process may be storing. null when the claim did not
 * stand before the first byte.
 */
async function whileLeased<T>(
  { queue, now, logger }: StoreCopiesPorts,
  mailbox: SentMailbox,
  { emailId }: ClaimedCopy,
  { claimId, leaseMs }: StoreCopiesOptions & { readonly claimId: string },
  work: () => Promise<T>,
): Promise<T | null> {
  let leasedUntil = -Infinity;
  const renew = async (): Promise<boolean> => {
    const askedAt = now();
    const stands = await queue.renew(claimId, emailId, leaseMs);
    if (stands) leasedUntil = askedAt + leaseMs;
    return stands;
  };
  if (!(await renew()) || now() >= leasedUntil) return null;
  let renewing: Promise<unknown> = Promise.resolve();
  let isDue = true;
  const cut = (): void => {
    // The append under way reports that the connection is cut.
    mailbox.close().catch(() => undefined);
  };
  // A single large copy may take longer than the lease.
  const timer = setInterval(() => {
    if (now() >= leasedUntil) cut();
    if (!isDue) return;
    isDue = false;
    renewing = renew()
      .then((stands) => (stands ? undefined : cut()))
      .catch((err: unknown) => logger.warn({ err, emailId }, 'the claim of a copy could not be renewed'))
      .finally(() => {
        isDue = true;
      });
  }, leaseMs / RENEWALS_PER_LEASE);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

/** The message can't be read: a file that is missing may come back, as storage that is away does. */
const NOT_READ: ReadonlySet<ErrorCode> = new Set([
  'storage_unavailable',
  'storage_mismatch',
  'content_missing',
]);

async function readRaw(
  { blobs }: Pick<StoreCopiesPorts, 'blobs'>,
  { raw, rawPath }: ClaimedCopy,
): Promise<Buffer> {
  if (raw !== null) return raw;
  const pieces: Buffer[] = [];
  for await (const piece of await openStored(blobs, rawPath)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
