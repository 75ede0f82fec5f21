/**
 * Writes the fate of recorded sends; only this module does: the states of emails and of their recipients, and their attempts
 * (core/delivery/states.ts defines the states). Parts of statements are mixed with whole ones; `source` is the name of a part with a column
 * email_id.
 *
 * A transaction locks the row of the queue first, then the email, and calls these with both locked, so that transactions never wait for
 * each other in a circle.
 */
import type { EndedAttempt } from './journal-ports.ts';
import type { RecordedOutcome } from './outbound-ports.ts';
import type { DeliveryState, EmailState, RecipientOutcome, Reply } from '../../core/delivery/states.ts';
import { NO_BOUND_MS } from '../../core/statistics/latency.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import { lockedEmails } from '../emails/lock-emails.ts';

/** Attempts whose recipients were all accepted, as JSON for `acceptedRows`. */
export const toAcceptedRow = (
  { emailId, claimId, attempt, startedAt, endedAt, result }: EndedAttempt,
  { state, detail }: { readonly state: EmailState; readonly detail: string | null },
) => ({
  email_id: emailId,
  claim_id: claimId,
  attempt,
  started_at: startedAt,
  ended_at: endedAt,
  ...toReplyRow(result.reply),
  detail: result.detail,
  recipients: result.recipients.map(toRecipientRow),
  addresses: result.recipients.map(({ address }) => address),
  state,
  state_detail: detail,
});

/** The rows of a parameter, as `r`. */
export const acceptedRows = (parameter: string): string => `
  jsonb_to_recordset(${parameter}::jsonb) as r (
    email_id uuid, claim_id uuid, attempt int, started_at timestamptz, ended_at timestamptz, reply_code int,
    reply_status text, reply_text text, detail text, recipients jsonb, addresses text[], state text, state_detail text
  )`;

/** See `tookMs` of core/statistics/latency.ts. */
const TOOK_MS = (from: string, to: string): string => `
      case when ${to} is not null
        then least(greatest(round(extract(epoch from ${to} - ${from}) * 1000), 0), ${NO_BOUND_MS})::int
      end`;

/**
 * Does the work of saveAttempt, saveOutcomes and setState, for many at once.
 *
 * @param source rows as `acceptedRows` returns them, with timed_from, whose other recipients were accepted before
 */
export const acceptAll = (source: string): string => `
  new_attempts as (
    insert into delivery_attempts as a
      (email_id, attempt, started_at, ended_at, outcome, reply_code, reply_status, reply_text, detail)
    select email_id, attempt, started_at, ended_at, 'accepted', reply_code, reply_status, reply_text, detail from ${source}
    ${KEEP_SEEN}
  ), reached as (
    update email_deliveries d
    set state = 'accepted', reply_code = o.reply_code, reply_status = o.reply_status, reply_text = o.reply_text
    from ${source} r,
      jsonb_to_recordset(r.recipients) as o (address text, reply_code int, reply_status text, reply_text text)
    where d.email_id = r.email_id and d.address = o.address and d.state <> 'accepted'
  ), ended_emails as (
    update emails e set state = r.state, state_detail = r.state_detail, took_ms = ${TOOK_MS('r.timed_from', 'r.ended_at')}
    from ${source} r where e.id = r.email_id
    returning e.id, e.message_id, e.relay_message_id
  )`;

/** An assumption never overwrites an observation. */
const KEEP_SEEN = `on conflict (email_id, attempt) do update set
    started_at = excluded.started_at, ended_at = excluded.ended_at, outcome = excluded.outcome,
    reply_code = excluded.reply_code, reply_status = excluded.reply_status, reply_text = excluded.reply_text,
    detail = excluded.detail
  where a.outcome = 'unknown'`;

/** For the JSON of an email that is to be recorded (emails/email-row.ts). */
export const toOutcomeRow = ({ deliveries, attempt }: Pick<RecordedOutcome, 'deliveries' | 'attempt'>) => ({
  deliveries: deliveries.map(toRecipientRow),
  attempts:
    attempt === null
      ? []
      : [
          {
            attempt: attempt.number,
            started_at: attempt.startedAt,
            ended_at: attempt.endedAt,
            outcome: attempt.outcome,
            ...toReplyRow(attempt.reply),
            detail: attempt.detail,
          },
        ],
});

const toRecipientRow = ({ address, state, reply }: RecipientOutcome) => ({
  address,
  state,
  ...toReplyRow(reply),
});

const toReplyRow = (reply: Reply | null) => ({
  reply_code: reply?.code ?? null,
  reply_status: reply?.enhancedStatus ?? null,
  reply_text: reply?.text ?? null,
});

