/** What Google and Microsoft are asked; and their answers, which no real part here can give. test/e2e/consent.test.ts has a real provider. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ConsentClient, ConsentProvider } from '../../areas/accounts/consent-ports.ts';
import { consentPort } from './consent.ts';

const REDIRECT = 'https://mail.example.test/oauth2/callback';
const client = (provider: ConsentProvider, scope: string | null = null): ConsentClient => ({
  provider,
  clientId: 'the-client',
  clientSecret: 'the-secret',
  scope,
  users: ['ada@example.test'],
  servers: ['imap.example.test'],
});
const GOOGLE = client({ kind: 'google' });
const MICROSOFT = client({ kind: 'microsoft', tenant: 'common' }, 'https://outlook.office.com/SMTP.Send');
const TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';

const jwt = (claims: object) =>
  ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), '']
    .join('.')
    .replace('e30', () => Buffer.from('{"alg":"RS256"}').toString('base64url')) +
  Buffer.from('signature').toString('base64url');

/** The provider answers with an ID token that has these claims. */
function answerWith(claims: object, others: object = { refresh_token: 'the-refresh-token' }): void {
  const now = Math.floor(Date.now() / 1000);
  const token = jwt({ sub: '1', aud: 'the-client', iat: now, exp: now + 60, ...claims });
  const body = { access_token: 'a', token_type: 'Bearer', id_token: token, ...others };
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })),
  );
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a consent is asked for', () => {
  it('at Google, offline and each time anew', async () => {
    const { url, state, verifier } = await consentPort.begin(GOOGLE, REDIRECT);
    const { origin, pathname, searchParams } = new URL(url);
    expect(origin + pathname).toBe('https://accounts.google.com/o/oauth2/v2/auth');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: 'the-client',
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid email profile https://mail.google.com/',
      access_type: 'offline',
      prompt: 'consent',
      login_hint: 'ada@example.test',
      code_challenge_method: 'S256',
      state,
    });
    expect(url).not.toContain(verifier);
    expect(url).not.toContain('the-secret');
  });

  it('at Microsoft, for its own rights', async () => {
    const { url } = await consentPort.begin(MICROSOFT, REDIRECT);
    expect(url).toMatch(/^https:\/\/login\.microsoftonline\.com\/common\/oauth2\/v2\.0\/authorize\?/);
    expect(new URL(url).searchParams.get('scope')).toBe(
      'openid email profile offline_access https://outlook.office.com/SMTP.Send',
    );
  });
});

