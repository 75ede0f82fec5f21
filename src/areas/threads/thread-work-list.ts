/**
 * The list of threads, and searches in it, by people's data about them: status, assignee, label; or by attachments and time. As in
 * thread-list-statements.ts, a page is merged from ranges of one index, one for each value of the facets; but the values are a parameter,
 * so that not every combination of all filters is a statement.
 */
import { statements } from '../../platform/db/statement.ts';
import {
  CONDITIONS,
  conditionsOf,
  lookUpThreads,
  ORDER,
  selectThreads,
  walkThreads,
  WORDS_DECIDE,
  type Conditions,
  type ListedThreadColumns,
} from './thread-list-rows.ts';

const CHOICES = { assignee: [null, 'one', 'any', 'none'], byLabel: [false, true], ...CONDITIONS } as const;

interface Choice extends Conditions {
  readonly assignee: (typeof CHOICES.assignee)[number];
  readonly byLabel: boolean;
}

const ASSIGNEES = {
  one: ['s.assignee = $assignee::text'],
  any: ['s.assignee is not null'],
  none: ['s.assignee is null'],
} as const;

/** Planned for its values: a filter that is not requested costs nothing. */
const conditionsOfWork = (choice: Choice): readonly string[] => [
  '($hasAttachments::boolean is null or s.has_attachments = $hasAttachments)',
  // With the constant that is compared to, the planner finds the partial index.
  '($undelivered::boolean is null or (s.undelivered > 0) = $undelivered)',
  '($direction::text is null or s.newest_direction = $direction)',
  '($unread::boolean is null or (s.unread_count > 0) = $unread)',
  "($unanswered::boolean is null or (coalesce(s.person_direction, '') = 'inbound') = $unanswered)",
  '($activeSince::timestamptz is null or s.last_activity_at >= $activeSince)',
  '($activeUntil::timestamptz is null or s.last_activity_at < $activeUntil)',
  ...(choice.assignee === null ? [] : ASSIGNEES[choice.assignee]),
  ...conditionsOf(choice),
];

/** Labels have rows of their own, in the order of the list. */
function piece(choice: Choice, rows: string): string {
  const conditions = conditionsOfWork(choice);
  if (!choice.byLabel) {
    return `select s.thread_id, s.last_activity_at from thread_summaries s
      where ${['s.facets = f.value', ...conditions].join(' and ')} ${ORDER} limit ${rows}`;
  }
  const ofLabel = [
    '($activeUntil::timestamptz is null or l.last_activity_at < $activeUntil)',
    // Conditions that the index can answer: the summary of a thread that does not match is not looked up.
    '($hasAttachments::boolean is null or l.has_attachments = $hasAttachments)',
    ...(choice.ofAccounts === 'one' ? ['l.account_id = ($accountIds::text[])[1]'] : []),
    ...(choice.ofAccounts === 'some' ? ['l.account_id = any ($accountIds::text[])'] : []),
    ...(choice.isNext
      ? ['(l.last_activity_at, l.thread_id) < ($afterDate::timestamptz, $afterId::uuid)']
      : []),
  ];
  return `select l.thread_id, l.last_activity_at from thread_labels l join thread_summaries s on s.thread_id = l.thread_id
      where ${['l.label = $label', 'l.facets = f.value', ...ofLabel, ...conditions].join(' and ')}
      order by l.last_activity_at desc, l.thread_id desc limit ${rows}`;
}

/** The list in its order, at most `rows` of it. */
const list = (choice: Choice, rows: string): string => `
  select s.* from (
    select p.thread_id from unnest($facets::smallint[]) f (value) cross join lateral (
      ${piece(choice, rows)}
    ) p
    order by p.last_activity_at desc, p.thread_id desc limit ${rows}
  ) p join thread_summaries s on s.thread_id = p.thread_id`;

const VALUES_DECIDE = {
  plannedEachTime: 'the best plan depends on how many threads a person or a label has',
};

export const WORK_LIST = statements(
  'list-work-threads',
  CHOICES,
  (choice) => selectThreads(list(choice, '$limit')),
  VALUES_DECIDE,
).narrow<ListedThreadColumns>();

export const WORK_WALK = statements(
  'walk-work-threads',
  CHOICES,
  (choice) => walkThreads(`${list(choice, '$steps')} ${ORDER}`),
  WORDS_DECIDE,
).narrow<ListedThreadColumns>();

export const WORK_COUNT = statements(
  'count-work-threads',
  CHOICES,
  (choice) => `select count(*)::int as count from (${list(choice, '$limit')}) s`,
  VALUES_DECIDE,
).narrow<{ count: number }>();

export const WORK_LOOK_UP = statements(
  'look-up-work-threads',
  CHOICES,
  (choice) =>
    lookUpThreads([
      's.facets = any ($facets::smallint[])',
      ...(choice.byLabel ? ['s.labels @> array[$label::text]'] : []),
      ...conditionsOfWork(choice),
    ]),
  WORDS_DECIDE,
).narrow<ListedThreadColumns>();
