/** How far a mailbox was read, from its row. */
import { NEVER_OPENED, type MailboxProgress } from '../../../core/mailbox/sync-plan.ts';

export const MAILBOX_COLUMNS = 'uid_validity, uid_next, message_count, highest_modseq, since';

export interface ProgressRow {
  uid_validity: string | null;
  uid_next: string | null;
  message_count: string;
  highest_modseq: string | null;
  since: Date | null;
}

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
