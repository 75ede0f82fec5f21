/** Tokens without a person, at the token endpoint of a real server of this machine. */
import { generateKeyPairSync, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestTokens, type TokenEndpoint } from './token-endpoint.ts';

const forms: URLSearchParams[] = [];
const server = createServer((request, response) => {
  void text(request).then((body) => {
    forms.push(new URLSearchParams(body));
    const isRefused = forms.at(-1)?.get('scope') === 'refused';
    response
      .writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' })
      .end(
        JSON.stringify(
          isRefused
            ? { error: 'invalid_grant', error_description: body }
            : { access_token: 'token', token_type: 'Bearer', expires_in: 3600 },
        ),
      );
  });
});
let endpoint: TokenEndpoint;
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  endpoint = {
    tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    clientId: 'the-client',
    clientSecret: null,
    scope: 'mail',
    ownGrant: null,
  };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('an application asks in its own name', async () => {
  const granted = await requestTokens(
    { ...endpoint, clientSecret: 'the-secret', ownGrant: { kind: 'client_credentials' } },
    null,
  );
  expect(granted).toEqual({ accessToken: 'token', lifetimeS: 3600, refreshToken: null });
  expect(Object.fromEntries(forms.at(-1) ?? [])).toEqual({
    grant_type: 'client_credentials',
    client_id: 'the-client',
    client_secret: 'the-secret',
    scope: 'mail',
  });
});

it('a service account asks for a user, and signs for it', async () => {
  const ownGrant = { kind: 'jwt_bearer', privateKey: pem, subject: 'ada@example.test' } as const;
  await requestTokens({ ...endpoint, ownGrant }, null);
  const { assertion = '', ...others } = Object.fromEntries(forms.at(-1) ?? []);
  expect(others).toMatchObject({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' });
  const [head = '', body = '', signature = ''] = assertion.split('.');
  expect(
    verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url')),
  ).toBe(true);
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  expect(claims).toMatchObject({
    iss: 'the-client',
    sub: 'ada@example.test',
    aud: endpoint.tokenUrl,
    scope: 'mail',
  });
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3600);
});

it('a refusal quotes no secret', async () => {
  const ownGrant = { kind: 'jwt_bearer', privateKey: pem, subject: 'ada@example.test' } as const;
  const error = await requestTokens({ ...endpoint, scope: 'refused', ownGrant }, null).catch(
    (failure: unknown) => failure,
  );
  expect(error).toMatchObject({ permanent: true });
  expect(String(error)).not.toContain(forms.at(-1)?.get('assertion') ?? 'none');
});
