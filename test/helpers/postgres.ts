/**
 * Databases for tests. They live on one server for the whole run: an embedded one, or the external one that
 * TEST_DATABASE_URL names, whose role must be allowed to make databases.
 */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { ClientConfig } from 'pg';
import { query } from './query.ts';
import { requestTestServer, withDatabase } from './test-server.ts';

export interface TestDatabase {
  /** For DATABASE_URL. */
  readonly connectionString: string;
  /** For `pg`. */
  readonly connectionConfig: ClientConfig & { readonly connectionString: string };
  /** Drops the database; sessions that are left in it are cut. */
  drop(): Promise<void>;
}

/** A new, migrated, empty database. Drop it when the file ends; the end of the run drops what was forgotten. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { template } = await requestTestServer(inject('testServerPath'));
  return await createDatabase(template);
}

/** A new database with nothing in it, not even the schema. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return await createDatabase('template1');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const { adminUrl, prefix } = await requestTestServer(inject('testServerPath'));
  const name = `${prefix}${randomBytes(6).toString('hex')}`;
  await query(adminUrl, `create database ${name} template ${template}`);
  const connectionString = withDatabase(adminUrl, name);
  return {
    connectionString,
    connectionConfig: { connectionString },
    async drop() {
      await query(adminUrl, `drop database if exists ${name} with (force)`);
    },
  };
}
