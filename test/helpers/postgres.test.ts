import { describe, expect, test } from 'vitest';
import { createEmptyDatabase, createTestDatabase } from './postgres.ts';
import { query } from './query.ts';

describe('a test database', () => {
  test('is migrated and empty, and shared with no other test', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    try {
      await query(one.connectionString, 'create table note ()');
      const seen = `select to_regclass('note') as note, to_regclass('email_threads')::text as threads`;
      expect(await query(two.connectionString, seen)).toEqual([{ note: null, threads: 'email_threads' }]);
      expect(await query(two.connectionConfig, 'select id from email_threads')).toEqual([]);
    } finally {
      await Promise.all([one.drop(), two.drop()]);
    }
    await expect(query(one.connectionString, 'select 1')).rejects.toThrow('does not exist');
  });

  test('may be without a schema', async () => {
    const database = await createEmptyDatabase();
    try {
      const tables = await query(
        database.connectionString,
        `select tablename from pg_tables where schemaname = 'public'`,
      );
      expect(tables).toEqual([]);
    } finally {
      await database.drop();
    }
  });
});
