/** Accounts in the API: /api/accounts. */
import { operationsWith, type ActFields } from '../../platform/operation/declaration.ts';
import { toJson, type Value } from '../../platform/operation/values.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { IF_THIS_VERSION, versionOf } from '../../platform/schemas/entry-version.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { NullableTimestamp, NullableUuid, record, Timestamp } from '../../platform/schemas/schemas.ts';
import { LOG_INS, SETTINGS_SOURCES } from '../../core/accounts/found-settings.ts';
import { parseAddress } from '../../core/address/address-list.ts';
import { addrSpec } from '../../core/address/address.ts';
import { ACCOUNT_STEPS, FINDING_CODES, type FindAccountSettings } from '../accounts/account-ports.ts';
import type { AccountFields } from '../accounts/account-fields.ts';
import type { AccountConsents } from '../accounts/account-consents.ts';
import type { ManagedAccounts } from '../accounts/manage-accounts.ts';
import { nameOf } from '../../core/keys/author.ts';
import type { Clock, IdSource } from '../../platform/base/basics.ts';
import { ACCOUNT_SETTINGS, AccountSchema, toShownAccount } from './account-schema.ts';
import type { Mailboxes } from './read-mailbox-status.ts';

/** Four private keys and the tokens of OAuth2 at their maximum, and some more. */
const MAX_ACCOUNT_BYTES = 128 * 1024;

const CreateBody = {
  type: 'object',
  title: 'CreateAccountRequest',
  additionalProperties: false,
  required: ['id', 'from'],
  properties: {
    id: { ...AccountId, description: 'For ever; it names the account everywhere.' },
    ...ACCOUNT_SETTINGS,
  },
} as const;

const ChangeBody = {
  type: 'object',
  title: 'ChangeAccountRequest',
  additionalProperties: false,
  properties: ACCOUNT_SETTINGS,
} as const;

const MAX_RETURN_URL_CHARS = 2000;
/** Of RFC 5321, with a display name. */
const MAX_ADDRESS_CHARS = 1000;

/** Each waits for servers. */
const MAX_CHECKS = 8;

const AccountCheck = record('AccountCheck', {
  ok: { type: 'boolean', description: 'True: it can be used. No finding but those of `dns` is a problem.' },
  findings: {
    type: 'array',
    items: record('AccountFinding', {
      step: {
        type: 'string',
        enum: [...ACCOUNT_STEPS],
        description: '`dns`: MX, SPF, DKIM and DMARC of the address; `message`: with `send_message`.',
      },
      grade: { type: 'string', enum: ['ok', 'warning', 'problem'] },
      code: {
        type: ['string', 'null'],
        enum: [...FINDING_CODES, null],
        description: 'What it is about, for programs; more may be added. null: it is as it should be.',
      },
      text: { type: 'string', description: 'In English.' },
      advice: { type: ['string', 'null'], description: 'In English; null: nothing needs to be done.' },
    }),
  },
  folders: {
    type: 'array',
    description: 'Of the mail server, at most 500; INBOX and the one with `\\Sent` are read.',
    items: record('FoundFolder', {
      path: { type: 'string' },
      special_use: { type: ['string', 'null'], description: 'RFC 6154; `\\Inbox` for INBOX.' },
    }),
  },
});

const ConsentBody = {
  type: 'object',
  title: 'ConsentRequest',
  additionalProperties: false,
  properties: {
    return_url: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_RETURN_URL_CHARS,
      description:
        'Where the owner is sent at the end, with `account_id` and `consent` in the query; of `PUBLIC_URL` or an origin in ' +
        '`CONSENT_RETURN_ORIGINS`. Default: a page of the service.',
    },
  },
} as const;

/** The fields as ACCOUNTS_FILE has them. */
const toFields = toJson({ properties: ACCOUNT_SETTINGS }) as (settings: object) => AccountFields;

const NullableText = { type: ['string', 'null'] } as const;

