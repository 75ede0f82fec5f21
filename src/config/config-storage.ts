/** The places of the data: the data folder, the database and the files. */
import { ConfigError } from './config-error.ts';
import { readUrl, readWord } from './config-values.ts';
import {
  integer,
  milliseconds,
  readAll,
  resolvePath,
  secretText,
  secretVariable,
  variable,
  type Environment,
} from './variable.ts';

export const DATABASE_VARIABLES = {
  /** An absolute path. */
  dataDir: variable('DATA_DIR', {
    parse: (value, _name, env) => resolvePath(env, value ?? 'data'),
    defaultText: './data',
    meaning: 'Folder of the embedded database, the files and the journal.',
  }),
  /** null: the embedded server. */
  databaseUrl: secretVariable('DATABASE_URL', {
    parse: (value, name) => readUrl(name, value, ['postgres:', 'postgresql:']),
    defaultText: 'the embedded PostgreSQL',
    meaning: 'An external PostgreSQL 15 or later: `postgres://user:pass@host:5432/name`.',
  }),
  /** null: the server of DATABASE_URL answers all reads. */
  databaseReadUrl: secretVariable('DATABASE_READ_URL', {
    parse: (value, name) => readUrl(name, value, ['postgres:', 'postgresql:']),
    defaultText: 'the server of `DATABASE_URL`',
    meaning:
      'A streaming replica of the server of `DATABASE_URL`, for lists, searches and threads; see [operations.md](operations.md#read-replicas).',
  }),
  databaseReadMaxLagMs: integer(
    'DATABASE_READ_MAX_LAG_MS',
    50,
    { min: 0, max: 10_000 },
    'How long a read waits for the replica to catch up with the primary, in ms; then the primary serves it.',
  ),
  databaseSchema: variable('DATABASE_SCHEMA', {
    parse: readSchema,
    defaultText: 'email_worker',
    meaning:
      'Database schema of all tables, created when it is missing. The role of `DATABASE_URL` owns it and needs no other right.',
  }),
  databasePooler: variable('DATABASE_POOLER', {
    parse: (value, name) => readWord(name, value ?? 'auto', ['auto', 'transaction', 'none']),
    defaultText: 'auto',
    meaning:
      'Whether a pooler between the service and PostgreSQL shares sessions: `auto` detects it for each connection; ' +
      '`transaction`: yes; `none`: each connection has its own session (a pooler in session mode; saves CPU).',
  }),
  databasePoolSize: integer(
    'DATABASE_POOL_SIZE',
    10,
    { min: 2, max: 1000 },
    'Maximum number of database connections of this process. Callers use at most two thirds of them; the rest is for mail.',
  ),
  databaseConnectTimeoutMs: milliseconds(
    'DATABASE_CONNECT_TIMEOUT_MS',
    3000,
    'How long to wait for a database connection, in ms.',
  ),
  databaseStatementTimeoutMs: milliseconds(
    'DATABASE_STATEMENT_TIMEOUT_MS',
    10_000,
    'Time limit of one statement, in ms; a send whose record takes longer gets 207.',
  ),
};

export const FILE_VARIABLES = {
  /** null: a folder in the data folder. */
  blobUrl: variable('BLOB_URL', {
    parse: (value, name) => readUrl(name, value, ['s3:']),
    defaultText: 'a folder in `DATA_DIR`',
    meaning:
      'Storage of attachments: `s3://bucket/prefix?endpoint=https://…&region=…`; see docs/configuration.md.',
  }),
  accessKeyId: secretText('AWS_ACCESS_KEY_ID', 'Access key for an S3 `BLOB_URL`.'),
  secretAccessKey: secretText('AWS_SECRET_ACCESS_KEY', 'Secret key for an S3 `BLOB_URL`.'),
  maxAttachmentBytes: integer(
    'MAX_ATTACHMENT_BYTES',
    25 * 1024 * 1024,
    { min: 1, max: 1024 * 1024 * 1024 },
    'Maximum size of all attachments of one email, in bytes of the raw files (25 MiB).',
  ),
};

export const BACKUP_VARIABLES = {
  /** The line with the identity; null: backups are not encrypted. */
  backupKey: secretVariable('BACKUP_KEY', {
    parse: readBackupKey,
    defaultText: 'none: backups are not encrypted',
    meaning:
      'age identity, `AGE-SECRET-KEY-1…`, that encrypts and decrypts backups, from `age-keygen` or `email-worker backup ' +
      '--new-key`.',
  }),
};

export function readDatabase(env: Environment) {
  const database = readAll(DATABASE_VARIABLES, env);
  if (database.databaseReadUrl !== null && database.databaseUrl === null)
    throw new ConfigError('DATABASE_READ_URL', 'needs DATABASE_URL: the embedded PostgreSQL has no replica');
  return database;
}

export function readFiles(env: Environment) {
  const { accessKeyId, secretAccessKey, ...files } = readAll(FILE_VARIABLES, env);
  return { ...files, s3Credentials: readCredentials(accessKeyId, secretAccessKey) };
}

/** Names that PostgreSQL takes without quotes. Reserved words also pass, because they are quoted. */
function readSchema(value: string | null, name: string): string {
  const schema = value ?? 'email_worker';
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new ConfigError(name, 'must be up to 63 of a-z, 0-9 and _, not beginning with a digit');
  if (/^(?:pg_.*|public|information_schema)$/.test(schema))
    throw new ConfigError(name, `must be a schema of the service alone, which ${schema} is not`);
  return schema;
}

/** The only line that is not a comment. */
function readBackupKey(value: string | null, name: string): string | null {
  if (value === null) return null;
  const lines = value.split(/\r?\n/).flatMap((line) => {
    const text = line.trim();
    return text === '' || text.startsWith('#') ? [] : [text];
  });
  const [line = ''] = lines;
  if (lines.length !== 1 || !/^AGE-SECRET-KEY-1[0-9A-Z]{58}$/.test(line))
    throw new ConfigError(name, 'must be one age identity, AGE-SECRET-KEY-1…, as age-keygen makes it');
  return line;
}

function readCredentials(
  accessKeyId: string | null,
  secretAccessKey: string | null,
): { readonly accessKeyId: string; readonly secretAccessKey: string } | null {
  if (accessKeyId === null && secretAccessKey === null) return null;
  if (accessKeyId === null)
    throw new ConfigError('AWS_ACCESS_KEY_ID', 'is missing beside AWS_SECRET_ACCESS_KEY');
  if (secretAccessKey === null)
    throw new ConfigError('AWS_SECRET_ACCESS_KEY', 'is missing beside AWS_ACCESS_KEY_ID');
  return { accessKeyId, secretAccessKey };
}
