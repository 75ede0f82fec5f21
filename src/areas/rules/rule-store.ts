/** `RuleStore` on PostgreSQL. Changes take turns: each locks the one row of `mail_rule_clock`, so that no two rules get one place. */
import { isDeepStrictEqual } from 'node:util';
import type { Pool, PoolClient } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import { MAX_RULES, type RuleSettings } from '../../core/rules/rule.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { run, statement, type Executor, type RowOf } from '../../platform/db/statement.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { requireAssignee } from '../threads/assignees.ts';
import type { RuleRefusal, RuleStore, StoredRule } from './rule-ports.ts';

export function createRuleStore(pool: Pool): RuleStore {
  const changing = <T>(work: (client: PoolClient) => Promise<T>): Promise<T> =>
    inTransaction(pool, async (client) => {
      await run(client, NEXT_VERSION);
      return work(client);
    });

  /** The reason why a statement found nothing to change. */
  async function refusalOf(client: Executor, id: string): Promise<RuleRefusal> {
    const [row] = await run(client, READ, { id });
    return row === undefined ? { kind: 'not_found' } : { kind: 'changed', version: row.version };
  }

  return {
    create: (id, settings) =>
      changing(async (client) => {
        const [count] = await run(client, COUNT);
        if ((count?.rules ?? 0) >= MAX_RULES) {
          throw new ServiceError('too_many_rules', { values: { limit: MAX_RULES } });
        }
        await requireAssignees(client, settings);
        await run(client, CREATE, { id, ...toValues(settings) });
      }),

    async read(id) {
      const [row] = await run(pool, READ, { id });
      return row === undefined ? null : toRule(row);
    },

    list: (within) => listRules(pool, within),

    change: (id, old, settings) =>
      changing(async (client) => {
        // One whose key was revoked since can still be switched off.
        if (!isDeepStrictEqual(assigns(settings), assigns(old))) await requireAssignees(client, settings);
        const rows = await run(client, CHANGE, { id, version: old.version, ...toValues(settings) });
        return rows.length === 0 ? refusalOf(client, id) : { kind: 'done' };
      }),

    delete: (id, version) =>
      changing(async (client) => {
        const [row] = await run(client, DELETE, { id, version });
        return row === undefined ? refusalOf(client, id) : { kind: 'done', at: row.deleted_at };
      }),

    order: (ids, within) =>
      changing(async (client) => {
        const own = (await listRules(client, within)).map(({ id }) => id);
        const wanted = new Set(ids);
        if (ids.length !== own.length || own.some((id) => !wanted.has(id))) return false;
        await run(client, ORDER, { ids: [...ids], own });
        return true;
      }),
  };
}

/** In their order. @param within null: all */
export async function listRules(
  executor: Executor,
  within: readonly string[] | null,
): Promise<readonly StoredRule[]> {
  return (await run(executor, LIST, { within: within === null ? null : [...within] })).map(toRule);
}

/** Whom a rule assigns where, for comparison. */
const assigns = ({ accounts, actions: { assignee } }: RuleSettings) => ({ assignee, accounts });

/** For all accounts, the key has to be known in at least one: which account an email comes to is seen when the rule acts. */
async function requireAssignees(
  client: Executor,
  { accounts, actions: { assignee } }: RuleSettings,
): Promise<void> {
  if (assignee === undefined) return;
  for (const accountId of accounts ?? [null]) await requireAssignee(client, assignee, accountId);
}

const toValues = (settings: RuleSettings) => ({
  name: settings.name,
  active: settings.active,
  accounts: settings.accounts === null ? null : [...settings.accounts],
  historical: settings.historical,
  match: settings.match,
  conditions: toStorableJson(settings.conditions),
  actions: toStorableJson(settings.actions),
  stop: settings.stop,
});

const COLUMNS = `id, name, is_active, account_ids, is_for_historical, match, conditions, actions, stops, version, created_at,
  updated_at`;

const NEXT_VERSION = statement('next-rules-version', 'update mail_rule_clock set version = version + 1');

const COUNT = statement('count-rules', 'select count(*)::int as rules from mail_rules').narrow<{
  rules: number;
}>();

const CREATE = statement(
  'create-rule',
  `insert into mail_rules (id, place, name, is_active, account_ids, is_for_historical, match, conditions, actions, stops)
  select $id, (select coalesce(max(place), 0) + 1 from mail_rules), $name, $active, $accounts::text[], $historical, $match,
    $conditions::jsonb, $actions::jsonb, $stop`,
);

const READ = statement('read-rule', `select ${COLUMNS} from mail_rules where id = $id`);

const LIST = statement(
  'list-rules',
  `select ${COLUMNS} from mail_rules
  where $within::text[] is null or account_ids <@ $within
  order by place, id`,
);

const CHANGE = statement(
  'change-rule',
  `update mail_rules set name = $name, is_active = $active, account_ids = $accounts::text[], is_for_historical = $historical,
    match = $match, conditions = $conditions::jsonb, actions = $actions::jsonb, stops = $stop, version = version + 1,
    updated_at = clock_timestamp()
  where id = $id and ($version::int is null or version = $version)
  returning id`,
);

const DELETE = statement(
  'delete-rule',
  'delete from mail_rules where id = $id and ($version::int is null or version = $version) returning clock_timestamp() as deleted_at',
).narrow<{ deleted_at: Date }>();

/** The places that the rules `own` have, in their order, go to `ids`. */
const ORDER = statement(
  'order-rules',
  `update mail_rules r set place = p.place
  from unnest($ids::uuid[]) with ordinality n (id, ordinal)
  join (
    select place, row_number() over (order by place, id) as ordinal from mail_rules where id = any ($own::uuid[])
  ) p on p.ordinal = n.ordinal
  where r.id = n.id and r.place <> p.place`,
);

function toRule(row: RowOf<typeof READ>): StoredRule {
  return {
    id: row.id,
    name: row.name,
    active: row.is_active,
    accounts: row.account_ids,
    historical: row.is_for_historical,
    match: row.match,
    conditions: row.conditions,
    actions: row.actions,
    stop: row.stops,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
