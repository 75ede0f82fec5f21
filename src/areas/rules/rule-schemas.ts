/** Schemas of rules on received mail. */
import { WRITERS } from '../../core/delivery/writer.ts';
import { TRIMMED_LINE_PATTERN } from '../../core/one-line.ts';
import { MAX_CONDITIONS, MAX_RULE_NAME_CHARS, MAX_SOUGHT_CHARS } from '../../core/rules/rule.ts';
import { MAX_THREAD_LABELS } from '../../core/thread/thread-work.ts';
import { MAX_ACCOUNTS } from '../../platform/base/limits.ts';
import { EntryVersion } from '../../platform/schemas/entry-version.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { KeyId } from '../../platform/schemas/right.ts';
import { AddressObject, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import { Verdict } from '../emails/authentication-schema.ts';
import { ThreadLabel, ThreadStatusText } from '../../platform/schemas/thread-schemas.ts';

const Sought = {
  title: 'SoughtText',
  $comment: 'Letter case makes no difference.',
  type: 'string',
  minLength: 1,
  maxLength: MAX_SOUGHT_CHARS,
  pattern: TRIMMED_LINE_PATTERN,
} as const;

const Pattern = {
  title: 'AddressPattern',
  $comment: 'An address, `*@example.com`, or `*@*.example.com` for the domains below it.',
  type: 'string',
  minLength: 3,
  maxLength: 320,
  pattern: TRIMMED_LINE_PATTERN,
} as const;

const Size = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

const RuleCondition = {
  type: 'object',
  title: 'RuleCondition',
  $comment: 'Exactly one of these.',
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: {
    sender: { ...Pattern, description: 'The address in From.' },
    recipient: { ...Pattern, description: 'One of the addresses in To and Cc.' },
    header: {
      type: 'object',
      title: 'RuleHeader',
      additionalProperties: false,
      required: ['name'],
      description:
        'One field of that name with this value. Anyone can write any field: trust only what your mail server removes from the mail of strangers.',
      properties: {
        name: { type: 'string', pattern: '^[!-9;-~]{1,76}$' },
        equals: Sought,
        contains: Sought,
      },
    },
    subject: { ...Sought, description: 'A part of the subject.' },
    text: { ...Sought, description: 'A part of the first 200,000 characters of the text.' },
    min_size_bytes: { ...Size, description: 'Size of the whole message, at least.' },
    max_size_bytes: { ...Size, description: 'Size of the whole message, at most.' },
    has_attachment: { type: 'boolean' },
    attachment_name: { ...Sought, description: 'A part of the name of an attachment.' },
    attachment_type: {
      type: 'string',
      pattern: '^[A-Za-z0-9!#$&^_.+-]{1,100}/(?:[*]|[A-Za-z0-9!#$&^_.+-]{1,100})$',
      description: 'MIME type of an attachment, such as `application/pdf` or `image/*`.',
    },
    verdict: { ...Verdict, description: 'Of the check of the sender.' },
    written_by: { type: 'string', enum: WRITERS },
    known_customer: {
      type: 'boolean',
      description: 'The email belongs to a customer, or to one of several.',
    },
    account_id: AccountId,
  },
} as const;

const RuleActionsSchema = {
  type: 'object',
  title: 'RuleActions',
  $comment: 'What happens to the thread of the email. Without any, the event `rule.matched` is all.',
  additionalProperties: false,
  properties: {
    add_labels: { type: 'array', minItems: 1, maxItems: MAX_THREAD_LABELS, items: ThreadLabel },
    assignee: { ...KeyId, description: 'Id of a key. A thread that is assigned already keeps its assignee.' },
    status: {
      ...ThreadStatusText,
      description:
        '`done` is skipped while another email of the thread waits for an answer. `spam` is skipped for a customer, and in a thread with other ' +
        'mail to which no rule gave a status. Undelivered sends stay.',
    },
    customer_id: { ...Uuid, description: 'Only for a thread that has no customer.' },
  },
} as const;

/** No default, and no null: nothing that a request leaves out may give more. */
const RuleAccounts = {
  title: 'RuleAccounts',
  $comment: 'Accounts whose received mail the rule judges; `*`: all accounts, including future ones.',
  anyOf: [
    { type: 'string', const: '*' },
    { type: 'array', minItems: 1, maxItems: MAX_ACCOUNTS, items: AccountId },
  ],
} as const;

const Match = {
  title: 'RuleMatch',
  $comment: 'Whether all conditions have to hold, or any of them. Default of a new rule: `all`.',
  type: 'string',
  enum: ['all', 'any'],
} as const;

const Conditions = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_CONDITIONS,
  items: RuleCondition,
} as const;

export const ruleFields = {
  name: {
    title: 'RuleName',
    type: 'string',
    minLength: 1,
    maxLength: MAX_RULE_NAME_CHARS,
    pattern: TRIMMED_LINE_PATTERN,
    $comment: 'For people. It is shown with what the rule did.',
  },
  active: { type: 'boolean', description: 'Whether it judges anything.' },
  account_ids: RuleAccounts,
  match: Match,
  conditions: Conditions,
  actions: RuleActionsSchema,
  stop: { type: 'boolean', description: 'Later rules do not judge an email that it matched.' },
  historical: {
    type: 'boolean',
    description: 'Also judges imported mail, and mail that was in a mailbox before its first reading.',
  },
} as const;

/** The same in a request that makes a rule. */
export const newRuleFields = {
  ...ruleFields,
  active: { ...ruleFields.active, default: true },
  stop: { ...ruleFields.stop, default: false },
  historical: { ...ruleFields.historical, default: false },
} as const;

export const RuleSchema = record('Rule', {
  id: Uuid,
  ...ruleFields,
  version: EntryVersion,
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const RuleList = record('Rules', {
  rules: { type: 'array', items: RuleSchema, description: 'In the order in which they are judged.' },
});

export const RulePreviewSchema = record('RulePreview', {
  examined: { type: 'integer', minimum: 0, description: 'Received emails that were looked at.' },
  matched: { type: 'integer', minimum: 0 },
  examples: {
    type: 'array',
    description: 'The newest that matched, at most 20.',
    items: record('RuleExample', {
      email_id: Uuid,
      thread_id: Uuid,
      account_id: AccountId,
      from_address: AddressObject,
      subject: { type: 'string' },
      date: Timestamp,
    }),
  },
});
