/** `email-worker doctor`: checks everything that the service depends on, and advises what to do. */
import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/config.ts';
import { defineCommand } from '../command.ts';
import { formatError } from '../../core/causes.ts';
import { formatCount, printJson } from '../api/format.ts';
import { printable, type Output } from '../output.ts';
import { createResolver } from '../resolver.ts';
import { paint, type Style } from '../table.ts';
import { wrapWords } from '../wrap-words.ts';
import { AREAS, type Grade } from '../../service/finding.ts';
import type { AreaFinding } from './run-checks.ts';

const STYLES: Readonly<Record<Grade, Style>> = { ok: 'green', warning: 'yellow', problem: 'red' };

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Checks everything that the service depends on, and suggests what to do.',
  description:
    'Checks configuration, program, data folder, database, storage, mail servers, DNS of the senders, listeners and pending ' +
    'work. All checks run at the same time, each for at most 20 seconds, and change nothing, except that a test file is written ' +
    'and deleted. The service may run or not; without it, an embedded database is started for the check.\n\n' +
    'A `problem` does not work or loses mail; the exit code is then 1. A `warning` works, but is less safe or less durable than ' +
    'it could be.',
  arguments: [],
  options: {
    resolver: {
      type: 'string',
      value: 'address',
      meaning:
        'DNS server, such as 1.1.1.1 or 127.0.0.1:5353. Default: DNS_SERVERS, or that of this machine.',
    },
    quiet: { type: 'boolean', meaning: 'Prints only problems and warnings.' },
    json: {
      type: 'boolean',
      meaning:
        'Prints one JSON object: `problems`, `warnings`, and `findings` with `area`, `grade`, `text` and `advice`.',
    },
  },
  examples: [
    { line: 'doctor', meaning: 'Checks everything.' },
    {
      line: 'doctor --json | jq \'.findings[] | select(.grade == "problem")\'',
      meaning: 'Prints the problems for a program.',
    },
  ],
  async run({ resolver, quiet = false, json = false }, _positionals, context) {
    const { output, signal, logger } = context;
    const named = resolver === undefined ? [] : [resolver];
    createResolver(named);
    // Loaded only here: it needs the libraries of everything that it examines.
    const { examine } = await import('./examine.ts');
    const findings = await examine(
      readConfig(() => context.config),
      { set: Object.keys(process.env), resolver: named, logger, signal },
    );
    signal.throwIfAborted();
    const count = (grade: Grade) => findings.filter((finding) => finding.grade === grade).length;
    const shown = sorted(quiet ? findings.filter(({ grade }) => grade !== 'ok') : findings);
    if (json) printJson(output, { problems: count('problem'), warnings: count('warning'), findings: shown });
    else {
      print(output, shown);
      output.print(summaryOf(count('problem'), count('warning'), count('ok')));
    }
    return count('problem') > 0 ? 'failed' : 'done';
  },
});

/** The configuration, or as text what is wrong with it: that is a finding too. */
function readConfig(read: () => Config): Config | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return formatError(error);
    throw error;
  }
}

/** By area; the worst findings of an area come first. */
function sorted(findings: readonly AreaFinding[]): readonly AreaFinding[] {
  const grades: readonly Grade[] = ['problem', 'warning', 'ok'];
  return [...findings].sort(
    (one, other) =>
      AREAS.indexOf(one.area) - AREAS.indexOf(other.area) ||
      grades.indexOf(one.grade) - grades.indexOf(other.grade),
  );
}

function print(output: Output, findings: readonly AreaFinding[]): void {
  let area: string | null = null;
  for (const finding of findings) {
    if (finding.area !== area) {
      if (area !== null) output.print('');
      area = finding.area;
      output.print(paint(output, 'bold', area));
    }
    const mark = paint(output, STYLES[finding.grade], finding.grade.padEnd('problem'.length));
    const [first, ...more] = linesBeside(printable(finding.text), output.columns);
    output.print(`  ${mark}  ${first}`);
    for (const line of more) output.print(`${INDENT}${line}`);
    if (finding.advice === null) continue;
    linesBeside(printable(finding.advice), output.columns, 2).forEach((line, at) => {
      output.print(`${INDENT}${paint(output, 'dim', at === 0 ? '→ ' : '  ')}${line}`);
    });
  }
  if (findings.length > 0) output.print('');
}

/** The indentation of the lines below a finding's text. */
const INDENT = ' '.repeat('  problem  '.length);
const MIN_TEXT_COLUMNS = 20;

/** Lines that fit beside the indentation; one line when the output is not a terminal. */
function linesBeside(text: string, columns: number | null, less = 0): readonly [string, ...string[]] {
  if (columns === null) return [text];
  return wrapWords(text, Math.max(MIN_TEXT_COLUMNS, columns - INDENT.length - less));
}

function summaryOf(problems: number, warnings: number, fine: number): string {
  if (problems + warnings === 0) return `all is well: ${formatCount(fine, 'check')}`;
  return `${formatCount(problems, 'problem')}, ${formatCount(warnings, 'warning')}; ${fine} are fine`;
}
