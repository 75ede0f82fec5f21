/** The progress of reading a mailbox, from its row. */
import { NEVER_OPENED, type MailboxProgress } from '../../core/mailbox/sync-plan.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';

export const MAILBOX_COLUMNS = 'uid_validity, uid_next, message_count, highest_modseq, since';

/** In the order of their paths. */
export const READ_MAILBOXES = statement(
  'read-mailboxes',
  `select b.id, b.path, b.special_use, ${MAILBOX_COLUMNS}
  from unnest($paths::text[]) with ordinality p (path, ordinal)
  join mailboxes b on b.account_id = $accountId and b.path = p.path
  order by p.ordinal`,
);
type ProgressRow = Omit<RowOf<typeof READ_MAILBOXES>, 'id' | 'path' | 'special_use'>;

export function toProgress(row: ProgressRow): MailboxProgress {
  if (row.uid_validity === null) return NEVER_OPENED;
  return {
    uidValidity: Number(row.uid_validity),
    uidNext: row.uid_next === null ? null : Number(row.uid_next),
    exists: Number(row.message_count),
    highestModSeq: row.highest_modseq === null ? null : BigInt(row.highest_modseq),
    since: row.since,
  };
}
