/**
 * What a command is. Each is one file that declares its arguments and options once: `--help`, docs/cli.md and the
 * parsing (node:util parseArgs) are made from that. A new one is that file and a line in commands.ts.
 */
import type { ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from '../app/base/basics.ts';
import type { Config } from '../config/config.ts';
import type { OpenData } from '../service/open-data.ts';
import type { Output } from './output.ts';

interface CommonOption {
  /** A sentence for the help, with unit and default. */
  readonly meaning: string;
}

interface FlagOption extends CommonOption {
  readonly type: 'boolean';
}

interface ValueOption extends CommonOption {
  readonly type: 'string';
  /** What stands for the value in the help, such as `id`. */
  readonly value: string;
  /** True: may be given several times. */
  readonly multiple?: boolean;
  /** What a shell completes. Default: nothing. */
  readonly completes?: Completion;
}

/** The words that may stand there, or names of files. */
export type Completion = readonly string[] | 'files';

/** By their names, without dashes. */
export type CommandOptions = Readonly<Record<string, FlagOption | ValueOption>>;

export interface CommandArgument {
  readonly name: string;
  readonly meaning: string;
  /** False: may be left out, and so may those behind it. */
  readonly required: boolean;
  /** True: may be given several times. Only the last one may be so. */
  readonly repeated: boolean;
  /** What a shell completes. Default: nothing. */
  readonly completes?: Completion;
}

export interface CommandExample {
  /** What stands behind the program's name. */
  readonly line: string;
  /** A sentence. */
  readonly meaning: string;
}

/** The options as they were given; one that was not is absent. */
export type OptionValues<Options extends CommandOptions> = ReturnType<
  typeof parseArgs<{ options: Options & NonNullable<ParseArgsConfig['options']> }>
>['values'];

/** What a command gets to work with. */
export interface CommandContext {
  /** Read when it is asked for the first time. Throws ConfigError. */
  readonly config: Config;
  readonly output: Output;
  /** Writes to standard error: warnings, and with `--verbose` more. */
  readonly logger: Logger;
  /** Aborted by Ctrl-C or SIGTERM: finish the piece at hand, and return. */
  readonly signal: AbortSignal;
  /**
   * The data, whether the service runs or not; see open-data.ts. To be called once, after the arguments were
   * checked. It is closed when `run` ends.
   */
  open(): Promise<OpenData>;
}

/** `failed`: a part of the work could not be done; it was reported. */
export type CommandResult = 'done' | 'failed';

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** More for the command's own help: paragraphs, separated by empty lines. */
  readonly description: string;
  readonly arguments: readonly CommandArgument[];
  readonly options: CommandOptions;
  /** At least one. */
  readonly examples: readonly CommandExample[];
  run(
    values: Record<string, unknown>,
    positionals: readonly string[],
    context: CommandContext,
  ): Promise<CommandResult>;
}

/** The same with the types of its own options. */
export interface CommandDefinition<Options extends CommandOptions> extends Omit<Command, 'options' | 'run'> {
  readonly options: Options;
  /** Throws UsageError for arguments that can't be; everything else it throws ends the program with 1. */
  run(
    values: OptionValues<Options>,
    positionals: readonly string[],
    context: CommandContext,
  ): Promise<CommandResult>;
}

export function defineCommand<const Options extends CommandOptions>(
  definition: CommandDefinition<Options>,
): Command {
  return {
    ...definition,
    // parseArgs makes the values from these very options.
    run: (values, positionals, context) =>
      definition.run(values as OptionValues<Options>, positionals, context),
  };
}

/** The arguments can't be used as they are. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
