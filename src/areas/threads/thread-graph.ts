/** Reads the links of whole threads, with operators' decisions about them; no bodies. */
import { linksOf, type InboundLink, type NamedIds } from '../../core/thread/place-inbound.ts';
import type { LinkedEmail, LinkGraph } from '../../core/thread/linked-email.ts';
import type { Placement } from '../emails/email-ports.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { isKnownAs } from './message-ids.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/** An email that is about to be recorded. */
export type Newcomer = Pick<LinkedEmail, 'id' | 'messageIds' | 'links' | 'date' | 'anchorId' | 'partyId'>;

export interface StoredEmail extends LinkedEmail {
  readonly threadId: string;
  readonly rule: Placement['rule'];
  /** The links of `links`, with the rule of each. */
  readonly namedLinks: readonly InboundLink[];
}

export interface ThreadGraph extends LinkGraph {
  /** In the order in which they were recorded. */
  readonly emails: readonly StoredEmail[];
  /** The thread of each Message-ID; null: none, though an email bears or names it. */
  readonly owners: ReadonlyMap<string, string | null>;
  /** Message-IDs of deleted emails that are still named → their stand-ins. `messageIds` and `links` of the emails contain the stand-ins. */
  readonly standing: ReadonlyMap<string, string>;
}

type EmailRow = RowOf<typeof READ_EMAILS>;

/** The columns of `emails` with the Message-IDs that an email names. */
type NamedIdsRow = Pick<
  EmailRow,
  | 'in_reply_to'
  | 'reference_ids'
  | 'bounced_message_id'
  | 'placement_rule'
  | 'placement_message_id'
  | 'ignored_ids'
>;

/**
 * The threads must be locked, or the transaction must read one snapshot.
 *
 * @param newcomer an email that is to be weighed with them
 */
export async function readThreadGraph(
  trx: Executor,
  accountId: string,
  threadIds: readonly string[],
  newcomer: Newcomer | null = null,
): Promise<ThreadGraph> {
  const rows = await run(trx, READ_EMAILS, { ids: threadIds });
  const known = await run(trx, READ_MESSAGE_IDS, { ids: threadIds });
  const owners = new Map<string, string | null>(known.map((row) => [row.message_id, row.thread_id]));
  const messageIds = new Map(known.map((row) => [row.message_id, row.label]));

  const stored = rows.map(toStoredEmail);
  const named = [...stored, ...(newcomer === null ? [] : [newcomer])].flatMap(
    ({ messageIds: own, links }) => [...own, ...links],
  );
  const standing = await readStanding(trx, accountId, named);
  const emails = stored.map((email) => ({
    ...email,
    messageIds: idsAs(email.messageIds, standing),
    links: idsAs(email.links, standing),
  }));
  for (const { message_id, label } of await readUnowned(trx, accountId, emails, owners)) {
    owners.set(message_id, null);
    messageIds.set(message_id, label);
  }
  const labels = new Set([...emails.map(({ label }) => label), ...messageIds.values()]);
  labels.delete(null);
  return {
    emails,
    messageIds,
    owners,
    standing,
    separations: await readSeparations(trx, [...labels] as string[]),
  };
}

function toStoredEmail(row: EmailRow): StoredEmail {
  const namedLinks = namedLinksOf(row);
  return {
    id: row.id,
    threadId: row.thread_id,
    rule: row.placement_rule,
    messageIds: row.relay_message_id === null ? [row.message_id] : [row.message_id, row.relay_message_id],
    anchorId: row.anchor_id,
    partyId: row.party_id,
    namedLinks,
    links: namedLinks.map(({ messageId }) => messageId),
    date: row.date,
    label: row.label,
  };
}

/** Links to the Message-IDs that the email ignores are left out: its sender put it into another thread. */
export function namedLinksOf(row: NamedIdsRow): readonly InboundLink[] {
  const ignored = new Set(row.ignored_ids);
  return linksOf(namedIdsOf(row)).filter(({ messageId }) => !ignored.has(messageId));
}

