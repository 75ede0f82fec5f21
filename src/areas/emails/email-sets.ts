/**
 * Emails that match one filter of `GET /api/emails`, as a set: an index, or a table of its own, that has their identifiers and mostly their
 * dates. A set is walked in the order of the list, or read whole if it is not in that order; or all requested sets are intersected, by
 * their indexes alone.
 */
import { BOUNCE_OUTCOMES } from '../../core/delivery/delivery-report.ts';
import { threadIdOf } from './thread-rows.ts';

/** Sets in the order of the list: each consists of ranges of an index that are in this order. */
export const ORDERED = [
  'thread',
  'customer',
  'company',
  'list',
  'rareState',
  'defect',
  'tag',
  'label',
  'files',
  'state',
] as const;
export type Ordered = (typeof ORDERED)[number];

/** Sets in another order, and mostly small. */
export const UNORDERED = ['messageId', 'queue', 'reports', 'since'] as const;
export type Unordered = (typeof UNORDERED)[number];

const THREAD = threadIdOf('$threadId::uuid');
const BOUNCE = `r.outcome in (${BOUNCE_OUTCOMES.map((outcome) => `'${outcome}'`).join(', ')})`;
const SCHEDULED = `($scheduledSince::timestamptz is null or q.due_at >= $scheduledSince)
    and ($scheduledUntil::timestamptz is null or q.due_at < $scheduledUntil)`;
const isBounced = (id: string) =>
  `exists (select from delivery_reports r where r.email_id = ${id} and ${BOUNCE})`;
const isScheduled = (id: string) =>
  `exists (select from send_queue q where q.email_id = ${id} and ${SCHEDULED})`;

/** For a row that has the account as the email has it. */
const ofAccount = (row: string) => `($accountId::text is null or ${row}.account_id = $accountId)
    and ($accountIds::text[] is null or ${row}.account_id = any ($accountIds))`;

/** Conditions on the columns of an email `e` that no other set covers. */
const OWN = `e.state = any ($states::text[])
    and ($threadId::uuid is null or e.thread_id = ${THREAD})
    and ($customerId::uuid is null or e.customer_id = $customerId)
    and ($defect::text is null or e.defects @> array[$defect])
    and ($messageId::text is null or e.message_id = $messageId or e.relay_message_id = $messageId)
    and ${ofAccount('e')}`;

/** All possible conditions on an email `e`: planned for its values, so conditions that are not requested cost nothing. */
export const CONDITIONS = `${OWN}
    and ($companyId::uuid is null or e.company_id = $companyId)
    and ($listId::text is null or e.list_id = $listId)
    and ($tag::text is null or e.tags @> array[$tag])
    and ($bounced::boolean is null or $bounced = ${isBounced('e.id')})
    and ($hasFiles::boolean is null
      or $hasFiles = exists (select from email_attachments a where a.email_id = e.id and not a.inline))
    and ($recordedSince::timestamptz is null or e.created_at >= $recordedSince)
    and (($scheduledSince::timestamptz is null and $scheduledUntil::timestamptz is null) or ${isScheduled('e.id')})
    and ($label::text is null
      or exists (select from thread_labels l where l.thread_id = e.thread_id and l.label = $label))`;

/**
 * The parts of an ordered set's definition: the values that separate its ranges, the table of the rows `g`, their identifier, and their
 * condition.
 */
const PIECES: Readonly<Record<Ordered, readonly [values: string, table: string, id: string, of: string]>> = {
  thread: ['ones', 'emails', 'id', `g.thread_id = ${THREAD}`],
  customer: [
    'directions',
    'emails',
    'id',
    `g.customer_id = $customerId and g.direction = piece.value and ${ofAccount('g')}`,
  ],
  company: [
    'directions',
    'emails',
    'id',
    `g.company_id = $companyId and g.direction = piece.value and ${ofAccount('g')}`,
  ],
  list: ['ones', 'emails', 'id', 'g.list_id = $listId'],
  rareState: ['states', 'emails', 'id', `g.state = piece.value and ${ofAccount('g')}`],
  defect: ['ones', 'emails', 'id', 'g.defects @> array[$defect::text]'],
  tag: ['ones', 'email_tags', 'email_id', 'g.tag = $tag'],
  label: [
    'directions',
    'labelled_emails',
    'email_id',
    `g.label = $label and g.direction = piece.value and ${ofAccount('g')}`,
  ],
  files: [
    'directions',
    'email_json',
    'email_id',
    `g.has_files = $hasFiles and g.direction = piece.value and ${ofAccount('g')}`,
  ],
  state: ['states', 'emails', 'id', `g.state = piece.value and ${ofAccount('g')}`],
};

