/**
 * `GET /api/emails` by more than state, defect, tag and account. A page comes from the index of one of the filters, in its order where
 * the index has it; the others are conditions. Each is planned for its values, so a condition that is not asked for costs nothing.
 */
import type { EmailFilter, EmailsQuery } from '../../../app/emails/email-ports.ts';
import { accountIdsOf } from '../../../app/base/account-filter.ts';
import { EMAIL_STATES } from '../../../core/delivery/states.ts';
import { BOUNCE_OUTCOMES } from '../../../core/delivery/delivery-report.ts';
import { run, statement, statements, type Executor } from '../db/statement.ts';
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

/** Threads of a label whose newest emails are looked up; where there are more, the list is walked, and soon meets some of them. */
const FEW_THREADS = 2000;

/** null where the plain list does it. @param limit one more than the page has */
export async function filteredPages(
  pool: Executor,
  asked: EmailsQuery,
  limit: number,
): Promise<FilteredPages | null> {
  const { filter, tag } = asked;
  if (filter === undefined) return null;
  const first = sourceOf(filter);
  const from = first === 'state' && (await hasFewThreads(pool, filter.label)) ? 'label' : first;
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

async function hasFewThreads(pool: Executor, label: string | null): Promise<boolean> {
  if (label === null) return false;
  const [row] = await run(pool, COUNT_LABELLED, { label });
  return (row?.count ?? 0) <= FEW_THREADS;
}

/** The filter that usually leaves the fewest. */
function sourceOf(filter: EmailFilter): Source {
  if (filter.threadId !== null) return 'thread';
  if (filter.scheduledSince !== null || filter.scheduledUntil !== null) return 'queue';
  if (filter.bounced === true) return 'reports';
  if (filter.customerId !== null) return 'customer';
  if (filter.companyId !== null) return 'company';
  if (filter.listId !== null) return 'list';
  return filter.hasFiles === true ? 'files' : 'state';
}

const CHOICES = {
  from: ['thread', 'queue', 'reports', 'label', 'customer', 'company', 'list', 'files', 'state'],
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
  files: `email_json j join emails e on e.id = j.email_id where j.files > 0 and`,
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
  if (from === 'files') {
    // The index has the date of `email_json`, which is that of the email.
    const after = choice.isNext ? 'and (j.date, j.email_id) < ($afterDate::timestamptz, $afterId::uuid)' : '';
    return `select e.id, e.date from ${SOURCES.files} ${CONDITIONS} ${after}
      order by j.date desc, j.email_id desc limit ${rows}`;
  }
  if (from === 'label') {
    const ofThread = (thread: string, most: string) => `select e.id, e.date from emails e
      where e.thread_id = ${thread} and ${UNLABELLED} ${afterOf(choice)} ${ORDER} limit ${most}`;
    // A page has emails of so many threads at most: of those whose newest, of the emails that are asked for, is the newest.
    return `select e.id, e.date from (
        select g.thread_id from thread_labels g cross join lateral (${ofThread('g.thread_id', '1')}) e
        where g.label = $label ${ORDER} limit ${rows}
      ) t cross join lateral (${ofThread('t.thread_id', rows)}) e ${ORDER} limit ${rows}`;
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

const COUNT_LABELLED = statement(
  'count-labelled-threads',
  `select count(*)::int as count from (select from thread_labels where label = $label limit ${FEW_THREADS} + 1) l`,
).narrow<{ count: number }>();

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
