/**
 * The storage of files: the check compares its identity with the one that the database records, and writes, reads and
 * deletes a file in a storage that is not known to be another one.
 */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { createBlobStore } from '../../connectors/blob/create.ts';
import { parseS3Url } from '../../connectors/blob/s3-url.ts';
import { isLatest } from '../../platform/db/migrate.ts';
import { createStorageRecord } from '../../platform/files/storage-record.ts';
import type { BlobStore, StorageIdentity } from '../../platform/files/file-ports.ts';
import { mismatch, type RecordedStorage } from '../../platform/files/own-storage.ts';
import type { Config } from '../../config/config.ts';
import { ServiceError } from '../../core/errors.ts';
import { formatError } from '../../core/causes.ts';
import { ok, problem, warning, type Check, type Finding } from '../../service/finding.ts';
import type { PatientData } from './patient-data.ts';

/** In s. S3 refuses requests whose time is off by 15 minutes. */
const CLOCK_WARNING_S = 60;
const CLOCK_PROBLEM_S = 600;

export function checkStorage(config: Config, data: PatientData): Check {
  return {
    area: 'storage',
    name: 'the storage of files',
    async run(signal) {
      const { dataDir } = data;
      const recorded = await readRecord(data);
      if (config.blobUrl === null && dataDir.kind === 'unusable') return [];
      if (config.blobUrl === null && dataDir.kind === 'missing') {
        return recorded?.isConfirmed === true ? [ofIdentity(null, recorded, config)] : [];
      }
      const store = await createBlobStore({
        url: config.blobUrl,
        folder: path.join(config.dataDir, 'files'),
        // Files that a running service is still writing are left alone.
        shared: true,
        credentials: config.s3Credentials,
      });
      const cut = () => store.abort();
      signal.addEventListener('abort', cut, { once: true });
      try {
        return [...(await ofStore(store, recorded, config)), ...(await ofClock(config, signal))];
      } finally {
        signal.removeEventListener('abort', cut);
        await store.close();
      }
    },
  };
}

/** null: the database can't be asked, or has no tables yet, as its own check reports. */
async function readRecord({ database }: PatientData): Promise<RecordedStorage | null> {
  const opened = await database;
  if (opened.kind !== 'open' || !(await isLatest(opened.pool))) return null;
  return await createStorageRecord(opened.pool).read();
}

/** Nothing is written into a storage that is another one, or may be. */
async function ofStore(
  store: BlobStore,
  recorded: RecordedStorage | null,
  config: Config,
): Promise<readonly Finding[]> {
  if (recorded === null) return [await ofFile(store, config)];
  let found: StorageIdentity | null;
  try {
    found = await store.readIdentity();
  } catch (error) {
    return [unusable(error, config, adviceForOther(config))];
  }
  const identity = ofIdentity(found, recorded, config);
  return identity.grade === 'ok' ? [identity, await ofFile(store, config)] : [identity];
}

/** @param found null: the storage has none, or is not there */
function ofIdentity(
  found: StorageIdentity | null,
  { database, id, isConfirmed }: RecordedStorage,
  config: Config,
): Finding {
  if (found === null && !isConfirmed) {
    return ok(`neither the database nor ${placeOf(config)} has an identity yet: the next start makes it`);
  }
  if (found !== null && found.id === id) return ok(`${placeOf(config)} is the storage of the database`);
  const { cause } = mismatch(found, isConfirmed ? id : null, database);
  return problem(formatError(cause), adviceForOther(config));
}

const placeOf = ({ blobUrl }: Config): string => (blobUrl === null ? 'DATA_DIR/files' : 'the bucket');

function adviceForOther({ blobUrl }: Config): string {
  const correct = blobUrl === null ? 'Mount the folder, or correct DATA_DIR' : 'Correct BLOB_URL';
  return `${correct}; run email-worker adopt-storage only when the storage is lost or was replaced.`;
}

async function ofFile(store: BlobStore, config: Config): Promise<Finding> {
  const where = placeOf(config);
  const file = `doctor/${randomUUID()}/probe.txt`;
  const bytes = Buffer.from(randomUUID());
  try {
    await store.put(file, { kind: 'bytes', bytes }, 'text/plain');
    const stream = await store.get(file);
    const chunks: Buffer[] = [];
    for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
    await store.delete(file);
    if (Buffer.concat(chunks).equals(bytes)) return ok(`a file was written to ${where}, read and deleted`);
    return problem(
      `a file that was written to ${where} can't be read back`,
      'Check that no other program changes or caches files there.',
    );
  } catch (error) {
    return unusable(
      error,
      config,
      'Free disk space, and make the user of the service the owner of the folder.',
    );
  }
}

/** @param advice for a folder: a bucket has its own for each failure */
function unusable(error: unknown, config: Config, advice: string): Finding {
  // The error's own message is only a code.
  const reason = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  return problem(
    `files can't be kept in ${placeOf(config)}: ${formatError(reason)}`,
    config.blobUrl === null ? advice : adviceForBucket(reason),
  );
}

/** The names that S3 servers and the SDK give a failure, and the advice for each. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^NoSuchBucket$/, 'Create the bucket that BLOB_URL names, or correct its name.'],
  [/^InvalidAccessKeyId$/, 'Correct AWS_ACCESS_KEY_ID: the storage rejects it.'],
  [/^SignatureDoesNotMatch$/, 'Correct AWS_SECRET_ACCESS_KEY: it does not belong to AWS_ACCESS_KEY_ID.'],
  [
    /^(?:AccessDenied|Forbidden)$/,
    'Allow the key to list the bucket, and to put, get and delete its objects: s3:ListBucket, s3:PutObject, s3:GetObject, ' +
      's3:DeleteObject.',
  ],
  [
    /^(?:PermanentRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    "Set region in BLOB_URL to the bucket's region.",
  ],
  [/^RequestTimeTooSkewed$/, 'Set the clock of this machine by NTP: timedatectl set-ntp true.'],
  [
    /^CredentialsProviderError$/,
    'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role that may use the bucket.',
  ],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'Correct the host of endpoint in BLOB_URL, or the DNS of this machine.'],
  [
    /^(?:E[A-Z]+|TimeoutError)$/,
    'Check that the storage runs, that endpoint in BLOB_URL has its host and port, and that no firewall blocks it.',
  ],
];

function adviceForBucket(reason: unknown): string {
  const name = reason instanceof Error ? reason.name : '';
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : '';
  const found = ADVICE.find(([pattern]) => pattern.test(name) || pattern.test(code));
  return found?.[1] ?? 'Check BLOB_URL and the keys, and that they may put, get and delete objects.';
}

async function ofClock({ blobUrl }: Config, signal: AbortSignal): Promise<readonly Finding[]> {
  const endpoint = blobUrl === null ? null : parseS3Url(blobUrl).endpoint;
  if (endpoint === null) return [];
  const response = await fetch(endpoint, { method: 'HEAD', redirect: 'manual', signal }).catch(() => null);
  const date = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return [];
  const offBy = Math.abs(date - Date.now()) / 1000;
  const text = `the clock of the storage differs by ${Math.round(offBy)} s`;
  const advice = 'Set the clock of this machine by NTP: timedatectl set-ntp true.';
  if (offBy > CLOCK_PROBLEM_S) return [problem(text, advice)];
  return offBy > CLOCK_WARNING_S ? [warning(text, advice)] : [];
}
