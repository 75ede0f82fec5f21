/**
 * The consent of a mailbox's owner: authorization code with PKCE (RFC 6749 §4.1, RFC 7636, RFC 9207) and OpenID Connect, which names the
 * owner. The ID token comes from the token endpoint by TLS, so its signature needs no check (OpenID Connect Core §3.1.3.7, 6).
 */
import * as oauth from 'oauth4webapi';
import {
  ConsentError,
  type ConsentClient,
  type ConsentPort,
  type ConsentProvider,
} from '../../areas/accounts/consent-ports.ts';
import { cleanReplyText } from '../../core/delivery/reply.ts';
import { isLoopbackUrl } from '../../core/server-url.ts';
import { fetchBounded } from './bounded-fetch.ts';
import { clean, reasonOf, REQUEST_TIMEOUT_MS, toTokenError } from './token-endpoint.ts';

/** Between the clocks of a provider and of this machine; in seconds. */
const CLOCK_TOLERANCE_S = 300;

const GOOGLE: oauth.AuthorizationServer = {
  issuer: 'https://accounts.google.com',
  authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
  token_endpoint: 'https://oauth2.googleapis.com/token',
};
const GOOGLE_SCOPE = 'https://mail.google.com/';

/** Of the tenant of the user, also when another name of it was asked, or `common`. */
const MICROSOFT_ISSUER = /^https:\/\/login\.microsoftonline\.com\/[0-9a-f-]{36}\/v2\.0$/;
const TENANT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Users of every tenant may sign in. */
const OPEN_TENANTS = new Set(['common', 'organizations']);