/** The first `rows` rows of an ordered set, as `id`, `date` and `n`, their number from 1 on. */
export function firstOf(from: Ordered, isNext: boolean, rows: string): string {
  const [values, table, id, of] = PIECES[from];
  const after = isNext ? `and (g.date, g.${id}) < ($afterDate::timestamptz, $afterId::uuid)` : '';
  return `select p.id, p.date, row_number() over (order by p.date desc, p.id desc) as n
      from unnest($${values}::text[]) piece (value) cross join lateral (
        select g.${id} as id, g.date from ${table} g where ${of} ${after}
        order by g.date desc, g.${id} desc limit ${rows}
      ) p
      order by p.date desc, p.id desc limit ${rows}`;
}

/** The indexes of Message-IDs begin with the account. Accounts are few, and one look in an index finds the next. */
const withMessageId = (rows: string): string => `
    with recursive account (id) as (
      (select account_id::text from emails order by account_id, message_id limit 1)
      union all
      select (select n.account_id::text from emails n where n.account_id > a.id order by n.account_id, n.message_id limit 1)
      from account a where a.id is not null
    )
    select m.id from account a cross join lateral (
      select o.id from emails o where o.account_id = a.id and o.message_id = $messageId
      union select r.id from emails r where r.account_id = a.id and r.relay_message_id = $messageId
    ) m limit ${rows}`;

/** `rows` rows of an unordered set, as `id`. */
export const someOf = (from: Unordered, rows: string): string =>
  ({
    messageId: withMessageId(rows),
    queue: `select q.email_id as id from send_queue q where ${SCHEDULED} limit ${rows}`,
    reports: `select distinct r.email_id as id from delivery_reports r where ${BOUNCE} limit ${rows}`,
    since: `select s.id from emails s where s.created_at >= $recordedSince::timestamptz limit ${rows}`,
  })[from];

/** The requested filters. Each combination is a statement of its own: only then does PostgreSQL find the best way to intersect them. */
export const TOGETHER = {
  own: [false, true],
  company: [false, true],
  list: [false, true],
  tag: [false, true],
  label: [false, true],
  files: [false, true],
  since: [false, true],
  queue: [false, true],
  bounced: [null, false, true],
} as const;

export type Together = { readonly [Filter in keyof typeof TOGETHER]: (typeof TOGETHER)[Filter][number] };

/** Sets whose rows have dates. Their indexes have all columns that the conditions use, so no email is read. */
const DATED = [
  ['own', 'emails', 'e', 'id', OWN],
  [
    'company',
    'emails',
    'c',
    'id',
    'c.company_id = $companyId::uuid and c.direction = any ($directions::text[])',
  ],
  ['list', 'emails', 'i', 'id', 'i.list_id = $listId::text'],
  ['tag', 'email_tags', 't', 'email_id', 't.tag = $tag::text'],
  [
    'label',
    'labelled_emails',
    'l',
    'email_id',
    'l.label = $label::text and l.direction = any ($directions::text[])',
  ],
  [
    'files',
    'email_json',
    'f',
    'email_id',
    'f.has_files = $hasFiles::boolean and f.direction = any ($directions::text[])',
  ],
  ['since', 'emails', 's', 'id', 's.created_at >= $recordedSince::timestamptz'],
] as const;

/**
 * The intersection of all sets, as `id` and `date`, after `$afterDate` and `$afterId`. If none of them has dates, the emails themselves
 * come first.
 *
 * @param more further joins and conditions, for an email with this identifier
 */
export function inAll(
  choice: Together,
  more: (id: string) => readonly [join: string, condition: string],
): string {
  const sets = DATED.filter(([filter]) => choice[filter]).map(([, table, as, key, of]) => ({
    table,
    as,
    key,
    conditions: `${of} and (${as}.date, ${as}.${key}) < ($afterDate::timestamptz, $afterId::uuid)`,
  }));
  const [first] = sets;
  if (first === undefined) return inAll({ ...choice, own: true }, more);
  const id = `${first.as}.${first.key}`;
  const date = `${first.as}.date`;
  const [join, condition] = more(id);
  const ofEmails = sets.find(({ table }) => table === 'emails');
  // `offset 0`: from version 18 on PostgreSQL merges two sets of one table into one, for which it would read the emails.
  const others = sets.slice(1).map((set) => {
    const { table, as, key, conditions } = set;
    const isApart = table === 'emails' && set !== ofEmails;
    const from = isApart
      ? `(select ${as}.id, ${as}.date from emails ${as} where ${conditions} offset 0)`
      : table;
    return {
      join: `join ${from} ${as} on ${as}.${key} = ${id} and ${as}.date = ${date}`,
      conditions: isApart ? 'true' : conditions,
    };
  });
  const conditions = [
    first.conditions,
    ...others.map(({ conditions: ofSet }) => ofSet),
    ...(choice.queue ? [isScheduled(id)] : []),
    ...(choice.bounced === null ? [] : [`${choice.bounced ? '' : 'not '}${isBounced(id)}`]),
    condition,
  ];
  return `select ${id} as id, ${date} as date from ${first.table} ${first.as}
    ${others.map(({ join: ofSet }) => ofSet).join(' ')} ${join}
    where ${conditions.join(' and ')}`;
}