function namedIdsOf(row: NamedIdsRow): NamedIds {
  const bySubject = row.placement_rule === 'subject' ? row.placement_message_id : null;
  return {
    inReplyTo: row.in_reply_to.map(toMessageId),
    references: row.reference_ids.map(toMessageId),
    bounced: row.bounced_message_id === null ? null : toMessageId(row.bounced_message_id),
    bySubject: bySubject === null ? null : toMessageId(bySubject),
  };
}

/** Message-IDs of deleted emails → their stand-ins; see hideMessageIds. */
async function readStanding(
  trx: Executor,
  accountId: string,
  named: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const messageIds = [...new Set(named)];
  if (messageIds.length === 0) return new Map();
  const rows = await run(trx, READ_STANDING, { accountId, messageIds });
  return new Map(rows.map((row) => [row.message_id, row.standing]));
}

/** The Message-IDs, with those of deleted emails replaced by their stand-ins. */
export const idsAs = (ids: readonly string[], standing: ThreadGraph['standing']): readonly string[] =>
  ids.map((id) => standing.get(id) ?? id);

/** Maps a Message-ID to its stand-in (`known`), and a stand-in to the Message-ID that the email contains (`written`). */
export function namesOf({ standing }: ThreadGraph): Record<'known' | 'written', (id: string) => string> {
  const names = new Map([...standing].map(([id, known]) => [known, id]));
  return { known: (id) => standing.get(id) ?? id, written: (known) => names.get(known) ?? known };
}

/** Message-IDs that belong to no thread at all, which a complete record never leaves behind. */
async function readUnowned(
  trx: Executor,
  accountId: string,
  emails: readonly LinkedEmail[],
  owners: ReadonlyMap<string, unknown>,
): Promise<readonly { message_id: string; label: string | null }[]> {
  const named = new Set(emails.flatMap(({ messageIds, links }) => [...messageIds, ...links]));
  const missing = [...named].filter((id) => !owners.has(id));
  if (missing.length === 0) return [];
  const rows = await run(trx, READ_UNOWNED, { missing, accountId });
  return rows;
}

async function readSeparations(
  trx: Executor,
  labels: readonly string[],
): Promise<readonly (readonly [string, string])[]> {
  if (labels.length < 2) return [];
  const rows = await run(trx, READ_SEPARATIONS, { labels });
  return rows.map((row) => [row.label, row.other_label] as const);
}

const READ_EMAILS = statement(
  'emails-of-graph',
  `select e.id, e.thread_id, e.message_id, e.relay_message_id, e.in_reply_to, e.reference_ids,
      e.bounced_message_id, e.placement_rule, e.placement_message_id, e.ignored_ids, e.anchor_id, e.party_id, e.date,
      l.label
    from emails e left join email_labels l on l.email_id = e.id
    where e.thread_id = any($ids::uuid[])
    order by e.id`,
);

const READ_MESSAGE_IDS = statement(
  'message-ids-of-graph',
  `select m.message_id, m.thread_id, l.label
    from thread_message_ids m left join message_id_labels l using (account_id, message_id)
    where m.thread_id = any($ids::uuid[])`,
);

const READ_STANDING = statement(
  'deleted-ids-of-graph',
  `select n.message_id, m.message_id as standing
    from unnest($messageIds::text[]) as n (message_id)
    join thread_message_ids m on m.account_id = $accountId and ${isKnownAs('m', 'n')}
    where m.message_id <> n.message_id`,
).narrow<{ message_id: string }>();

const READ_UNOWNED = statement(
  'unowned-message-ids',
  `select n.message_id, l.label
    from unnest($missing::text[]) as n (message_id)
    left join message_id_labels l on l.account_id = $accountId and l.message_id = n.message_id
    where not exists (
      select from thread_message_ids m where m.account_id = $accountId and m.message_id = n.message_id
    )`,
).narrow<{ message_id: string }>();

const READ_SEPARATIONS = statement(
  'separations-of-graph',
  `select label, other_label from label_separations
    where label = any($labels::uuid[]) and other_label = any($labels::uuid[])`,
);
