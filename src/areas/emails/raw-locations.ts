/** Where the raw messages of emails and of their variants are. */
import type { RawLocation } from '../../platform/files/file-ports.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { EMAIL_ID } from './email-aliases.ts';

/** null: there is no such email. */
export async function locateRaw(executor: Executor, emailId: string): Promise<RawLocation | null> {
  const [row] = await run(executor, READ_RAW, { id: emailId });
  return row === undefined ? null : toLocation(row);
}

/** null: the email has no such variant. */
export async function locateVariant(
  executor: Executor,
  emailId: string,
  id: string,
): Promise<RawLocation | null> {
  const [row] = await run(executor, READ_VARIANT_RAW, { id: emailId, variantId: id });
  return row === undefined ? null : toLocation(row);
}

const toLocation = (row: RowOf<typeof READ_RAW>): RawLocation => ({
  bytes: row.raw,
  path: row.raw_path,
  sizeBytes: Number(row.raw_size_bytes),
});

const READ_RAW = statement(
  'read-raw',
  `select raw, raw_path, raw_size_bytes from emails where id = ${EMAIL_ID}`,
);

const READ_VARIANT_RAW = statement(
  'read-variant-raw',
  `select raw, raw_path, raw_size_bytes from email_variants where id = $variantId and email_id = ${EMAIL_ID}`,
);