export const consentPort: ConsentPort = {
  async begin(client, redirectUrl) {
    const server = await serverOf(client.provider);
    const url = new URL(endpoint(server, 'authorization_endpoint'));
    const [state, nonce, verifier] = [
      oauth.generateRandomState(),
      oauth.generateRandomNonce(),
      oauth.generateRandomCodeVerifier(),
    ];
    const parameters: Readonly<Record<string, string>> = {
      client_id: client.clientId,
      redirect_uri: redirectUrl,
      response_type: 'code',
      scope: scopeOf(client),
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(client.users[0] === undefined ? {} : { login_hint: client.users[0] }),
      ...OF_PROVIDER[client.provider.kind],
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { url: url.href, state, nonce, verifier };
  },

  async finish(client, { state, nonce, verifier }, redirectUrl, answer) {
    const server = await serverOf(client.provider);
    const tokenUrl = endpoint(server, 'token_endpoint');
    const party: oauth.Client = {
      client_id: client.clientId,
      [oauth.clockTolerance]: CLOCK_TOLERANCE_S,
    };
    try {
      const parameters = oauth.validateAuthResponse(server, party, answer, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        party,
        client.clientSecret === null ? oauth.None() : oauth.ClientSecretPost(client.clientSecret),
        parameters,
        redirectUrl,
        verifier,
        {
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
          [oauth.customFetch]: fetchBounded,
          [oauth.allowInsecureRequests]: isLoopbackUrl(new URL(tokenUrl)),
        },
      );
      const issuer = await issuerOf(client.provider, server, response.clone());
      const granted = await oauth.processAuthorizationCodeResponse({ ...server, issuer }, party, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      requireOwner(client, oauth.getValidatedIdTokenClaims(granted) ?? {});
      requireRights(client, granted.scope);
      if (granted.refresh_token === undefined) {
        throw new ConsentError('failed', 'the provider gave no refresh token: is offline access allowed?');
      }
      return { refreshToken: granted.refresh_token, tokenUrl };
    } catch (error) {
      const secrets = [answer.get('code'), client.clientSecret, state, nonce, verifier];
      throw toConsentError(
        error,
        new URL(tokenUrl).host,
        secrets.filter((secret) => secret !== null),
      );
    }
  },
};

/** What makes a provider give a refresh token. */
const OF_PROVIDER: Readonly<Record<ConsentProvider['kind'], Readonly<Record<string, string>>>> = {
  google: { access_type: 'offline', prompt: 'consent' },
  // Here the scope `offline_access` does.
  microsoft: {},
  // OpenID Connect Core §11
  issuer: { prompt: 'consent' },
};

function scopeOf({ provider, scope }: ConsentClient): string {
  const own = scope ?? (provider.kind === 'google' ? GOOGLE_SCOPE : '');
  const offline = provider.kind === 'google' ? [] : ['offline_access'];
  return [...new Set(['openid', 'email', 'profile', ...offline, ...own.split(' ')])]
    .filter(Boolean)
    .join(' ');
}

async function serverOf(provider: ConsentProvider): Promise<oauth.AuthorizationServer> {
  if (provider.kind === 'google') return GOOGLE;
  if (provider.kind === 'microsoft') {
    const base = `https://login.microsoftonline.com/${provider.tenant.toLowerCase()}`;
    return {
      issuer: `${base}/v2.0`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      token_endpoint: `${base}/oauth2/v2.0/token`,
    };
  }
  const issuer = new URL(provider.issuer);
  try {
    const response = await oauth.discoveryRequest(issuer, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      [oauth.customFetch]: fetchBounded,
      [oauth.allowInsecureRequests]: isLoopbackUrl(issuer),
    });
    return await oauth.processDiscoveryResponse(issuer, response);
  } catch (error) {
    const text = `the OpenID configuration of ${issuer.host} can not be used: ${reasonOf(error, [])}`;
    throw new ConsentError('failed', text, error, true);
  }
}

/** https. Only a provider on this machine may be http: no other one chooses a port here that gets a request. */
function endpoint(
  server: oauth.AuthorizationServer,
  name: 'authorization_endpoint' | 'token_endpoint',
): string {
  const text = server[name];
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
  const isLocal = url?.protocol === 'http:' && [url, new URL(server.issuer)].every(isLoopbackUrl);
  if (url === null || (url.protocol !== 'https:' && !isLocal)) {
    throw new ConsentError('failed', `the provider's ${name} is not https`);
  }
  return url.href;
}

/** Of the ID token, where the provider has one for each tenant. */
async function issuerOf(
  provider: ConsentProvider,
  server: oauth.AuthorizationServer,
  response: Response,
): Promise<string> {
  if (provider.kind !== 'microsoft' || TENANT_ID.test(provider.tenant)) return server.issuer;
  const { id_token: token } = (await response.json().catch(() => ({}))) as { readonly id_token?: unknown };
  const [, payload = ''] = typeof token === 'string' ? token.split('.') : [];
  const { iss } = readJson(Buffer.from(payload, 'base64url').toString('utf8'));
  return typeof iss === 'string' && MICROSOFT_ISSUER.test(iss) ? iss : server.issuer;
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}

/** Throws `ConsentError` when somebody else consented: mail of others would be read. */
function requireOwner({ users, provider }: ConsentClient, claims: Readonly<Record<string, unknown>>): void {
  const { email, preferred_username: name, upn } = claims;
  const names = [isProvenAddress(provider, claims) ? email : null, name, upn].flatMap((claim) =>
    typeof claim === 'string' ? [claim.toLowerCase()] : [],
  );
  if (names.some((one) => users.includes(one))) return;
  const who = names.length === 0 ? 'nobody whom the provider names' : cleanReplyText(names.join(', '));
  throw new ConsentError('other_address', `${who} consented, not ${users.join(' or ')}`);
}

/**
 * At Microsoft an administrator may write any address into `email`, also one of another company, so it counts only where the account names
 * the tenant. The name of the user is in a domain that the tenant has proved.
 */
function isProvenAddress(
  provider: ConsentProvider,
  { email_verified: isVerified }: Readonly<Record<string, unknown>>,
): boolean {
  if (provider.kind === 'microsoft' && OPEN_TENANTS.has(provider.tenant.toLowerCase())) return false;
  // Seen in practice: text in place of a boolean.
  return isVerified === undefined || isVerified === true || isVerified === 'true';
}

/** Throws `ConsentError`: at Google the owner may leave out a right. Others grant all or nothing, and may name rights in another way. */
function requireRights({ provider, scope }: ConsentClient, granted: string | undefined): void {
  if (provider.kind !== 'google' || granted === undefined) return;
  const given = granted.split(' ');
  // `email` and `profile` have longer names in the answer.
  const missing = (scope ?? GOOGLE_SCOPE)
    .split(' ')
    .filter((right) => right.startsWith('https://') && !given.includes(right));
  if (missing.length === 0) return;
  throw new ConsentError('denied', `the owner of the mailbox did not allow ${missing.join(', ')}`);
}

function toConsentError(error: unknown, host: string, secrets: readonly string[]): ConsentError {
  if (error instanceof ConsentError) return error;
  if (error instanceof oauth.AuthorizationResponseError) {
    const kind = error.error === 'access_denied' ? 'denied' : 'failed';
    const text = [error.error, error.error_description].filter(Boolean).join(': ');
    return new ConsentError(kind, `${host} refused: ${clean(text, secrets)}`, error);
  }
  return new ConsentError('failed', toTokenError(error, host, secrets).message, error);
}
