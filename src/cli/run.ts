/** Runs one command: reads its arguments, passes it what it needs, and turns its end into an exit code. */
import { parseArgs } from 'node:util';
import type { Config } from '../config/config.ts';
import type { OpenData } from '../service/open-data.ts';
import { UsageError, type Command } from './command.ts';
import { recordCommand, type CommandRecord } from './command-record.ts';
import { formatError } from '../core/causes.ts';
import { createCommandLogger } from './command-logger.ts';
import { COMMANDS } from './commands.ts';
import { COMMON_OPTIONS, formatCommandHelp } from './help.ts';
import { PROGRAM } from './invocation.ts';
import { printable, type Output } from './output.ts';

/** `done`: everything was done; `failed`: part of it failed; `usage`: the arguments can't be used. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;
/** The exit codes that shells give a program ended by a signal; this program ends by itself, in order. */
const EXIT_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

type Signal = keyof typeof EXIT_OF_SIGNAL;
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM'];

/** `argv` begins with the command's name; `invocation`: see formatInvocation. Returns the exit code. */
export async function runCommand(
  argv: readonly string[],
  output: Output,
  readConfig: () => Config,
  invocation: string,
): Promise<number> {
  const [name = '', ...rest] = argv;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) {
    output.note(printable(`${PROGRAM}: there is no command ${name}; ${invocation} --help lists them`));
    return EXIT.usage;
  }
  try {
    const { values, positionals } = parse(command, rest);
    if (values['help'] === true) {
      output.print(formatCommandHelp(command, invocation).trimEnd());
      return EXIT.done;
    }
    requireArguments(command, positionals);
    return await run(command, values, positionals, { argv, output, readConfig });
  } catch (error) {
    if (error instanceof UsageError) {
      output.note(printable(`${PROGRAM} ${name}: ${error.message}; see ${invocation} ${name} --help`));
      return EXIT.usage;
    }
    output.note(printable(`${PROGRAM} ${name}: ${formatError(error)}`));
    return EXIT.failed;
  }
}

interface RunOptions {
  readonly argv: readonly string[];
  readonly output: Output;
  readonly readConfig: () => Config;
}

async function run(
  command: Command,
  values: Record<string, unknown>,
  positionals: readonly string[],
  { argv, output, readConfig }: RunOptions,
): Promise<number> {
  const logger = createCommandLogger(output, values['verbose'] === true);
  let config: Config | null = null;
  const configOnce = () => (config ??= readConfig());
  const interruption = watchSignals(output);
  let data: OpenData | null = null;
  let record: CommandRecord | null = null;
  let ended: number | null = null;
  try {
    const result = await command.run(values, positionals, {
      get config() {
        return configOnce();
      },
      output,
      logger,
      signal: interruption.signal,
      open: async () => {
        // Loaded when a command needs it: help, mistakes and some commands need no database.
        const [{ openData }, { createAuditLog }] = await Promise.all([
          import('../service/open-data.ts'),
          import('../areas/audit/audit-log.ts'),
        ]);
        data = await openData(configOnce(), logger, interruption.signal);
        record = await recordCommand(
          { dataDir: configOnce().dataDir, log: createAuditLog(data.pool), logger },
          argv,
        );
        return data;
      },
    });
    ended = interruption.exitCode() ?? EXIT[result];
    return ended;
  } catch (error) {
    // Work that the signal cut short is not a failure of its own.
    const exitCode = interruption.exitCode();
    if (exitCode === null || error instanceof UsageError) throw error;
    logger.debug({ err: error }, 'interrupted');
    ended = exitCode;
    return exitCode;
  } finally {
    await (record as CommandRecord | null)?.ended(ended ?? EXIT.failed);
    await (data as OpenData | null)?.close();
    interruption.end();
  }
}

function parse(
  command: Command,
  args: readonly string[],
): { readonly values: Record<string, unknown>; readonly positionals: readonly string[] } {
  try {
    return parseArgs({
      args: [...args],
      options: { ...command.options, ...COMMON_OPTIONS },
      allowPositionals: true,
    });
  } catch (error) {
    // The messages of parseArgs are sentences for the person who typed the command.
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function requireArguments({ arguments: declared }: Command, given: readonly string[]): void {
  const missing = declared.find(({ required }, index) => required && given.length <= index);
  if (missing !== undefined) throw new UsageError(`<${missing.name}> is missing`);
  if (given.length > declared.length && declared.at(-1)?.repeated !== true) {
    throw new UsageError(`unexpected argument ${given[declared.length] ?? ''}`);
  }
}

/** The first signal asks the command to stop, the second one ends the program at once: nothing recorded is lost. */
function watchSignals(output: Output): {
  readonly signal: AbortSignal;
  readonly exitCode: () => number | null;
  readonly end: () => void;
} {
  const controller = new AbortController();
  let received: Signal | null = null;
  const onSignal = (signal: Signal) => {
    if (received !== null) process.exit(EXIT_OF_SIGNAL[signal]);
    received = signal;
    output.note('stopping; interrupt again to end at once');
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    exitCode: () => (received === null ? null : EXIT_OF_SIGNAL[received]),
    end: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
