/**
 * Requests an access token from a token endpoint with a refresh token (RFC 6749 §6), using oauth4webapi. The answer is bounded in time and
 * size, redirects are not followed, and no error thrown from here contains a token or the client secret.
 */
import * as oauth from 'oauth4webapi';
import { TokenError } from '../../areas/accounts/token-ports.ts';
import { cleanReplyText } from '../../core/delivery/reply.ts';
import { isLoopback } from '../../core/server-url.ts';

export interface TokenEndpoint {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
  /** null: the scope of the refresh token. */
  readonly scope: string | null;
}

export interface GrantedTokens {
  readonly accessToken: string;
  /** In seconds, from the moment of the request. */
  readonly lifetimeS: number;
  /** null: the old one remains valid. */
  readonly refreshToken: string | null;
}

/** From name lookup to the last byte. */
const REQUEST_TIMEOUT_MS = 15_000;

/** Access tokens of Microsoft are up to 5 KB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Used when the answer does not give a lifetime (RFC 6749 §5.1 recommends to). */
const DEFAULT_LIFETIME_S = 1800;
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
export async function requestTokens(endpoint: TokenEndpoint, refreshToken: string): Promise<GrantedTokens> {
  const url = new URL(endpoint.tokenUrl);
  const server: oauth.AuthorizationServer = { issuer: url.origin, token_endpoint: url.href };
  const client: oauth.Client = { client_id: endpoint.clientId };
  const authentication =
    endpoint.clientSecret === null ? oauth.None() : oauth.ClientSecretPost(endpoint.clientSecret);
  try {
    const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      additionalParameters: endpoint.scope === null ? {} : { scope: endpoint.scope },
      [oauth.customFetch]: fetchBounded,
      [oauth.allowInsecureRequests]: isLoopback(url.hostname.replace(/^\[|\]$/g, '')),
    });
    const granted = await oauth.processRefreshTokenResponse(server, client, response);
    const { expires_in: lifetimeS = DEFAULT_LIFETIME_S } = granted;
    if (!(lifetimeS > 0)) throw new Error('the token has ended already');
    return {
      accessToken: granted.access_token,
      lifetimeS: Math.min(lifetimeS, MAX_LIFETIME_S),
      refreshToken: granted.refresh_token ?? null,
    };
  } catch (error) {
    throw toTokenError(error, url.host, [refreshToken, endpoint.clientSecret ?? '']);
  }
}

async function fetchBounded(
  url: string,
  options: oauth.CustomFetchOptions<'POST', URLSearchParams>,
): Promise<Response> {
  const { signal, ...others } = options;
  const response = await fetch(url, { ...others, ...(signal === undefined ? {} : { signal }) });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early ends the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  const type = response.headers.get('content-type');
  // Fetch standard, "null body status"
  const bodyless = [204, 205, 304].includes(response.status);
  // Only the necessary parts are passed on: a challenge would hide the error in the body.
  return new Response(bodyless ? null : withoutIdToken(Buffer.concat(chunks)), {
    status: response.status,
    headers: type === null ? {} : { 'content-type': type },
  });
}

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

function toTokenError(error: unknown, host: string, secrets: readonly string[]): TokenError {
  if (error instanceof oauth.ResponseBodyError) {
    const text = [error.error, error.error_description].filter(Boolean).join(': ');
    const permanent = PERMANENT.has(error.error) && error.status !== 429;
    return new TokenError(`${host} refused: ${clean(text, secrets)}`, permanent);
  }
  const failure = error instanceof Error ? error : new Error(String(error));
  // fetch says "fetch failed" and puts the reason in the cause.
  const { cause } = failure;
  const reason =
    cause instanceof Response ? `HTTP ${cause.status}` : cause instanceof Error ? cause.message : null;
  const text = reason === null || reason === '' ? failure.message : `${failure.message} (${reason})`;
  return new TokenError(`${host} gave no token: ${clean(text, secrets)}`, false);
}

/** Seen in practice: descriptions that quote the request. */
function clean(text: string, secrets: readonly string[]): string {
  return cleanReplyText(
    secrets.reduce((result, secret) => (secret === '' ? result : result.replaceAll(secret, '***')), text),
  );
}
