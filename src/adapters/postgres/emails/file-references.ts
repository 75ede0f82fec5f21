/** `FileReferences` on PostgreSQL. */
import type { Pool } from 'pg';
import type { FileReferences } from '../../../app/files/clean-files.ts';
import { createNamedQuery } from '../db/named-query.ts';

export function createFileReferences(pool: Pool): FileReferences {
  const query = createNamedQuery(pool);
  return {
    async findReferenced(files) {
      const rows = await query<{ path: string }>(
        'file-references',
        `select storage_path as path from email_attachments where storage_path = any($1::text[])
         union all
         select raw_path from emails where raw_path = any($1::text[])
         union all
         select raw_path from email_variants where raw_path = any($1::text[])`,
        [files.map(({ path }) => path)],
      );
      return new Set(rows.map(({ path }) => path));
    },
  };
}
