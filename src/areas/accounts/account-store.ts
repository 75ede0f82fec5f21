/** `AccountStore` on PostgreSQL. Secrets pass through it only sealed. */
import type { Pool } from 'pg';
import type { AccountStore, KeyIds, NewAccount, SealedSecrets, StoredAccount } from './account-ports.ts';
import { MAX_ACCOUNTS } from '../../platform/base/limits.ts';
import { ServiceError } from '../../core/errors.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { DryRunEnd, withDryRun } from '../../platform/db/dry-run.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { forgetTokens } from './oauth2-tokens.ts';

/** What areas above do in the transactions of accounts. */
export interface AccountStorePorts {
  /** How far the mailboxes of the account were read, when it gets other ones. */
  readonly forgetMailboxes: (executor: Executor, accountId: string) => Promise<void>;
  /** When other rules say what of them is recorded. */
  readonly followRules: (executor: Executor, accountId: string) => Promise<void>;
  /** What its rules leave out is not removed any further: it gets other rules or mailboxes, or is deleted. */
  readonly stopRemoval: (executor: Executor, accountId: string) => Promise<void>;
  /** The mail of an earlier account with the id is still being erased, and would take that of a new one along. */
  readonly isBeingErased: (executor: Executor, accountId: string) => Promise<boolean>;
  /** When it is deleted with its mail. */
  readonly requestErasure: (
    executor: Executor,
    request: { readonly id: string; readonly requestedBy: string; readonly accountId: string },
  ) => Promise<void>;
}

export function createAccountStore(
  pool: Pool,
  { forgetMailboxes, followRules, stopRemoval, isBeingErased, requestErasure }: AccountStorePorts,
): AccountStore {
  const read = async (executor: Executor, id: string): Promise<StoredAccount | null> => {
    const [row] = await run(executor, READ, { id });
    return row === undefined ? null : toStored(row);
  };

  return {
    async readVersion() {
      const [row] = await run(pool, READ_VERSION);
      return Number(row?.version ?? 0);
    },
    list: async () => (await run(pool, LIST)).map(toStored),
    read: (id) => read(pool, id),
    hasOtherKeys: (keyIds) => hasOtherKeys(pool, keyIds),

    create: (account, keyIds, author) =>
      inTransaction(pool, async (client) => {
        await nextVersion(client);
        await requireCommonKey(client, account, keyIds);
        if ((await read(client, account.id)) !== null)
          throw new ServiceError('account_exists', { values: { value: account.id } });
        if (await isBeingErased(client, account.id))
          throw new ServiceError('account_has_mail', {
            values: { value: account.id },
            details: 'It is being erased: the id can be used, and adopted, once the erasure is done.',
          });
        const [count] = await run(client, COUNT);
        if ((count?.accounts ?? 0) >= MAX_ACCOUNTS)
          throw new ServiceError('too_many_accounts', { values: { limit: MAX_ACCOUNTS } });
        await run(client, CREATE, { ...toValues(account), author });
        // Of an earlier account with this id.
        await forgetMailboxes(client, account.id);
        await stopRemoval(client, account.id);
        return required(await read(client, account.id));
      }),

    change: (account, version, keyIds, mailboxes) =>
      inTransaction(pool, async (client) => {
        await nextVersion(client);
        await requireCommonKey(client, account, keyIds);
        const known = await read(client, account.id);
        if (known === null) return null;
        requireVersion(known, version);
        await run(client, CHANGE, toValues(account));
        if (mailboxes !== 'same') await stopRemoval(client, account.id);
        if (typeof mailboxes === 'object') {
          await run(client, SET_AUTHOR, { id: account.id, author: mailboxes.otherBy });
          await forgetMailboxes(client, account.id);
        }
        if (mailboxes === 'again') await followRules(client, account.id);
        return read(client, account.id);
      }),

    setPaused: (id, isPaused, author) =>
      inTransaction(pool, async (client) => {
        await nameAuthor(client, author);
        await nextVersion(client);
        await run(client, isPaused ? PAUSE : RESUME, { id });
        return read(client, id);
      }),

    delete: (id, version, { dryRun, erasure }) => {
      const deleting = inTransaction(pool, async (client) => {
        await nextVersion(client);
        const known = await read(client, id);
        if (known === null) {
          if (dryRun) throw new DryRunEnd(null);
          return null;
        }
        if (version !== null) requireVersion(known, version);
        const [waiting] = await run(client, COUNT_SENDS, { id });
        const sends = waiting?.sends ?? 0;
        if (sends > 0) throw new ServiceError('account_has_sends', { values: { value: id, count: sends } });
        await stopRemoval(client, id);
        await forgetTokens(client, id);
        await run(client, DELETE, { id });
        if (erasure !== null) await requestErasure(client, { ...erasure, accountId: id });
        if (dryRun) throw new DryRunEnd(known);
        return known;
      });
      return withDryRun(deleting);
    },

    sealAgain: (keyId, again) =>
      inTransaction(pool, async (client) => {
        await nextVersion(client);
        const others = (await run(client, LIST)).map(toStored).filter((one) => !one.keyId.equals(keyId));
        for (const account of others) {
          const secrets = again(account);
          if (secrets === null) throw new ServiceError('secrets_key_missing');
          await run(client, SEAL_AGAIN, { id: account.id, ...secrets });
        }
        return others.length;
      }),
  };
}

