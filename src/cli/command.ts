/**
 * The declaration of a command. Each command is one file that declares its arguments and options once: `--help`, docs/cli.md and the
 * parsing (node:util parseArgs) are made from the declaration. A new command needs its file and a line in commands.ts.
 */
import type { ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from '../platform/base/basics.ts';
import type { Config } from '../config/config.ts';
import type { OpenData } from '../service/open-data.ts';
import type { Output } from './output.ts';

interface CommonOption {
  /** A sentence for the help, including unit and default. */
  readonly meaning: string;
}

interface FlagOption extends CommonOption {
  readonly type: 'boolean';
}

interface ValueOption extends CommonOption {
  readonly type: 'string';
  /** The placeholder for the value in the help, such as `id`. */
  readonly value: string;
  /** True: the option may be given several times. */
  readonly multiple?: boolean;
  /** The words that a shell completes. Default: none. */
  readonly completes?: Completion;
}

/** The allowed words, or file names. */
export type Completion = readonly string[] | 'files';

/** By option name, without dashes. */
export type CommandOptions = Readonly<Record<string, FlagOption | ValueOption>>;

export interface CommandArgument {
  readonly name: string;
  readonly meaning: string;
  /** False: this argument and all later ones may be left out. */
  readonly required: boolean;
  /** True: the argument may be given several times. Only the last argument may be repeated. */
  readonly repeated: boolean;
  /** The words that a shell completes. Default: none. */
  readonly completes?: Completion;
}

export interface CommandExample {
  /** The command line after the program's name. */
  readonly line: string;
  /** A sentence. */
  readonly meaning: string;
}

/** The given options; an option that was not given is absent. */
export type OptionValues<Options extends CommandOptions> = ReturnType<
  typeof parseArgs<{ options: Options & NonNullable<ParseArgsConfig['options']> }>
>['values'];

/** Everything that a command gets to work with. */
export interface CommandContext {
  /** Read on first use. Throws ConfigError. */
  readonly config: Config;
  readonly output: Output;
  /** Writes warnings to standard error, and more with `--verbose`. */
  readonly logger: Logger;
  /** Aborted by Ctrl-C or SIGTERM: finish the piece at hand, and return. */
  readonly signal: AbortSignal;
  /**
   * The data, whether the service runs or not; see open-data.ts. Call it once, after the arguments have been checked. It is closed when
   * `run` ends.
   */
  open(): Promise<OpenData>;
}

/** `failed`: part of the work could not be done, and the command has reported it. */
export type CommandResult = 'done' | 'failed';

export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** More text for the command's own help: paragraphs, separated by empty lines. */
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

/** The same, with the types of the command's own options. */
export interface CommandDefinition<Options extends CommandOptions> extends Omit<Command, 'options' | 'run'> {
  readonly options: Options;
  /** Throws UsageError for arguments that can't be used; any other error ends the program with exit code 1. */
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

/** The arguments can't be used as they were given. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
