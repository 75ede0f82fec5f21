/** Rules for what is recorded, and the past, in the API: /api/accounts/{id}/capture. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { toJson, type Value } from '../../platform/operation/values.ts';
import { DryRun } from '../../platform/schemas/dry-run.ts';
import { DELETION_ERRORS } from '../../platform/schemas/error-schemas.ts';
import { AccountId, PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import {
  AddressObject,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import { AccountCapture, LeftOutCounts, LeftOutReason } from '../mailboxes/account-schema.ts';
import type { Captures } from './captures.ts';
import { STAY_REASONS } from './recorded-ports.ts';
import { REMOVAL_STATES, type Removal } from './removal-ports.ts';

/** Lists at their maximum: 1,000 addresses, and some texts. */
const MAX_PREVIEW_BYTES = 1024 * 1024;
/** Each judges up to a thousand emails. */
const MAX_PREVIEWS = 4;
const MAX_JUDGED = 1000;
const DEFAULT_JUDGED = 200;
const MAX_EMAILS = 1_000_000_000;

const Count = { type: 'integer', minimum: 0 } as const;

const PreviewBody = {
  type: 'object',
  title: 'PreviewCaptureRequest',
  additionalProperties: false,
  properties: { capture: AccountCapture },
} as const;

const RemoveBody = {
  type: 'object',
  title: 'RemoveLeftOutRequest',
  additionalProperties: false,
  required: ['emails'],
  properties: {
    emails: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_EMAILS,
      description: '`removable` of all pages of the preview. Another number removes nothing.',
    },
  },
} as const;

const LeftOutEmail = record('LeftOutEmail', {
  id: Uuid,
  thread_id: Uuid,
  date: Timestamp,
  from_address: AddressObject,
  subject: { type: 'string' },
  size_bytes: { ...Count, description: 'Of the message.' },
  reason: { ...LeftOutReason, description: 'As in `GET /api/left-out`.' },
  stays: {
    type: ['string', 'null'],
    enum: [...STAY_REASONS, null],
    description: 'Why a removal keeps it, as in `staying`; null: it does not.',
  },
});

const { properties: pageProperties } = pageSchema('CapturePreview', 'emails', LeftOutEmail);

const Preview = record('CapturePreview', {
  judged: { ...Count, description: 'Emails that this page is about; add up the pages.' },
  kept: { ...Count, description: 'Emails that the rules record.' },
  not_from_mailbox: {
    ...Count,
    description: 'Sent by the service, or received by SMTP, LMTP, HTTP or an import: no rules apply to them.',
  },
  unknown: { ...Count, description: 'Their header does not show enough; they are kept.' },
  left_out: { ...LeftOutCounts, description: 'Emails that the rules leave out.' },
  staying: {
    ...record('StayingCounts', { answered: Count, drafted: Count, handled: Count, report: Count }),
    description:
      'Those of `left_out` that a removal keeps. `answered`: the service sent an email in their thread. `drafted`: a draft is in it. ' +
      '`handled`: it has labels, an assignee, a chosen customer or a decision. `report`: they report about a sent email.',
  },
  removable: { ...Count, description: 'Those of `left_out` that a removal removes.' },
  removable_bytes: { ...Count, description: 'Size of their messages.' },
  emptied_threads: { ...Count, description: 'Threads that end with them.' },
  emails: { ...pageProperties.emails, description: 'Those of `left_out`.' },
  left_out_now: {
    ...LeftOutCounts,
    description:
      'Messages in the mailboxes that are left out today, of the whole account. Nothing else is known of them: other rules, once ' +
      'saved, have them judged again.',
  },
  next_cursor: pageProperties.next_cursor,
});

const RemovalSchema = record('CaptureRemoval', {
  id: { ...NullableUuid, description: 'Null with `dry_run`.' },
  account_id: { type: 'string' },
  state: {
    type: 'string',
    enum: ['checked', ...REMOVAL_STATES],
    description:
      '`counting`: judges all emails; nothing is removed yet. `refused`: their number was not `confirmed`, and nothing was removed. ' +
      '`stopped`: by an operator, or the account was changed; what is removed stays so. `checked`: the answer to `dry_run`.',
  },
  requested_at: { ...NullableTimestamp, description: 'Null with `dry_run`.' },
  requested_by: { type: ['string', 'null'], description: 'The secret that requested it.' },
  finished_at: NullableTimestamp,
  confirmed: { ...Count, description: 'Emails that the operator confirmed.' },
  judged: Count,
  found: { ...Count, description: 'Emails to be removed that were counted so far.' },
  removed: LeftOutCounts,
  kept: {
    ...Count,
    description: 'Emails that people worked with since they were counted, or that were gone.',
  },
});

const operation = operationsWith<{ readonly captures: Captures }>();

const params = { id: { ...AccountId, description: 'The account.' } } as const;
const tag = 'Mailboxes';
const OWN = {
  of: async ({ id }: { readonly id: string }) => id,
  missing: 'account_not_found',
} as const;
const what = ({ id }: { readonly id: string }) => ({ accountId: id });
const after = ({ id, state }: Value<typeof RemovalSchema>) => ({ removalId: id, state });
const ANSWER = 'The removal as it is now.';
const { properties: query } = DryRun(
  'True: nothing is removed; the answer has the state `checked`, or is the error.',
);