/** Locks out every other change until the commit. */
async function nextVersion(client: Executor): Promise<void> {
  if ((await run(client, NEXT_VERSION)).length === 0) throw new Error('account_clock has no row');
}

const toValues = ({ id, open, sealed, keyId }: NewAccount) => ({
  id,
  settings: toStorableJson(open),
  ...({ sealed, keyId } satisfies SealedSecrets),
});

function required(account: StoredAccount | null): StoredAccount {
  if (account === null) throw new Error('an account was not made');
  return account;
}

function requireVersion({ version }: StoredAccount, expected: number): void {
  if (version !== expected) throw new ServiceError('account_changed', { details: String(version) });
}

async function hasOtherKeys(executor: Executor, keyIds: readonly Buffer[]): Promise<boolean> {
  return (await run(executor, OTHER_KEY, { keyIds: [...keyIds] })).length > 0;
}

/**
 * Else each process would seal with a key of its own, and none could use all accounts. What was sealed with an older key while a rotation
 * ended would keep the only trace of it.
 */
async function requireCommonKey(executor: Executor, { keyId }: NewAccount, keyIds: KeyIds): Promise<void> {
  const ids = await keyIds();
  if (ids[0]?.equals(keyId) !== true || (await hasOtherKeys(executor, ids)))
    throw new ServiceError('secrets_key_missing');
}

function toStored(row: RowOf<typeof READ>): StoredAccount {
  return {
    id: row.id,
    open: row.settings,
    sealed: row.sealed,
    keyId: row.key_id,
    version: row.version,
    pausedAt: row.paused_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const COLUMNS = 'id, settings, sealed, key_id, version, paused_at, created_at, updated_at';

const READ_VERSION = statement('read-account-version', 'select version from account_clock');

const NEXT_VERSION = statement(
  'next-account-version',
  'update account_clock set version = version + 1 returning version',
);

const LIST = statement('list-accounts', `select ${COLUMNS} from accounts order by created_at, id`);

const READ = statement('read-account', `select ${COLUMNS} from accounts where id = $id`);

const COUNT = statement('count-accounts', 'select count(*)::int as accounts from accounts');

const OTHER_KEY = statement(
  'account-of-other-key',
  'select id from accounts where key_id <> all ($keyIds::bytea[]) limit 1',
);

const CREATE = statement(
  'create-account',
  `insert into accounts (id, settings, sealed, key_id, author_key)
  values ($id, $settings::jsonb, $sealed, $keyId, $author)`,
);

const CHANGE = statement(
  'change-account',
  `update accounts set settings = $settings::jsonb, sealed = $sealed, key_id = $keyId, version = version + 1, updated_at = now()
  where id = $id`,
);

const SET_AUTHOR = statement('set-account-author', 'update accounts set author_key = $author where id = $id');

const PAUSE = statement(
  'pause-account',
  'update accounts set paused_at = now(), version = version + 1, updated_at = now() where id = $id and paused_at is null',
);

const RESUME = statement(
  'resume-account',
  'update accounts set paused_at = null, version = version + 1, updated_at = now() where id = $id and paused_at is not null',
);

/** By the indexes: sends that wait, and those that a process has claimed. */
const COUNT_SENDS = statement(
  'count-sends-of-account',
  `select (select count(*) from send_queue where account_id = $id and owner is null)::int
    + (select count(*) from send_queue where owner is not null and account_id = $id)::int as sends`,
).narrow<{ sends: number }>();

const DELETE = statement('delete-account', 'delete from accounts where id = $id');

const SEAL_AGAIN = statement(
  'seal-account-again',
  'update accounts set sealed = $sealed, key_id = $keyId where id = $id',
);
