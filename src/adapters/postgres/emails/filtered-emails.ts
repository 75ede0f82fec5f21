/**
 * `GET /api/emails` by more than state, defect, tag and account. A page comes from the index of one of the filters, in its order where
 * the index has it; the others are conditions. Each is planned for its values, so a condition that is not asked for costs nothing.
 */
import type { EmailFilter, EmailsQuery } from '../../../app/emails/email-ports.ts';
import { accountIdsOf } from '../../../app/base/account-filter.ts';
import { EMAIL_STATES, type EmailState } from '../../../core/delivery/states.ts';
import { BOUNCE_OUTCOMES } from '../../../core/delivery/delivery-report.ts';
import { run, statements, type Executor } from '../db/statement.ts';
import { matches } from '../search/matches.ts';
import { LISTING } from './email-json.ts';
import { selectPage, type PageRow } from './email-pages.ts';

export interface FilteredPages {
  list(): Promise<readonly PageRow[]>;
  walk(words: string, steps: number): Promise<readonly PageRow[]>;
  count(atMost: number): Promise<readonly { readonly count: number }[]>;
  lookUp(words: string, rarest: string): Promise<readonly PageRow[]>;
  /** Usually few. */
  readonly isNarrow: boolean;
}

/** null where the plain list does it. @param limit one more than the page has */
export function filteredPages(pool: Executor, asked: EmailsQuery, limit: number): FilteredPages | null {
  const { filter, tag } = asked;
  if (filter === undefined) return null;
  const from = sourceOf(filter, asked);
  const choice = { from, isNext: asked.after !== null };
  const directions = filter.direction === null ? ['inbound', 'outbound'] : [filter.direction];
  const ofDirection = EMAIL_STATES.filter((state) =>
    directions.includes(state === 'received' ? 'inbound' : 'outbound'),
  );
  const { direction: _direction, ...conditions } = filter;
  const accountIds = accountIdsOf(asked);
  const values = {
    ...conditions,
    listIds: [filter.listId].filter((id) => id !== null),
    tags: [tag].filter((one) => one !== null),
    // Planned for its value, one account alone is a part of the index in the order of the list; of several it is not.
    accountId: accountIds?.length === 1 ? (accountIds[0] ?? null) : null,
    accountIds: accountIds?.length === 1 ? null : accountIds,
    tag,
    defect: asked.defect,
    directions,
    states: ofDirection.filter((state) => asked.state === null || state === asked.state),
    limit,
    afterDate: asked.after?.date ?? null,
    afterId: asked.after?.id ?? null,
  };
  return {
    list: () => run(pool, LIST.of(choice), values),
    walk: (words, steps) => run(pool, WALK.of(choice), { ...values, words, steps }),
    count: (atMost) => run(pool, COUNT.of(choice), { ...values, limit: atMost }),
    lookUp: (words, rarest) => run(pool, LOOK_UP.of(choice), { ...values, words, rarest }),
    isNarrow: from !== 'state',
  };
}

type Source = (typeof CHOICES.from)[number];

/** The filter that usually leaves the fewest. */
function sourceOf(filter: EmailFilter, { state, tag }: Pick<EmailsQuery, 'state' | 'tag'>): Source {
  if (filter.threadId !== null) return 'thread';
  if (filter.scheduledSince !== null || filter.scheduledUntil !== null) return 'queue';
  if (filter.bounced === true) return 'reports';
  if (filter.customerId !== null) return 'customer';
  if (filter.companyId !== null) return 'company';
  if (filter.listId !== null) return 'list';
  if (state !== null && !COMMON_STATES.has(state)) return 'state';
  if (tag !== null) return 'tag';
  if (filter.label !== null) return 'label';
  return filter.hasFiles === null ? 'state' : 'files';
}

/** Few emails have any other state. */
export const COMMON_STATES: ReadonlySet<EmailState> = new Set<EmailState>(['sent', 'received']);

const CHOICES = {
  from: ['thread', 'queue', 'reports', 'customer', 'company', 'list', 'tag', 'label', 'files', 'state'],
  isNext: [false, true],
} as const;

interface Choice {
  readonly from: Source;
  readonly isNext: boolean;
}

const VALUES_DECIDE = { plannedEachTime: 'a condition without a value is left out of the plan' };

const THREAD = 'coalesce((select thread_id from thread_aliases where id = $threadId::uuid), $threadId::uuid)';
const BOUNCED = `exists (
      select from delivery_reports r
      where r.email_id = e.id and r.outcome in (${BOUNCE_OUTCOMES.map((outcome) => `'${outcome}'`).join(', ')})
    )`;
const SCHEDULED = `($scheduledSince::timestamptz is null or q.due_at >= $scheduledSince)
    and ($scheduledUntil::timestamptz is null or q.due_at < $scheduledUntil)`;

/** Of an email `e`; all but that of the label. */
const UNLABELLED = `e.state = any ($states::text[])
    and ($threadId::uuid is null or e.thread_id = ${THREAD})
    and ($customerId::uuid is null or e.customer_id = $customerId)
    and ($companyId::uuid is null or e.company_id = $companyId)
    and ($accountId::text is null or e.account_id = $accountId)
    and ($accountIds::text[] is null or e.account_id = any ($accountIds))
    and ($listId::text is null or e.list_id = $listId)
    and ($tag::text is null or e.tags @> array[$tag])
    and ($defect::text is null or e.defects @> array[$defect])
    and ($bounced::boolean is null or $bounced = ${BOUNCED})
    and ($hasFiles::boolean is null
      or $hasFiles = exists (select from email_attachments a where a.email_id = e.id and not a.inline))
    and ($recordedSince::timestamptz is null or e.created_at >= $recordedSince)
    and (($scheduledSince::timestamptz is null and $scheduledUntil::timestamptz is null) or exists (
      select from send_queue q where q.email_id = e.id and ${SCHEDULED}
    ))`;
