/**
 * The manifest of a backup: the list of its contents. It is written last, so a backup without one is incomplete.
 *
 * A place that holds backups looks like this (with `.age` after each name if it is encrypted):
 *
 *     backups/<id>/manifest.json             this
 *     backups/<id>/tables/<name>-00001.gz    the rows of a table, in pieces of PostgreSQL's COPY text format
 *     backups/<id>/files-00001.gz            the list of files, sorted by path: a JSON object on each line (file-entry.ts)
 *     files/<first two digits>/<hash>        a file, or a piece of a large one; shared by all backups; `.gz`: compressed
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The version of the format described here. Raise it when a reader of the previous version would misunderstand a backup. */
export const BACKUP_FORMAT = 1;

const count = z.number().int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** A name of one of our tables, columns or sequences; names become parts of statements. */
const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
/** A PostgreSQL `bigint`, which may exceed the range of a JavaScript number. */
const bigint = z.string().regex(/^-?\d{1,19}$/);

/** Bytes that were cut into pieces. */
const storedStream = z.object({
  pieces: count,
  /** Size of the content before compression. */
  sizeBytes: count,
  sha256,
});
export type StoredStream = Readonly<z.infer<typeof storedStream>>;

const tablePart = storedStream.extend({
  name,
  /** The partitioned table that it is a part of. */
  partitionOf: name.nullable(),
  /** In the order of the values. */
  columns: z.array(name),
  rows: count,
});
export type TablePart = Readonly<z.infer<typeof tablePart>>;

const sequence = z.object({ name, lastValue: bigint, isCalled: z.boolean() });
export type SequenceState = Readonly<z.infer<typeof sequence>>;

const manifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** When the snapshot was taken, by the database's clock; the backup contains exactly what was committed by then. */
  takenAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  serviceVersion: z.string(),
  /** Identifies a database and its copies: a restored one has the same id. */
  databaseId: sha256,
  postgres: z.string(),
  migrations: z.array(z.string()),
  /** Digest of the tables with their columns and types. */
  schemaDigest: sha256,
  /** The position up to which the feed had been numbered. */
  eventPosition: bigint,
  tables: z.array(tablePart),
  sequences: z.array(sequence),
  files: storedStream.extend({
    count,
    contentBytes: count,
    /** Files that were deleted with their records while the backup was made. */
    deleted: count,
    /** Files that records name but the storage did not have. */
    missing: count,
  }),
});
export type Manifest = Readonly<z.infer<typeof manifest>>;

/** This program can't use the backup, or the backup was altered. English, for the operator. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}

/** The digest of the manifest, without the field `digest`. */
const digestOf = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

export const formatManifest = (value: Manifest): string =>
  JSON.stringify({ ...value, digest: digestOf(value) }, null, 2);

/** Throws BackupError when the text is not a manifest of this format. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BackupError('the manifest is not JSON', { cause });
  }
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : null;
  if (format !== BACKUP_FORMAT) {
    throw new BackupError(
      `the backup has the format ${JSON.stringify(format)}, and this version of email-worker reads ${BACKUP_FORMAT}`,
    );
  }
  const { digest, ...rest } = value as { readonly digest?: unknown };
  if (digest !== digestOf(rest)) throw new BackupError('the manifest is not what was written');
  const parsed = manifest.safeParse(rest);
  if (!parsed.success) {
    throw new BackupError(`the manifest is damaged: ${z.prettifyError(parsed.error)}`);
  }
  return parsed.data;
}
