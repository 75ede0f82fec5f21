/** `UnsubscribeStore` on PostgreSQL. */
import type { Pool } from 'pg';
import {
  run,
  runCounting,
  statement,
  statements,
  type Executor,
  type RowOf,
} from '../../platform/db/statement.ts';

export interface Unsubscribe {
  readonly id: string;
  readonly accountId: string;
  readonly list: string;
  /** In the form of deliveryAddressKey. */
  readonly address: string;
  /** The email with the link that was used. It may be deleted. */
  readonly emailId: string;
  readonly unsubscribedAt: Date;
}

export interface UnsubscribesQuery {
  /** null: all accounts. */
  readonly accountIds: readonly string[] | null;
  readonly list: string | null;
  /** In the form of deliveryAddressKey. */
  readonly address: string | null;
  readonly limit: number;
  /** The last entry of the previous page; null for the first page. */
  readonly beforeId: string | null;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface UnsubscribeStore {
  /** The key of all tokens; the first call among all processes stores `fresh`. */
  tokenKey(fresh: Buffer): Promise<Buffer>;
  isUnsubscribed(accountId: string, list: string, address: string): Promise<boolean>;
  /** A repeat changes nothing. */
  add(unsubscribe: Omit<Unsubscribe, 'unsubscribedAt'>): Promise<void>;
  /** The newest first. */
  list(query: UnsubscribesQuery): Promise<readonly Unsubscribe[]>;
  /** null when it does not exist. @param accountIds only of these accounts; null: of all */
  remove(id: string, accountIds: readonly string[] | null): Promise<Unsubscribe | null>;
}

export function createUnsubscribeStore(pool: Pool): UnsubscribeStore {
  return {
    async tokenKey(fresh) {
      await run(pool, MAKE_KEY, { key: fresh });
      const [row] = await run(pool, READ_KEY);
      if (row === undefined) throw new Error('unsubscribe_key has no row');
      return row.key;
    },

    isUnsubscribed: async (accountId, list, address) =>
      (await run(pool, FIND, { accountId, list, address })).length > 0,

    async add({ id, accountId, list, address, emailId }) {
      await run(pool, ADD, { id, accountId, list, address, emailId });
    },

    async list({ accountIds, list, address, beforeId, limit }) {
      const page = LIST.of({
        hasAccounts: accountIds !== null,
        hasList: list !== null,
        hasAddress: address !== null,
        isAfter: beforeId !== null,
      });
      const rows = await run(pool, page, { accountIds, list, address, beforeId, limit });
      return rows.map(toUnsubscribe);
    },

    async remove(id, accountIds) {
      const [row] = await run(pool, REMOVE, { id, accountIds });
      return row === undefined ? null : toUnsubscribe(row);
    },
  };
}

/** Of two processes at the same moment, only one stores its key. */
const MAKE_KEY = statement(
  'make-unsubscribe-key',
  'insert into unsubscribe_key (key) values ($key) on conflict do nothing',
);

const READ_KEY = statement('read-unsubscribe-key', 'select key from unsubscribe_key');

const FIND = statement(
  'find-unsubscribe',
  'select id from unsubscribes where address in ($address, erased_address($address)) and list = $list and account_id = $accountId',
);

const ADD = statement(
  'add-unsubscribe',
  `insert into unsubscribes (id, account_id, list, address, email_id)
  select $id::uuid, $accountId::text, $list::text, $address::text, $emailId::uuid
  where not exists (
    select from unsubscribes u
    where u.address = erased_address($address::text) and u.list = $list::text and u.account_id = $accountId::text
  )
  on conflict do nothing`,
);

const COLUMNS = 'u.id, u.account_id, u.list, u.address, u.email_id, u.unsubscribed_at';

/** Ids grow with time. */
const LIST = statements(
  'list-unsubscribes',
  { hasAccounts: [false, true], hasList: [false, true], hasAddress: [false, true], isAfter: [false, true] },
  ({ hasAccounts, hasList, hasAddress, isAfter }) => `
    select ${COLUMNS} from unsubscribes u
    where true ${hasAccounts ? 'and u.account_id = any ($accountIds::text[])' : ''} ${hasList ? 'and u.list = $list' : ''}
      ${hasAddress ? 'and u.address in ($address, erased_address($address))' : ''} ${isAfter ? 'and u.id < $beforeId' : ''}
    order by u.id desc limit $limit::int`,
);

const REMOVE = statement(
  'remove-unsubscribe',
  `delete from unsubscribes u
  where id = $id and ($accountIds::text[] is null or account_id = any ($accountIds::text[]))
  returning ${COLUMNS}`,
);

function toUnsubscribe(row: RowOf<typeof REMOVE>): Unsubscribe {
  return {
    id: row.id,
    accountId: row.account_id,
    list: row.list,
    address: row.address,
    emailId: row.email_id,
    unsubscribedAt: row.unsubscribed_at,
  };
}

/** SQL, true when the address left the list of the email. All arguments are SQL; `list` may be null. */
export const hasLeftList = (
  accountId: string,
  list: string,
  address: string,
): string => `(${list} is not null and exists (
    select from unsubscribes u
    where u.address in (${address}, erased_address(${address})) and u.list = ${list} and u.account_id = ${accountId}
  ))`;

/**
 * Erases all data about the addresses but a digest, by which they stay off the lists that they left.
 *
 * @returns how many entries there were
 */
export async function eraseUnsubscribes(executor: Executor, addresses: readonly string[]): Promise<number> {
  const erased = await runCounting(executor, ERASE, { addresses });
  return erased + (await runCounting(executor, ERASE_REPEATED, { addresses }));
}

const ERASE = statement(
  'erase-unsubscribes',
  `update unsubscribes u set address = erased_address(u.address)
  where lower(u.address) = any ($addresses::text[]) and not exists (
    select from unsubscribes o
    where o.address = erased_address(u.address) and o.list = u.list and o.account_id = u.account_id
  )`,
);

/** Addresses of which an earlier erasure left a digest. */
const ERASE_REPEATED = statement(
  'erase-repeated-unsubscribes',
  'delete from unsubscribes where lower(address) = any ($addresses::text[])',
);
