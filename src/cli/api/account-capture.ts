/** `email-worker accounts preview`, `apply`, `removal` and `stop-removal`: rules for what is recorded, and the past. */
import { path, type ApiRequest } from '../../api/mcp/api-call.ts';
import { UsageError, type CommandResult } from '../command.ts';
import { printable, type Output } from '../output.ts';
import { formatColumns, type Column } from '../table.ts';
import { BoundedInput } from './bounded-input.ts';
import { formatBytes, formatCount, formatMoment, printJson, type AddressJson } from './format.ts';
import type { ServiceApi } from './service-api.ts';

export const CAPTURE_ACTIONS = ['preview', 'apply', 'removal', 'stop-removal'] as const;
export type CaptureAction = (typeof CAPTURE_ACTIONS)[number];

export const isCaptureAction = (action: string): action is CaptureAction =>
  CAPTURE_ACTIONS.some((known) => known === action);

export interface CaptureOptions {
  /** A file with proposed rules. */
  readonly rules: string | undefined;
  /** The number of emails that is confirmed, and the version of the account whose rules leave them out. */
  readonly emails: string | undefined;
  readonly version: string | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
}

type Counts = Readonly<Record<string, number>>;

interface EmailJson {
  readonly date: string;
  readonly from_address: AddressJson;
  readonly subject: string;
  readonly reason: string;
  readonly stays: string | null;
}

interface PreviewJson {
  readonly judged: number;
  readonly kept: number;
  readonly not_from_mailbox: number;
  readonly unknown: number;
  readonly left_out: Counts;
  readonly staying: Counts;
  readonly removable: number;
  readonly removable_bytes: number;
  readonly emptied_threads: number;
  readonly emails: readonly EmailJson[];
  readonly next_cursor: string | null;
}

interface RemovalJson {
  readonly state: string;
  readonly confirmed: number;
  readonly judged: number;
  readonly found: number;
  readonly removed: Counts;
  readonly kept: number;
}

/** Emails judged for one answer. */
const JUDGED_AT_ONCE = 1000;
/** Emails that are shown. */
const EXAMPLES = 20;
/** Far more than rules at their maximum have. */
const MAX_INPUT_BYTES = 1024 * 1024;

const EMAILS: readonly Column<EmailJson>[] = [
  { title: 'DATE', value: ({ date }) => formatMoment(date) },
  { title: 'FROM', value: ({ from_address: from }) => from.address, shrinks: true },
  { title: 'SUBJECT', value: ({ subject }) => subject, shrinks: true },
  { title: 'REASON', value: ({ reason }) => reason },
  { title: 'STAYS', value: ({ stays }) => stays },
];

/** Throws UsageError. */
export function checkCaptureOptions(
  action: string,
  { rules, emails, version, dryRun }: CaptureOptions,
): void {
  if (rules !== undefined && action !== 'preview') throw new UsageError('--rules belongs to preview');
  if (emails !== undefined && action !== 'apply') throw new UsageError('--emails belongs to apply');
  if (version !== undefined && action !== 'apply') throw new UsageError('--version belongs to apply');
  if (dryRun && action !== 'apply') throw new UsageError('--dry-run belongs to apply');
  if (action === 'apply' && (emails === undefined || !/^[1-9]\d{0,8}$/.test(emails)))
    throw new UsageError('--emails must be the number that preview shows, at least 1');
  if (action === 'apply' && (version === undefined || !/^[1-9]\d{0,8}$/.test(version)))
    throw new UsageError('--version must be the version of the account that preview shows');
}

export async function runCaptureAction(
  api: ServiceApi,
  output: Output,
  {
    action,
    id,
    options,
  }: { readonly action: CaptureAction; readonly id: string; readonly options: CaptureOptions },
): Promise<CommandResult> {
  if (action === 'preview') return await preview(api, output, id, options);
  const removal = await api.ask<RemovalJson>(requestOf(action, id, options));
  if (options.json) printJson(output, removal);
  else printRemoval(output, removal);
  return removal.state === 'refused' ? 'failed' : 'done';
}

