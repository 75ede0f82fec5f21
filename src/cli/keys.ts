/** `email-worker keys`: makes, lists, changes, revokes and rotates API keys. */
import { userInfo } from 'node:os';
import { createKeyStore } from '../areas/keys/key-store.ts';
import { createUsedAccounts } from '../areas/accounts/used-accounts.ts';
import { createKeys, type Keys } from '../areas/keys/manage-keys.ts';
import { toKeyJson } from '../areas/keys/operations.ts';
import { withEverything, type Caller } from '../core/keys/caller.ts';
import { RIGHTS, type Right } from '../core/keys/rights.ts';
import type { OpenData } from '../service/open-data.ts';
import { defineCommand, UsageError, type CommandResult } from './command.ts';
import type { Output } from './output.ts';
import type { Column } from './table.ts';
import { formatMoment, printJson, printListing } from './api/format.ts';
import { parseDate } from './values.ts';

const DEFAULT_OVERLAP_HOURS = 24;
const PAGE = 200;

export const keysCommand = defineCommand({
  name: 'keys',
  summary: 'Creates, lists, changes, revokes and rotates API keys.',
  description:
    '`create` and `rotate` print the key, `ewk_…`, as the only line of the result; it is not stored and is shown only once. ' +
    '`list` prints each key with its rights, accounts, expiry and last use (UTC), never its secret. A revoked key stops working ' +
    'within two seconds. The service may run meanwhile.',
  arguments: [
    {
      name: 'action',
      meaning: '`create`, `list`, `change`, `revoke` or `rotate`.',
      required: true,
      repeated: false,
      completes: ['create', 'list', 'change', 'revoke', 'rotate'],
    },
    { name: 'id', meaning: 'Id of the key to change, revoke or rotate.', required: false, repeated: false },
  ],
  options: {
    name: {
      type: 'string',
      value: 'text',
      meaning: 'create, change: name of the key.',
    },
    right: {
      type: 'string',
      value: 'right',
      multiple: true,
      completes: RIGHTS,
      meaning: `Of a new key, one of ${RIGHTS.join(', ')}; may be given several times.`,
    },
    account: {
      type: 'string',
      value: 'id',
      multiple: true,
      meaning:
        'Limits the new key to this account; may be given several times. Either this or --all-accounts.',
    },
    'all-accounts': {
      type: 'boolean',
      meaning: 'The new key is for all accounts, including future ones.',
    },
    'rate-limit': {
      type: 'string',
      value: 'requests',
      meaning:
        'create, change: maximum requests per minute in each process; `default`: HTTP_RATE_PER_MINUTE.',
    },
    expires: {
      type: 'string',
      value: 'time',
      meaning: 'Expiry of the new key, such as 2027-01-31T12:00:00Z. Default: never.',
    },
    overlap: {
      type: 'string',
      value: 'hours',
      meaning: `How long the secret before a rotation is accepted as well, 0 to 720. Default: ${DEFAULT_OVERLAP_HOURS}.`,
    },
    json: {
      type: 'boolean',
      meaning: 'list, change, revoke: prints JSON as the API returns it, one object a line.',
    },
  },
  examples: [
    {
      line: 'keys create --name crm --right read --right send --account sales',
      meaning: 'Creates a key for another program.',
    },
    { line: 'keys list', meaning: 'Lists all keys.' },
  ],
  async run(
    {
      name,
      right = [],
      account,
      'all-accounts': all = false,
      expires,
      'rate-limit': rateLimit,
      overlap = String(DEFAULT_OVERLAP_HOURS),
      json = false,
    },
    [action, id],
    { output, open },
  ): Promise<CommandResult> {
    const caller = withEverything({ kind: 'command', user: userInfo().username });
    switch (action) {
      case 'create': {
        if (name === undefined || right.length === 0) throw new UsageError('create needs --name and --right');
        if (all === (account !== undefined))
          throw new UsageError('create needs either --account or --all-accounts');
        const request = {
          name,
          rights: right.map(toRight),
          accounts: account ?? null,
          rateLimit: toRateLimit(rateLimit),
          expiresAt: toExpiry(expires),
        };
        const data = await open();
        for (const accountId of account ?? []) await checkAccount(data, accountId);
        output.print((await keysOf(data).create(caller, request)).secret);
        return 'done';
      }
      case 'list':
        await list(keysOf(await open()), caller, output, json);
        return 'done';
      case 'change': {
        if (name === undefined && rateLimit === undefined)
          throw new UsageError('change needs --name or --rate-limit');
        const change = {
          ...(name === undefined ? {} : { name }),
          ...(rateLimit === undefined ? {} : { rateLimit: toRateLimit(rateLimit) }),
        };
        const key = await keysOf(await open()).change(caller, needId(id), null, change);
        if (json) printJson(output, toKeyJson(key));
        else output.print(`${key.id} is changed`);
        return 'done';
      }
      case 'revoke': {
        const key = await keysOf(await open()).revoke(caller, needId(id), null);
        if (json) printJson(output, toKeyJson(key));
        else output.print(`${key.id} is revoked`);
        return 'done';
      }
      case 'rotate': {
        const keyId = needId(id);
        const hours = /^\d{1,3}$/.test(overlap) ? Number(overlap) : Infinity;
        if (hours > 720) throw new UsageError('--overlap must be a whole number of hours, 0 to 720');
        const { secret } = await keysOf(await open()).rotate(caller, keyId, hours * 3_600_000);
        output.print(secret);
        return 'done';
      }
      default:
        throw new UsageError('the action must be create, list, change, revoke or rotate');
    }
  },
});

