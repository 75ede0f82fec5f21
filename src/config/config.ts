/** Configuration: the only reader of the environment. The files beside this one declare its variables, one file for each concern. */
import { ACCOUNT_VARIABLES, readAccounts, readOAuth2Clients } from './config-accounts.ts';
import { COMMAND_VARIABLES } from './config-commands.ts';
import { ConfigError } from './config-error.ts';
import { readFrom } from './config-values.ts';
import { addrSpec } from '../core/address/address.ts';
import { HTTP_VARIABLES } from './config-http.ts';
import { IMAGE_VARIABLES } from './config-images.ts';
import {
  LISTENER_VARIABLES,
  MAILBOX_VARIABLES,
  READING_VARIABLES,
  readListeners,
} from './config-receiving.ts';
import { LIMIT_VARIABLES, QUEUE_VARIABLES, readLimits, readQueue, SMTP_VARIABLES } from './config-sending.ts';
import { readTls, TLS_VARIABLES } from './config-tls.ts';
import {
  BACKUP_VARIABLES,
  DATABASE_VARIABLES,
  FILE_VARIABLES,
  readDatabase,
  readFiles,
} from './config-storage.ts';
import { readTracing, TRACING_VARIABLES } from './config-tracing.ts';
import { WEBHOOK_VARIABLES } from './config-webhooks.ts';
import { SecretFiles } from './secret-file.ts';
import {
  fileVariableOf,
  integer,
  milliseconds,
  readAll,
  resolvePath,
  variable,
  type Environment,
  type Variable,
} from './variable.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const PROCESS_VARIABLES = {
  notifyAddress: variable('NOTIFY_ADDRESS', {
    parse: (value, name) => (value === null ? null : addrSpec(readFrom(name, value))),
    defaultText: 'none',
    meaning:
      'Address of the operators, who get one mail when the mailbox of an account can no longer be read: at once when a log-in is refused, ' +
      'otherwise after ten minutes. It is sent by another account that works, and recorded there.',
  }),
  eventsDays: integer('EVENTS_DAYS', 30, { min: 1, max: 3650 }, 'How long events are kept, in whole days.'),
  auditDays: integer(
    'AUDIT_DAYS',
    3650,
    { min: 30, max: 36_500 },
    'How long the audit log is kept, in whole days.',
  ),
  shutdownDrainMs: integer(
    'SHUTDOWN_DRAIN_MS',
    0,
    { min: 0, max: 600_000 },
    'How long requests are still accepted after SIGTERM or SIGINT, in ms, while `/api/health/ready` answers 503 and connections ' +
      'end with their response; for several instances behind a load balancer. At most half of `SHUTDOWN_TIMEOUT_MS`, which ' +
      'includes it.',
  ),
  shutdownTimeoutMs: milliseconds(
    'SHUTDOWN_TIMEOUT_MS',
    30_000,
    'Maximum time of the whole stop after SIGTERM or SIGINT, in ms. Shortly before its end, running work is cut off and ' +
      'recorded; at its end the process exits. Supervisors must wait longer before they kill it.',
  ),
  logLevel: variable('LOG_LEVEL', {
    parse(value, name) {
      const found = LOG_LEVELS.find((level) => level === (value ?? 'info'));
      if (found === undefined) throw new ConfigError(name, `must be one of ${LOG_LEVELS.join(', ')}`);
      return found;
    },
    defaultText: 'info',
    meaning: '`debug`, `info`, `warn`, `error` or `silent`.',
  }),
};

/** Every variable, in the order of the documentation. All are optional. */
export const VARIABLES: readonly Variable[] = [
  HTTP_VARIABLES,
  TLS_VARIABLES,
  DATABASE_VARIABLES,
  FILE_VARIABLES,
  BACKUP_VARIABLES,
  ACCOUNT_VARIABLES,
  SMTP_VARIABLES,
  QUEUE_VARIABLES,
  LIMIT_VARIABLES,
  MAILBOX_VARIABLES,
  LISTENER_VARIABLES,
  READING_VARIABLES,
  IMAGE_VARIABLES,
  WEBHOOK_VARIABLES,
  TRACING_VARIABLES,
  PROCESS_VARIABLES,
  COMMAND_VARIABLES,
].flatMap((variables) => Object.values<Variable>(variables));

