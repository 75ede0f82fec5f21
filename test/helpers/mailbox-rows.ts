/** The rows that the database holds about an account's mailboxes. */
import { query } from './query.ts';
import type { TestDatabase } from './postgres.ts';
import { waitUntil } from './wait-until.ts';

/** Long, because a mailbox that could not be read is only tried again after a while. */
const PASS_TIMEOUT_MS = 120_000;

export interface MailboxCounts {
  readonly path: string;
  readonly recorded: number;
  readonly expunged: number;
  readonly waiting: number;
  readonly quarantined: number;
  /** A pass has seen everything, after `since` if that was given. */
  readonly succeeded: boolean;
}

/** Counts over all generations, by path. */
export async function readCounts(
  { connectionString }: TestDatabase,
  accountId: string,
  since = new Date(0),
): Promise<readonly MailboxCounts[]> {
  const rows = await query(
    connectionString,
    `select b.path, coalesce(b.last_success_at > $2, false) as succeeded,
      count(*) filter (where m.email_id is not null)::int as recorded,
      count(*) filter (where m.expunged_at is not null)::int as expunged,
      count(*) filter (where m.uid is not null and m.email_id is null and m.expunged_at is null
        and m.left_out is null and m.quarantined_at is null)::int as waiting,
      count(*) filter (where m.quarantined_at is not null)::int as quarantined
    from mailboxes b left join mailbox_messages m on m.mailbox_id = b.id
    where b.account_id = $1 group by b.id order by b.path`,
    [accountId, since],
  );
  return rows as unknown as readonly MailboxCounts[];
}

/** Waits until each mailbox of the account had a pass that saw everything after this call. */
export async function waitForPass(database: TestDatabase, accountId: string): Promise<void> {
  const since = await databaseTime(database);
  await waitUntil(
    `everything of ${accountId} was seen`,
    async () => {
      const counts = await readCounts(database, accountId, since);
      return counts.length > 0 && counts.every(({ succeeded }) => succeeded);
    },
    PASS_TIMEOUT_MS,
  );
}

async function databaseTime({ connectionString }: TestDatabase): Promise<Date> {
  const [row] = await query(connectionString, 'select clock_timestamp() as now');
  return row?.['now'] as Date;
}

/** Work that is put off may be tried now, on request also messages that are set aside. */
export async function letTimePass(
  { connectionString }: TestDatabase,
  alsoQuarantined = false,
): Promise<void> {
  await query(
    connectionString,
    `update mailbox_messages set next_try_at = now()
     where email_id is null and next_try_at > now() and (quarantined_at is null or $1)`,
    [alsoQuarantined],
  );
}

/** The emails of an account: Message-ID and direction, by Message-ID. */
export async function readEmails(
  { connectionString }: TestDatabase,
  accountId: string,
): Promise<readonly { readonly message_id: string; readonly direction: string }[]> {
  const rows = await query(
    connectionString,
    'select message_id, direction from emails where account_id = $1 order by message_id',
    [accountId],
  );
  return rows as unknown as readonly { message_id: string; direction: string }[];
}