/** @param source rows `r` of emails that are new, with id, deliveries */
export const insertRecipients = (source: string): string => `
  insert into email_deliveries (email_id, ordinal, address, state, reply_code, reply_status, reply_text)
  select r.id, d.ordinality - 1, d.address, d.state, d.reply_code, d.reply_status, d.reply_text
  from ${source}, rows from (
    jsonb_to_recordset(r.deliveries)
      as (address text, state text, reply_code int, reply_status text, reply_text text)
  ) with ordinality as d (address, state, reply_code, reply_status, reply_text, ordinality)
  on conflict (email_id, ordinal) do nothing`;

/** @param source rows `r` of emails that are new, with id, attempts */
export const insertAttempts = (source: string): string => `
  insert into delivery_attempts (
    email_id, attempt, started_at, ended_at, outcome, reply_code, reply_status, reply_text, detail
  )
  select r.id, a.* from ${source}, jsonb_to_recordset(r.attempts) as a (
    attempt int, started_at timestamptz, ended_at timestamptz, outcome text, reply_code int, reply_status text,
    reply_text text, detail text
  )
  where r.attempts <> '[]'`;

/** Adds recipients of an email that another program sent: its mail server took it for all of them. */
export async function addTakers(
  executor: Executor,
  emailId: string,
  takers: readonly string[],
): Promise<void> {
  const rows = takers.map((address) => toRecipientRow({ address, state: 'accepted', reply: null }));
  await run(executor, ADD_RECIPIENTS, { emailId, recipients: toStorableJson(rows) });
}

const ADD_RECIPIENTS = statement(
  'add-recipients',
  insertRecipients('(select $emailId::uuid as id, $recipients::jsonb as deliveries) r'),
);

/** For an email that was never tried. */
export async function replaceRecipients(
  executor: Executor,
  emailId: string,
  addresses: readonly string[],
): Promise<void> {
  const rows = addresses.map((address) => toRecipientRow({ address, state: 'pending', reply: null }));
  await run(executor, REMOVE_RECIPIENTS, { emailId });
  await run(executor, ADD_RECIPIENTS, { emailId, recipients: toStorableJson(rows) });
}

const REMOVE_RECIPIENTS = statement(
  'remove-recipients',
  'delete from email_deliveries where email_id = $emailId',
);

/** Locks the emails of sends whose rows in the queue are locked. @param source has the column email_id */
export const lockedEmailsOf = (source: string): string =>
  lockedEmails(`e.id = any (array(select email_id from ${source}))`);

/** Marks emails whose hand-over is under way and whose state still says that they wait. */
export const showSending = (source: string): string => `
  update emails e set state = 'sending', state_detail = null from ${source} s
  where e.id = s.email_id and e.state in ('queued', 'deferred')`;

/** A claim was given back, so its attempt had no effect, whatever was assumed. */
export const takeBackAttempt = (source: string, attempt: string): string => `
  assumed as (
    delete from delivery_attempts a using ${source} s
    where a.email_id = s.email_id and a.attempt = ${attempt} and a.outcome = 'unknown'
  ), deliveries as (
    update email_deliveries d set state = 'pending' from ${source} s
    where d.email_id = s.email_id and d.state = 'unknown'
  ), waiting as (
    update emails e set state_detail = null, state = case
        when exists (select 1 from delivery_attempts a where a.email_id = e.id and a.attempt < ${attempt}) then 'deferred'
        else 'queued'
      end
    from ${source} s where e.id = s.email_id and e.state in ('sending', 'unknown')
  )`;

/** The attempts of claims with an unknown outcome. @param source has the columns attempts and claimed_at, too */
export const beginUnseen = (source: string, detail: string): string => `
  assumed as (
    insert into delivery_attempts (email_id, attempt, started_at, outcome, detail)
    select email_id, attempts, claimed_at, 'unknown', ${detail} from ${source}
    on conflict (email_id, attempt) do nothing
  )`;

/**
 * The outcome of an attempt can't be known while its process is silent.
 *
 * @param source has the columns attempts and claimed_at, too
 */
export const loseAttempt = (source: string, detail: string): string => `
  ${beginUnseen(source, detail)}, deliveries as (
    update email_deliveries d set state = 'unknown' from ${source} s
    where d.email_id = s.email_id and d.state in ('pending', 'deferred')
  ), lost_emails as (
    update emails e set state = 'unknown', state_detail = ${detail} from ${source} s
    where e.id = s.email_id and e.state in ('queued', 'sending', 'deferred')
  )`;

/** Marks waiting emails as `unknown`: their outcome can't be known, whether an attempt was under way or not. */
export const loseWaiting = (source: string, detail: string): string => `
  waiting_recipients as (
    update email_deliveries d set state = 'unknown' from ${source} s
    where d.email_id = s.email_id and d.state in ('pending', 'deferred')
  ), waiting_emails as (
    update emails e set state = 'unknown', state_detail = ${detail} from ${source} s
    where e.id = s.email_id and e.state in ('queued', 'sending', 'deferred')
  )`;