const keysOf = ({ pool, clock, ids }: OpenData): Keys =>
  createKeys({ store: createKeyStore(pool), clock, ids });

async function checkAccount({ accounts, pool }: OpenData, accountId: string): Promise<void> {
  if (accounts.has(accountId) || (await createUsedAccounts(pool)(accountId))) return;
  throw new UsageError(`there is no account ${accountId}`);
}

function needId(id: string | undefined): string {
  if (id === undefined) throw new UsageError('the id of the key is missing; list shows it');
  // An operator often has the whole key, and not just its id.
  return /^ewk_([0-9a-z]{12})_/.exec(id)?.[1] ?? id;
}

function toRight(text: string): Right {
  const right = RIGHTS.find((known) => known === text);
  if (right === undefined) throw new UsageError(`--right must be one of ${RIGHTS.join(', ')}`);
  return right;
}

function toExpiry(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = parseDate('--expires', text);
  if (date <= new Date()) throw new UsageError('--expires must be in the future');
  return date;
}

function toRateLimit(text: string | undefined): number | null {
  if (text === undefined || text === 'default') return null;
  const limit = /^\d{1,8}$/.test(text) ? Number(text) : NaN;
  if (!(limit >= 1 && limit <= 10_000_000))
    throw new UsageError('--rate-limit must be a whole number from 1 to 10000000, or default');
  return limit;
}

async function list(keys: Keys, caller: Caller, output: Output, asJson: boolean): Promise<void> {
  const rows: KeyJson[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await keys.list(caller, { limit: PAGE, cursor });
    rows.push(...page.keys.map(toKeyJson));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  printListing(output, { rows, columns: COLUMNS, none: 'there are no keys', asJson });
}

type KeyJson = ReturnType<typeof toKeyJson>;

const isPast = (moment: string | null): boolean => moment !== null && Date.parse(moment) <= Date.now();

function standingOf({ revoked_at: revoked, expires_at: expires }: KeyJson): string {
  if (revoked !== null) return `revoked ${formatMoment(revoked)}`;
  if (expires === null) return 'good';
  return `${isPast(expires) ? 'expired' : 'good until'} ${formatMoment(expires)}`;
}

const COLUMNS: readonly Column<KeyJson>[] = [
  { title: 'KEY', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, shrinks: true },
  { title: 'RIGHTS', value: ({ rights }) => rights.join(', '), shrinks: true },
  {
    title: 'ACCOUNTS',
    value: ({ account_ids: ids }) => (ids === '*' ? 'all' : ids.join(', ')),
    shrinks: true,
  },
  {
    title: 'STANDING',
    value: standingOf,
    style: ({ revoked_at: revoked, expires_at: expires }) =>
      isPast(revoked) || isPast(expires) ? 'dim' : null,
  },
  {
    title: 'LAST USED',
    value: ({ last_used_at: used }) => (used === null ? 'never' : formatMoment(used)),
    spare: true,
  },
];
