/** A real OpenID provider (oidc-provider) on this machine, and people who sign in to it as a browser would. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export interface OpenidProvider {
  readonly issuer: string;
  /** Says whose an access token is, and whether it is good (RFC 7662); for Dovecot's `introspection_url`: the token is appended. */
  readonly introspectionUrl: string;
  /** Signs in at a link, and allows or denies what is asked; returns where the browser is sent at the end. */
  consent(link: string, user: string, answer?: 'allow' | 'deny'): Promise<URL>;
  /** Every token of every consent is void from now on. */
  revokeAll(): Promise<void>;
  close(): Promise<void>;
}

export const OPENID_CLIENT = { id: 'the-client', secret: 'the-client-secret' } as const;

const SECOND = 1;
const HOUR = 3600 * SECOND;

export async function startOpenidProvider(redirectUrl: string): Promise<OpenidProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const grants = new Set<string>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OPENID_CLIENT.id,
        client_secret: OPENID_CLIENT.secret,
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['cookie-key'] },
    claims: { openid: ['sub'], email: ['email'], profile: ['preferred_username'] },
    // As Google and Microsoft do: the ID token names the user.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    ttl: {
      AccessToken: HOUR,
      RefreshToken: 24 * HOUR,
      Grant: 24 * HOUR,
      Session: HOUR,
      Interaction: HOUR,
      IdToken: HOUR,
    },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.test` }),
    }),
  });
  provider.on('grant.success', ({ oidc }) => {
    const id = oidc.entities.Grant?.jti;
    if (id !== undefined) grants.add(id);
  });
  const handle = provider.callback();
  // The provider's own introspection is for its clients; mail servers are none.
  async function introspect(token: string): Promise<string> {
    const found = await provider.AccessToken.find(token);
    return JSON.stringify({ active: found !== undefined, username: found?.accountId ?? '' });
  }
  server.on('request', (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    if (pathname !== '/introspect') return void handle(request, response);
    void introspect(searchParams.get('token') ?? '').then((json) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(json),
    );
  });
  return {
    issuer,
    introspectionUrl: `${issuer}/introspect?token=`,
    consent: (link, user, answer = 'allow') => browse(issuer, link, user, answer),
    async revokeAll() {
      for (const id of grants) {
        await provider.AccessToken.revokeByGrantId(id);
        await provider.RefreshToken.revokeByGrantId(id);
      }
      grants.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Follows redirects, keeps cookies, and fills in the provider's own forms. */
async function browse(issuer: string, link: string, user: string, answer: 'allow' | 'deny'): Promise<URL> {
  const cookies = new Map<string, string>();
  let next: { readonly url: string; readonly form: URLSearchParams | null } = { url: link, form: null };
  for (let steps = 0; steps < 20; steps += 1) {
    const response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.form === null ? {} : { method: 'POST', body: next.form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location !== null) {
      const url = new URL(location, next.url);
      if (url.origin !== issuer) return url;
      next = { url: url.href, form: null };
      continue;
    }
    const html = await response.text();
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(html) ?? [];
    const [, prompt] = /name="prompt" value="([^"]+)"/.exec(html) ?? [];
    if (action === undefined || prompt === undefined) throw new Error(`no form at ${next.url}: ${html}`);
    if (answer === 'deny' && prompt === 'consent') {
      next = { url: `${action}/abort`, form: null };
      continue;
    }
    next = { url: action, form: new URLSearchParams({ prompt, login: user, password: 'any' }) };
  }
  throw new Error('the provider sends the browser around in a circle');
}
