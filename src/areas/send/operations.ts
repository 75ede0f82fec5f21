/** What people do about a send, in the API: /api/emails/{id}/cancel, /retry and /resolve. */
import { operationsWith } from '../../platform/operation/declaration.ts';
import { EmailParams, record, Uuid } from '../../platform/schemas/schemas.ts';
import { State } from '../../platform/schemas/state-schema.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { SendActs } from './operate-sends.ts';

const StateResult = record('SendState', {
  id: Uuid,
  state: { ...State, description: 'State of the email now.' },
});

const ResolveBody = record('ResolveRequest', { outcome: { type: 'string', enum: ['sent', 'failed'] } });

const params = EmailParams.properties;
const tag = 'Sending';

interface Deps {
  readonly sendActs: SendActs;
  readonly accountOf: Pick<AccountOf, 'email'>;
  readonly readEmail: (id: string) => Promise<EmailDetail>;
}

interface OfEmail {
  readonly id: string;
}

const operation = operationsWith<Deps>();

const account = {
  of: ({ id }: OfEmail, { accountOf }: Deps) => accountOf.email(id),
  missing: 'email_not_found',
} as const;

const before = async ({ id }: OfEmail, { readEmail }: Deps) => (await readEmail(id)).state;
const after = ({ state }: { readonly state: string }) => state;

export const sendOperations = [
  operation({
    id: 'cancelSend',
    method: 'POST',
    path: '/api/emails/:id/cancel',
    right: 'send',
    account,
    tag,
    summary: 'Cancel a queued send',
    description:
      'A queued or deferred email that is not being sent becomes `cancelled`, or `sent` when some recipients ' +
      'have it already. Needs no body; a body with fields is refused.',
    params,
    answer: 'Not sent any more.',
    output: StateResult,
    errors: ['not_cancellable'],
    act: { event: 'send.cancelled', what: ({ id }) => ({ emailId: id }), before, after },
    run: async (caller, { id }, { sendActs }) => ({ id, state: await sendActs.cancel(caller, id) }),
  }),

  operation({
    id: 'retrySend',
    method: 'POST',
    path: '/api/emails/:id/retry',
    right: 'send',
    account,
    tag,
    summary: 'Retry a send now',
    description:
      'Sends an email that is `failed`, `cancelled`, `deferred` or `unknown` to the recipients that were not accepted. For ' +
      'an `unknown` email this is a decision: recipients that already have it get a second copy. Needs no body; a body with ' +
      'fields is refused.',
    params,
    answer: 'Queued for an immediate attempt.',
    output: StateResult,
    errors: ['not_retryable'],
    act: { event: 'send.retried', what: ({ id }) => ({ emailId: id }), before, after },
    run: async (caller, { id }, { sendActs }) => ({ id, state: await sendActs.retry(caller, id) }),
  }),

  operation({
    id: 'resolveSend',
    method: 'POST',
    path: '/api/emails/:id/resolve',
    right: 'operate',
    account,
    tag,
    summary: 'Resolve a send with unknown outcome',
    description:
      'Recipients with an unknown outcome count as accepted (`sent`) or rejected (`failed`). The email is `sent` when any ' +
      'recipient has it, and sending continues for deferred recipients.',
    params,
    body: ResolveBody,
    answer: 'Decided.',
    output: StateResult,
    errors: ['not_unknown'],
    act: {
      event: 'send.resolved',
      what: ({ id, outcome }) => ({ emailId: id, outcome }),
      before,
      after,
    },
    run: async (caller, { id, outcome }, { sendActs }) => ({
      id,
      state: await sendActs.resolve(caller, id, outcome),
    }),
  }),
];
