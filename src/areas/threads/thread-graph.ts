/** Reads the links of whole threads, with operators' decisions about them; no bodies. */
import { linksOf, type InboundLink, type NamedIds } from '../../core/thread/place-inbound.ts';
import type { LinkedEmail, LinkGraph } from '../../core/thread/linked-email.ts';
import type { Placement } from '../emails/email-ports.ts';
import { toMessageId } from '../emails/message-id-column.ts';
import { madeKnownBy, nodesOf, pointOf } from '../../core/thread/meeting-points.ts';
import { isKnownAs, standsFor } from './message-ids.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';

/** An email that is about to be recorded, with the Message-IDs that it bears and names. */
export interface Newcomer extends Pick<
  LinkedEmail,
  'id' | 'messageIds' | 'links' | 'date' | 'anchorId' | 'partyId'
> {
  /** See meetingKeysOf. */
  readonly meetingKeys: readonly string[];
  /** True if it was composed here: its Message-IDs are known, whatever they look like. */
  readonly isSend: boolean;
}

/** `messageIds` and `links` are what they tie the email to: known Message-IDs, as they are stored, and meeting points. */
export interface StoredEmail extends LinkedEmail {
  /** See meetingKeysOf. */
  readonly meetingKeys: readonly string[];
  readonly threadId: string;
  readonly rule: Placement['rule'];
  /** The Message-IDs that it names, with the rule of each. */
  readonly namedLinks: readonly InboundLink[];
}

export interface ThreadGraph extends LinkGraph {
  /** In the order in which they were recorded. */
  readonly emails: readonly StoredEmail[];
  /** The email that is to be weighed with them. */
  readonly newcomer: LinkedEmail | null;
  /** What the Message-ID ties an email to. */
  nodesOf(messageId: string, email: Pick<Newcomer, 'meetingKeys'>): readonly string[];
  /** The thread of each Message-ID; null: none, though an email bears or names it. */
  readonly owners: ReadonlyMap<string, string | null>;
  /** Message-IDs of deleted emails that are still named, and points where they met others → their stand-ins. */
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

  const linked = [...rows.map(toLinked), ...(newcomer === null ? [] : [newcomer])];
  const waitedFor = known.flatMap(({ message_id: point, waits_for: messageId }) =>
    messageId === null ? [] : [{ point, messageId }],
  );
  const borne = linked.flatMap(madeKnownBy);
  const waited = waitedFor.map(({ messageId }) => messageId);
  const { names, standIns } = await readNames(
    trx,
    accountId,
    [...linked.flatMap(namesOfLinked), ...waited],
    borne,
  );
  for (const messageId of borne) if (!names.has(messageId)) names.set(messageId, messageId);
  const nodes = (messageId: string, { meetingKeys }: Pick<Newcomer, 'meetingKeys'>) =>
    nodesOf(messageId, meetingKeys, (one) => names.has(one)).map((name) => names.get(name) ?? name);
  const tied = linked.map((email) => ({
    ...email,
    messageIds: email.messageIds.flatMap((one) => nodes(one, email)),
    links: email.links.flatMap((one) => nodes(one, email)),
  }));
  const emails = rows.map((row, index) => ({ ...toStored(row), ...(tied[index] as (typeof tied)[number]) }));
  const [last = null] = newcomer === null ? [] : tied.slice(-1);
  for (const { message_id, label } of await readUnowned(trx, accountId, emails, owners)) {
    owners.set(message_id, null);
    messageIds.set(message_id, label);
  }
  for (const name of [...(last?.messageIds ?? []), ...(last?.links ?? [])]) {
    if (!messageIds.has(name)) messageIds.set(name, null);
  }
  const labels = new Set([...emails.map(({ label }) => label), ...messageIds.values()]);
  labels.delete(null);
  return {
    emails,
    newcomer: last === null ? null : { ...last, label: null },
    nodesOf: nodes,
    messageIds,
    points: new Map(
      waitedFor.flatMap(({ point, messageId }): [string, string][] => {
        const found = names.get(messageId) ?? standIns.get(messageId);
        return found === undefined ? [] : [[point, found]];
      }),
    ),
    owners,
    standing: new Map([...names].filter(([name, stored]) => name !== stored)),
    separations: await readSeparations(trx, [...labels] as string[]),
  };
}

function toLinked(row: EmailRow): Newcomer {
  return {
    id: row.id,
    messageIds: row.relay_message_id === null ? [row.message_id] : [row.message_id, row.relay_message_id],
    links: namedLinksOf(row).map(({ messageId }) => messageId),
    meetingKeys: row.meeting_keys,
    isSend: row.is_send,
    anchorId: row.anchor_id,
    partyId: row.party_id,
    date: row.date,
  };
}

function toStored(row: EmailRow): Pick<StoredEmail, 'threadId' | 'rule' | 'namedLinks' | 'label'> {
  return {
    threadId: row.thread_id,
    rule: row.placement_rule,
    namedLinks: namedLinksOf(row),
    label: row.label,
  };
}

/** What the email may be tied to, whether its Message-IDs are known or not. */
const namesOfLinked = ({ messageIds, links, meetingKeys }: Newcomer): readonly string[] =>
  [...messageIds, ...links].flatMap((id) => [id, ...meetingKeys.map((key) => pointOf(id, key))]);

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

/**
 * Known Message-IDs, and meeting points → the names of their rows, which may be stand-ins; see hideMessageIds. And those stand-ins, or those
 * that such a Message-ID had before → the same names: points may wait for either.
 *
 * @param borne Message-IDs that emails make known; the rows of these may have no thread yet
 */
async function readNames(
  trx: Executor,
  accountId: string,
  named: readonly string[],
  borne: readonly string[],
): Promise<{ readonly names: Map<string, string>; readonly standIns: ReadonlyMap<string, string> }> {
  const messageIds = [...new Set(named)];
  if (messageIds.length === 0) return { names: new Map(), standIns: new Map() };
  const rows = await run(trx, READ_NAMES, { accountId, messageIds, borne });
  return {
    names: new Map(rows.map((row) => [row.message_id, row.stored])),
    standIns: new Map(rows.flatMap(({ stand_in: name, stored }) => (name === null ? [] : [[name, stored]]))),
  };
}

/** Maps a stand-in to what it stands for. */
export function namesOf({ standing }: ThreadGraph): { written(name: string): string } {
  const names = new Map([...standing].map(([id, known]) => [known, id]));
  return { written: (known) => names.get(known) ?? known };
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
      e.meeting_keys, e.identity_key is null as is_send, l.label
    from emails e left join email_labels l on l.email_id = e.id
    where e.thread_id = any($ids::uuid[])
    order by e.id`,
).narrow<{ is_send: boolean }>();

const READ_MESSAGE_IDS = statement(
  'message-ids-of-graph',
  `select m.message_id, m.thread_id, m.waits_for, l.label
    from thread_message_ids m left join message_id_labels l using (account_id, message_id)
    where m.thread_id = any($ids::uuid[])`,
);

/** A Message-ID that is only named may have a row without a thread; tieNodes gives it to its stand-in, where there is one. */
const READ_NAMES = statement(
  'names-of-graph',
  `select n.message_id, m.message_id as stored, ${standsFor('n')} as stand_in
    from unnest($messageIds::text[]) as n (message_id)
    join thread_message_ids m on m.account_id = $accountId and ${isKnownAs('m', 'n')}
    where m.thread_id is not null or m.message_id <> n.message_id and n.message_id = any ($borne::text[])`,
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
