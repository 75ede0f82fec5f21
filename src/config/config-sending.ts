/** Settings for handing mail over and for repeated tries. The mail servers themselves are in config-accounts.ts. */
import type { LoopLimit } from '../core/delivery/loop-guard.ts';
import { DEFAULT_RETRY_SCHEDULE } from '../core/delivery/retry-schedule.ts';
import { LONGEST_LEASE_MS } from '../platform/base/leases.ts';
import { ConfigError } from './config-error.ts';
import { integer, milliseconds, readAll, variable, type Environment } from './variable.ts';

export const SMTP_VARIABLES = {
  maxConnections: integer(
    'SMTP_MAX_CONNECTIONS',
    10,
    { min: 1, max: 1000 },
    'Maximum number of connections to the mail server, per account.',
  ),
  connectTimeoutMs: milliseconds('SMTP_CONNECT_TIMEOUT_MS', 30_000, 'Connecting, TLS included, in ms.'),
  greetingTimeoutMs: milliseconds(
    'SMTP_GREETING_TIMEOUT_MS',
    30_000,
    "Waiting for the server's greeting, in ms.",
  ),
  commandTimeoutMs: milliseconds(
    'SMTP_COMMAND_TIMEOUT_MS',
    60_000,
    'Waiting for the reply to a command, in ms.',
  ),
  dataTimeoutMs: milliseconds(
    'SMTP_DATA_TIMEOUT_MS',
    600_000,
    'Waiting for the reply after the end of a message, in ms; after that the outcome is unknown.',
  ),
};

/** A year, in hours: a longer time is more likely a typing error than intended. */
const MAX_GIVE_UP_HOURS = 8760;
const MAX_RETRY_DELAY_S = 7 * 86_400;

export const QUEUE_VARIABLES = {
  delaysMs: variable('SEND_RETRY_DELAYS_S', {
    parse: readDelays,
    defaultText: '300,900,1800,3600,7200,14400',
    meaning:
      'Seconds until a deferred send is retried, after the first, second, … attempt; the last one repeats. A fifth of it when ' +
      'the server was unreachable.',
  }),
  giveUpAfterMs: variable('SEND_GIVE_UP_HOURS', {
    parse: (value, name) =>
      value === null
        ? DEFAULT_RETRY_SCHEDULE.giveUpAfterMs
        : Math.ceil(readPositive(name, value, MAX_GIVE_UP_HOURS, 'must be a number') * 3_600_000),
    defaultText: '96',
    meaning: 'How long a queued send is retried, in hours; fractions are allowed.',
  }),
  sendLeaseMs: integer(
    'SEND_LEASE_MS',
    30_000,
    { min: 100, max: LONGEST_LEASE_MS },
    'How long a process may be silent before other processes treat its hand-overs as lost (state `unknown`), in ms.',
  ),
  workPollMs: integer(
    'WORK_POLL_MS',
    2000,
    { min: 10, max: 60_000 },
    'How often an idle process checks the database for work of other processes, in ms: queued sends, emails to index, changes ' +
      'of the suppression list. Its own and due work starts at once.',
  ),
};

export function readQueue(env: Environment) {
  const { delaysMs, giveUpAfterMs, ...queue } = readAll(QUEUE_VARIABLES, env);
  return { ...queue, retrySchedule: { delaysMs, giveUpAfterMs } };
}

function readDelays(value: string | null, name: string): readonly [number, ...number[]] {
  const [first, ...others] = (value?.split(',') ?? []).map((text) =>
    Math.ceil(
      readPositive(name, text, MAX_RETRY_DELAY_S, 'must be numbers with commas between them, each') * 1000,
    ),
  );
  return first === undefined ? DEFAULT_RETRY_SCHEDULE.delaysMs : [first, ...others];
}

function readPositive(name: string, text: string, max: number, must: string): number {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text.trim()) ? Number(text) : NaN;
  if (value > 0 && value <= max) return value;
  throw new ConfigError(name, `${must} above 0 and at most ${max}`);
}

export const LIMIT_VARIABLES = {
  maxRecipients: integer(
    'MAX_RECIPIENTS',
    200,
    { min: 1, max: 10_000 },
    'Maximum number of recipients of one email: to, cc and bcc together.',
  ),
  loopMaxEmails: integer(
    'LOOP_MAX_EMAILS',
    20,
    { min: 0, max: 10_000 },
    'Emails of an automatic exchange (answers to programs, and automatic answers) from an account to one address within the ' +
      'window; further ones get 429, other mail is not affected. 0: no limit.',
  ),
  loopWindowHours: integer(
    'LOOP_WINDOW_HOURS',
    24,
    { min: 1, max: 24 * 366 },
    'Rolling window of LOOP_MAX_EMAILS, in hours.',
  ),
};

export function readLimits(env: Environment) {
  const { maxRecipients, loopMaxEmails, loopWindowHours } = readAll(LIMIT_VARIABLES, env);
  /** null: none. */
  const loopLimit: LoopLimit | null =
    loopMaxEmails === 0 ? null : { maxEmails: loopMaxEmails, windowMs: loopWindowHours * 3_600_000 };
  return { maxRecipients, loopLimit };
}
