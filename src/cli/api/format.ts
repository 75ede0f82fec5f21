/** How commands print values from the API: addresses, moments and sizes. */
import { printable, type Output } from '../output.ts';
import { formatColumns, type Column } from '../table.ts';
import { UsageError } from '../command.ts';
import { formatSeconds } from '../../core/durations.ts';

export interface AddressJson {
  readonly name: string;
  readonly address: string;
}

/** `1 file`, `2 files`; only for nouns with a plural in s. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** To the minute, in UTC: `2026-01-31 12:00`. */
export function formatMoment(timestamp: string): string {
  return timestamp.slice(0, 16).replace('T', ' ');
}

/** The time until then: `in 5 min`, or `now` when it has passed. */
export function formatUntil(timestamp: string): string {
  const seconds = (Date.parse(timestamp) - Date.now()) / 1000;
  return seconds <= 0 ? 'now' : `in ${formatSeconds(seconds)}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const exponent = Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** exponent;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${['B', 'kB', 'MB', 'GB', 'TB'][exponent] ?? ''}`;
}

/** One JSON object. Characters that could steer a terminal are escaped, which keeps its meaning. */
export function printJson(output: Output, value: unknown): void {
  output.print(printable(JSON.stringify(value)));
}

export interface Listing<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The line for standard error when there are no entries. */
  readonly none: string;
  readonly asJson: boolean;
}

export function printListing<Row>(output: Output, { rows, columns, none, asJson }: Listing<Row>): void {
  if (asJson) for (const row of rows) printJson(output, row);
  else if (rows.length === 0) output.note(none);
  else for (const line of formatColumns(columns, rows, output)) output.print(line);
}

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

export const LIMIT_OPTION = {
  limit: {
    type: 'string',
    value: 'number',
    meaning: `Maximum number of results. Default: ${DEFAULT_LIMIT}.`,
  },
} as const;

export function readLimit(text: string | undefined): number {
  const limit = text === undefined ? DEFAULT_LIMIT : /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) {
    throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return limit;
}

/** All items, in order. */
export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
