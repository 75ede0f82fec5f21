/** `MailboxAuditStore` on PostgreSQL. */
import type { Pool } from 'pg';
import type { AuditedMessage } from '../../core/mailbox/audit.ts';
import type { UidSet } from '../../core/mailbox/uid-set.ts';
import { MAILBOX_COLUMNS, toProgress } from './mailbox-progress.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';
import type { MailboxProgress } from '../../core/mailbox/sync-plan.ts';

export interface AuditedMailbox {
  readonly id: string;
  readonly progress: MailboxProgress;
  readonly waiting: number;
  readonly quarantined: number;
}

export interface MailboxRepair {
  /** To be taken again: unknown until now, or recorded with a wrong email. */
  readonly take: UidSet;
  /** In the mailbox, whatever their marks say. */
  readonly present: UidSet;
  readonly gone: UidSet;
}

export interface MailboxAuditStore {
  /** null: never read. */
  findMailbox(accountId: string, path: string): Promise<AuditedMailbox | null>;
  /** The known messages from `first` to `last`, both included; ascending. */
  readMessages(
    mailboxId: string,
    uidValidity: number,
    first: number,
    last: number,
  ): Promise<readonly AuditedMessage[]>;
  /** May be repeated. The process that reads the mailbox takes the messages that are marked for it. */
  repair(mailboxId: string, uidValidity: number, repair: MailboxRepair): Promise<void>;
}

export function createMailboxAuditStore(pool: Pool): MailboxAuditStore {
  return {
    async findMailbox(accountId, path) {
      const [row] = await run(pool, FIND_MAILBOX, { accountId, path });
      if (row === undefined) return null;
      const { id, waiting, quarantined } = row;
      return {
        id,
        progress: toProgress(row),
        waiting: Number(waiting),
        quarantined: Number(quarantined),
      };
    },

    async readMessages(mailboxId, uidValidity, first, last) {
      const rows = await run(pool, READ_MESSAGES, { mailboxId, uidValidity, first, last });
      return rows.map(toAudited);
    },

    async repair(mailboxId, uidValidity, { take, present, gone }) {
      await run(pool, REPAIR, {
        mailboxId,
        uidValidity,
        firstToTake: firstOf(take),
        lastToTake: lastOf(take),
        firstPresent: firstOf(present),
        lastPresent: lastOf(present),
        firstGone: firstOf(gone),
        lastGone: lastOf(gone),
      });
    },
  };
}

function toAudited(row: RowOf<typeof READ_MESSAGES>): AuditedMessage {
  const ids = [row.message_id, row.relay_message_id].filter((id) => id !== null);
  return {
    uid: Number(row.uid),
    isGone: row.is_gone,
    email:
      row.email_id === null || row.is_deleted
        ? null
        : ids.length === 0
          ? 'lost'
          : { id: row.email_id, messageIds: ids.map(toMessageId) },
  };
}

const firstOf = (set: UidSet) => set.map(({ first }) => first);
const lastOf = (set: UidSet) => set.map(({ last }) => last);

const READ_MESSAGES = statement(
  'audited-messages',
  `select m.uid, m.expunged_at is not null as is_gone, coalesce(e.id, m.email_id) as email_id,
    e.message_id, e.relay_message_id,
    exists (select from deleted_emails d where d.id = m.email_id) as is_deleted
  from mailbox_messages m
  left join email_aliases a on a.id = m.email_id
  left join emails e on e.id = coalesce(a.email_id, m.email_id)
  where m.mailbox_id = $mailboxId and m.uid_validity = $uidValidity and m.uid between $first and $last
  order by m.uid`,
).narrow<{ is_gone: boolean; is_deleted: boolean }>();

const REPAIR = statement(
  'repair-mailbox',
  `with taken as (
    insert into mailbox_messages as m (mailbox_id, uid_validity, uid)
    select $mailboxId, $uidValidity, uid from unnest($firstToTake::bigint[], $lastToTake::bigint[]) r (first, last), generate_series(r.first, r.last) uid
    on conflict (mailbox_id, uid_validity, uid) do update set email_id = null, expunged_at = null, left_out = null,
      left_out_at = null, message_id_digest = null, answers_since = null, judge_again_at = null, tries = 0,
      next_try_at = now(), last_error = null
  ), present as (
    update mailbox_messages m set expunged_at = null, next_try_at = now()
    from unnest($firstPresent::bigint[], $lastPresent::bigint[]) r (first, last)
    where m.mailbox_id = $mailboxId and m.uid_validity = $uidValidity and m.uid between r.first and r.last
      and m.expunged_at is not null
  )
  update mailbox_messages m set expunged_at = now()
  from unnest($firstGone::bigint[], $lastGone::bigint[]) r (first, last)
  where m.mailbox_id = $mailboxId and m.uid_validity = $uidValidity and m.uid between r.first and r.last and m.expunged_at is null`,
);

const FIND_MAILBOX = statement(
  'audited-mailbox',
  `select id, ${MAILBOX_COLUMNS}, waiting, quarantined from mailboxes where account_id = $accountId and path = $path`,
);
