/** The help texts, made from the commands' declarations. */
import type { Command, CommandArgument, CommandExample } from './command.ts';
import { PROGRAM } from './invocation.ts';
import { wrapWords } from './wrap-words.ts';

/** The options that every command has. */
export const COMMON_OPTIONS = {
  help: { type: 'boolean', short: 'h', meaning: 'Shows this help.' },
  verbose: { type: 'boolean', meaning: 'Prints more on standard error.' },
} as const;

const WIDTH = 100;

/** `email-worker import [options] <path>…` @param invocation see formatInvocation */
export function formatUsage(
  { name, arguments: declared, options }: Command,
  invocation: string = PROGRAM,
): string {
  const words = declared.map(formatArgument);
  return [invocation, name, ...(Object.keys(options).length > 0 ? ['[options]'] : []), ...words].join(' ');
}

export function formatArgument({ name, required, repeated }: CommandArgument): string {
  const word = `<${name}>${repeated ? '…' : ''}`;
  return required ? word : `[${word}]`;
}

/** Each option with its value, such as `--account <id>`, and its meaning. */
export function listOptions({
  options,
}: Command): readonly { readonly option: string; readonly meaning: string }[] {
  return [
    ...Object.entries(options).map(([name, option]) => ({
      option: option.type === 'string' ? `--${name} <${option.value}>` : `--${name}`,
      meaning: option.meaning,
    })),
    { option: '--verbose', meaning: COMMON_OPTIONS.verbose.meaning },
    { option: '-h, --help', meaning: COMMON_OPTIONS.help.meaning },
  ];
}

export function formatCommandHelp(command: Command, invocation: string): string {
  const sections = [
    `Usage: ${formatUsage(command, invocation)}`,
    wrap(command.summary, ''),
    wrap(command.description, ''),
  ];
  if (command.arguments.length > 0) {
    sections.push(
      formatTable(
        'Arguments:',
        command.arguments.map((argument) => [formatArgument(argument), argument.meaning]),
      ),
    );
  }
  sections.push(
    formatTable(
      'Options:',
      listOptions(command).map(({ option, meaning }) => [option, meaning]),
    ),
  );
  sections.push(
    ['Examples:', ...command.examples.flatMap((example) => formatExample(example, invocation))].join('\n'),
  );
  return `${sections.join('\n\n')}\n`;
}

const formatExample = ({ line, meaning }: CommandExample, invocation: string): readonly string[] => [
  `  ${invocation} ${line}`,
  `      ${wrap(meaning, '      ')}`,
];

/** One line for each command. */
export function formatCommandList(commands: readonly Command[]): string {
  return formatTable(
    'Commands:',
    commands.map(({ name, summary }) => [name, summary]),
  );
}

export function formatTable(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  const indent = ' '.repeat(width + 4);
  return [title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${wrap(right, indent)}`)].join(
    '\n',
  );
}

/** The first line is not indented, as other text may precede it. */
function wrap(text: string, indent: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => wrapWords(paragraph, WIDTH - indent.length).join(`\n${indent}`))
    .join(`\n\n${indent}`);
}
