import { expect, it } from 'vitest';
import { hideSecrets } from './hide-secrets.ts';

it.each([
  [
    'connect to postgres://mail:hunter2@db.test:5432/x failed',
    'connect to postgres://…@db.test:5432/x failed',
  ],
  ['smtps://user%40a.test:hunter2@mail.test', 'smtps://…@mail.test'],
  ['https://hunter2@hooks.test/path', 'https://…@hooks.test/path'],
  ['https://a:hunter2@b@hooks.test/', 'https://…@hooks.test/'],
  [
    'GET https://s3.test/b/k?X-Amz-Credential=hunter2&X-Amz-Signature=hunter2&part=1',
    'GET https://s3.test/b/k?X-Amz-Credential=…&X-Amz-Signature=…&part=1',
  ],
  ['/api/threads?q=a&access_token=hunter2', '/api/threads?q=a&access_token=…'],
  ['POST https://login.test/token?client_secret=hunter2', 'POST https://login.test/token?client_secret=…'],
  [
    '/api/keys/ewk_0123456789ab_aGZ0cmVhbGx5IG5vIHNlY3JldCwganVzdCBhIHNhbXBsZQ',
    '/api/keys/ewk_0123456789ab_…',
  ],
])('takes the secret out of %s', (text, hidden) => {
  expect(hideSecrets(text)).toBe(hidden);
  expect(hideSecrets(JSON.stringify({ msg: text }))).toBe(JSON.stringify({ msg: hidden }));
});

it.each([
  'https://mail.example.com/t/1?limit=5&cursor=abc',
  'mail from ada@customer.test to https://crm.test',
  'http://127.0.0.1:3000 listens; see docs/api/keys.md',
  'no password',
])('leaves the rest as it is: %s', (text) => {
  expect(hideSecrets(text)).toBe(text);
});
