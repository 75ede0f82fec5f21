/**
 * Databases for tests. They live on one server for the whole run: an embedded one, or the external one that TEST_DATABASE_URL names, whose
 * role must be allowed to create databases. With TEST_POOLER=1 it is the server of the Debian package, and the service reaches it through
 * PgBouncer; queries of the tests themselves never go through it.
 */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { ClientConfig } from 'pg';
import { query, SEARCH_PATH } from './query.ts';
import { requestTestServer, withDatabase } from './test-server.ts';

export interface TestDatabase {
  /** For DATABASE_URL. */
  readonly connectionString: string;
  /** For `pg`. */
  readonly connectionConfig: ClientConfig & { readonly connectionString: string };
  /** Drops the database; sessions that still use it are cut. */
  drop(): Promise<void>;
}

/** A new, migrated, empty database. Drop it when the file ends; the end of the run drops forgotten ones. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { template } = await requestTestServer(inject('testServerPath'));
  return await createDatabase(template);
}

/** A new database with nothing in it, not even the schema. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return await createDatabase('template1');
}

/** The service reaches the databases of this run through PgBouncer. */
export const isPooled = process.env['TEST_POOLER'] === '1';

/** Address of a database → the same address through PgBouncer. */
const pooled = new Map<string, string>();

/** The address that the service gets for a database of this run or any other. */
export const addressForService = (connectionString: string): string =>
  pooled.get(connectionString) ?? connectionString;

async function createDatabase(template: string): Promise<TestDatabase> {
  const { adminUrl, pooledUrl, prefix } = await requestTestServer(inject('testServerPath'));
  const name = `${prefix}${randomBytes(6).toString('hex')}`;
  await query(adminUrl, `create database ${name} template ${template}`);
  const connectionString = withDatabase(adminUrl, name);
  if (pooledUrl !== null) pooled.set(connectionString, withDatabase(pooledUrl, name));
  return {
    connectionString,
    connectionConfig: { connectionString, options: SEARCH_PATH },
    async drop() {
      await query(adminUrl, `drop database if exists ${name} with (force)`);
    },
  };
}
