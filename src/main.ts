#!/usr/bin/env node
/** The program: runs a command when one is named, otherwise the service until a signal stops it. */
import { parseArgs } from 'node:util';
import { DataDirError } from './connectors/data-dir/data-dir-lock.ts';
import { createLogger } from './connectors/telemetry/logger.ts';
import type { Logger } from './platform/base/basics.ts';
import { formatVariables, loadConfig, type Config } from './config/config.ts';
import { ConfigError } from './config/config-error.ts';
import { readVersion } from './config/version.ts';
import type { Service } from './service/service.ts';
import { listenForStop, type StopRequest } from './service/stop-request.ts';

/** The messages of these errors say what to do; a stack trace would add nothing. */
const PLAIN_ERRORS: ReadonlySet<string> = new Set([
  ConfigError.name,
  DataDirError.name,
  'NewerDatabaseError',
  'MarkedDatabaseError',
]);

/** How long a command that has ended may take to close its resources, in ms. */
const LINGER_MS = 5000;

const [first] = process.argv.slice(2);
if (first !== undefined && !first.startsWith('-')) await runCommandLine();
else if (first === undefined && process.env.npm_lifecycle_event === 'cli') await refuseNoCommand();
else await runServiceLine();

/** `npm run cli` without a command must not start the service. */
async function refuseNoCommand(): Promise<void> {
  process.stderr.write(`email-worker: which command?\n\n${await formatHelp()}`);
  process.exitCode = 2;
}

async function runCommandLine(): Promise<void> {
  // Loaded on demand, so that the service starts without them.
  const [{ runCommand }, { createOutput }, invocation] = await Promise.all([
    import('./cli/run.ts'),
    import('./cli/output.ts'),
    readInvocation(),
  ]);
  // A program that reads the result, such as `head`, may close the pipe before its end.
  process.stdout.on('error', () => process.exit(1));
  process.exitCode = await runCommand(
    process.argv.slice(2),
    createOutput(process.stdout, process.stderr, process.env),
    readConfig,
    invocation,
  );
  // Work that a command no longer waits for, such as a disk that hangs, must not keep the process alive.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

async function readInvocation(): Promise<string> {
  const { formatInvocation } = await import('./cli/invocation.ts');
  return formatInvocation(process.argv[1], process.env, process.cwd());
}

async function runServiceLine(): Promise<void> {
  const asked = await parseServiceOptions();
  if (asked === null) process.exitCode = 2;
  else if (asked.help === true) process.stdout.write(await formatHelp());
  else if (asked.version === true) process.stdout.write(`${readVersion()}\n`);
  else await runService();
}

/** null when the options can't be used; that has been reported. */
async function parseServiceOptions(): Promise<{
  readonly help?: boolean;
  readonly version?: boolean;
} | null> {
  try {
    return parseArgs({
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`email-worker: ${message}; see ${await readInvocation()} --help\n`);
    return null;
  }
}

async function formatHelp(): Promise<string> {
  const [{ COMMANDS }, { formatCommandList, formatTable }, invocation] = await Promise.all([
    import('./cli/commands.ts'),
    import('./cli/help.ts'),
    readInvocation(),
  ]);
  const isClone = invocation.startsWith('npm ');
  const usage = formatTable('Usage:', [
    [isClone ? 'npm start [-- --help | --version]' : `${invocation} [--help | --version]`, 'the service'],
    [`${invocation} <command> [arguments]`, 'a command, beside the running service or without it'],
  ]);
  return `email-worker: sends, records and threads a company's email over HTTP and JSON.

${usage}

${formatCommandList(COMMANDS)}

More about one: ${invocation} <command> --help

Everything is set by environment variables; a .env file in the working directory is read. All are optional.

${formatVariables()}
`;
}

function readConfig(): Config {
  readDotEnv();
  return loadConfig(process.env, process.cwd());
}

async function runService(): Promise<void> {
  const started = performance.now();
  let logger = createLogger('info');
  let stopRequest: StopRequest | null = null;
  let isStarted = false;
  let service: Service;
  try {
    const config = readConfig();
    logger = createLogger(config.logLevel);
    const { startService } = await import('./service/service.ts');
    tellUncaught(logger);
    stopRequest = listenForStop(process, logger);
    stopRequest.signal.addEventListener('abort', () =>
      endAfter(config.shutdownTimeoutMs, () => isStarted, logger),
    );
    service = await startService(config, logger, stopRequest.signal);
    isStarted = true;
  } catch (err) {
    if (stopRequest?.signal.aborted === true && err === stopRequest.signal.reason) {
      tellStopped(stopRequest, logger);
      process.exit();
    }
    tellFailure(err, logger);
    process.exitCode = 1;
    // The process does not wait for anything that may still keep it alive.
    if (stopRequest?.signal.aborted === true) process.exit();
    return;
  }
  logger.info(
    {
      url: service.url,
      docs: `${service.url}/api/docs`,
      startMs: Math.round(performance.now() - started),
      ...(service.secretFile === null ? {} : { apiSecretFile: service.secretFile }),
    },
    'email-worker is listening',
  );
  if (service.loginLink !== null) {
    logger.info({ link: service.loginLink }, 'open this link to log in; it works once, within an hour');
  }
  await stopRequest.made;
  await service.stop();
  tellStopped(stopRequest, logger);
  process.exit();
}

/** Node.js ends the process after an uncaught error, and the embedded database server ends with it. */
function tellUncaught(logger: Logger): void {
  process.on('uncaughtExceptionMonitor', (err) => {
    logger.error({ err }, 'an error was not caught; email-worker ends at once');
  });
}

/**
 * One time bounds the whole stop, whatever hangs: supervisors kill after theirs. The next start continues with what is left. A start that was
 * interrupted has answered no request, so its end is what was asked for.
 */
function endAfter(timeoutMs: number, isStarted: () => boolean, logger: Logger): void {
  setTimeout(() => {
    if (!isStarted()) {
      logger.warn(
        { timeoutMs },
        'the start could not be taken back within SHUTDOWN_TIMEOUT_MS; email-worker ends at once',
      );
      process.exit(0);
    }
    logger.error({ timeoutMs }, 'the stop took longer than SHUTDOWN_TIMEOUT_MS; email-worker ends at once');
    process.exit(1);
  }, timeoutMs).unref();
}

function tellStopped({ madeAt }: StopRequest, logger: Logger): void {
  logger.info({ stopMs: Math.round(performance.now() - madeAt()) }, 'email-worker has stopped');
}

function tellFailure(err: unknown, logger: Logger): void {
  if (err instanceof Error && PLAIN_ERRORS.has(err.name)) process.stderr.write(`${err.message}\n`);
  else logger.error({ err }, 'email-worker could not start');
}

/** Variables that are already set take precedence over the file. */
function readDotEnv(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
