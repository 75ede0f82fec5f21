#!/usr/bin/env node
/** The long-running process: read the configuration, start, stop on a signal. */
import { parseArgs } from 'node:util';
import { createLogger } from './adapters/telemetry/logger.ts';
import { formatVariables, loadConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { Logger } from './app/ports.ts';
import { startService, type Service } from './service.ts';

const HELP = `email-worker: sends, records and threads a company's email over HTTP and JSON.

Usage: npm start [-- --help | --version]

Everything is set by environment variables; a .env file in the working directory is read. All are optional.

${formatVariables()}
`;

const { values } = parseArgs({
  options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
});
if (values.help === true) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  readDotEnv();
  const started = performance.now();
  let logger = createLogger('info');
  try {
    const config = loadConfig(process.env, process.cwd());
    logger = createLogger(config.logLevel);
    const starting = startService(config, logger);
    stopOnSignal(starting, logger);
    const service = await starting;
    logger.info(
      {
        url: service.url,
        docs: `${service.url}/api/docs`,
        startMs: Math.round(performance.now() - started),
        ...(service.secretFile === null ? {} : { apiSecretFile: service.secretFile }),
      },
      'email-worker is ready',
    );
  } catch (err) {
    if (err instanceof ConfigError) process.stderr.write(`${err.message}\n`);
    else logger.error({ err }, 'email-worker could not start');
    process.exitCode = 1;
  }
}

/** From the beginning of the start: a stop in the midst of it waits for its end, as there is much to take down. */
function stopOnSignal(starting: Promise<Service>, logger: Logger): void {
  let stopping = false;
  const stop = (signal: string) => {
    // Whoever asks twice does not want to wait. Nothing is lost: the next start takes up what was left.
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'email-worker is stopping');
    void starting
      // A start that failed has taken down what it had started.
      .then((service) => service.stop())
      .finally(() => process.exit());
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Variables that are set already win over the file. */
function readDotEnv(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
