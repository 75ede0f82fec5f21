/** Access rights in a database that other roles and programs use too, as on a managed server. */
import { randomBytes } from 'node:crypto';
import { Client, type Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { migrateToLatest } from './migrate.ts';
import { createPool } from './pool.ts';

const SCHEMA = 'mail_of_ours';
const suffix = randomBytes(4).toString('hex');
/** OWNER owns the schema and may do nothing else; the others are roles of the server that browsers and other programs have. */
const [OWNER, ANON, AUTHENTICATED] = ['owner', 'anon', 'authenticated'].map((name) => `${name}_${suffix}`);
const OTHERS = [ANON, AUTHENTICATED];

let database: TestDatabase;
let admin: Client;
let pool: Pool;

beforeAll(async () => {
  database = await createEmptyDatabase();
  admin = new Client(database.connectionString);
  await admin.connect();
  await admin.query(`create role ${OWNER} nosuperuser nocreatedb nocreaterole noinherit login`);
  for (const role of OTHERS) await admin.query(`create role ${role} nosuperuser login`);
  await admin.query('revoke all on schema public from public');
  await admin.query(
    'revoke create, temporary on database ' +
      new URL(database.connectionString).pathname.slice(1) +
      ' from public',
  );
  await admin.query(`create schema ${SCHEMA} authorization ${OWNER}`);
  // As Supabase does for its own schemas, but for all of them, and more.
  for (const kind of ['tables', 'sequences', 'functions', 'types', 'schemas']) {
    await admin.query(
      `alter default privileges for role ${OWNER} grant all on ${kind} to ${OTHERS.join(', ')}`,
    );
  }
  await admin.query(`grant all on schema ${SCHEMA} to ${OTHERS.join(', ')}`);

  const url = new URL(database.connectionString);
  url.username = OWNER!;
  pool = createPool({
    connection: url.href,
    schema: SCHEMA,
    maxConnections: 2,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    logger: silentLogger,
  });
  await migrateToLatest(pool);
  // Tables that are created at run time
  await pool.query('select keep_events(0), make_webhook_partition(20000), make_webhook_partition(20001)');
});
afterAll(async () => {
  await pool.end();
  for (const role of [OWNER, ...OTHERS]) await admin.query(`drop owned by ${role} cascade`);
  for (const role of [OWNER, ...OTHERS]) await admin.query(`drop role ${role}`);
  await admin.end();
  await database.drop();
});

const names = async (text: string): Promise<readonly unknown[]> =>
  (await admin.query<{ name: string }>(text)).rows.map(({ name }) => name);
const tables = () =>
  names(`select c.relname as name from pg_class c
    where c.relnamespace = '${SCHEMA}'::regnamespace and c.relkind in ('r', 'p') order by 1`);

/** The result for the role, or the SQLSTATE. */
async function as(role: string, text: string): Promise<unknown> {
  await admin.query('begin');
  try {
    await admin.query(`set local role ${role}`);
    return (await admin.query(text)).rows;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await admin.query('rollback');
  }
}
const INSUFFICIENT_PRIVILEGE = '42501';

describe('the schema', () => {
  it('is made by a role that owns it and has no other right, and holds everything', async () => {
    expect(await tables()).toContain('emails');
    const elsewhere = `
      select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relowner = '${OWNER}'::regrole and n.nspname not in ('${SCHEMA}', 'pg_toast')
      union all select p.proname from pg_proc p where p.proowner = '${OWNER}'::regrole
        and p.pronamespace <> '${SCHEMA}'::regnamespace
      union all select t.typname from pg_type t where t.typowner = '${OWNER}'::regrole
        and t.typnamespace <> '${SCHEMA}'::regnamespace and t.typrelid = 0 and t.typelem = 0`;
    expect(await names(elsewhere)).toEqual([]);
    expect(await names(`select extname as name from pg_extension where extname <> 'plpgsql'`)).toEqual([]);
  });

  it('is closed to all others, whatever they get by default', async () => {
    for (const role of OTHERS) {
      for (const table of await tables()) {
        expect(await as(role!, `select * from ${SCHEMA}.${String(table)}`)).toBe(INSUFFICIENT_PRIVILEGE);
        expect(await as(role!, `truncate ${SCHEMA}.${String(table)} cascade`)).toBe(INSUFFICIENT_PRIVILEGE);
      }
      expect(await as(role!, `select ${SCHEMA}.number_events(1)`)).toBe(INSUFFICIENT_PRIVILEGE);
      expect(await as(role!, `create table ${SCHEMA}.mine (n int)`)).toBe(INSUFFICIENT_PRIVILEGE);
    }
    const privileges = `
      select c.relname as name from pg_class c, aclexplode(c.relacl) a
        where c.relnamespace = '${SCHEMA}'::regnamespace and a.grantee <> c.relowner
      union all select p.proname from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where p.pronamespace = '${SCHEMA}'::regnamespace and a.grantee <> p.proowner
      union all select n.nspname from pg_namespace n, aclexplode(n.nspacl) a
        where n.nspname = '${SCHEMA}' and a.grantee <> n.nspowner`;
    expect(await names(privileges)).toEqual([]);
  });

  it('shows no row even to a role that was given the privileges afterwards', async () => {
    await pool.query(`insert into email_threads (id, account_id) values (gen_random_uuid(), 'default')`);
    await admin.query(`grant usage on schema ${SCHEMA} to ${ANON}`);
    await admin.query(`grant select, insert, update, delete on all tables in schema ${SCHEMA} to ${ANON}`);
    for (const table of await tables()) {
      const where = `${SCHEMA}.${String(table)}`;
      expect([table, await as(ANON!, `select 1 from ${where}`)]).toEqual([table, []]);
      // Refused where a trigger needs more privileges.
      const deleted = await as(ANON!, `delete from ${where} where true returning 1`);
      expect([[], INSUFFICIENT_PRIVILEGE]).toContainEqual(deleted);
    }
    const insert = `insert into ${SCHEMA}.email_threads (id, account_id) values (gen_random_uuid(), 'default')`;
    expect(await as(ANON!, insert)).toBe(INSUFFICIENT_PRIVILEGE);
    expect((await pool.query('select 1 from email_threads')).rowCount).toBe(1);
  });

  it('has row security on every table, those that are made at run time too', async () => {
    const open = `select c.relname as name from pg_class c
      where c.relnamespace = '${SCHEMA}'::regnamespace and c.relkind in ('r', 'p') and not c.relrowsecurity`;
    expect(await names(open)).toEqual([]);
    expect(await tables()).toContain('webhook_deliveries_20241004');
    // The owner is not bound by row security, and so needs no policy.
    const forced = `select c.relname as name from pg_class c
      where c.relnamespace = '${SCHEMA}'::regnamespace and c.relforcerowsecurity`;
    expect(await names(forced)).toEqual([]);
  });

  it('has functions that look names up in it alone, whichever role calls them', async () => {
    const loose = `select p.proname as name from pg_proc p
      where p.pronamespace = '${SCHEMA}'::regnamespace and p.prosqlbody is null
        and not coalesce(p.proconfig, '{}') && array['search_path=${SCHEMA}, pg_temp']`;
    expect(await names(loose)).toEqual([]);
  });

  it('is made when it is missing and the role may, and may have any plain name', async () => {
    const other = createPool({
      connection: database.connectionString,
      schema: 'user',
      maxConnections: 1,
      connectTimeoutMs: 30_000,
      statementTimeoutMs: 60_000,
      logger: silentLogger,
    });
    await migrateToLatest(other);
    expect((await other.query<{ name: string }>('select current_schema() as name')).rows).toEqual([
      { name: 'user' },
    ]);
    await other.end();
  });

  it('that can not be made is an error that says so', async () => {
    const url = new URL(database.connectionString);
    url.username = OWNER!;
    const other = createPool({
      connection: url.href,
      schema: 'not_there',
      maxConnections: 1,
      connectTimeoutMs: 30_000,
      statementTimeoutMs: 60_000,
      logger: silentLogger,
    });
    await expect(migrateToLatest(other)).rejects.toMatchObject({ cause: { code: INSUFFICIENT_PRIVILEGE } });
    await other.end();
  });
});