/** All pages; with `json` each of them as it is. */
async function preview(
  api: ServiceApi,
  output: Output,
  id: string,
  { rules, json }: CaptureOptions,
): Promise<CommandResult> {
  const body = rules === undefined ? {} : { capture: await readRules(rules) };
  // Before it is judged: a change meanwhile makes another version.
  const { version } = await api.ask<{ readonly version: number }>({
    method: 'GET',
    path: path('api', 'accounts', id),
  });
  const examples: EmailJson[] = [];
  const sums = new Map<string, number>();
  const add = (name: string, count: number) => sums.set(name, (sums.get(name) ?? 0) + count);
  const sumOf = (name: string) => sums.get(name) ?? 0;
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page: PreviewJson = await api.ask<PreviewJson>({
      method: 'POST',
      path: path('api', 'accounts', id, 'capture', 'preview'),
      query: { limit: JUDGED_AT_ONCE, ...(cursor === null ? {} : { cursor }) },
      body,
    });
    cursor = page.next_cursor;
    if (json) {
      printJson(output, page);
      continue;
    }
    examples.push(...page.emails.slice(0, EXAMPLES - examples.length));
    for (const name of [
      'judged',
      'kept',
      'not_from_mailbox',
      'unknown',
      'removable',
      'removable_bytes',
      'emptied_threads',
    ] as const)
      add(name, page[name]);
    for (const [reason, count] of Object.entries(page.left_out)) add(`left out: ${reason}`, count);
    for (const [reason, count] of Object.entries(page.staying)) add(`of these stay: ${reason}`, count);
  }
  if (json) return 'done';
  output.print(`${formatCount(sumOf('judged'), 'email')} judged`);
  output.print(`kept by the rules: ${sumOf('kept')}`);
  output.print(`not from a mailbox: ${sumOf('not_from_mailbox')}`);
  output.print(`kept in doubt: ${sumOf('unknown')}`);
  for (const [name, count] of sums) if (name.includes(': ') && count > 0) output.print(`${name}: ${count}`);
  output.print(
    `to be removed: ${sumOf('removable')} (${formatBytes(sumOf('removable_bytes'))}), which ends ${formatCount(sumOf('emptied_threads'), 'thread')}`,
  );
  if (examples.length > 0) for (const line of formatColumns(EMAILS, examples, output)) output.print(line);
  const removable = sumOf('removable');
  if (rules === undefined && removable > 0)
    output.print(
      printable(`to remove them: accounts apply ${id} --version ${version} --emails ${removable}`),
    );
  return 'done';
}

function requestOf(
  action: Exclude<CaptureAction, 'preview'>,
  id: string,
  { emails, version, dryRun }: CaptureOptions,
): ApiRequest {
  const place = path('api', 'accounts', id, 'capture', 'removal');
  if (action === 'removal') return { method: 'GET', path: place };
  if (action === 'stop-removal') return { method: 'POST', path: `${place}/stop` };
  return {
    method: 'POST',
    path: place,
    query: { dry_run: dryRun },
    ifMatch: `"${String(version)}"`,
    body: { emails: Number(emails) },
  };
}

function printRemoval(output: Output, { state, confirmed, judged, found, removed, kept }: RemovalJson): void {
  const sum = Object.values(removed).reduce((total, count) => total + count, 0);
  output.print(printable(`${state}: ${formatCount(confirmed, 'email')} confirmed`));
  if (state === 'checked') return;
  output.print(`${judged} judged, ${found} found, ${sum} removed, ${kept} kept`);
}

/** Throws UsageError. */
async function readRules(file: string): Promise<object | null> {
  const text = (await new BoundedInput(MAX_INPUT_BYTES, 'the rules').readFile(file)).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('the rules are not JSON');
  }
  if (typeof value !== 'object' || Array.isArray(value))
    throw new UsageError('the rules must be one JSON object, as `capture` of ACCOUNTS_FILE');
  return value;
}
