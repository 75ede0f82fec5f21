/** Rules on received mail in the API: /api/rules. */
import type { ErrorCode } from '../../core/error-registry.ts';
import { ServiceError } from '../../core/errors.ts';
import { MAX_RULES, type RuleSettings } from '../../core/rules/rule.ts';
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import type { Seen } from '../../platform/operation/seen-accounts.ts';
import type { Value } from '../../platform/operation/values.ts';
import { IF_THIS_VERSION, versionOf } from '../../platform/schemas/entry-version.ts';
import { record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { EmailFacts, StoredRule } from './rule-ports.ts';
import { newRuleFields, ruleFields, RuleList, RulePreviewSchema, RuleSchema } from './rule-schemas.ts';
import type { Rules } from './rules.ts';

/** All conditions and labels at their maximum length, with each UTF-16 unit written as `\uXXXX` in JSON. */
const MAX_RULE_BYTES = 128 * 1024;
const MAX_PREVIEWED = 500;
/** Each reads hundreds of emails. */
const MAX_PREVIEWS = 4;

const CreateBody = {
  type: 'object',
  title: 'RuleRequest',
  additionalProperties: false,
  required: ['name', 'account_ids', 'conditions', 'actions'],
  properties: newRuleFields,
} as const;

const ChangeBody = {
  type: 'object',
  title: 'RuleChange',
  additionalProperties: false,
  properties: ruleFields,
} as const;

const OrderBody = {
  type: 'object',
  title: 'RuleOrder',
  additionalProperties: false,
  required: ['rule_ids'],
  properties: {
    rule_ids: { type: 'array', maxItems: MAX_RULES, uniqueItems: true, items: Uuid },
  },
} as const;

const PreviewBody = {
  type: 'object',
  title: 'RulePreviewRequest',
  additionalProperties: false,
  required: ['account_ids', 'conditions'],
  properties: {
    account_ids: ruleFields.account_ids,
    match: ruleFields.match,
    conditions: ruleFields.conditions,
    last: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PREVIEWED,
      default: 200,
      description: 'How many of the newest received emails are looked at.',
    },
  },
} as const;

const params = { id: { ...Uuid, description: 'The rule.' } } as const;
const tag = 'Rules';

interface Deps {
  readonly rules: Rules;
}

const operation = operationsWith<Deps>();

/** A key sees the rules that concern its accounts alone. Throws `rule_not_found`. */
async function requireSeen(id: string, seen: Seen, { rules }: Deps): Promise<void> {
  if (seen.accounts === null) return;
  const { accounts } = await rules.read(id);
  if (accounts === null || !accounts.every((account) => seen.sees(account)))
    throw new ServiceError('rule_not_found');
}

/** Throws `forbidden_account`, `unknown_account`. */
async function requireGiven(accountIds: '*' | readonly string[] | undefined, seen: Seen): Promise<void> {
  if (accountIds === '*' && seen.accounts !== null) throw new ServiceError('forbidden_account');
  if (accountIds === undefined || accountIds === '*') return;
  for (const account of accountIds) await seen.requireNamed(account);
}

/** The account of one rule. */
const account = {
  async decide<Input extends { readonly id: string }>(input: Input, seen: Seen, deps: Deps): Promise<Input> {
    await requireSeen(input.id, seen, deps);
    return input;
  },
};

const NOT_FOUND = 'rule_not_found' satisfies ErrorCode;
const GIVEN = ['unknown_account', 'unknown_assignee'] as const satisfies readonly ErrorCode[];

