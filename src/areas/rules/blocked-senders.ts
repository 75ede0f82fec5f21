/** Senders whose mail is spam, on PostgreSQL. Only this module writes `blocked_senders`. */
import type { Pool } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import { MAX_BLOCKED_SENDERS } from '../../core/rules/rule.ts';
import { accountIdsOf, type AccountFilter } from '../../platform/base/account-filter.ts';
import { PLACE_CURSOR, readPage, type PageRequest } from '../../platform/base/paging.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';

export interface BlockedSender {
  readonly id: string;
  /** In lower case: an address, or `*@domain`. */
  readonly sender: string;
  /** null: in all accounts. */
  readonly accountId: string | null;
  readonly blockedAt: Date;
}

export type BlockedSenders = ReturnType<typeof createBlockedSenders>;

/** All throw `ServiceError('database_unavailable')`. */
export function createBlockedSenders(pool: Pool) {
  return {
    /** One that is blocked already stays as it is. Throws `too_many_blocked_senders`. @param sender in lower case */
    block: (id: string, sender: string, accountId: string | null): Promise<BlockedSender> =>
      inTransaction(pool, async (client) => {
        // Changes take turns, as those of rules do: two at the same moment would both find room.
        await run(client, LOCK);
        const [known] = await run(client, FIND, { sender, accountId });
        if (known !== undefined) return toBlocked(known);
        const [count] = await run(client, COUNT);
        if ((count?.senders ?? 0) >= MAX_BLOCKED_SENDERS)
          throw new ServiceError('too_many_blocked_senders', { values: { limit: MAX_BLOCKED_SENDERS } });
        const [made] = await run(client, BLOCK, { id, sender, accountId });
        if (made === undefined) throw new Error('a sender was not blocked');
        return toBlocked(made);
      }),

    /** The account of an entry; null: all; undefined: there is no such entry. */
    async accountOf(id: string): Promise<string | null | undefined> {
      return (await run(pool, READ, { id }))[0]?.account_id;
    },

    /** Returns the entry that was removed. Throws `blocked_sender_not_found`. */
    async unblock(id: string): Promise<BlockedSender> {
      const [row] = await run(pool, UNBLOCK, { id });
      if (row === undefined) throw new ServiceError('blocked_sender_not_found');
      return toBlocked(row);
    },

    /** The newest first; with accounts, also those of all. Throws `invalid_cursor`. */
    async list({ cursor, limit, ...filter }: AccountFilter & PageRequest) {
      const accountIds = accountIdsOf(filter);
      const { items, nextCursor } = await readPage(
        PLACE_CURSOR,
        { cursor, limit },
        async (after, most) => {
          const place = { date: after?.date ?? null, id: after?.id ?? null };
          return (await run(pool, LIST, { accountIds, ...place, limit: most })).map(toBlocked);
        },
        ({ blockedAt: date, id }) => ({ date, id }),
      );
      return { blockedSenders: items, nextCursor };
    },
  };
}

const COLUMNS = 'id, sender, account_id, blocked_at';

const LOCK = statement('lock-blocked-senders', 'select from mail_rule_clock for update');

const FIND = statement(
  'find-blocked-sender',
  `select ${COLUMNS} from blocked_senders where sender = $sender and account_id is not distinct from $accountId`,
);

const COUNT = statement(
  'count-blocked-senders',
  'select count(*)::int as senders from blocked_senders',
).narrow<{
  senders: number;
}>();

const BLOCK = statement(
  'block-sender',
  `insert into blocked_senders (id, sender, account_id) values ($id, $sender, $accountId) returning ${COLUMNS}`,
);

const READ = statement('read-blocked-sender', `select ${COLUMNS} from blocked_senders where id = $id`);

const UNBLOCK = statement(
  'unblock-sender',
  `delete from blocked_senders where id = $id returning ${COLUMNS}`,
);

const LIST = statement(
  'list-blocked-senders',
  `select ${COLUMNS} from blocked_senders
  where ($accountIds::text[] is null or account_id is null or account_id = any ($accountIds))
    and ($date::timestamptz is null or (blocked_at, id) < ($date, $id::uuid))
  order by blocked_at desc, id desc limit $limit::int`,
  { plannedEachTime: 'the filters may be empty' },
);

const toBlocked = (row: RowOf<typeof READ>): BlockedSender => ({
  id: row.id,
  sender: row.sender,
  accountId: row.account_id,
  blockedAt: row.blocked_at,
});
