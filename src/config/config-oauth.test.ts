import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.ts';
import { readOAuth2, type OAuth2Clients, type TokenUses } from './config-oauth.ts';

const NO_CLIENTS: OAuth2Clients = { google: null, microsoft: null };
const USES = { imap: true, smtp: false, user: 'ada@example.test' };
const readWith = (value: unknown, uses: TokenUses, clients: OAuth2Clients | null) =>
  readOAuth2('account 1, oauth2', value, (text) => text.replace('${SECRET}', 'the-secret'), uses, clients);
const read = (value: unknown, uses: TokenUses = USES) => readWith(value, uses, null);
const basic = { client_id: 'c', client_secret: '${SECRET}', refresh_token: 'r' };

describe('oauth2 of an account', () => {
  it('may be missing', () => {
    expect(read(undefined)).toBeNull();
    expect(read(null)).toBeNull();
  });

  it('knows the addresses of Google and Microsoft', () => {
    expect(read({ provider: 'google', ...basic })).toEqual({
      consent: { kind: 'google' },
      tokenUrl: 'https://oauth2.googleapis.com/token',
      clientId: 'c',
      clientSecret: 'the-secret',
      refreshToken: 'r',
      ownGrant: null,
      scope: null,
    });
    expect(read({ provider: 'microsoft', client_id: 'c', refresh_token: 'r' })).toEqual({
      consent: { kind: 'microsoft', tenant: 'common' },
      tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      clientId: 'c',
      clientSecret: null,
      refreshToken: 'r',
      ownGrant: null,
      scope: 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access',
    });
    expect(
      read({ provider: 'microsoft', tenant: 'contoso.onmicrosoft.com', ...basic }, { ...USES, smtp: true }),
    ).toMatchObject({
      tokenUrl: 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token',
      scope:
        'https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send offline_access',
    });
  });

  it.each(['https://login.example.com/token', 'http://127.0.0.1:8080/token', 'http://[::1]/token'])(
    'takes another address: %s',
    (url) => {
      expect(read({ token_url: url, scope: 's', ...basic })).toMatchObject({ tokenUrl: url, scope: 's' });
    },
  );

  it.each<readonly [unknown, RegExp]>([
    ['x', /^account 1, oauth2: must be an object/],
    [[], /must be an object/],
    [{ provider: 'google', ...basic, secret: 'x' }, /unknown field secret/],
    [basic, /either provider, or token_url or issuer/],
    [{ provider: 'google', token_url: 'https://h/', ...basic }, /either provider, or token_url or issuer/],
    [{ provider: 'google', issuer: 'https://h/', ...basic }, /either provider, or token_url or issuer/],
    [{ issuer: 'http://login.example.com', ...basic }, /issuer must start with https/],
    [{ issuer: 'https://login.example.com', ...basic }, /must have token_url beside issuer/],
    [{ provider: 'google', grant: 'password', ...basic }, /grant must be/],
    [{ provider: 'google', private_key: 'hunter2', ...basic }, /private_key is only for/],
    [
      { provider: 'microsoft', grant: 'client_credentials', client_id: 'c', client_secret: '${SECRET}' },
      /tenant is missing/,
    ],
    [
      { provider: 'microsoft', tenant: 't', grant: 'client_credentials', client_id: 'c' },
      /client_secret is missing/,
    ],
    [
      { provider: 'microsoft', tenant: 't', grant: 'client_credentials', ...basic },
      /refresh_token has no effect/,
    ],
    [{ provider: 'google', grant: 'jwt_bearer', client_id: 'c' }, /private_key is missing/],
    [
      { provider: 'google', grant: 'jwt_bearer', client_id: 'c', private_key: 'hunter2' },
      /private_key is not an RSA key/,
    ],
    [{ provider: 'yahoo', ...basic }, /google or microsoft/],
    [{ provider: 'google', tenant: 't', ...basic }, /tenant is only for/],
    [{ provider: 'microsoft', tenant: '../evil', ...basic }, /tenant is not/],
    [{ token_url: 'http://login.example.com/token', ...basic }, /https/],
    [{ token_url: 'https://u:hunter2@h.example/', ...basic }, /no user/],
    [{ token_url: 'x', ...basic }, /https/],
    [{ provider: 'google', client_id: 'c' }, /refresh_token is missing/],
    [{ provider: 'google', refresh_token: 'r' }, /client_id is missing/],
    [{ provider: 'google', ...basic, client_id: 5 }, /client_id must be text/],
    [{ provider: 'google', ...basic, refresh_token: ' ' }, /refresh_token is empty/],
  ])('refuses %j', (value, message) => {
    expect(() => read(value)).toThrow(message);
    expect(() => read(value)).toThrow(/^((?!hunter2|the-secret).)*$/s);
  });

  it('refuses one that nothing uses', () => {
    expect(() => read({ provider: 'google', ...basic }, { ...USES, imap: false })).toThrow('is not used');
  });

  it('needs no refresh token while a consent may give one', () => {
    expect(readWith({ provider: 'google', client_id: 'c' }, USES, NO_CLIENTS)).toMatchObject({
      refreshToken: null,
    });
    expect(readWith({ issuer: 'https://login.example.com', client_id: 'c' }, USES, NO_CLIENTS)).toMatchObject(
      {
        consent: { kind: 'issuer', issuer: 'https://login.example.com' },
        tokenUrl: null,
        refreshToken: null,
      },
    );
    expect(() => readWith({ token_url: 'https://h.example/', client_id: 'c' }, USES, NO_CLIENTS)).toThrow(
      'refresh_token is missing',
    );
  });

  it('takes the client of the configuration where it names none, and a person consents', () => {
    const microsoft = { clientId: 'shared', clientSecret: 'shared-secret', tenant: 'contoso.example' };
    const clients = { google: null, microsoft };
    expect(readWith({ provider: 'microsoft' }, USES, clients)).toMatchObject({
      consent: { kind: 'microsoft', tenant: 'contoso.example' },
      clientId: 'shared',
      clientSecret: 'shared-secret',
    });
    expect(readWith({ provider: 'microsoft', client_id: 'own' }, USES, clients)).toMatchObject({
      clientId: 'own',
      clientSecret: null,
    });
    const refused: readonly (readonly [object, RegExp])[] = [
      [{ provider: 'google' }, /client_id is missing, and GOOGLE_CLIENT_ID is not set/],
      [{ issuer: 'https://login.example.com' }, /client_id is missing/],
      [{ provider: 'microsoft', client_secret: 'x' }, /no effect without client_id/],
      [
        { provider: 'microsoft', tenant: 't', grant: 'client_credentials', client_secret: 'x' },
        /client_id is missing/,
      ],
    ];
    for (const [value, message] of refused) expect(() => readWith(value, USES, clients)).toThrow(message);
  });

  it('works without a person, as the application or as a service account', () => {
    const app = { provider: 'microsoft', tenant: 't', grant: 'client_credentials', client_id: 'c' };
    expect(read({ ...app, client_secret: '${SECRET}' })).toMatchObject({
      refreshToken: null,
      ownGrant: { kind: 'client_credentials' },
      scope: 'https://outlook.office365.com/.default',
    });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const service = { provider: 'google', grant: 'jwt_bearer', client_id: 'c', private_key: pem };
    expect(read(service)).toMatchObject({
      ownGrant: { kind: 'jwt_bearer', subject: 'ada@example.test' },
      scope: 'https://mail.google.com/',
    });
  });
});

