import { describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../clients/typescript/src/webhooks.ts';

const SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret, as long as that').toString('base64')}`;
const EVENT = { id: '0005135c00000001', type: 'email.received', data: { subject: 'Grüße €' } };
const BODY = JSON.stringify(EVENT);

function sign(body = BODY, { secrets = [SECRET], at = new Date() } = {}): Record<string, string> {
  return {
    'webhook-id': EVENT.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(EVENT.id, at, body)).join(' '),
  };
}
const NOT_VERIFIED = expect.objectContaining({ name: 'EmailWorkerError', code: 'webhook_not_verified' });

describe('verifyWebhook', () => {
  it.each([
    ['a text', BODY, sign()],
    ['bytes', new TextEncoder().encode(BODY), sign()],
    ['a Buffer', Buffer.from(BODY), sign()],
    ['Headers', BODY, new Headers(sign())],
    [
      'names in capitals',
      BODY,
      Object.fromEntries(Object.entries(sign()).map(([k, v]) => [k.toUpperCase(), v])),
    ],
    ['lists of values', BODY, Object.fromEntries(Object.entries(sign()).map(([k, v]) => [k, [v]]))],
    ['other headers beside', BODY, { ...sign(), host: 'crm.example.com', via: undefined }],
    ['signatures of two secrets', BODY, sign(BODY, { secrets: [OTHER, SECRET] })],
  ])('takes %s', (_, body, headers) => {
    expect(verifyWebhook(body, headers, SECRET)).toEqual(EVENT);
  });

  it('takes several secrets while they are rotated', () => {
    expect(verifyWebhook(BODY, sign(), [OTHER, SECRET])).toEqual(EVENT);
    expect(verifyWebhook(BODY, sign(), [SECRET, OTHER])).toEqual(EVENT);
  });

  const { 'webhook-signature': signature, ...unsigned } = sign();
  it.each([
    ['another secret', BODY, sign(BODY, { secrets: [OTHER] })],
    ['another body', BODY.replace('Grüße', 'Grusse'), sign()],
    ['no signature', BODY, unsigned],
    ['an empty signature', BODY, { ...unsigned, 'webhook-signature': '' }],
    [
      'a signature of another version',
      BODY,
      { ...unsigned, 'webhook-signature': `v2${signature?.slice(2)}` },
    ],
    ['a signature without a value', BODY, { ...unsigned, 'webhook-signature': 'v1' }],
    ['another id', BODY, { ...sign(), 'webhook-id': '0005135c00000002' }],
    ['a time that is none', BODY, { ...sign(), 'webhook-timestamp': 'now' }],
    ['a time of six minutes ago', BODY, sign(BODY, { at: new Date(Date.now() - 360_000) })],
    ['a time in six minutes', BODY, sign(BODY, { at: new Date(Date.now() + 360_000) })],
    ['a body that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), sign()],
    ['no headers', BODY, {}],
  ])('refuses %s', (_, body, headers) => {
    expect(() => verifyWebhook(body, headers, SECRET)).toThrow(NOT_VERIFIED);
  });

  it.each([[[]], [''], ['whsec_'], ['whsec_***'], [[SECRET, '']]])(
    'says that %j is no secret, and does not repeat it',
    (secret) => {
      expect(() => verifyWebhook(BODY, sign(), secret)).toThrow(TypeError);
      expect(() => verifyWebhook(BODY, sign(), secret)).not.toThrow(/\*/);
    },
  );
});