const CONDITIONS = `${UNLABELLED}
    and ($label::text is null or e.thread_id in (select l.thread_id from thread_labels l where l.label = $label))`;

const ORDER = 'order by e.date desc, e.id desc';
const afterOf = ({ isNext }: Choice) =>
  isNext ? 'and (e.date, e.id) < ($afterDate::timestamptz, $afterId::uuid)' : '';

/** As `e`, in no order. */
const SOURCES = {
  thread: `emails e where e.thread_id = ${THREAD} and`,
  queue: `send_queue q join emails e on e.id = q.email_id where ${SCHEDULED} and`,
  reports: `(
      select distinct r.email_id from delivery_reports r
      where r.outcome in (${BOUNCE_OUTCOMES.map((outcome) => `'${outcome}'`).join(', ')})
    ) r join emails e on e.id = r.email_id where`,
} as const;

/** The same of a row `g` that stands for an email. */
const OF_ACCOUNT = `($accountId::text is null or g.account_id = $accountId)
    and ($accountIds::text[] is null or g.account_id = any ($accountIds))`;

/** Rows `g` that stand for emails, in pieces of an index with the date and the identifier of the email. */
const ROWS = {
  tag: ['tags', 'email_tags', 'g.tag = piece.value', CONDITIONS],
  label: [
    'directions',
    'labelled_emails',
    `g.label = $label and g.direction = piece.value and ${OF_ACCOUNT}`,
    UNLABELLED,
  ],
  files: [
    'directions',
    'email_json',
    `g.has_files = $hasFiles and g.direction = piece.value and ${OF_ACCOUNT}`,
    CONDITIONS,
  ],
} as const;

/** Pieces of an index that are in the order of the list each; see thread-list-statements.ts. */
const PIECES = {
  customer: ['directions', 'e.customer_id = $customerId and e.direction = piece.value'],
  company: ['directions', 'e.company_id = $companyId and e.direction = piece.value'],
  list: ['listIds', 'e.list_id = piece.value'],
  state: ['states', 'e.state = piece.value'],
} as const;

/** The list in its order, at most `rows` of it. */
function list(choice: Choice, rows: string): string {
  const { from } = choice;
  if (from === 'tag' || from === 'label' || from === 'files') {
    const [values, table, ofPiece, conditions] = ROWS[from];
    const after = choice.isNext ? 'and (g.date, g.email_id) < ($afterDate::timestamptz, $afterId::uuid)' : '';
    // `offset 0`: the email of each row is looked up, in the order of the rows, until there are enough.
    return `select e.id, e.date from unnest($${values}::text[]) piece (value) cross join lateral (
      select e.id, e.date from ${table} g cross join lateral (
        select e.id, e.date from emails e where e.id = g.email_id and ${conditions} offset 0
      ) e
      where ${ofPiece} ${after} order by g.date desc, g.email_id desc limit ${rows}
    ) e ${ORDER} limit ${rows}`;
  }
  if (from === 'thread' || from === 'queue' || from === 'reports') {
    return `select e.id, e.date from ${SOURCES[from]} ${CONDITIONS} ${afterOf(choice)} ${ORDER} limit ${rows}`;
  }
  const [values, condition] = PIECES[from];
  return `select e.id, e.date from unnest($${values}::text[]) piece (value) cross join lateral (
      select e.id, e.date from emails e where ${condition} and ${CONDITIONS} ${afterOf(choice)} ${ORDER} limit ${rows}
    ) e ${ORDER} limit ${rows}`;
}

const selectEmails = (found: string) =>
  selectPage(LISTING, `(${found}) p join emails e on e.id = p.id`, '$limit');

const LIST = statements(
  'list-filtered-emails',
  CHOICES,
  (choice) => selectEmails(list(choice, '$limit')),
  VALUES_DECIDE,
).narrow<PageRow>();

const WALK = statements(
  'walk-filtered-emails',
  CHOICES,
  (choice) =>
    selectEmails(`
    select e.id, e.date from (${list(choice, '$steps')}) e cross join lateral (
      select from email_search x where x.email_id = e.id and ${matches('$words')} limit 1
    ) m ${ORDER} limit $limit`),
  VALUES_DECIDE,
).narrow<PageRow>();

const COUNT = statements(
  'count-filtered-emails',
  CHOICES,
  (choice) => `select count(*)::int as count from (${list(choice, '$limit')}) e`,
  VALUES_DECIDE,
).narrow<{ count: number }>();

/** `offset 0`: see LOOK_UP of thread-list-statements.ts. */
const LOOK_UP = statements(
  'look-up-filtered-emails',
  CHOICES,
  (choice) =>
    selectEmails(`
    select e.id, e.date from (
      select x.email_id as id from email_search x where x.words @@ $rarest::tsquery and ${matches('$words')}
    ) f cross join lateral (select e.* from emails e where e.id = f.id offset 0) e
    where ${CONDITIONS} ${afterOf(choice)} ${ORDER} limit $limit`),
  VALUES_DECIDE,
).narrow<PageRow>();