export type Config = ReturnType<typeof readConfig> & {
  /** The variables that were looked up in the environment, also by the accounts file. */
  readonly askedVariables: ReadonlySet<string>;
};

/** Reads the environment; an empty variable counts as absent. Throws ConfigError. */
export function loadConfig(values: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const asked = new Set<string>();
  const get = (name: string): string | null => {
    asked.add(name);
    const value = values[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const files = new SecretFiles({ get, cwd });
  const config = readConfig({ get, secret: (name) => files.read(name), cwd }, files);
  return Object.freeze({ ...config, askedVariables: asked });
}

function readConfig(env: Environment, files: SecretFiles) {
  const accounts = readAccounts(env);
  const config = {
    ...readProcess(env),
    ...readAll(HTTP_VARIABLES, env),
    ...readTls(env),
    ...readDatabase(env),
    ...readFiles(env),
    ...readAll(BACKUP_VARIABLES, env),
    accounts,
    secretsKeys: ACCOUNT_VARIABLES.secretsKeys.read(env),
    oauth2Clients: readOAuth2Clients(env),
    smtp: readAll(SMTP_VARIABLES, env),
    ...readQueue(env),
    ...readLimits(env),
    mailboxes: readAll(MAILBOX_VARIABLES, env),
    ...readListeners(env),
    reading: readAll(READING_VARIABLES, env),
    ...readAll(IMAGE_VARIABLES, env),
    webhooks: readAll(WEBHOOK_VARIABLES, env),
    commands: readAll(COMMAND_VARIABLES, env),
    tracing: readTracing(env),
  } as const;
  refuseBareSubmission(config);
  return {
    ...config,
    /** Files that may contain secrets; absolute paths, and not all of the files need to exist. */
    secretFiles: [
      ...['.env', env.get('ACCOUNTS_FILE')].flatMap((file) =>
        file === null ? [] : [resolvePath(env, file)],
      ),
      ...new Set([config.tls, config.listenTls].flatMap((pair) => (pair === null ? [] : [pair.keyFile]))),
      ...accounts.flatMap(({ dkim }) => dkim?.keyFiles ?? []),
      ...files.files,
    ],
  } as const;
}

/** Keys never cross a network in plain text. */
function refuseBareSubmission({
  submissionListen,
  submissionsListen,
  listenTls,
}: ReturnType<typeof readListeners> & ReturnType<typeof readTls>): void {
  if (listenTls !== null) return;
  for (const [variable, listen] of [
    ['SUBMISSION_LISTEN', submissionListen],
    ['SUBMISSIONS_LISTEN', submissionsListen],
  ] as const) {
    if (listen !== null)
      throw new ConfigError(
        variable,
        'needs a certificate: set LISTEN_TLS_CERT_FILE and LISTEN_TLS_KEY_FILE',
      );
  }
}

function readProcess(env: Environment) {
  const config = readAll(PROCESS_VARIABLES, env);
  // The other half is for the work under way.
  if (config.shutdownDrainMs > config.shutdownTimeoutMs / 2) {
    throw new ConfigError('SHUTDOWN_DRAIN_MS', 'must be at most half of SHUTDOWN_TIMEOUT_MS');
  }
  return config;
}

/** The table of variables for `--help`. */
export function formatVariables(): string {
  return VARIABLES.map(
    ({ name, meaning, defaultText, mayBeInFile }) =>
      `  ${name}${mayBeInFile ? ` or ${fileVariableOf(name)}` : ''}\n      ${meaning}\n      Default: ${defaultText}`,
  ).join('\n');
}
