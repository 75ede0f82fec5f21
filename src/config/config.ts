/** Configuration: the only reader of the environment. The files beside this one declare its variables, by concern. */
import { ACCOUNT_VARIABLES, readAccounts } from './config-accounts.ts';
import { ConfigError } from './config-error.ts';
import { HTTP_VARIABLES } from './config-http.ts';
import {
  LISTENER_VARIABLES,
  MAILBOX_VARIABLES,
  READING_VARIABLES,
  readListeners,
} from './config-receiving.ts';
import { LIMIT_VARIABLES, QUEUE_VARIABLES, readLimits, readQueue, SMTP_VARIABLES } from './config-sending.ts';
import { DATABASE_VARIABLES, FILE_VARIABLES, readFiles } from './config-storage.ts';
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
  eventsDays: integer(
    'EVENTS_DAYS',
    30,
    { min: 1, max: 3650 },
    'How long events can be read, in whole days.',
  ),
  auditDays: integer(
    'AUDIT_DAYS',
    3650,
    { min: 30, max: 36_500 },
    'How long the audit log is kept, in whole days.',
  ),
  shutdownTimeoutMs: milliseconds(
    'SHUTDOWN_TIMEOUT_MS',
    30_000,
    'How long running requests may take to finish after SIGTERM or SIGINT, in ms.',
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
  DATABASE_VARIABLES,
  FILE_VARIABLES,
  ACCOUNT_VARIABLES,
  SMTP_VARIABLES,
  QUEUE_VARIABLES,
  LIMIT_VARIABLES,
  MAILBOX_VARIABLES,
  LISTENER_VARIABLES,
  READING_VARIABLES,
  WEBHOOK_VARIABLES,
  PROCESS_VARIABLES,
].flatMap((variables) => Object.values<Variable>(variables));

export type Config = ReturnType<typeof readConfig>;

/** Reads the environment; an empty variable counts as absent. Throws ConfigError. */
export function loadConfig(values: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const get = (name: string): string | null => {
    const value = values[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const files = new SecretFiles({ get, cwd });
  return Object.freeze(readConfig({ get, secret: (name) => files.read(name), cwd }, files));
}

function readConfig(env: Environment, files: SecretFiles) {
  const accounts = readAccounts(env);
  const config = {
    ...readAll(PROCESS_VARIABLES, env),
    ...readAll(HTTP_VARIABLES, env),
    ...readAll(DATABASE_VARIABLES, env),
    ...readFiles(env),
    accounts,
    smtp: readAll(SMTP_VARIABLES, env),
    ...readQueue(env),
    ...readLimits(env),
    mailboxes: readAll(MAILBOX_VARIABLES, env),
    ...readListeners(env),
    reading: readAll(READING_VARIABLES, env),
    webhooks: readAll(WEBHOOK_VARIABLES, env),
  } as const;
  return {
    ...config,
    /** Files that may hold secrets; absolute, and not all of them need to be there. */
    secretFiles: [
      ...['.env', env.get('ACCOUNTS_FILE'), env.get('LISTEN_TLS_KEY_FILE')].flatMap((file) =>
        file === null ? [] : [resolvePath(env, file)],
      ),
      ...accounts.flatMap(({ dkim }) => dkim?.keyFiles ?? []),
      ...files.files,
    ],
  } as const;
}

/** The table of variables for `--help`. */
export function formatVariables(): string {
  return VARIABLES.map(
    ({ name, meaning, defaultText, mayBeInFile }) =>
      `  ${name}${mayBeInFile ? ` or ${fileVariableOf(name)}` : ''}\n      ${meaning}\n      Default: ${defaultText}`,
  ).join('\n');
}
