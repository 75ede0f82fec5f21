/**
 * Requests an access token from a token endpoint, using oauth4webapi: with a refresh token (RFC 6749 §6), as the application itself (§4.4), or
 * as a service account for a user of its domain (RFC 7523 §2.1). The answer is bounded in time and
 * size, redirects are not followed, and no error thrown from here contains a token or the client secret.
 */
import { sign } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import { TokenError, type OwnGrant } from '../../areas/accounts/token-ports.ts';
import { cleanReplyText } from '../../core/delivery/reply.ts';
import { isLoopbackUrl } from '../../core/server-url.ts';
import { fetchBounded } from './bounded-fetch.ts';

export interface TokenEndpoint {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
  /** null: the scope of the refresh token. */
  readonly scope: string | null;
  /** null: by the consent of a person, which gave a refresh token. */
  readonly ownGrant: OwnGrant | null;
}

export interface GrantedTokens {
  readonly accessToken: string;
  /** In seconds, from the moment of the request. */
  readonly lifetimeS: number;
  /** null: the old one remains valid. */
  readonly refreshToken: string | null;
}

/** From name lookup to the last byte. */
export const REQUEST_TIMEOUT_MS = 15_000;

/** Used when the answer does not give a lifetime (RFC 6749 §5.1 recommends to). */
const DEFAULT_LIFETIME_S = 1800;
/** Google accepts an hour at most. */
const ASSERTION_LIFETIME_S = 3600;

/** A year; tokens that live longer are renewed earlier. */
const MAX_LIFETIME_S = 31_536_000;

/** RFC 6749 §5.2, and codes of OpenID Connect Core §3.1.2.6 that Microsoft and others use here: asking again can't help. */
const PERMANENT = new Set([
  'invalid_grant',
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
  'access_denied',
  'interaction_required',
  'login_required',
  'consent_required',
  'org_internal',
  'admin_policy_enforced',
  'disabled_client',
  'deleted_client',
]);

/** Throws `TokenError`. */
export async function requestTokens(
  endpoint: TokenEndpoint,
  refreshToken: string | null,
): Promise<GrantedTokens> {
  const url = new URL(endpoint.tokenUrl);
  const server: oauth.AuthorizationServer = { issuer: url.origin, token_endpoint: url.href };
  const client: oauth.Client = { client_id: endpoint.clientId };
  const { grantType, authentication, parameters } = toRequest(endpoint, refreshToken, url);
  try {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      authentication,
      grantType,
      { ...parameters, ...(endpoint.scope === null ? {} : { scope: endpoint.scope }) },
      {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        [oauth.customFetch]: fetchWithoutIdToken,
        [oauth.allowInsecureRequests]: isLoopbackUrl(url),
      },
    );
    const granted = await oauth.processGenericTokenEndpointResponse(server, client, response);
    const { expires_in: lifetimeS = DEFAULT_LIFETIME_S } = granted;
    if (!(lifetimeS > 0)) throw new Error('the token has ended already');
    return {
      accessToken: granted.access_token,
      lifetimeS: Math.min(lifetimeS, MAX_LIFETIME_S),
      refreshToken: granted.refresh_token ?? null,
    };
  } catch (error) {
    const secrets = [refreshToken, endpoint.clientSecret, parameters['assertion'] ?? null];
    throw toTokenError(
      error,
      url.host,
      secrets.filter((secret) => secret !== null),
    );
  }
}

interface TokenRequest {
  readonly grantType: string;
  readonly authentication: oauth.ClientAuth;
  readonly parameters: Readonly<Record<string, string>>;
}

function toRequest(endpoint: TokenEndpoint, refreshToken: string | null, url: URL): TokenRequest {
  const { clientId, clientSecret, ownGrant, scope } = endpoint;
  const authentication = clientSecret === null ? oauth.None() : oauth.ClientSecretPost(clientSecret);
  if (ownGrant === null) {
    if (refreshToken === null) throw new TokenError('there is no refresh token', true);
    return { grantType: 'refresh_token', authentication, parameters: { refresh_token: refreshToken } };
  }
  if (ownGrant.kind === 'client_credentials') {
    return { grantType: 'client_credentials', authentication, parameters: {} };
  }
  const claims = {
    iss: clientId,
    sub: ownGrant.subject,
    aud: url.href,
    ...(scope === null ? {} : { scope }),
  };
  return {
    grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    // The assertion names the service account and proves it.
    authentication: () => undefined,
    parameters: { assertion: signAssertion(claims, ownGrant.privateKey) },
  };
}

/** RFC 7519, signed by RSA with SHA-256 (RFC 7518 §3.3); by this machine's clock, which the provider compares with its own. */
function signAssertion(claims: Readonly<Record<string, string>>, privateKey: string): string {
  const now = Math.floor(Date.now() / 1000);
  const parts = [
    { alg: 'RS256', typ: 'JWT' },
    { ...claims, iat: now, exp: now + ASSERTION_LIFETIME_S },
  ];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}

const fetchWithoutIdToken = async (
  url: string,
  options: oauth.CustomFetchOptions<'POST', URLSearchParams>,
): Promise<Response> => {
  const response = await fetchBounded(url, options);
  const body = response.body === null ? null : withoutIdToken(Buffer.from(await response.arrayBuffer()));
  return new Response(body, response);
};

/** The service did not ask for the user's identity, and the issuer in the token differs from the configured address. */
function withoutIdToken(body: Buffer): Buffer | string {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    if (typeof json !== 'object' || json === null || !('id_token' in json)) return body;
    return JSON.stringify({ ...json, id_token: undefined });
  } catch {
    return body;
  }
}

export function toTokenError(error: unknown, host: string, secrets: readonly string[]): TokenError {
  if (error instanceof oauth.ResponseBodyError) {
    const text = [error.error, error.error_description].filter(Boolean).join(': ');
    const permanent = PERMANENT.has(error.error) && error.status !== 429;
    return new TokenError(`${host} refused: ${clean(text, secrets)}`, permanent);
  }
  return new TokenError(`${host} gave no token: ${reasonOf(error, secrets)}`, false);
}

export function reasonOf(error: unknown, secrets: readonly string[]): string {
  const failure = error instanceof Error ? error : new Error(String(error));
  // fetch says "fetch failed" and puts the reason in the cause.
  const { cause } = failure;
  const reason =
    cause instanceof Response ? `HTTP ${cause.status}` : cause instanceof Error ? cause.message : null;
  return clean(
    reason === null || reason === '' ? failure.message : `${failure.message} (${reason})`,
    secrets,
  );
}

/** Seen in practice: descriptions that quote the request. */
export function clean(text: string, secrets: readonly string[]): string {
  return cleanReplyText(
    secrets.reduce((result, secret) => (secret === '' ? result : result.replaceAll(secret, '***')), text),
  );
}
