import { expect, it } from 'vitest';
import { invalidRequest, ServiceError } from '../../../core/errors.ts';
import { unknownName } from '../../../core/unknown-name.ts';
import { toErrorJson } from './error-json.ts';

const schema = {
  params: { properties: { id: {} } },
  querystring: { properties: { limit: {} } },
  headers: { properties: { 'If-Match': {} } },
  body: { properties: { to: {}, attachments: {} } },
};

it.each([
  ['a field of the body', invalidRequest('missing', { field: 'to' }), '/to'],
  [
    'a field within a list',
    invalidRequest('empty', { field: 'attachments[0].filename' }),
    '/attachments/0/filename',
  ],
  [
    'a name with a slash and a tilde',
    invalidRequest('empty', { field: 'headers.a/b~c' }),
    '/headers/a~1b~0c',
  ],
  [
    'a header of the email',
    new ServiceError('header_not_allowed', { values: { field: 'To' }, field: 'headers.To' }),
    '/headers/To',
  ],
  ['the field that a code is always about', new ServiceError('invalid_list'), '/unsubscribe/list'],
  [
    'an unknown name with a dot',
    unknownName('unknown_field', 'a.b[0].\\', [], 'list[1].'),
    '/list/1/a.b[0].\\',
  ],
  ['an unknown parameter with a dot', unknownName('unknown_parameter', 'a.b', []), 'a.b'],
  ['the header of a key', new ServiceError('invalid_idempotency_key'), 'Idempotency-Key'],
  ['a parameter of the query', invalidRequest('too_large', { field: 'limit', limit: 5 }), 'limit'],
  ['a parameter of the path', new ServiceError('invalid_uuid', { values: { field: 'id' } }), 'id'],
  ['a header', invalidRequest('malformed', { field: 'If-Match' }), 'If-Match'],
  ['an unknown parameter', new ServiceError('unknown_parameter', { values: { field: 'x', hint: '' } }), 'x'],
  ['several fields', invalidRequest('exactly_one_of', { field: 'address, customer_id' }), undefined],
  ['no field', new ServiceError('busy'), undefined],
])('an error about %s names it', (_case, error, field) => {
  expect(toErrorJson(error, { id: 'r', schema }).field).toBe(field);
});

it('an error has both languages, its request, and the page about its code', () => {
  expect(toErrorJson(new ServiceError('thread_not_found'), { id: 'r-1' })).toEqual({
    error: 'Der Thread wurde nicht gefunden.',
    message: 'The thread was not found.',
    code: 'thread_not_found',
    request_id: 'r-1',
    doc: '/api/docs/errors#thread_not_found',
  });
});
