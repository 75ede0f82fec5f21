/**
 * The format of an entry and its outcome in the journal: `[version, value]`, encoded as MessagePack, which keeps Dates and Buffers. Files
 * are named relative to the spool, so that a moved data folder stays readable.
 */
import { basename, dirname } from 'node:path';
import type { Content } from '../../platform/files/file-ports.ts';
import { isDirect, type ClaimKey } from '../../areas/send/claim.ts';
import type {
  EndedAttempt,
  JournalAttempt,
  JournalEntry,
  UnrecordedEmail,
} from '../../areas/send/journal-ports.ts';
import { fromKey, toKey } from './commit.ts';
import type { DiskSpool, DiskSpoolFolder } from './spool.ts';

/** Raise it when a reader of the previous version would misunderstand a value; then read both. */
const FORMAT_VERSION = 5;
/** Version 4 had no sends for the queue. */
const READABLE: ReadonlySet<unknown> = new Set([4, FORMAT_VERSION]);

/** The value stored under a claim's key. */
export type Stored<T> = readonly [version: number, value: T];

type StoredContent = { readonly bytes: Buffer } | { readonly file: string; readonly sizeBytes: number };

interface StoredEmail extends Omit<UnrecordedEmail, 'raw' | 'attachments'> {
  readonly raw: StoredContent;
  readonly attachments: readonly StoredContent[];
  /** null when the email has nothing in the spool. */
  readonly folder: string | null;
}

interface StoredAttempt extends Pick<JournalAttempt, 'attempt' | 'envelope' | 'startedAt'> {
  readonly email: StoredEmail | null;
}

type StoredOutcome = Pick<EndedAttempt, 'endedAt' | 'result'>;

/** The 16 bytes of the email's UUID, which sort by time; then those of the claim's UUID, unless it is the same. */
export function toEntryKey(key: ClaimKey): Buffer {
  const emailKey = toKey(key.emailId);
  return isDirect(key) ? emailKey : Buffer.concat([emailKey, toKey(key.claimId)]);
}

export function fromEntryKey(key: Buffer): ClaimKey {
  const emailId = fromKey(key.subarray(0, 16));
  return { emailId, claimId: key.length === 16 ? emailId : fromKey(key.subarray(16)) };
}

/** Throws when a file is not in `folder`, or `folder` is null. */
export function toStoredAttempt(
  { attempt, envelope, startedAt, email }: JournalAttempt,
  folder: DiskSpoolFolder | null,
): Stored<StoredAttempt> {
  return [FORMAT_VERSION, { attempt, envelope, startedAt, email: email && toStoredEmail(email, folder) }];
}

function toStoredEmail(
  { record, queue, raw, attachments }: UnrecordedEmail,
  folder: DiskSpoolFolder | null,
): StoredEmail {
  const toStored = (content: Content): StoredContent => {
    if (content.kind === 'bytes') return { bytes: content.bytes };
    if (folder === null || dirname(content.path) !== folder.path) {
      throw new Error('a file of the entry is not in its folder');
    }
    return { file: basename(content.path), sizeBytes: content.sizeBytes };
  };
  return {
    record,
    queue,
    raw: toStored(raw),
    attachments: attachments.map(toStored),
    folder: folder?.used ? folder.name : null,
  };
}

export function toStoredOutcome({ endedAt, result }: EndedAttempt): Stored<StoredOutcome> {
  return [FORMAT_VERSION, { endedAt, result }];
}

/** The reverse. Throws for a version or a shape that this program does not know. */
export function fromStored(
  key: ClaimKey,
  stored: unknown,
  storedOutcome: unknown,
  spool: DiskSpool,
): JournalEntry {
  const { email: storedEmail, ...rest } = valueOf(stored) as StoredAttempt;
  const email = storedEmail && fromStoredEmail(storedEmail, spool);
  if (email !== null && email.record?.id !== key.emailId) throw new Error('the entry of another email');
  const attempt: JournalAttempt = { ...key, ...rest, email };
  const outcome = storedOutcome === undefined ? null : (valueOf(storedOutcome) as StoredOutcome);
  const { startedAt } = attempt;
  if (startedAt === null) return { attempt, ended: null };
  return { attempt, ended: outcome && { ...attempt, startedAt, ...outcome } };
}

function fromStoredEmail(
  { raw, attachments, folder, ...rest }: StoredEmail,
  spool: DiskSpool,
): UnrecordedEmail {
  const fromStored = (content: StoredContent): Content => {
    if ('bytes' in content) return { kind: 'bytes', bytes: content.bytes };
    if (folder === null) throw new Error('a file without a spool folder');
    return { kind: 'file', path: spool.resolve(folder, content.file), sizeBytes: content.sizeBytes };
  };
  return { ...rest, raw: fromStored(raw), attachments: attachments.map(fromStored) };
}

function valueOf(stored: unknown): object {
  const [version, value]: unknown[] = Array.isArray(stored) ? stored : [];
  if (!READABLE.has(version)) throw new Error(`unknown format version ${String(version ?? '(none)')}`);
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return value;
}
