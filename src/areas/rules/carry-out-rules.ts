/** Does what rules say about one email, by the code that carries out what a person does with its thread. */
import { ServiceError } from '../../core/errors.ts';
import type { RuleActions } from '../../core/rules/rule.ts';
import { nameAuthor } from '../../platform/db/name-author.ts';
import { BeginAgain } from '../../platform/db/transaction.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import type { ThreadChange } from '../threads/thread-record-ports.ts';
import type { Acting } from './rule-ports.ts';
import { changeLockedThread, lockThread, type LockedThread } from '../threads/thread-work.ts';

type ActionName = keyof RuleActions;

/** Their names in the API, which events have. */
const NAMES: Readonly<Record<ActionName, string>> = {
  addLabels: 'add_labels',
  assignee: 'assignee',
  status: 'status',
  customerId: 'customer_id',
};

interface Outcome {
  readonly done: readonly ActionName[];
  readonly skipped: readonly ActionName[];
}

/** Notes each rule that matched, with what it did. Does nothing for an email that is gone, or that turned out to be a sent one. */
export async function carryOutRules(trx: Executor, emailId: string, rules: readonly Acting[]): Promise<void> {
  const [found] = await run(trx, FIND_THREAD, { emailId });
  if (found?.direction !== 'inbound') return;
  const locked = await lockThread(trx, found.thread_id);
  const [email] = await run(trx, READ_PLACE, { emailId });
  // It was moved, or deleted, before the thread was locked.
  if (locked === null || email?.thread_id !== locked.id) throw new BeginAgain();
  for (const rule of rules) {
    // As the rule before left it
    const thread = await lockThread(trx, locked.id);
    if (thread === null) throw new BeginAgain();
    await nameAuthor(trx, rule.author);
    const { done, skipped } = await act(trx, thread, email, rule);
    await run(trx, NOTE_MATCH, {
      emailId,
      ruleId: rule.id,
      ruleName: rule.name,
      done: done.map((name) => NAMES[name]),
      skipped: skipped.map((name) => NAMES[name]),
    });
  }
}

/**
 * The changes that a rule makes to a thread: never against a person, never so that another email which waits for somebody is not seen, and
 * never so that mail of a customer, or a conversation with others, is taken for spam.
 */
function plan(
  thread: LockedThread,
  email: Place,
  { addLabels, assignee, status, customerId }: RuleActions,
  isBlock: boolean,
): { readonly change: Changes; readonly skipped: ActionName[] } {
  const isOfCustomer = email.is_of_customer || thread.customer_id !== null;
  const isShown = isOfCustomer || email.has_others;
  const isKept = {
    assignee: assignee !== undefined && thread.assignee !== null && thread.assignee !== assignee,
    status:
      (status === 'done' && email.has_open) ||
      (status === 'spam' && (isShown || (!isBlock && email.has_unjudged))),
    customerId: customerId !== undefined && thread.customer_id !== null && thread.customer_id !== customerId,
  };
  return {
    change: {
      ...(addLabels === undefined ? {} : { addLabels }),
      ...(assignee === undefined || isKept.assignee ? {} : { assignee }),
      ...(status === undefined || isKept.status ? {} : { status }),
      // It was marked before its sender was known as a customer's.
      ...(status === 'spam' && isOfCustomer && thread.status === 'spam' ? { status: 'open' } : {}),
      ...(customerId === undefined || isKept.customerId ? {} : { customerId }),
    },
    skipped: (['assignee', 'status', 'customerId'] as const).filter((name) => isKept[name]),
  };
}

type Changes = { -readonly [Name in keyof RuleActions]: RuleActions[Name] };

/** What a thread refuses is left out, and the rest is done. */
const REFUSED: Readonly<Record<string, ActionName>> = {
  // The key was revoked, or may no longer answer in the account.
  unknown_assignee: 'assignee',
  too_many_entries: 'addLabels',
};

async function act(
  trx: Executor,
  thread: LockedThread,
  email: Place,
  { actions, author, isBlock }: Acting,
): Promise<Outcome> {
  const { change, skipped } = plan(thread, email, actions, isBlock);
  for (;;) {
    try {
      await changeLockedThread(trx, thread, toThreadChange(change), author);
      const done = (Object.keys(change) as ActionName[]).filter((name) => !skipped.includes(name));
      return { done, skipped };
    } catch (error) {
      const refused = error instanceof ServiceError ? REFUSED[error.code] : undefined;
      if (refused === undefined || change[refused] === undefined) throw error;
      delete change[refused];
      skipped.push(refused);
    }
  }
}

const toThreadChange = (change: Changes): Omit<ThreadChange, 'version'> => ({
  customerId: change.customerId,
  companyId: undefined,
  status: change.status,
  // A bounce in the thread waits for a person, whatever a rule says.
  settles: undefined,
  assignee: change.assignee,
  labels: undefined,
  addLabels: change.addLabels ?? [],
  removeLabels: [],
});

const FIND_THREAD = statement(
  'thread-of-judged-email',
  'select thread_id, direction from emails where id = $emailId',
);

/** Another received email of the thread, `o`, whose sender is not blocked. */
const OTHER = `o.thread_id = e.thread_id and o.id <> e.id and o.direction = 'inbound'
      and not sender_is_blocked(o.account_id, o.from_address ->> 'address')`;

const READ_PLACE = statement(
  'place-of-judged-email',
  `select e.thread_id,
  -- Somebody waits for an answer to another email
  exists (
    select from thread_summaries s join emails o on o.id = s.person_email_id
    where s.thread_id = e.thread_id and s.person_direction = 'inbound' and ${OTHER}
  ) as has_open,
  -- A person wrote another email, and no rule has set a status because of it
  exists (
    select from emails o where ${OTHER} and o.written_by <> 'machine'
      and not exists (select from mail_rule_matches m where m.email_id = o.id and 'status' = any (m.done))
  ) as has_unjudged,
  -- In doubt it is: its customer is still to be found out.
  e.customer_id is not null or coalesce(e.customer_source = 'ambiguous', false)
    or exists (select from customer_relinks c where c.email_id = e.id) as is_of_customer,
  -- We wrote in the thread, or somebody else did who is not blocked. The answer of an absence is nobody's.
  exists (
    select from emails o where o.thread_id = e.thread_id and o.direction = 'outbound'
      and o.id not in (select a.answer_id from absence_answers a where a.account_id = e.account_id)
  ) or exists (
    select from emails o where ${OTHER}
      and lower(o.from_address ->> 'address') is distinct from lower(e.from_address ->> 'address')
  ) as has_others
  from emails e where e.id = $emailId`,
).narrow<{ has_open: boolean; has_unjudged: boolean; is_of_customer: boolean; has_others: boolean }>();
type Place = RowOf<typeof READ_PLACE>;

const NOTE_MATCH = statement(
  'note-rule-match',
  `insert into mail_rule_matches (email_id, rule_id, rule_name, done, skipped)
  values ($emailId, $ruleId, $ruleName, $done, $skipped)
  on conflict do nothing`,
);
