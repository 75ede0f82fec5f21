/** The results of a measurement, in words and, with `BENCH_RESULTS` set, as a line of JSON in that file; see report.mjs. */
import { appendFileSync } from 'node:fs';

/** The number and the length of rounds, unless a measurement needs others. */
export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** The median, and the range. */
export const spread = (values, digits = 2) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;

/** Medians of some measurements, by their names. */
export const medians = (rounds, names) =>
  Object.fromEntries(
    Object.entries(names).map(([key, name]) => [name, median(rounds.map((round) => round[key]))]),
  );

/**
 * One figure of the service beside its baseline, each as one value per round of the same run.
 * @param {object} row
 * @param {string} row.part   the measurement it belongs to: `send`, `read` …
 * @param {string} row.what   the operation
 * @param {string} row.baseline  the program or method it is compared with
 * @param {string} [row.unit] of the values; `/s` is a rate, where more is better; with other units less is better
 * @param {number[]} row.theirs
 * @param {number[]} row.ours
 * @param {number} [row.goal]  the wanted ratio of ours to theirs
 * @param {{ theirs?: Record<string, number>, ours: Record<string, number> }} [row.cpu]  CPU time of each process for one operation, in ms
 */
export function record(row) {
  const { what, baseline, unit = '/s', theirs, ours, goal = null, cpu = null } = row;
  const ratio = median(ours) / median(theirs);
  const list = (values) => `${format(median(values))}${unit} (${values.map(format).join(' ')})`;
  const spent = (side) => {
    const parts = Object.entries(cpu?.[side] ?? {}).map(([name, ms]) => `${name} ${ms.toFixed(3)}`);
    return parts.length === 0 ? '' : `; CPU ms each: ${parts.join(', ')}`;
  };
  console.log(`${what}, against ${baseline}`);
  console.log(`  baseline ${list(theirs)}${spent('theirs')}`);
  console.log(`  service  ${list(ours)}${spent('ours')}`);
  console.log(`  ratio    ${ratio.toFixed(2)}${goal === null ? '' : ` (goal ${goal})`}`);
  if (process.env.BENCH_RESULTS !== undefined) {
    appendFileSync(process.env.BENCH_RESULTS, `${JSON.stringify({ ...row, unit, ratio, goal, cpu })}\n`);
  }
}

const format = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
