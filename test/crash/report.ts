/** Adds up the findings of the rounds, as a table for people. */
import type { RoundResult } from './round.ts';

export interface Report {
  add(setup: string, result: RoundResult): void;
  /** One of the totals, such as `requests`; 0 when there is none. */
  total(name: string): number;
  /** Lines with line ends. */
  format(): string;
}

export function createReport(): Report {
  const totals = new Map<string, number>();
  const faults = new Map<string, number>();
  const answers = new Map<string, number>();
  const count = (map: Map<string, number>, name: string, by = 1) => map.set(name, (map.get(name) ?? 0) + by);
  return {
    add(setup, { findings, ...result }) {
      count(totals, `rounds, ${setup}`);
      count(totals, 'requests', result.requests);
      count(totals, 'messages accepted by the mail server', result.accepted);
      count(totals, 'events that webhooks posted again', result.postedAgain);
      count(totals, 'copies in the Sent mailbox', result.copies);
      count(totals, 'unknown, and accepted', findings.unknownAccepted);
      count(totals, 'unknown, and not accepted', findings.unknownNotAccepted);
      for (const [kind, times] of Object.entries(result.claims)) count(totals, `claims ${kind}`, times);
      count(totals, 'violations', result.violations.length);
      for (const name of result.faults) count(faults, name);
      for (const [name, times] of findings.tally) count(answers, name, times);
    },
    total: (name) => totals.get(name) ?? 0,
    format: () =>
      [
        formatTable('Totals', totals, false),
        formatTable('Faults', faults, true),
        formatTable('Answers', answers, true),
      ].join('\n'),
  };
}

function formatTable(title: string, rows: ReadonlyMap<string, number>, sorted: boolean): string {
  const entries = [...rows];
  if (sorted) entries.sort(([a], [b]) => a.localeCompare(b));
  const lines = entries.map(([name, value]) => `| ${name} | ${value.toLocaleString('en')} |`);
  return [`| ${title} | |`, '| --- | ---: |', ...lines, ''].join('\n');
}