describe('an answer', () => {
  const finish = async (asked: ConsentClient, change: object = {}, others?: object) => {
    const link = await consentPort.begin(asked, REDIRECT);
    const issuer =
      asked.provider.kind === 'google'
        ? 'https://accounts.google.com'
        : `https://login.microsoftonline.com/${TENANT}/v2.0`;
    answerWith({ iss: issuer, nonce: link.nonce, email: 'Ada@example.test', ...change }, others);
    const answer = new URLSearchParams({ code: 'the-code', state: link.state });
    return consentPort.finish(asked, link, REDIRECT, answer);
  };

  it('of Google gives the token', async () => {
    expect(await finish(GOOGLE)).toEqual({
      refreshToken: 'the-refresh-token',
      tokenUrl: 'https://oauth2.googleapis.com/token',
    });
  });

  it("of Microsoft comes from the user's own tenant, and may name the user otherwise", async () => {
    const named = { email: undefined, preferred_username: 'ada@example.test' };
    expect(await finish(MICROSOFT, named)).toMatchObject({ refreshToken: 'the-refresh-token' });
  });

  it('of Microsoft counts by its address only where the tenant is named, whose administrator writes it', async () => {
    await expect(finish(MICROSOFT)).rejects.toMatchObject({ kind: 'other_address' });
    for (const tenant of ['example.test', TENANT.toUpperCase()]) {
      const named = client({ kind: 'microsoft', tenant }, 'https://outlook.office.com/SMTP.Send');
      expect(await finish(named)).toMatchObject({ refreshToken: 'the-refresh-token' });
    }
  });

  it('of Microsoft comes from the tenant that the account names', async () => {
    const other = client({ kind: 'microsoft', tenant: TENANT.replace('9', '8') }, 'the-scope');
    await expect(finish(other)).rejects.toMatchObject({ kind: 'failed' });
  });

  it('of Google without a right that was asked for is a refusal', async () => {
    const left = { refresh_token: 'r', scope: 'openid https://www.googleapis.com/auth/userinfo.email' };
    await expect(finish(GOOGLE, {}, left)).rejects.toMatchObject({ kind: 'denied' });
    const all = { refresh_token: 'r', scope: `${left.scope} https://mail.google.com/` };
    expect(await finish(GOOGLE, {}, all)).toMatchObject({ refreshToken: 'r' });
  });

  it('that names somebody at length, or quotes the request, is short and without secrets in the log', async () => {
    const refused = finish(GOOGLE, { email: 'x'.repeat(100_000) });
    await expect(refused).rejects.toSatisfy(({ message }: Error) => message.length < 2000);
    const link = await consentPort.begin(GOOGLE, REDIRECT);
    vi.stubGlobal('fetch', async (_url: string, { body }: { body: URLSearchParams }) =>
      Response.json({ error: 'invalid_grant', error_description: String(body) }, { status: 400 }),
    );
    const answer = new URLSearchParams({ code: 'the-code', state: link.state });
    await expect(consentPort.finish(GOOGLE, link, REDIRECT, answer)).rejects.toSatisfy(({ message }: Error) =>
      ['the-code', 'the-secret', link.verifier].every((secret) => !message.includes(secret)),
    );
  });

  it.each<readonly [string, ConsentClient, object, object | undefined]>([
    ['other_address', GOOGLE, { email: 'bob@example.test' }, undefined],
    ['other_address', GOOGLE, { email_verified: false }, undefined],
    ['other_address', GOOGLE, { email_verified: 'false' }, undefined],
    ['other_address', GOOGLE, { email: undefined }, undefined],
    ['failed', GOOGLE, { nonce: 'another' }, undefined],
    ['failed', GOOGLE, { aud: 'another' }, undefined],
    ['failed', GOOGLE, { iss: 'https://evil.example.test' }, undefined],
    ['failed', MICROSOFT, { iss: `https://evil.example.test/${TENANT}/v2.0` }, undefined],
    ['failed', GOOGLE, { exp: 1 }, undefined],
    ['failed', GOOGLE, {}, {}],
    ['failed', GOOGLE, {}, { refresh_token: 'r', id_token: undefined }],
  ])('is refused as %s', async (kind, asked, change, others) => {
    await expect(finish(asked, change, others)).rejects.toMatchObject({ kind });
  });

  it('with another state, or of another issuer, is refused before anything is sent', async () => {
    const link = await consentPort.begin(GOOGLE, REDIRECT);
    const ask = vi.fn<() => void>();
    vi.stubGlobal('fetch', ask);
    for (const answer of [
      { code: 'c', state: 'x' },
      { code: 'c', state: link.state, iss: 'https://evil.example.test' },
      { state: link.state },
    ]) {
      const refused = consentPort.finish(GOOGLE, link, REDIRECT, new URLSearchParams(answer));
      await expect(refused).rejects.toMatchObject({ kind: 'failed' });
    }
    expect(ask).not.toHaveBeenCalled();
  });

  it('that denies says so', async () => {
    const link = await consentPort.begin(GOOGLE, REDIRECT);
    const denied = new URLSearchParams({ error: 'access_denied', state: link.state });
    await expect(consentPort.finish(GOOGLE, link, REDIRECT, denied)).rejects.toMatchObject({
      kind: 'denied',
    });
  });
});

describe('a provider that is found by its issuer', () => {
  const ISSUER = 'https://login.example.test';
  const asked = client({ kind: 'issuer', issuer: ISSUER });
  const begin = (configuration: object) => {
    vi.stubGlobal('fetch', async () =>
      Response.json({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/auth`,
        token_endpoint: `${ISSUER}/token`,
        ...configuration,
      }),
    );
    return consentPort.begin(asked, REDIRECT);
  };

  it.each([
    [{ authorization_endpoint: 'http://login.example.test/auth' }, 'not https'],
    [{ authorization_endpoint: 'javascript:alert(1)' }, 'not https'],
    [{ authorization_endpoint: 'http://127.0.0.1:8080/' }, 'not https'],
    [{ issuer: 'https://evil.example.test' }, 'the OpenID configuration of login.example.test'],
    [{ more: 'x'.repeat(300_000) }, 'too large'],
  ])('is not believed: %j', async (configuration, reason) => {
    await expect(begin(configuration)).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining(reason) as string,
    });
  });

  it('has nothing sent to a port of this machine', async () => {
    const link = await begin({});
    const ask = vi.fn<(url: string) => Promise<Response>>(async () =>
      Response.json({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/auth`,
        token_endpoint: 'http://127.0.0.1:8080/',
      }),
    );
    vi.stubGlobal('fetch', ask);
    const answer = new URLSearchParams({ code: 'the-code', state: link.state });
    await expect(consentPort.finish(asked, link, REDIRECT, answer)).rejects.toMatchObject({ kind: 'failed' });
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
