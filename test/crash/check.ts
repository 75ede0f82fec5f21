/**
 * The promises, checked against the messages that the mail server accepted, the rows in the database and the answers that clients got.
 * Numbers I1 to I5 are those of docs/reliability.md. Only for a world that is healed and drained.
 */
import { type Answer, DOWN, type Exchange } from './load.ts';
import type { LedgerLine } from './smtp-counter.ts';

/** A row of `emails`. */
export interface EmailRow {
  readonly id: string;
  /** Without angle brackets. */
  readonly message_id: string;
  readonly state: string;
  readonly state_detail: string | null;
  readonly subject: string;
}

export interface Evidence {
  readonly exchanges: readonly Exchange[];
  readonly accepted: readonly LedgerLine[];
  readonly rows: readonly EmailRow[];
  /** A fault of the round may leave an email whose outcome can't be known. */
  readonly unknowable: boolean;
  /** Set when only kills of the service could do so: emails accepted long before a kill have left their evidence. */
  readonly kills: readonly number[] | null;
}

export interface Findings {
  readonly violations: readonly string[];
  /** Emails recorded as `unknown` that the mail server has, and those that it does not have. */
  readonly unknownAccepted: number;
  readonly unknownNotAccepted: number;
  readonly tally: ReadonlyMap<string, number>;
}

/** Statuses that promise that nothing was handed over. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'send_failed',
  'send_deferred',
  'database_unavailable',
  'storage_unavailable',
  'disk_full',
  'busy',
  'shutting_down',
  'thread_not_found',
  'rate_limited',
  // The time was in the future when the client wrote it.
  'invalid_send_at',
]);

/** States that no longer change by themselves. */
const FINAL: ReadonlySet<string> = new Set(['sent', 'failed', 'unknown', 'cancelled']);

/** Detail of an email whose process is silent; the process settles the email when it is back. */
const PROVISIONAL = 'the process that was sending fell silent';

/** True if, with every process back, nothing that happens by itself changes the email any more. */
export function isFinal({ state, state_detail: detail }: EmailRow): boolean {
  return FINAL.has(state) && !(state === 'unknown' && detail?.startsWith(PROVISIONAL) === true);
}

/** Longest time from the mail server's outcome until the journal has it, in ms, on a busy machine. */
const EVIDENCE_MS = 700;

export function checkEvidence(evidence: Evidence): Findings {
  const violations: string[] = [];
  const tally = new Map<string, number>();
  let unknownAccepted = 0;
  let unknownNotAccepted = 0;
  const accepted = groupBy(evidence.accepted, (line) => line.token);
  const rows = groupBy(evidence.rows, (row) => tokenOf(row.subject));
  const tokens = new Set(evidence.exchanges.map(({ request }) => request.token));
  for (const token of [...accepted.keys(), ...rows.keys()]) {
    if (!tokens.has(token)) violations.push(`I1 ${token}: no request asked for it`);
  }

  for (const exchange of evidence.exchanges) {
    const { token } = exchange.request;
    const lines = accepted.get(token) ?? [];
    const recorded = rows.get(token) ?? [];
    const row = recorded[0];
    const story = () => describe(exchange, lines, recorded);
    const fail = (text: string) => violations.push(`${text}: ${story()}`);

    if (lines.length > 1) fail('I3 accepted more than once');
    if (recorded.length > 1) fail('I1 recorded more than once');
    if (lines.length > 0 && row === undefined) fail('I1 accepted and not recorded');
    if (lines[0] !== undefined && row !== undefined) {
      if (lines[0].messageId !== `<${row.message_id}>`) fail('I1 recorded under another Message-ID');
      if (row.state !== 'sent' && row.state !== 'unknown') fail('I4 accepted, recorded otherwise');
    }
    if (row?.state === 'sent' && lines.length === 0) fail('I4 recorded as sent, not accepted');
    if (row !== undefined && !isFinal(row)) fail('I5 no final state');
    if (row?.state === 'unknown') {
      if (lines.length > 0) unknownAccepted += 1;
      else unknownNotAccepted += 1;
      if (!evidence.unknowable) fail('I1 unknown without a reason');
      const at = lines[0]?.at;
      if (at !== undefined && evidence.kills?.every((kill) => Math.abs(kill - at) > EVIDENCE_MS)) {
        fail('I1 unknown in spite of evidence');
      }
    }
    if (exchange.cancelled && (lines.length > 0 || row?.state !== 'cancelled'))
      fail('I4 cancelled, and sent');
    for (const answer of exchange.answers) {
      const name = nameAnswer(answer);
      tally.set(name, (tally.get(name) ?? 0) + 1);
      checkAnswer(answer, exchange, lines, row, fail);
    }
  }
  return { violations, unknownAccepted, unknownNotAccepted, tally };
}

function checkAnswer(
  { status, json, code }: Answer,
  exchange: Exchange,
  lines: readonly LedgerLine[],
  row: EmailRow | undefined,
  fail: (text: string) => unknown,
): void {
  const messageId = row === undefined ? null : `<${row.message_id}>`;
  const keyed = exchange.request.headers['idempotency-key'] !== undefined;
  switch (status) {
    case null:
      return;
    case 200:
      if (json['id'] !== row?.id || json['messageId'] !== messageId)
        fail('I2 200 with something else stored');
      if (lines.length !== 1) fail('I2 200 without acceptance');
      if (row?.state !== 'sent') fail('I2 200, not recorded as sent');
      return;
    case 202:
      if (json['id'] !== row?.id || json['messageId'] !== messageId)
        fail('I2 202 with something else stored');
      return;
    case 207:
      if (json['messageId'] !== messageId) fail('I2 207 with something else stored');
      if (lines.length !== 1) fail('I2 207 without acceptance');
      if (row?.state !== 'sent') fail('I2 207, not recorded as sent');
      return;
    default:
  }
  if (code === 'send_unknown') {
    if (row?.state !== 'unknown') fail('I4 answered as unknown, recorded otherwise');
  } else if (code.startsWith('idempotency_')) {
    if (!keyed) fail('I2 409 without a key');
  } else if (NOT_SENT.has(code)) {
    // A send that was not even tried may be sent by a repeat with the same key.
    // An asynchronous send whose commit lost its answer is asked again for five seconds, and then given up: docs.
    const doubtful = exchange.request.asynchronous && code === 'database_unavailable';
    const final = (!keyed && !doubtful) || code.startsWith('send_');
    if (lines.length > 0 && final) fail(`I4 answered ${code}, and accepted`);
    if (row?.state === 'sent' && final) fail(`I4 answered ${code}, and recorded as sent`);
  } else {
    fail(`I2 unexpected answer ${status} ${code}`);
  }
}

function nameAnswer({ status, code }: Answer): string {
  if (status !== null) return `${status} ${code}`.trim();
  return code.includes('ECONNREFUSED') || code === DOWN ? 'no connection' : 'no answer';
}

function describe(exchange: Exchange, lines: readonly LedgerLine[], rows: readonly EmailRow[]): string {
  const answers = exchange.answers.map(
    ({ status, code, node, from, to }) => `${node} ${status} ${code} ${from}+${to - from}ms`,
  );
  const stored = rows.map((row) => `${row.id} ${row.message_id} ${row.state} (${row.state_detail})`);
  const taken = lines.map((line) => `${line.messageId} at ${line.at}`);
  return JSON.stringify({ token: exchange.request.token, answers, stored, taken });
}

export function tokenOf(subject: string): string {
  return /crash-[\w-]+/.exec(subject)?.[0] ?? subject;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