export const ruleOperations = [
  operation({
    id: 'createRule',
    method: 'POST',
    path: '/api/rules',
    right: ['read', 'operate'],
    account: {
      async decide(input, seen) {
        await requireGiven(input.accountIds, seen);
        return input;
      },
    },
    tag,
    summary: 'Create a rule on received mail',
    description:
      'Judges each email that is received from now on, once, right after it is recorded. The new rule is judged after all others.',
    body: CreateBody,
    maxBodyBytes: MAX_RULE_BYTES,
    answer: 'The rule.',
    creates: true,
    output: RuleSchema,
    versionOf,
    errors: [...GIVEN, 'forbidden_account', 'too_many_rules'],
    act: { event: 'rule.created', what: ({ name }) => ({ name }), after: actFields },
    run: async (_caller, input, { rules }) =>
      toShown(await rules.create(toSettings({ match: 'all', ...input }))),
  }),

  operation({
    id: 'listRules',
    method: 'GET',
    path: '/api/rules',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List the rules on received mail',
    description: 'All of them, in the order in which they are judged.',
    answer: 'The rules.',
    output: RuleList,
    run: async (_caller, { within }, { rules }) => ({ rules: (await rules.list(within)).map(toShown) }),
  }),

  operation({
    id: 'orderRules',
    method: 'POST',
    path: '/api/rules/order',
    right: ['read', 'operate'],
    account: 'list',
    tag,
    summary: 'Order the rules on received mail',
    description:
      'Names all rules that the caller sees, in their new order. Those that it does not see keep their places among them.',
    body: OrderBody,
    maxBodyBytes: 64 * 1024,
    answer: 'The rules.',
    output: RuleList,
    errors: ['rules_changed', 'invalid_uuid'],
    act: {
      event: 'rules.ordered',
      what: ({ ruleIds }) => ({ rules: ruleIds.length }),
      after: ({ rules }) => ({ order: rules.map(({ id }) => id) }),
    },
    run: async (_caller, { ruleIds, within }, { rules }) => ({
      rules: (await rules.order(ruleIds, within)).map(toShown),
    }),
  }),

  operation({
    id: 'previewRule',
    method: 'POST',
    path: '/api/rules/preview',
    right: ['read', 'operate'],
    account: {
      async decide(input, seen) {
        // Of all accounts that the caller sees.
        if (input.accountIds === '*' && seen.accounts !== null)
          return { ...input, accountIds: seen.accounts };
        await requireGiven(input.accountIds, seen);
        return input;
      },
    },
    tag,
    summary: 'Preview a rule on received mail',
    description: 'Shows which of the newest received emails the rule would match. Nothing is changed.',
    body: PreviewBody,
    maxBodyBytes: MAX_RULE_BYTES,
    atOnce: MAX_PREVIEWS,
    answer: 'How many match, and some of them.',
    output: RulePreviewSchema,
    errors: ['unknown_account', 'busy', 'reading_unavailable', 'storage_unavailable'],
    async run(caller, { accountIds, match = 'all', conditions, last }, { rules }, signal) {
      const test = { accounts: accountIds === '*' ? null : accountIds, match, conditions };
      const { examples, ...counts } = await rules.preview(caller, test, { last, signal });
      return { ...counts, examples: examples.map(toExample) };
    },
  }),

  operation({
    id: 'getRule',
    method: 'GET',
    path: '/api/rules/:id',
    right: 'read',
    account,
    tag,
    summary: 'Read a rule on received mail',
    description: 'Its conditions and actions.',
    params,
    answer: 'The rule.',
    output: RuleSchema,
    versionOf,
    errors: [NOT_FOUND],
    run: async (_caller, { id }, { rules }) => toShown(await rules.read(id)),
  }),

  operation({
    id: 'changeRule',
    method: 'PATCH',
    path: '/api/rules/:id',
    // The answer shows what was stored before.
    right: ['read', 'operate'],
    account: {
      async decide(input, seen, deps) {
        await requireSeen(input.id, seen, deps);
        await requireGiven(input.accountIds, seen);
        return input;
      },
    },
    tag,
    summary: 'Change a rule on received mail',
    description:
      'Absent fields stay unchanged; `conditions` and `actions` are replaced as a whole. What the rule did before stays.',
    params,
    ifMatch: IF_THIS_VERSION,
    body: ChangeBody,
    maxBodyBytes: MAX_RULE_BYTES,
    answer: 'The rule.',
    output: RuleSchema,
    versionOf,
    errors: [...GIVEN, 'forbidden_account', NOT_FOUND, 'rule_changed'],
    act: {
      event: 'rule.changed',
      what: ({ id, version, ...change }) => ({ ruleId: id, version, fields: Object.keys(change) }),
      before: async ({ id }, { rules }) => actFields(toShown(await rules.read(id))),
      after: actFields,
    },
    run: async (_caller, { id, version, ...change }, { rules }) =>
      toShown(await rules.change(id, version, toSettings(change))),
  }),

  operation({
    id: 'deleteRule',
    method: 'DELETE',
    path: '/api/rules/:id',
    right: 'operate',
    account,
    tag,
    summary: 'Delete a rule on received mail',
    description: 'What it did stays. Needs no body; a body with fields is refused.',
    params,
    ifMatch: IF_THIS_VERSION,
    answer: 'Deleted.',
    output: record('DeletedRule', { rule_id: Uuid, deleted_at: Timestamp }),
    errors: [NOT_FOUND, 'rule_changed'],
    act: {
      event: 'rule.deleted',
      what: ({ id, version }) => ({ ruleId: id, version }),
      before: async ({ id }, { rules }) => actFields(toShown(await rules.read(id))),
      after: () => null,
    },
    run: async (_caller, { id, version }, { rules }) => ({
      ruleId: id,
      deletedAt: await rules.delete(id, version),
    }),
  }),
];

type Shown = Value<typeof RuleSchema>;
type Given = Partial<Omit<Shown, 'id' | 'version' | 'createdAt' | 'updatedAt'>>;

/** The accounts as the code names them. */
const toSettings = <Fields extends Given>({
  accountIds,
  ...fields
}: Fields): Omit<Fields, 'accountIds'> & Pick<RuleSettings, 'accounts'> =>
  ({
    ...fields,
    ...(accountIds === undefined ? {} : { accounts: accountIds === '*' ? null : accountIds }),
  }) as Omit<Fields, 'accountIds'> & Pick<RuleSettings, 'accounts'>;

function toShown({ accounts, ...rule }: StoredRule): Shown {
  return { ...rule, accountIds: accounts ?? '*' } as Shown;
}

const toExample = ({ emailId, threadId, accountId, shownFrom, subject, date }: EmailFacts) => ({
  emailId,
  threadId,
  accountId,
  fromAddress: shownFrom,
  subject,
  date,
});

/** Without its conditions, which name people. */
function actFields({ id, name, active, accountIds, version }: Shown): ActFields {
  return { id, name, active, accounts: accountIds === '*' ? null : accountIds, version };
}