const FoundSettings = record('FoundSettings', {
  address: { type: 'string' },
  candidates: {
    type: 'array',
    description: 'The likeliest first.',
    items: record('FoundServers', {
      source: {
        type: 'string',
        enum: [...SETTINGS_SOURCES],
        description: '`provider`: a list; `srv`, `mx`: the DNS; `autoconfig`: a file of the domain.',
      },
      name: { ...NullableText, description: 'The provider.' },
      log_in: {
        type: 'string',
        enum: [...LOG_INS],
        description: '`consent`: create the account with `oauth2`, then ask for a consent.',
      },
      smtp_url: { ...NullableText, description: 'Without a password.' },
      imap_url: { ...NullableText, description: 'Without a password.' },
      oauth2: {
        anyOf: [
          record('FoundOAuth2', { provider: { type: 'string', enum: ['google', 'microsoft'] } }),
          { type: 'null' },
        ],
      },
      note: { ...NullableText, description: 'In English; what to consider.' },
    }),
  },
});

const { properties: DRY_RUN } = DryRun(
  'True: nothing is deleted; the response counts, or contains the error.',
);

interface Deps {
  readonly ids: IdSource;
  /** Recorded under the account. */
  readonly countEmails: (accountId: string) => Promise<number>;
  readonly accounts: ManagedAccounts;
  readonly consents: AccountConsents;
  readonly mailboxes: Mailboxes;
  readonly findAccountSettings: FindAccountSettings;
  readonly clock: Clock;
}

const operation = operationsWith<Deps>();

const params = { id: { ...AccountId, description: 'The account.' } } as const;
/** The document contains an answer that is the same everywhere once. */
const ANSWER = 'The account as it is now.';
const tag = 'Mailboxes';
const OWN = {
  of: async ({ id }: { readonly id: string }) => id,
  missing: 'account_not_found',
} as const;
const what = ({ id }: { readonly id: string }) => ({ accountId: id });

const read = async (id: string, { mailboxes }: Deps) => toShownAccount(await mailboxes.account(id));
const before = async ({ id }: { readonly id: string }, deps: Deps) => actFields(await read(id, deps));

const SETTING_ERRORS = ['invalid_account', 'secrets_key_missing'] as const;

