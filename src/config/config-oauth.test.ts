import { describe, expect, it } from 'vitest';
import { readOAuth2 } from './config-oauth.ts';

const USES = { imap: true, smtp: false };
const read = (value: unknown, uses = USES) =>
  readOAuth2('account 1, oauth2', value, (text) => text.replace('${SECRET}', 'the-secret'), uses);
const basic = { client_id: 'c', client_secret: '${SECRET}', refresh_token: 'r' };

describe('oauth2 of an account', () => {
  it('may be missing', () => {
    expect(read(undefined)).toBeNull();
    expect(read(null)).toBeNull();
  });

  it('knows the addresses of Google and Microsoft', () => {
    expect(read({ provider: 'google', ...basic })).toEqual({
      tokenUrl: 'https://oauth2.googleapis.com/token',
      clientId: 'c',
      clientSecret: 'the-secret',
      refreshToken: 'r',
      scope: null,
    });
    expect(read({ provider: 'microsoft', client_id: 'c', refresh_token: 'r' })).toEqual({
      tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      clientId: 'c',
      clientSecret: null,
      refreshToken: 'r',
      scope: 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access',
    });
    expect(
      read(
        { provider: 'microsoft', tenant: 'contoso.onmicrosoft.com', ...basic },
        { imap: true, smtp: true },
      ),
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
    [basic, /either provider or token_url/],
    [{ provider: 'google', token_url: 'https://h/', ...basic }, /either provider or token_url/],
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
    expect(() => read({ provider: 'google', ...basic }, { imap: false, smtp: false })).toThrow('is not used');
  });
});
