/** `AccountOf` on PostgreSQL: each method is a look-up by primary keys. */
import type { Pool } from 'pg';
import type { AccountOf } from '../../platform/access/account-of.ts';
import { EMAIL_ID } from './email-aliases.ts';
import { threadIdOf } from './thread-rows.ts';
import { run, statement } from '../../platform/db/statement.ts';

export function createAccountOf(pool: Pool): AccountOf {
  const only = ([row]: readonly { readonly account_id: string }[]) => row?.account_id ?? null;
  return {
    thread: async (id) => only(await run(pool, OF_THREAD, { id })),
    email: async (id) => only(await run(pool, OF_EMAIL, { id })),
    async areWithin(emailIds, accounts) {
      const ids = [...new Set(emailIds)];
      const [row] = await run(pool, COUNT_WITHIN, { ids, accounts: [...accounts] });
      return row?.emails === ids.length;
    },
    attachment: async (id) => only(await run(pool, OF_ATTACHMENT, { id })),
    quarantined: async (id) => only(await run(pool, OF_QUARANTINED, { id })),
  };
}

const OF_THREAD = statement(
  'account-of-thread',
  `select account_id from email_threads
  where id = ${threadIdOf('$id::uuid')}`,
);

const OF_EMAIL = statement('account-of-email', `select account_id from emails where id = ${EMAIL_ID}`);

const COUNT_WITHIN = statement(
  'count-emails-within',
  `select count(*)::int as emails
  from unnest($ids::uuid[]) n (id) left join email_aliases a on a.id = n.id
  join emails e on e.id = coalesce(a.email_id, n.id)
  where e.account_id = any ($accounts::text[])`,
).narrow<{ emails: number }>();

const OF_ATTACHMENT = statement(
  'account-of-attachment',
  'select e.account_id from email_attachments a join emails e on e.id = a.email_id where a.id = $id',
);

const OF_QUARANTINED = statement(
  'account-of-quarantined',
  `select b.account_id from mailbox_messages m join mailboxes b on b.id = m.mailbox_id
  where m.quarantine_id = $id and m.quarantined_at is not null and m.expunged_at is null`,
);
