/**
 * Leases, after the database's clock went back: those of a process that died in the meantime would last longer by as much as the clock went
 * back. Rows that a transaction has locked are being renewed or given back, and are left to the next call.
 */
const shorten = (table: string, key: string, until: string, isLeased: string): string => `
    update ${table} set ${until} = now() + longest where (${key}) in (
      select ${key} from ${table} where ${isLeased} and ${until} > now() + longest for update skip locked
    )`;

export const LEASES = [
  // `longest`: no process takes a longer one
  `create function shorten_leases(longest interval) returns void language sql
  begin atomic${[
    shorten('send_queue', 'email_id', 'lease_until', 'owner is not null'),
    shorten('mailbox_accounts', 'account_id', 'lease_until', 'owner is not null'),
    shorten('mailbox_readers', 'owner', 'alive_until', 'true'),
    shorten('sent_copies', 'email_id', 'due_at', `claim_id is not null and state = 'pending'`),
    shorten('absence_answers', 'answer_id', 'next_try_at', 'next_try_at is not null'),
    // Without an owner it is the moment since when it is free.
    shorten('webhook_positions', 'webhook_id', 'lease_until', 'true'),
    shorten('erasures', 'id', 'lease_until', 'finished_at is null and owner is not null'),
    shorten('capture_removals', 'account_id', 'lease_until', 'finished_at is null and owner is not null'),
    shorten('oauth2_tokens', 'account_id, key_id', 'lease_until', 'owner is not null'),
  ].join(';')};
  end`,
];
