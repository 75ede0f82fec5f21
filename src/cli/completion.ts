/**
 * `email-worker completion`: prints the script with which a shell completes commands, options and their values, made from the commands'
 * declarations.
 */
import { defineCommand, UsageError, type Command, type Completion } from './command.ts';
import { COMMON_OPTIONS } from './help.ts';
import { PROGRAM } from './invocation.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** @param commands all commands, including this one */
export function createCompletionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'Prints a completion script for a shell.',
    description: `For the installed ${PROGRAM}. Completes commands, options and short lists of values without a request to the service.`,
    arguments: [
      {
        name: 'shell',
        meaning: '`bash`, `zsh` or `fish`.',
        required: true,
        repeated: false,
        completes: SHELLS,
      },
    ],
    options: {},
    examples: [
      {
        line: 'completion bash > ~/.local/share/bash-completion/completions/email-worker',
        meaning: 'For bash.',
      },
      {
        line: 'completion zsh > ~/.zfunc/_email-worker',
        meaning: 'For zsh, with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc.',
      },
      { line: 'completion fish > ~/.config/fish/completions/email-worker.fish', meaning: 'For fish.' },
    ],
    async run(_values, [shell], { output }) {
      const format = SHELLS.some((known) => known === shell)
        ? FORMATS[shell as (typeof SHELLS)[number]]
        : null;
      if (format === null) throw new UsageError(`<shell> must be one of ${SHELLS.join(', ')}`);
      output.print(format(commands()));
      return 'done';
    },
  });
}

const FORMATS = { bash: formatBash, zsh: formatZsh, fish: formatFish };

interface CompletedOption {
  /** Including its dashes. */
  readonly name: string;
  /** One sentence. */
  readonly meaning: string;
  readonly takesValue: boolean;
  readonly values: Completion;
}

function optionsOf({ options }: Command): readonly CompletedOption[] {
  return [
    ...Object.entries(options).map(([name, option]) => ({
      name: `--${name}`,
      meaning: firstSentence(option.meaning),
      takesValue: option.type === 'string',
      values: option.type === 'string' ? (option.completes ?? []) : [],
    })),
    { name: '--verbose', meaning: COMMON_OPTIONS.verbose.meaning, takesValue: false, values: [] },
    { name: '--help', meaning: COMMON_OPTIONS.help.meaning, takesValue: false, values: [] },
  ];
}

// Input: texts from the commands' declarations.
const firstSentence = (text: string): string => /^.*?[.:;](?= |$)/.exec(text)?.[0] ?? text;

/** Names of commands and options are words; values are the words that a declaration lists. */
const words = (values: Completion): string => (values === 'files' ? '' : values.join(' '));

function formatBash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const options = optionsOf(command);
    const valued = options.filter(({ takesValue }) => takesValue);
    const byOption = valued.map(({ name, values }) =>
      values === 'files'
        ? `        ${name}) compopt -o default; return ;;`
        : `        ${name}) COMPREPLY=($(compgen -W '${words(values)}' -- "$word")); return ;;`,
    );
    const completed = command.arguments[0]?.completes ?? [];
    return [
      `    ${command.name})`,
      ...(valued.length === 0 ? [] : ['      case $before in', ...byOption, '      esac']),
      '      if [[ $word == -* ]]; then',
      `        COMPREPLY=($(compgen -W '${options.map(({ name }) => name).join(' ')}' -- "$word"))`,
      ...(completed === 'files'
        ? ['      else', '        compopt -o default']
        : completed.length === 0
          ? []
          : [
              '      elif [[ $COMP_CWORD -eq 2 ]]; then',
              `        COMPREPLY=($(compgen -W '${words(completed)}' -- "$word"))`,
            ]),
      '      fi ;;',
    ].join('\n');
  });
  return `# bash completion of ${PROGRAM}
_email_worker() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
}
complete -F _email_worker ${PROGRAM}`;
}

/** In single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** These characters end the text within a spec of _arguments. */
const specText = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&');

function formatZsh(commands: readonly Command[]): string {
  const described = commands.map(
    ({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`,
  );
  const action = (values: Completion) =>
    values === 'files' ? '_files' : values.length === 0 ? ' ' : `(${words(values)})`;
  const cases = commands.map((command) => {
    const options = optionsOf(command).map(({ name, meaning, takesValue, values }) =>
      quoted(`*${name}[${specText(meaning)}]${takesValue ? `:value:${action(values)}` : ''}`),
    );
    const args = command.arguments.map(({ name, repeated, completes = [] }, at) =>
      quoted(`${repeated ? '*' : at + 1}:${name}:${action(completes)}`),
    );
    return `    ${command.name}) _arguments ${[...options, ...args].join(' \\\n      ')} ;;`;
  });
  return `#compdef ${PROGRAM}
# zsh completion of ${PROGRAM}
_email_worker() {
  local -a commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _${PROGRAM} ]]; then
  _email_worker "$@"
else
  compdef _email_worker ${PROGRAM}
fi`;
}

function formatFish(commands: readonly Command[]): string {
  const complete = (rest: string) => `complete -c ${PROGRAM} ${rest}`;
  const fishQuoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = commands.flatMap((command) => {
    const { name, summary, arguments: declared } = command;
    const within = `-n '__fish_seen_subcommand_from ${name}'`;
    const [first] = declared;
    const completed = first?.completes ?? [];
    return [
      complete(`-n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`),
      ...optionsOf(command).map(({ name: option, meaning, takesValue, values }) => {
        const value = !takesValue
          ? ''
          : values === 'files'
            ? ' -r -F'
            : values.length === 0
              ? ' -x'
              : ` -x -a '${words(values)}'`;
        return complete(`${within} -l ${option.slice(2)}${value} -d ${fishQuoted(meaning)}`);
      }),
      ...(completed === 'files'
        ? [complete(`${within} -F`)]
        : completed.length === 0
          ? []
          : [complete(`${within} -n '__fish_is_nth_token 2' -a '${words(completed)}'`)]),
    ];
  });
  return [`# fish completion of ${PROGRAM}`, complete('-f'), ...lines].join('\n');
}
