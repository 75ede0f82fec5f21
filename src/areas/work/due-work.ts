/**
 * `DueWork` on PostgreSQL. Each condition reads the first entry of an index that contains only waiting work, so an idle service costs its
 * database one cheap statement.
 */
import type { Pool } from 'pg';
import { run, statement } from '../../platform/db/statement.ts';
import { ABSENCES_ARE_DUE } from '../absence/absence-store.ts';
import { firstDueCopy } from '../sent-copies/sent-copies.ts';
import { firstDue } from '../send/claim-sends.ts';

export interface DueWork {
  /** Finds all of it in one statement. Throws `ServiceError('database_unavailable')`. */
  find(): Promise<DueNow>;
}

export interface DueNow {
  /** Time until the first queued send of a configured account is due, in ms: 0 or less when one is. null: none waits. */
  readonly sendInMs: number | null;
  /** Emails whose words are not indexed yet. */
  readonly search: boolean;
  /** Past mail to be linked by rules learned from sends, or mail that was recorded while rules changed. */
  readonly customers: boolean;
  /** Reports whose email was not known when they arrived. */
  readonly reports: boolean;
  /** Copies to be compared with the sent email that was recorded after them. */
  readonly copies: boolean;
  /** Emails that may be answered in an absence, or such answers. */
  readonly absences: boolean;
  /** A person to be erased. */
  readonly erasures: boolean;
  /** Emails to be removed that the rules of an account leave out. */
  readonly removals: boolean;
  /** Files of deleted emails to be deleted. */
  readonly deletedFiles: boolean;
  /** Sent emails to be put into the Sent mailbox of a configured account. */
  readonly sentCopies: boolean;
  /** The mailboxes of a configured account, which no process reads. */
  readonly mailboxes: boolean;
  /** Received emails that the rules have not judged. */
  readonly rules: boolean;
  /** A webhook that no process delivers to. */
  readonly webhooks: boolean;
  /** Another number with every change of an account. */
  readonly accountVersion: number;
  /** Grows with every change of a webhook. */
  readonly webhookVersion: number;
  /** The end of the feed; null when there is no webhook to deliver to. */
  readonly feedPosition: number | null;
  /** Grows with every change of the suppression list. */
  readonly suppressionVersion: number;
}

export interface DueWorkAccounts {
  /** The accounts that this process sends for. */
  readonly sending: readonly string[];
  /** Those of them that keep copies in Sent. */
  readonly keepingCopies: readonly string[];
  /** The accounts whose mailboxes it is configured to read. */
  readonly reading: readonly string[];
}

export function createDueWork(pool: Pool, accounts: () => DueWorkAccounts): DueWork {
  return {
    async find() {
      const { sending, keepingCopies, reading } = accounts();
      const [row] = await run(pool, DUE_WORK, {
        accounts: [...sending],
        copyAccounts: [...keepingCopies],
        mailboxAccounts: [...reading],
      });
      if (row === undefined) throw new Error('the question what is due has no answer');
      const {
        search,
        customers,
        reports,
        copies,
        absences,
        erasures,
        removals,
        deleted_files: deletedFiles,
        mailboxes,
        rules,
        webhooks,
        sent_copies: sentCopies,
      } = row;
      return {
        sendInMs: row.send_in_ms,
        search,
        customers,
        reports,
        copies,
        absences,
        erasures,
        removals,
        deletedFiles,
        sentCopies,
        mailboxes,
        rules,
        webhooks,
        accountVersion: Number(row.account_version),
        webhookVersion: Number(row.webhook_version),
        feedPosition: row.feed_position === null ? null : Number(row.feed_position),
        suppressionVersion: Number(row.suppression_version),
      };
    },
  };
}

const FIRST_SEND = `
  select min(${firstDue('q.account_id = a.account_id and q.priority = p and q.owner is null')})
  from unnest($accounts::text[]) a (account_id) cross join generate_series(0, 2) p`;

/** Not `exists`: for that the planner may scan a table from its beginning, hoping to meet a row early, across all the dead rows. */
const DUE_WORK = statement(
  'due-work',
  `select
    (extract(epoch from (${FIRST_SEND}) - clock_timestamp()) * 1000)::float8 as send_in_ms,
    (select id from search_queue order by id desc limit 1) is not null as search,
    (select address from customer_addresses where not is_applied order by created_at limit 1) is not null
      or (select id from customer_relinks order by id limit 1) is not null as customers,
    coalesce((
      select next_match_at from bounce_reports where next_match_at is not null order by next_match_at limit 1
    ) <= now(), false) as reports,
    (select email_id from email_variants where not is_compared order by email_id limit 1) is not null as copies,
    ${ABSENCES_ARE_DUE} as absences,
    (select id from erasures where finished_at is null order by requested_at limit 1) is not null as erasures,
    (select id from capture_removals where finished_at is null order by requested_at limit 1) is not null as removals,
    coalesce((select next_try_at from deleted_files order by next_try_at limit 1) <= now(), false) as deleted_files,
    coalesce((${firstDueCopy('$copyAccounts::text[]')}) <= now(), false) as sent_copies,
    (
      select a.account_id from mailbox_accounts a
      where (a.lease_until is null or a.lease_until < now()) and a.account_id = any ($mailboxAccounts::text[]) limit 1
    ) is not null as mailboxes,
    coalesce((select next_try_at from mail_rule_queue order by next_try_at limit 1) <= now(), false) as rules,
    (
      select w.id from webhooks w join webhook_positions p on p.webhook_id = w.id
      where w.paused_at is null and p.lease_until < now() limit 1
    ) is not null as webhooks,
    (select version from account_clock) as account_version,
    (select version from webhook_clock) as webhook_version,
    (select position from event_clock where exists (select from webhooks where paused_at is null)) as feed_position,
    clock.version as suppression_version
  from suppression_clock clock`,
).narrow<{
  search: boolean;
  customers: boolean;
  reports: boolean;
  copies: boolean;
  absences: boolean;
  erasures: boolean;
  removals: boolean;
  deleted_files: boolean;
  sent_copies: boolean;
  mailboxes: boolean;
  rules: boolean;
  webhooks: boolean;
  account_version: string;
  webhook_version: string;
}>();
