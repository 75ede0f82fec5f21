/** `MailboxAuditStore` on PostgreSQL. */
import type { Pool } from 'pg';
import type { MailboxAuditStore } from '../../../app/mailboxes/mailbox-audit-ports.ts';
import type { AuditedMessage } from '../../../core/mailbox/audit.ts';
import type { UidSet } from '../../../core/mailbox/uid-set.ts';
import { MAILBOX_COLUMNS, toProgress, type ProgressRow } from './mailbox-progress.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { toMessageId } from '../emails/rows.ts';

export function createMailboxAuditStore(pool: Pool): MailboxAuditStore {
  const query = createNamedQuery(pool);
  return {
    async findMailbox(accountId, path) {
      const [row] = await query<ProgressRow & { id: string; waiting: string; quarantined: string }>(
        'audited-mailbox',
        `select id, ${MAILBOX_COLUMNS}, waiting, quarantined from mailboxes where account_id = $1 and path = $2`,
        [accountId, path],
      );
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
      const rows = await query<MessageRow>('audited-messages', READ_MESSAGES, [
        mailboxId,
        uidValidity,
        first,
        last,
      ]);
      return rows.map(toAudited);
    },

    async repair(mailboxId, uidValidity, { take, present, gone }) {
      await query('repair-mailbox', REPAIR, [
        mailboxId,
        uidValidity,
        ...[take, present, gone].flatMap(bordersOf),
      ]);
    },
  };
}

interface MessageRow {
  uid: string;
  is_gone: boolean;
  email_id: string | null;
  message_id: string | null;
  relay_message_id: string | null;
}

function toAudited(row: MessageRow): AuditedMessage {
  const ids = [row.message_id, row.relay_message_id].filter((id) => id !== null);
  return {
    uid: Number(row.uid),
    isGone: row.is_gone,
    email:
      row.email_id === null
        ? null
        : ids.length === 0
          ? 'lost'
          : { id: row.email_id, messageIds: ids.map(toMessageId) },
  };
}

function bordersOf(set: UidSet): [number[], number[]] {
  return [set.map(({ first }) => first), set.map(({ last }) => last)];
}

const READ_MESSAGES = `
  select m.uid, m.expunged_at is not null as is_gone, coalesce(e.id, m.email_id) as email_id,
    e.message_id, e.relay_message_id
  from mailbox_messages m
  left join email_aliases a on a.id = m.email_id
  left join emails e on e.id = coalesce(a.email_id, m.email_id)
  where m.mailbox_id = $1 and m.uid_validity = $2 and m.uid between $3 and $4
  order by m.uid`;

/** $3 to $8: first and last UIDs of what is to be taken, of what is there, and of what is gone. */
const REPAIR = `
  with taken as (
    insert into mailbox_messages as m (mailbox_id, uid_validity, uid)
    select $1, $2, uid from unnest($3::bigint[], $4::bigint[]) r (first, last), generate_series(r.first, r.last) uid
    on conflict (mailbox_id, uid_validity, uid) do update set email_id = null, expunged_at = null, tries = 0,
      next_try_at = now(), last_error = null
  ), present as (
    update mailbox_messages m set expunged_at = null, next_try_at = now()
    from unnest($5::bigint[], $6::bigint[]) r (first, last)
    where m.mailbox_id = $1 and m.uid_validity = $2 and m.uid between r.first and r.last
      and m.expunged_at is not null
  )
  update mailbox_messages m set expunged_at = now()
  from unnest($7::bigint[], $8::bigint[]) r (first, last)
  where m.mailbox_id = $1 and m.uid_validity = $2 and m.uid between r.first and r.last and m.expunged_at is null`;
