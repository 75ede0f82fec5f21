/** The work that waits or needs an operator's decision: queue, mailboxes, mail that was set aside, webhooks. */
import { isLatest } from '../../platform/db/migrate.ts';
import { createMailboxStatusStore } from '../../areas/mailboxes/mailbox-status.ts';
import { createReadFigures } from '../../areas/metrics/read-figures.ts';
import type { AccountFigures } from '../../areas/metrics/figures.ts';
import type { Config } from '../../config/config.ts';
import { formatSeconds } from '../../core/durations.ts';
import { formatCount } from '../api/format.ts';
import { ok, problem, warning, type Check, type Finding } from '../../service/finding.ts';
import type { PatientData } from './patient-data.ts';

/** A send that is due goes out within seconds. In s. */
const DUE_WARNING_S = 300;
const DUE_PROBLEM_S = 3600;
/** A mailbox is checked each minute, or as often as IMAP_POLL_MS sets; the lag beyond that, in s. */
const LAG_WARNING_S = 900;
const LAG_PROBLEM_S = 6 * 3600;
const EVENTS_WARNING = 1000;

export function checkWork(config: Config, data: PatientData): Check {
  return {
    area: 'work',
    name: 'what waits',
    async run() {
      const database = await data.database;
      // The database check reports this.
      if (database.kind !== 'open' || !(await isLatest(database.pool))) return [];
      const accountIds = config.accounts.map(({ id }) => id);
      const [figures, status] = await Promise.all([
        createReadFigures(database.pool, () => accountIds)(),
        createMailboxStatusStore(database.pool).readStatus(null),
      ]);
      const configured = new Map(config.accounts.map((account) => [account.id, account]));
      const failing = status.flatMap(({ accountId, lastError }) =>
        lastError !== null && (configured.get(accountId)?.imap ?? null) !== null
          ? [
              problem(
                `the mailbox of account ${accountId} can't be read: ${lastError.reason}`,
                'Correct the cause in the message; the service retries automatically.',
              ),
            ]
          : [],
      );
      const { eventsWaiting, webhooks } = figures;
      return [
        ...figures.accounts.flatMap((account) =>
          ofAccount(
            account,
            configured.get(account.accountId)?.imap !== null,
            config.mailboxes.pollMs / 1000,
          ),
        ),
        ...failing,
        ...(webhooks.failed > 0
          ? [
              problem(
                `${formatCount(webhooks.failed, 'webhook')} paused because the endpoint failed`,
                'Fix the endpoints, then: email-worker webhooks resume <id>.',
              ),
            ]
          : []),
        ...(eventsWaiting > EVENTS_WARNING
          ? [
              warning(
                `${formatCount(eventsWaiting, 'event')} not in the feed yet`,
                'If it stays so, check the log for events.',
              ),
            ]
          : []),
      ];
    },
  };
}

function ofAccount(account: AccountFigures, readsMailbox: boolean, pollSeconds: number): readonly Finding[] {
  const { accountId: id, queued, oldestDueSeconds: due, unknownSends, quarantined, mailboxWaiting } = account;
  const findings: Finding[] = [];
  if (due > DUE_WARNING_S) {
    const text = `account ${id} has ${formatCount(queued, 'send')} in the queue, and the first has been due for ${formatSeconds(due)}`;
    const advice = 'Check that the service runs and its mail server accepts mail: email-worker queue.';
    findings.push(due > DUE_PROBLEM_S ? problem(text, advice) : warning(text, advice));
  } else {
    findings.push(ok(`account ${id} has ${formatCount(queued, 'send')} in the queue`));
  }
  if (unknownSends > 0) {
    findings.push(
      warning(
        `account ${id} has ${formatCount(unknownSends, 'send')} that the mail server may or may not have taken`,
        'List them with email-worker queue unknown, check the log of the mail server, and resolve them.',
      ),
    );
  }
  if (quarantined > 0) {
    findings.push(
      warning(
        `account ${id} has ${formatCount(quarantined, 'received message')} set aside`,
        'GET /api/quarantine and the page show the reasons.',
      ),
    );
  }
  if (readsMailbox) findings.push(...ofLag(account, pollSeconds, mailboxWaiting));
  return findings;
}

function ofLag(
  { accountId: id, mailboxLagSeconds: lag }: AccountFigures,
  pollSeconds: number,
  waiting: number,
): readonly Finding[] {
  if (lag === null)
    return [
      warning(`the mailbox of account ${id} has not been read yet`, 'Start the service, or check its log.'),
    ];
  const late = lag - pollSeconds;
  const text = `the mailbox of account ${id} was read ${formatSeconds(lag)} ago, with ${formatCount(waiting, 'message')} to be taken`;
  const advice = 'Check that the service runs: email-worker accounts shows the error.';
  if (late > LAG_PROBLEM_S) return [problem(text, advice)];
  return [late > LAG_WARNING_S ? warning(text, advice) : ok(text)];
}
