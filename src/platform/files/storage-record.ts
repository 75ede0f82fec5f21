/** `StorageRecord` on PostgreSQL, and the processes that can't use the storage. */
import type { Pool } from 'pg';
import type { RecordedStorage, StorageFault, StorageRecord } from './own-storage.ts';
import { run, statement, type Executor } from '../db/statement.ts';
import { inTransaction } from '../db/transaction.ts';

const STORAGE_LOCK = 0x73746f72;

/** @param patient for the transaction that holds the lock while the storage is asked, once in the life of a database */
export function createStorageRecord(pool: Pool, patient: Pool = pool): StorageRecord {
  return {
    async read(): Promise<RecordedStorage> {
      const [row] = await run(pool, READ);
      if (row === undefined) throw new Error('the record of the storage has no answer');
      return { database: row.database, id: row.id, isConfirmed: row.is_confirmed };
    },
    async propose(id) {
      await run(pool, PROPOSE, { id });
    },
    async confirm(id) {
      await run(pool, CONFIRM, { id });
    },
    async adopt(id) {
      await run(pool, ADOPT, { id });
    },
    exclusively: (work) =>
      inTransaction(patient, async (client) => {
        await run(client, LOCK);
        return await work();
      }),
  };
}

const READ = statement(
  'read-storage',
  `select current_database()::text as database, s.id, coalesce(s.is_confirmed, false) as is_confirmed
  from (select) one left join storage_identity s on true`,
).narrow<{ database: string; id: string | null; is_confirmed: boolean }>();

const PROPOSE = statement(
  'propose-storage',
  `insert into storage_identity as s (id) values ($id)
  on conflict (only_row) do update set id = excluded.id where not s.is_confirmed`,
);

const CONFIRM = statement(
  'confirm-storage',
  'update storage_identity set is_confirmed = true where id = $id and not is_confirmed',
);

const ADOPT = statement(
  'adopt-storage',
  `insert into storage_identity (id, is_confirmed) values ($id, true)
  on conflict (only_row) do update set id = excluded.id, is_confirmed = true`,
);

const LOCK = statement('lock-storage', `select pg_advisory_xact_lock(${STORAGE_LOCK})`);

/** null: no storage is recorded. The tables must be there. */
export async function readStorageId(executor: Executor): Promise<string | null> {
  const [row] = await run(executor, READ);
  return row?.id ?? null;
}

/** For a restored database. @param id of the storage that it goes on with; null: the next start finds out */
export async function restoreStorage(executor: Executor, id: string | null): Promise<void> {
  await run(executor, FORGET);
  await run(executor, FORGET_FAULTS);
  if (id !== null) await run(executor, ADOPT, { id });
}

const FORGET = statement('forget-storage', 'delete from storage_identity');
const FORGET_FAULTS = statement('forget-storage-faults', 'delete from storage_faults');

/** Returns the function that records what keeps this process from using the storage; null: nothing does. */
export function createFaultNote(
  pool: Pool,
  instanceId: string,
): (fault: StorageFault | null) => Promise<void> {
  return async (fault) => {
    if (fault === null) await run(pool, RECOVERED, { instanceId });
    else await run(pool, FAILING, { instanceId, ...fault });
  };
}

const RECOVERED = statement(
  'storage-recovered',
  'delete from storage_faults where instance_id = $instanceId',
);

const FAILING = statement(
  'storage-failing',
  `insert into storage_faults (instance_id, code, detail) values ($instanceId, $code, $detail)
  on conflict (instance_id) do update set code = excluded.code, detail = excluded.detail, since = now()`,
);
