/** Blocked senders in the API: /api/blocked-senders. */
import { toAddressPattern } from '../../core/address/address-pattern.ts';
import { invalidRequest } from '../../core/errors.ts';
import type { IdSource } from '../../platform/base/basics.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import {
  AccountId,
  NullableAccountId,
  PAGE_PARAMETERS,
  pageSchema,
} from '../../platform/schemas/page-schemas.ts';
import { record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { BlockedSenders } from './blocked-senders.ts';

const BlockedSenderSchema = record('BlockedSender', {
  id: Uuid,
  sender: { type: 'string', description: 'In lower case: an address, or `*@` and a domain.' },
  account_id: { ...NullableAccountId, description: 'Only in this account; null: in all.' },
  blocked_at: Timestamp,
});

const BlockBody = {
  type: 'object',
  title: 'BlockRequest',
  additionalProperties: false,
  required: ['sender'],
  properties: {
    sender: {
      type: 'string',
      minLength: 3,
      maxLength: 320,
      description: 'An address, or `*@example.com` for all addresses of a domain.',
    },
    account_id: {
      ...NullableAccountId,
      description: 'Default: null, all accounts; or the only one of the key.',
    },
  },
} as const;

interface Deps {
  readonly blockedSenders: BlockedSenders;
  readonly ids: IdSource;
}

const operation = operationsWith<Deps>();
const tag = 'Rules';

export const blockedOperations = [
  operation({
    id: 'listBlockedSenders',
    method: 'GET',
    path: '/api/blocked-senders',
    right: 'read',
    account: 'list',
    tag,
    summary: 'List blocked senders',
    description: 'The newest first. With `account_id`, those of the account and those of all accounts.',
    query: { account_id: { ...AccountId, description: 'Only of this account.' }, ...PAGE_PARAMETERS },
    answer: 'One page.',
    output: pageSchema('BlockedSenders', 'blocked_senders', BlockedSenderSchema),
    run: (_caller, { accountId = null, within, limit, cursor = null }, { blockedSenders }) =>
      blockedSenders.list({ accountId, within, limit, cursor }),
  }),

  operation({
    id: 'blockSender',
    method: 'POST',
    path: '/api/blocked-senders',
    right: ['read', 'handle'],
    account: {
      decide: async (input, seen) => ({
        ...input,
        accountId: await seen.chosenOrAll(input.accountId ?? null),
      }),
    },
    tag,
    summary: 'Block a sender',
    description:
      'From now on, threads in which only this sender writes are `spam`. Its mail is recorded all the same. Threads of customers, and ' +
      'those in which others wrote, are shown as before. One that is blocked already stays as it is.',
    body: BlockBody,
    answer: 'The entry.',
    output: BlockedSenderSchema,
    errors: ['unknown_account', 'too_many_blocked_senders'],
    act: {
      event: 'sender.blocked',
      // As an address it is logged as a digest only.
      what: ({ sender, accountId }) => ({
        address: sender,
        ...(accountId === undefined ? {} : { ofAccount: accountId }),
      }),
      after: ({ id }) => ({ id }),
    },
    run(_caller, { sender, accountId = null }, { blockedSenders, ids }) {
      const pattern = toAddressPattern(sender.trim());
      // Names of single domains: what is below them would have to be looked up step by step for each email.
      if (pattern === null || pattern.startsWith('*@*.'))
        throw invalidRequest('malformed', { field: 'sender' });
      return blockedSenders.block(ids.uuid(), pattern, accountId);
    },
  }),

  operation({
    id: 'unblockSender',
    method: 'DELETE',
    path: '/api/blocked-senders/:id',
    // The answer shows what was stored before.
    right: ['read', 'handle'],
    account: {
      of: ({ id }, { blockedSenders }) => blockedSenders.accountOf(id),
      missing: 'blocked_sender_not_found',
      shared: 'refused',
    },
    tag,
    summary: 'Unblock a sender',
    description:
      'Threads that are spam by now stay spam until their status changes. Needs no body; a body with fields is refused.',
    params: { id: { ...Uuid, description: 'An entry of `GET /api/blocked-senders`.' } },
    answer: 'The removed entry.',
    output: BlockedSenderSchema,
    errors: ['blocked_sender_not_found'],
    act: {
      event: 'sender.unblocked',
      what: ({ id }) => ({ blockedId: id }),
      after: ({ accountId }) => ({ accountId }),
    },
    run: (_caller, { id }, { blockedSenders }) => blockedSenders.unblock(id),
  }),
];
