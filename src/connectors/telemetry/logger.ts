/** Structured logs on standard output with pino, one JSON object a line. */
import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../../platform/base/basics.ts';
import { currentRequestId } from '../../platform/base/request-scope.ts';
import { causesOf } from '../../core/causes.ts';
import { hideSecrets } from '../../core/hide-secrets.ts';

/** Fields that must never be written, wherever a careless caller puts them. */
const REDACTED = [
  'authorization',
  'password',
  'secret',
  'pass',
  '*.authorization',
  '*.password',
  '*.secret',
  '*.pass',
];

/** Output that is kept while the log can't be written, in characters; later lines are dropped. */
const MAX_UNWRITTEN = 256 * 1024;

/** One destination for all loggers, so that their lines keep their order. */
const stdout = pino.destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN });
// A full disk below the log, or a closed terminal, must not stop mail, and there is no place left to report it.
stdout.on('error', () => undefined);

/** As they may stand in a line: within JSON, and percent-encoded in an address. */
const hidden = new Set<string>();

/** No line of any logger contains these from now on, wherever a caller put them: into a path, a label or a name. */
export function hideInLogs(secrets: readonly string[]): void {
  for (const secret of secrets) {
    hidden.add(JSON.stringify(secret).slice(1, -1));
    hidden.add(encodeURIComponent(secret));
  }
}

function hideAll(line: string): string {
  let shown = hideSecrets(line);
  for (const secret of hidden) shown = shown.replaceAll(secret, '…');
  return shown;
}

export function createLogger(level: string): Logger {
  return create(level, stdout);
}

/** Appends to a file that only its owner can read; its folder is created when missing. */
export function createFileLogger(path: string): Logger {
  return create('info', pino.destination({ dest: path, append: true, mkdir: true, mode: 0o600, sync: true }));
}

function create(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: REDACTED,
      mixin: addRequestId,
      serializers: { err: toLoggedError },
      // Of the whole line: messages, stacks and causes of libraries quote addresses, wherever they stand.
      hooks: { streamWrite: hideAll },
    },
    destination,
  );
}

/**
 * A server that is away is logged in words: many callers notice it at the same moment, and the place in the program does not explain it.
 * Other errors have their stack.
 */
function toLoggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const full = pino.stdSerializers.err(error);
  if (!causesOf(error).some(isOfConnection)) return full;
  const code = 'code' in error ? { code: error.code } : {};
  return { type: full.type, message: full.message, ...code };
}

/**
 * Codes of the network, and of a PostgreSQL that stops, starts or cuts its connections (SQLSTATE). `pg` has no code for a broken
 * connection.
 */
const CONNECTION_CODES =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|57P0[123]|08...)$/;

const isOfConnection = (cause: unknown): boolean =>
  cause instanceof Error &&
  (('code' in cause && typeof cause.code === 'string' && CONNECTION_CODES.test(cause.code)) ||
    cause.message.startsWith('Connection terminated'));

/** Empty when no request caused the line. */
function addRequestId(): object {
  const requestId = currentRequestId();
  return requestId === undefined ? {} : { requestId };
}

/** For the security log and the access log, which have no levels to choose from: everything, unless logging is off. */
export function createFullLogger(level: string): Logger {
  return createLogger(level === 'silent' ? 'silent' : 'info');
}