/** As in `conclude`: an email that any recipient has is `sent`. */
export const giveUpOpen = (source: string, detail: string): string => `
  update emails e set state_detail = ${detail}, state = case
      when exists (select 1 from email_deliveries d where d.email_id = e.id and d.state = 'accepted') then 'sent'
      else 'failed'
    end
  from ${source} s where e.id = s.email_id
  returning e.id`;

export async function setState(
  executor: Executor,
  emailId: string,
  state: EmailState,
  detail: string | null,
  tookMs: number | null = null,
): Promise<void> {
  await run(executor, SET_STATE, { emailId, state, detail, tookMs });
}

const SET_STATE = statement(
  'set-state-of-send',
  'update emails set state = $state, state_detail = $detail, took_ms = $tookMs where id = $emailId',
);

/** An email that is already `sent` keeps its note about recipients that were missed. */
export async function endAsSent(executor: Executor, emailId: string): Promise<void> {
  await run(executor, END_AS_SENT, { emailId });
}

const END_AS_SENT = statement(
  'end-as-sent',
  `update emails set state = 'sent', state_detail = null where id = $emailId and state <> 'sent'`,
);

/** The states of its recipients, in their order. */
export async function readStates(executor: Executor, emailId: string): Promise<readonly DeliveryState[]> {
  return (await run(executor, READ_STATES, { emailId })).map(({ state }) => state);
}

const READ_STATES = statement(
  'read-states-of-recipients',
  'select state from email_deliveries where email_id = $emailId order by ordinal',
);

export async function saveAttempt(executor: Executor, ended: EndedAttempt): Promise<void> {
  const { emailId, attempt, startedAt, endedAt, result } = ended;
  const { kind: outcome, reply, detail } = result;
  await run(executor, SAVE_ATTEMPT, {
    emailId,
    attempt,
    startedAt,
    endedAt,
    outcome,
    replyCode: reply?.code ?? null,
    replyStatus: reply?.enhancedStatus ?? null,
    replyText: reply?.text ?? null,
    detail,
  });
}

const SAVE_ATTEMPT = statement(
  'save-attempt',
  `insert into delivery_attempts as a
    (email_id, attempt, started_at, ended_at, outcome, reply_code, reply_status, reply_text, detail)
  values ($emailId, $attempt, $startedAt, $endedAt, $outcome, $replyCode, $replyStatus, $replyText, $detail)
  ${KEEP_SEEN}`,
);

/**
 * A recipient that was accepted stays accepted. A recipient that is `rejected` although the attempt was under way bounced meanwhile, and is
 * not retried unless the attempt reports otherwise.
 */
export async function saveOutcomes(
  executor: Executor,
  emailId: string,
  outcomes: readonly RecipientOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await run(executor, SAVE_OUTCOMES, { emailId, outcomes: toStorableJson(outcomes.map(toRecipientRow)) });
}

const SAVE_OUTCOMES = statement(
  'save-outcomes-of-recipients',
  `update email_deliveries d
  set state = r.state, reply_code = r.reply_code, reply_status = r.reply_status, reply_text = r.reply_text
  from jsonb_to_recordset($outcomes::jsonb)
    as r (address text, state text, reply_code int, reply_status text, reply_text text)
  where d.email_id = $emailId and d.address = r.address and d.state <> 'accepted'
    and (d.state <> 'rejected' or r.state in ('accepted', 'rejected'))`,
);

/** Reopens recipients for another attempt. */
export async function reopenRecipients(executor: Executor, emailId: string): Promise<void> {
  await run(executor, REOPEN, { emailId });
}

const REOPEN = statement(
  'reopen-recipients',
  `update email_deliveries set state = 'pending' where email_id = $emailId and state <> 'accepted'`,
);

/** Resolves unknown recipients by the decision of an operator, or by evidence. */
export async function resolveRecipients(
  executor: Executor,
  emailId: string,
  state: DeliveryState,
): Promise<void> {
  await run(executor, RESOLVE, { emailId, state });
}

const RESOLVE = statement(
  'resolve-recipients',
  `update email_deliveries set state = $state where email_id = $emailId and state = 'unknown'`,
);

/** Rejects recipients that bounced; the email keeps its state. */
export async function rejectRecipients(
  executor: Executor,
  emailId: string,
  ordinals: readonly number[],
): Promise<void> {
  await run(executor, REJECT, { emailId, ordinals });
}

const REJECT = statement(
  'reject-recipients',
  `update email_deliveries set state = 'rejected' where email_id = $emailId and ordinal = any ($ordinals::int[])`,
);
