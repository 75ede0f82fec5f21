/** `FileReferences` on PostgreSQL. */
import type { Pool } from 'pg';
import type { FileReferences } from '../../platform/files/clean-files.ts';
import { run, statement } from '../../platform/db/statement.ts';

export function createFileReferences(pool: Pool): FileReferences {
  return {
    async findReferenced(files) {
      const rows = await run(pool, FILE_REFERENCES, { paths: files.map(({ path }) => path) });
      return new Set(rows.map(({ path }) => path));
    },
  };
}

const FILE_REFERENCES = statement(
  'file-references',
  `select storage_path as path from email_attachments where storage_path = any($paths::text[])
         union all
         select raw_path from emails where raw_path = any($paths::text[])
         union all
         select storage_path from uploads where storage_path = any($paths::text[])
         union all
         select storage_path from draft_files where storage_path = any($paths::text[])
         union all
         select raw_path from email_variants where raw_path = any($paths::text[])`,
).narrow<{ path: string }>();