describe('the clients of the environment', () => {
  const load = (env: Record<string, string>) =>
    loadConfig({ MAIL_FROM: 'info@example.test', ...env }, '/').oauth2Clients;

  it('may have a secret and a tenant', () => {
    expect(load({})).toEqual({ google: null, microsoft: null });
    const env = { MICROSOFT_CLIENT_ID: 'm', MICROSOFT_TENANT: 'contoso.example' };
    expect(load({ ...env, GOOGLE_CLIENT_ID: 'g', GOOGLE_CLIENT_SECRET: 's' })).toEqual({
      google: { clientId: 'g', clientSecret: 's', tenant: null },
      microsoft: { clientId: 'm', clientSecret: null, tenant: 'contoso.example' },
    });
  });

  it.each([
    [{ GOOGLE_CLIENT_SECRET: 's' }, /GOOGLE_CLIENT_SECRET: has no effect without GOOGLE_CLIENT_ID/],
    [{ MICROSOFT_TENANT: 'organizations' }, /MICROSOFT_TENANT: has no effect without MICROSOFT_CLIENT_ID/],
    [{ MICROSOFT_CLIENT_ID: 'm', MICROSOFT_TENANT: 'a/b' }, /MICROSOFT_TENANT: is not the name/],
  ])('refuse at the start: %j', (env, message) => {
    expect(() => load(env)).toThrow(message);
  });
});
