import { expect, it } from 'vitest';
import { ServiceError } from '../errors.ts';
import { checkOwnHeaders } from './own-headers.ts';

it.each([{}, { Authorization: 'Bearer abc', 'X-Tenant': '7', Cookie: 'a=b; c=d' }, { 'x-a': 'a\tb c' }])(
  'takes %j',
  (headers) => {
    expect(() => checkOwnHeaders(headers)).not.toThrow();
  },
);

it.each([
  'Host',
  'content-length',
  'Content-Type',
  'Transfer-Encoding',
  'Connection',
  'Upgrade',
  'Expect',
  'TE',
  'Trailer',
  'Proxy-Authorization',
  'Webhook-Id',
  'webhook-signature',
  'WEBHOOK-TIMESTAMP',
  'webhook-other',
  'X A',
  'X:A',
  'X\r\nY',
  'Ä',
  '',
])('refuses the name %j', (name) => {
  expect(() => checkOwnHeaders({ [name]: 'a' })).toThrow(ServiceError);
});

it.each(['', ' a', 'a ', 'a\r\nX-B: b', 'a\nb', 'a\0b', 'ä', '\u{1f600}', 'a'.repeat(4097)])(
  'refuses the value %j, and does not say it',
  (value) => {
    const fails = () => checkOwnHeaders({ 'X-Token': value });
    expect(fails).toThrow(expect.objectContaining({ code: 'invalid_webhook_header' }));
    expect(fails).toThrow(
      expect.objectContaining({ text: expect.stringMatching(/X-Token(?!.*aaa)/) as string }),
    );
  },
);

it('refuses a name that is there twice', () => {
  expect(() => checkOwnHeaders({ 'X-A': '1', 'x-a': '2' })).toThrow(ServiceError);
});
