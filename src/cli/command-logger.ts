/** The log of a command: text for a person, on standard error. */
import type { Logger } from '../platform/base/basics.ts';
import { formatError } from '../core/causes.ts';
import { printable, type Output } from './output.ts';

/** Prints errors and warnings; with `verbose` all other lines too. */
export function createCommandLogger(output: Output, verbose: boolean): Logger {
  const write = (level: string) => (fields: object, message: string) => {
    output.note(printable([`${level}: ${message}`, ...Object.entries(fields).map(formatField)].join(' ')));
  };
  const nothing = () => undefined;
  return {
    error: write('error'),
    warn: write('warning'),
    info: verbose ? write('info') : nothing,
    debug: verbose ? write('debug') : nothing,
  };
}

function formatField([name, value]: [string, unknown]): string {
  if (value instanceof Error) return `${name}=${formatError(value)}`;
  return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
}