/** As ACCOUNTS_FILE has it. */
const toCapture = toJson({ properties: PreviewBody.properties }) as (body: object) => {
  readonly capture?: unknown;
};

export const captureOperations = [
  operation({
    id: 'previewCapture',
    method: 'POST',
    path: '/api/accounts/:id/capture/preview',
    right: 'read',
    account: OWN,
    tag,
    summary: 'See what rules would leave out of the past',
    description:
      'Judges recorded emails by proposed rules, or by those of the account, as messages of its mailboxes are judged. Changes nothing. A ' +
      'large account takes several requests: repeat it with `next_cursor` and the same rules, and add up the counts.',
    params,
    query: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_JUDGED,
        default: DEFAULT_JUDGED,
        description: 'Emails judged for this answer.',
      },
      cursor: PAGE_PARAMETERS.cursor,
    },
    body: PreviewBody,
    bodyOptional: true,
    maxBodyBytes: MAX_PREVIEW_BYTES,
    atOnce: MAX_PREVIEWS,
    answer: 'The counts and emails of one page.',
    output: Preview,
    errors: [
      'invalid_account',
      'account_not_found',
      'account_unavailable',
      'reading_unavailable',
      'storage_unavailable',
      'busy',
    ],
    async run(_caller, { id, limit, cursor = null, ...body }, { captures }, signal) {
      const { counts, leftOut, leftOutNow, nextCursor } = await captures.preview(
        id,
        toCapture(body).capture,
        { cursor, limit },
        signal,
      );
      return {
        ...counts,
        emails: leftOut.flatMap(({ email: { from, ...email }, verdict }) =>
          verdict.kind === 'left_out'
            ? [{ ...email, fromAddress: from, reason: verdict.reason, stays: verdict.stays }]
            : [],
        ),
        leftOutNow,
        nextCursor,
      };
    },
  }),

  operation({
    id: 'removeLeftOut',
    method: 'POST',
    path: '/api/accounts/:id/capture/removal',
    right: 'admin',
    account: OWN,
    tag,
    summary: 'Remove what the rules of an account leave out',
    description:
      'Deletes such emails permanently, in the background, as `deleteEmail` does; their messages stay in the mailbox and are left out ' +
      'from then on. Emails that people worked with stay. First all emails are counted: when it is not the confirmed number, nothing is removed. ' +
      '`removal.ended` is its event.',
    params,
    query,
    ifMatch: { need: 'required', text: 'The version of the account whose rules were previewed. Required.' },
    body: RemoveBody,
    answer: ANSWER,
    output: RemovalSchema,
    atOnce: MAX_PREVIEWS,
    errors: [
      ...DELETION_ERRORS,
      'account_not_found',
      'account_unavailable',
      'account_declared',
      'account_changed',
      'left_out_changed',
      'removal_running',
      'reading_unavailable',
      'busy',
    ],
    act: {
      event: 'capture.removal_requested',
      unless: ({ dryRun }) => dryRun,
      what: ({ id, version, emails }) => ({ accountId: id, version, emails }),
      after,
    },
    async run(caller, { id, ...input }, { captures }) {
      const removal = await captures.remove(caller, id, input);
      return removal === null ? toChecked(id, input.emails) : removal;
    },
  }),

  operation({
    id: 'getRemoval',
    method: 'GET',
    path: '/api/accounts/:id/capture/removal',
    right: 'read',
    account: OWN,
    tag,
    summary: 'Read the removal of an account',
    description: 'The newest one: how far it is, and its outcome.',
    params,
    answer: ANSWER,
    output: RemovalSchema,
    errors: ['removal_not_found'],
    run: (_caller, { id }, { captures }) => captures.read(id),
  }),

  operation({
    id: 'stopRemoval',
    method: 'POST',
    path: '/api/accounts/:id/capture/removal/stop',
    right: ['read', 'operate'],
    account: OWN,
    tag,
    summary: 'Stop the removal of an account',
    description:
      'Nothing more is removed; what is removed stays so. One that has ended stays as it is. Needs no body; a body with fields is refused.',
    params,
    answer: ANSWER,
    output: RemovalSchema,
    errors: ['removal_not_found'],
    act: { event: 'capture.removal_stopped', what, after },
    run: (caller, { id }, { captures }) => captures.stop(caller, id),
  }),
];

const toChecked = (
  accountId: string,
  confirmed: number,
): Omit<Removal, 'id' | 'state' | 'requestedAt' | 'requestedBy'> & {
  readonly id: null;
  readonly state: 'checked';
  readonly requestedAt: null;
  readonly requestedBy: null;
} => ({
  id: null,
  accountId,
  state: 'checked',
  requestedAt: null,
  requestedBy: null,
  finishedAt: null,
  confirmed,
  judged: 0,
  found: 0,
  removed: { address: 0, subject: 0, internal: 0, private: 0, stranger: 0 },
  kept: 0,
});
