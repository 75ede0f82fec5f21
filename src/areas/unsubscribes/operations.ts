/** Lists that recipients have left, in the API: /api/unsubscribes. */
import { MAX_LIST_CHARS } from '../../core/unsubscribe/list-name.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import { AccountId, PAGE_PARAMETERS, pageSchema } from '../../platform/schemas/page-schemas.ts';
import { record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import type { Unsubscribes } from './unsubscribes.ts';

const UnsubscribeSchema = record('Unsubscribe', {
  id: Uuid,
  account_id: { type: 'string' },
  list: { type: 'string', description: 'As `unsubscribe.list` of the send named it.' },
  address: { type: 'string', description: 'In lower case.' },
  email_id: { ...Uuid, description: 'The email whose link was used.' },
  unsubscribed_at: Timestamp,
});

const operation = operationsWith<{ readonly unsubscribes: Unsubscribes }>();

export const unsubscribeOperations = [
  operation({
    id: 'listUnsubscribes',
    method: 'GET',
    path: '/api/unsubscribes',
    right: 'read',
    account: 'list',
    tag: 'Unsubscribes',
    summary: 'List unsubscribed addresses',
    description: 'The newest first.',
    query: {
      account_id: { ...AccountId, description: 'Only of this account.' },
      ...PAGE_PARAMETERS,
      list: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_LIST_CHARS,
        description: 'Only entries of this list.',
      },
      address: { type: 'string', minLength: 1, maxLength: 400, description: 'Only entries of this address.' },
    },
    answer: 'One page.',
    output: pageSchema('Unsubscribes', 'unsubscribes', UnsubscribeSchema),
    errors: ['invalid_address', 'header_injection'],
    run: (
      _caller,
      { accountId = null, list = null, address = null, cursor = null, ...others },
      { unsubscribes },
    ) => unsubscribes.list({ ...others, accountId, list, address, cursor }),
  }),

  operation({
    id: 'removeUnsubscribe',
    method: 'DELETE',
    path: '/api/unsubscribes/:id',
    // The answer shows what was stored before.
    right: ['read', 'operate'],
    account: 'list',
    tag: 'Unsubscribes',
    summary: 'Resubscribe an address',
    description:
      'For addresses whose owner asked for it. Links in earlier mail keep working. Needs no body; a body with fields is refused.',
    params: { id: { ...Uuid, description: 'An entry of `GET /api/unsubscribes`.' } },
    answer: 'The removed entry.',
    output: UnsubscribeSchema,
    errors: ['unsubscribe_not_found'],
    act: {
      event: 'unsubscribe.removed',
      what: ({ id }) => ({ unsubscribeId: id }),
      after: ({ accountId, list, address }) => ({ accountId, list, address }),
    },
    run: (_caller, { id, within }, { unsubscribes }) => unsubscribes.remove(id, within),
  }),
];