export const accountOperations = [
  operation({
    id: 'listAccounts',
    method: 'GET',
    path: '/api/accounts',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List accounts and their mailboxes',
    description:
      'Declared accounts, then those created by the API, then those that only other processes read, with their state in all ' +
      'processes.',
    answer: 'The complete list.',
    output: record('Accounts', { accounts: { type: 'array', items: AccountSchema } }),
    async run(_caller, { within }, { mailboxes }) {
      const accounts = await mailboxes.accounts();
      const seen = accounts.filter(({ accountId }) => within === null || within.includes(accountId));
      return { accounts: seen.map(toShownAccount) };
    },
  }),

  operation({
    id: 'createAccount',
    method: 'POST',
    path: '/api/accounts',
    right: 'admin',
    account: 'every',
    tag,
    summary: 'Create an account',
    description:
      'Takes the fields of ACCOUNTS_FILE; every process uses the account within two seconds. Secrets are sealed and never ' +
      'returned. An id under which mail is recorded is refused unless the account adopts that mail.',
    query: {
      adopt_mail: {
        type: 'boolean',
        default: false,
        description: 'The account continues the mail that is recorded under its id.',
      },
    },
    body: CreateBody,
    maxBodyBytes: MAX_ACCOUNT_BYTES,
    creates: true,
    answer: ANSWER,
    output: AccountSchema,
    versionOf,
    errors: [
      ...SETTING_ERRORS,
      'account_declared',
      'account_exists',
      'account_has_mail',
      'too_many_accounts',
    ],
    act: { event: 'account.created', what, after: actFields },
    async run(caller, { id, adoptMail, ...settings }, deps) {
      await deps.accounts.create(caller, id, toFields(settings), adoptMail);
      return read(id, deps);
    },
  }),

  operation({
    id: 'checkAccount',
    method: 'POST',
    path: '/api/accounts/check',
    right: 'admin',
    account: 'every',
    tag,
    summary: 'Try an account',
    description:
      'Connects to its servers, logs in, lists the folders and reads the DNS of its domain, within some seconds. The account is not ' +
      'stored; nothing is changed, and nothing is sent without `send_message`.',
    query: {
      send_message: {
        type: 'boolean',
        default: false,
        description: 'Sends a message from the account to itself, and waits up to 20 s until it is in INBOX.',
      },
    },
    body: CreateBody,
    maxBodyBytes: MAX_ACCOUNT_BYTES,
    atOnce: MAX_CHECKS,
    answer: 'What was found, whether it works or not.',
    output: AccountCheck,
    errors: ['invalid_account', 'busy'],
    act: { event: 'account.tried', what, after: ({ ok }) => ({ ok }) },
    async run(_caller, { id, sendMessage, ...settings }, { accounts }, signal) {
      const options = { sendsMessage: sendMessage };
      const { findings, folders } = await accounts.examine(id, toFields(settings), options, signal);
      return {
        ok: findings.every(({ step, grade }) => grade !== 'problem' || step === 'dns'),
        findings: [...findings],
        folders: [...folders],
      };
    },
  }),

  operation({
    id: 'findAccountSettings',
    method: 'GET',
    path: '/api/accounts/settings',
    right: 'admin',
    account: 'every',
    tag,
    summary: 'Find the servers of a mailbox',
    description:
      'Looks in the list of providers, then in the DNS of the domain (SRV, MX) and its autoconfig file, within some seconds. No ' +
      'private address is asked, and no server is connected to. `createAccount` takes what it finds, with the password added.',
    requiredQuery: ['address'],
    query: {
      address: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_ADDRESS_CHARS,
        description: 'Of the mailbox.',
      },
    },
    atOnce: MAX_CHECKS,
    answer: 'What was found; it may be nothing.',
    output: FoundSettings,
    errors: ['invalid_address', 'busy'],
    async run(_caller, { address }, { findAccountSettings }, signal) {
      const parsed = parseAddress(address, 'address');
      return { address: addrSpec(parsed), candidates: [...(await findAccountSettings(parsed, signal))] };
    },
  }),

  operation({
    id: 'getAccount',
    method: 'GET',
    path: '/api/accounts/:id',
    right: 'read',
    account: OWN,
    tag,
    summary: 'Read an account',
    description: 'Settings without secrets, and the state of its mailboxes.',
    params,
    answer: ANSWER,
    output: AccountSchema,
    versionOf,
    errors: ['account_not_found'],
    run: (_caller, { id }, deps) => read(id, deps),
  }),

  operation({
    id: 'changeAccount',
    method: 'PATCH',
    path: '/api/accounts/:id',
    right: 'admin',
    account: OWN,
    tag,
    summary: 'Change an account',
    description:
      'Absent fields stay unchanged; null removes a value; objects are replaced as a whole. Attempts under way still use the ' +
      'old server.',
    params,
    ifMatch: { need: 'required', text: 'The version, such as `"3"`. Required.' },
    body: ChangeBody,
    maxBodyBytes: MAX_ACCOUNT_BYTES,
    answer: ANSWER,
    output: AccountSchema,
    versionOf,
    errors: [...SETTING_ERRORS, 'account_declared', 'account_changed'],
    act: {
      event: 'account.changed',
      what: ({ id, version, ...change }) => ({
        accountId: id,
        version,
        fields: Object.keys(toFields(change)),
      }),
      before,
      after: actFields,
    },
    async run(caller, { id, version, ...change }, deps) {
      await deps.accounts.change(caller, id, version, toFields(change));
      return read(id, deps);
    },
  }),

  operation({
    id: 'deleteAccount',
    method: 'DELETE',
    path: '/api/accounts/:id',
    right: 'admin',
    account: OWN,
    tag,
    summary: 'Delete an account',
    description:
      'Deletes the settings and secrets; the mail stays unless `erase` is given. Refused while sends of the account wait. Needs no ' +
      'body; a body with fields is refused.',
    params,
    query: {
      erase: {
        type: 'boolean',
        default: false,
        description: 'Erases all its emails and drafts, in the background; `getErasure` has the progress.',
      },
      ...DRY_RUN,
    },
    ifMatch: IF_THIS_VERSION,
    answer: 'Deleted.',
    output: record('DeletedAccount', {
      id: { type: 'string' },
      deleted_at: { ...NullableTimestamp, description: 'Time of the deletion; null with `dry_run`.' },
      emails: {
        type: ['integer', 'null'],
        description: 'With `erase`: recorded emails, which are erased.',
      },
      erasure_id: { ...NullableUuid, description: 'Null without `erase`, and with `dry_run`.' },
    }),
    errors: ['account_declared', 'account_changed', 'account_has_sends'],
    act: {
      event: 'account.deleted',
      unless: ({ dryRun }) => dryRun,
      what: ({ id, erase }) => ({ accountId: id, ...(erase ? { erase } : {}) }),
      before,
      after: ({ erasureId, emails }) => (erasureId === null ? null : { erasureId, emails }),
    },
    async run({ author }, { id, version, erase, dryRun }, { accounts, clock, ids, countEmails }) {
      const emails = erase ? await countEmails(id) : null;
      const erasure = erase ? { id: ids.uuid(), requestedBy: nameOf(author) } : null;
      await accounts.delete(id, version, { dryRun, erasure });
      return {
        id,
        deletedAt: dryRun ? null : clock(),
        emails,
        erasureId: dryRun || erasure === null ? null : erasure.id,
      };
    },
  }),

  operation({
    id: 'pauseAccount',
    method: 'POST',
    path: '/api/accounts/:id/pause',
    right: ['read', 'operate'],
    account: OWN,
    tag,
    summary: 'Pause an account',
    description:
      'Nothing is sent and no mailbox is read until it is resumed: the queue waits, synchronous sends are refused. Needs no ' +
      'body; a body with fields is refused.',
    params,
    answer: ANSWER,
    output: AccountSchema,
    versionOf,
    errors: ['account_declared'],
    act: { event: 'account.paused', what, before, after: actFields },
    async run(caller, { id }, deps) {
      await deps.accounts.setPaused(caller, id, true);
      return read(id, deps);
    },
  }),

  operation({
    id: 'resumeAccount',
    method: 'POST',
    path: '/api/accounts/:id/resume',
    right: ['read', 'operate'],
    account: OWN,
    tag,
    summary: 'Resume an account',
    description:
      'Sends what waits, and reads its mailboxes again. Needs no body; a body with fields is refused.',
    params,
    answer: ANSWER,
    output: AccountSchema,
    versionOf,
    errors: ['account_declared'],
    act: { event: 'account.resumed', what, before, after: actFields },
    async run(caller, { id }, deps) {
      await deps.accounts.setPaused(caller, id, false);
      return read(id, deps);
    },
  }),

  operation({
    id: 'requestConsent',
    method: 'POST',
    path: '/api/accounts/:id/consent',
    right: 'admin',
    account: OWN,
    tag,
    summary: 'Ask for the consent to read and send',
    description:
      "Returns a link for the owner of the mailbox. At the provider's page the owner allows the access that replaces a password; the " +
      'service stores the token and uses the account within two seconds. The link is good for one day and one use; a newer one ' +
      'replaces it. Only the address of the mailbox is accepted.',
    params,
    body: ConsentBody,
    bodyOptional: true,
    atOnce: MAX_CHECKS,
    answer: 'The link.',
    output: record('AccountConsent', { url: { type: 'string' }, expires_at: Timestamp }),
    errors: [
      'account_declared',
      'consent_unavailable',
      'provider_unavailable',
      'secrets_key_missing',
      'busy',
    ],
    act: { event: 'account.consent_requested', what, after: ({ expiresAt }) => ({ expiresAt }) },
    run: (_caller, { id, returnUrl = null }, { consents }) => consents.ask(id, returnUrl),
  }),

  operation({
    id: 'resyncAccount',
    method: 'POST',
    path: '/api/accounts/:id/resync',
    right: ['read', 'operate'],
    account: OWN,
    tag,
    summary: 'Compare the mailboxes of an account again',
    description:
      'Connects anew and compares all messages with what is recorded: missing ones are recorded, none twice. Needs no body; a ' +
      'body with fields is refused.',
    params,
    answer: ANSWER,
    output: AccountSchema,
    versionOf,
    act: { event: 'account.resynced', what, after: actFields },
    run: async (_caller, { id }, { mailboxes }) => toShownAccount(await mailboxes.resync(id)),
  }),
];

function actFields({ id, state, version, settings }: Value<typeof AccountSchema>): ActFields {
  return {
    id,
    state,
    version,
    from: settings?.from ?? null,
    smtpServer: settings?.smtpServer ?? null,
    imapServer: settings?.imapServer ?? null,
  };
}
