/** `RestoreTarget` on PostgreSQL. */
import { setTimeout as wait } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { RestoreTarget, TargetState } from './backup-ports.ts';
import { sharedSettings } from '../../platform/db/connection.ts';
import { readMark, requireServer } from '../../platform/db/migrate.ts';
import { run, statement } from '../../platform/db/statement.ts';
import { inOwnTransaction } from '../../platform/db/transaction.ts';
import { readDatabaseId } from './catalog.ts';
import { onOwnConnection, type OpenPatientPool } from './exclusive-connection.ts';
import { readStorageId } from '../../platform/files/storage-record.ts';
import { loadDatabase } from './load.ts';
import { setMark } from './set-mark.ts';

/** The time that the server may take to notice that a program has ended, in ms. */
const LEAVING_MS = 3000;
const LOOK_AGAIN_MS = 100;

export function createRestoreTarget(openPool: OpenPatientPool): RestoreTarget {
  return {
    readState: () => onOwnConnection(openPool, readState),

    countOthers: () =>
      onOwnConnection(openPool, async (client) => {
        if (sharedSettings(client) !== null) return null;
        const deadline = performance.now() + LEAVING_MS;
        for (;;) {
          const [row] = await run(client, COUNT_OTHERS);
          const others = row?.others ?? 0;
          if (others === 0 || performance.now() > deadline) return others;
          await wait(LOOK_AGAIN_MS);
        }
      }),

    readStorageId: () =>
      onOwnConnection(openPool, async (client) => {
        const [table] = await run(client, HAS_STORAGE);
        return table?.has_storage === true ? await readStorageId(client) : null;
      }),

    markUnfinished: () => setMark(openPool, 'unfinished_restore'),

    load: (database, policy) =>
      onOwnConnection(openPool, (client) =>
        inOwnTransaction(client, async () => {
          await client.query(NOTICE_THE_END);
          return loadDatabase(client, database, policy);
        }),
      ),
  };
}

async function readState(client: PoolClient): Promise<TargetState> {
  await requireServer(client);
  const mark = await readMark(client);
  if (mark === 'unfinished_restore') return { kind: 'unfinished' };
  const [tables] = await run(client, HAS_TABLES);
  if (tables?.has_tables !== true) return { kind: 'empty' };
  const [row] = await run(client, CONTENTS);
  if (row?.is_filled !== true) return { kind: 'empty' };
  return {
    kind: 'filled',
    databaseId: await readDatabaseId(client),
    emails: Number(row.emails),
    eventPosition: row.position ?? '',
    moving: mark === 'moving',
    moved: mark === 'moved',
  };
}

/**
 * A server notices that its client has gone only when it next reads or writes, and building an index takes minutes: until then, a restore
 * that was killed could not be repeated. This makes the server check now and then until the end of the transaction. Not every operating
 * system that servers run on supports this.
 */
const NOTICE_THE_END = `
  do $$
  begin
    perform set_config('client_connection_check_interval', '1s', true);
  exception when invalid_parameter_value then
    null;
  end $$`;

const HAS_STORAGE = statement(
  'has-storage',
  `select to_regclass('storage_identity') is not null as has_storage`,
);

const HAS_TABLES = statement('has-tables', `select to_regclass('digest_key') is not null as has_tables`);

/** Rows that a service makes by itself at its first start do not count. */
const CONTENTS = statement(
  'contents-of-target',
  `select (select count(*) from emails) as emails, (select position::text from event_clock) as position, exists (select from emails) or exists (select from drafts)
    or exists (select from customers) or exists (select from customer_addresses) or exists (select from api_keys)
    or exists (select from webhooks) or exists (select from templates) or exists (select from suppressions)
    or exists (select from deleted_emails) as is_filled`,
);

/** Sessions of all our pools, on any machine; see `application_name` in db/pool.ts. */
const COUNT_OTHERS = statement(
  'count-other-sessions',
  `select count(*)::int as others from pg_stat_activity
  where datname = current_database() and usename = current_user and application_name = 'email-worker' and pid <> pg_backend_pid()`,
).narrow<{ others: number }>();
