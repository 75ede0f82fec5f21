/** `email-worker rules`: lists the rules on received mail, and switches one on or off. */
import { path } from '../../api/mcp/api-call.ts';
import { defineCommand, UsageError } from '../command.ts';
import type { Column } from '../table.ts';
import { parseUuid } from '../values.ts';
import { printJson, printListing } from './format.ts';
import { API_OPTIONS, openApi } from './service-api.ts';

interface RuleJson {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly account_ids: '*' | readonly string[];
  readonly conditions: readonly unknown[];
  readonly actions: Readonly<Record<string, unknown>>;
}

const ACTIONS = ['list', 'on', 'off'] as const;

const COLUMNS: readonly Column<RuleJson>[] = [
  { title: 'RULE', value: ({ id }) => id },
  {
    title: 'STATE',
    value: ({ active }) => (active ? 'on' : 'off'),
    style: ({ active }) => (active ? 'green' : 'yellow'),
  },
  { title: 'NAME', value: ({ name }) => name, shrinks: true },
  {
    title: 'ACCOUNTS',
    value: ({ account_ids: ids }) => (ids === '*' ? '*' : ids.join(', ')),
    shrinks: true,
  },
  { title: 'CONDITIONS', value: ({ conditions }) => conditions.length, right: true },
  { title: 'ACTIONS', value: ({ actions }) => Object.keys(actions).join(', '), shrinks: true },
];

export const rulesCommand = defineCommand({
  name: 'rules',
  summary: 'Lists the rules on received mail, and switches them on and off.',
  description:
    '`list`, the default, shows all rules in the order in which they judge. `off` makes a rule judge nothing until `on`. ' +
    'Needs a running service.',
  arguments: [
    {
      name: 'action',
      meaning: '`list`, `on` or `off`. Default: `list`.',
      required: false,
      repeated: false,
      completes: ACTIONS,
    },
    { name: 'id', meaning: 'Id of the rule, for `on` and `off`.', required: false, repeated: false },
  ],
  options: API_OPTIONS,
  examples: [
    { line: 'rules', meaning: 'Lists all rules.' },
    {
      line: 'rules off 0199d2c8-5e14-7a93-8b06-4f7d21c9e0a5',
      meaning: 'Switches a rule off that does what it should not.',
    },
  ],
  async run({ url, json = false }, [action = 'list', id], context) {
    if (!ACTIONS.some((known) => known === action)) {
      throw new UsageError(`the action must be one of ${ACTIONS.join(', ')}`);
    }
    const { output } = context;
    if (action === 'list') {
      if (id !== undefined) throw new UsageError(`unexpected argument ${id}`);
      const api = await openApi(url, context);
      const { rules } = await api.ask<{ readonly rules: readonly RuleJson[] }>({
        method: 'GET',
        path: path('api', 'rules'),
      });
      printListing(output, { rows: rules, columns: COLUMNS, none: 'there are no rules', asJson: json });
      return 'done';
    }
    if (id === undefined) throw new UsageError('the id of the rule is missing; rules list shows it');
    const rulePath = path('api', 'rules', parseUuid('<id>', id));
    const api = await openApi(url, context);
    const rule = await api.ask<RuleJson>({
      method: 'PATCH',
      path: rulePath,
      body: { active: action === 'on' },
    });
    if (json) printJson(output, rule);
    else output.print(`${rule.id} is ${rule.active ? 'on' : 'off'}`);
    return 'done';
  },
});
