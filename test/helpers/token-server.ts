/**
 * An OAuth2 authorization server, as far as a refresh needs one (RFC 6749 §6, RFC 7662): it rotates refresh tokens, accepts each only once
 * if it is strict, and tells a resource server which access tokens are valid.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TokenServer {
  /** For `token_url`. */
  readonly url: string;
  /** For Dovecot's `introspection_url`; the token is appended. */
  readonly introspectionUrl: string;
  /** The parameters of each token request. */
  readonly requests: readonly URLSearchParams[];
  /** Access tokens in the order in which they were issued. */
  readonly given: readonly string[];
  /** Refresh tokens that are valid now. */
  readonly good: Set<string>;
  /** Answers in place of the usual answer while it is set. */
  misbehave: ((response: ServerResponse) => void) | null;
  /** In seconds. */
  lifetimeS: number;
  /** How long an answer takes, in ms. */
  delayMs: number;
  /** Rejects an access token that has not yet expired. */
  revoke(accessToken: string): void;
  close(): Promise<void>;
}

/** @param options.strict a refresh token is valid once; otherwise older ones stay valid */
export async function startTokenServer(options: { readonly strict?: boolean } = {}): Promise<TokenServer> {
  const requests: URLSearchParams[] = [];
  const given: string[] = [];
  const active = new Map<string, number>();
  const good = new Set(['first-refresh-token']);
  const json = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (url.pathname === '/introspect') {
        const token =
          url.searchParams.get('token') ?? new URLSearchParams(await text(request)).get('token') ?? '';
        const isActive = (active.get(token) ?? 0) > Date.now();
        json(response, 200, { active: isActive, username: 'alice' });
        return;
      }
      const form = new URLSearchParams(await text(request));
      requests.push(form);
      if (state.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, state.delayMs));
      if (state.misbehave !== null) {
        state.misbehave(response);
        return;
      }
      const refreshToken = form.get('refresh_token') ?? '';
      if (form.get('client_secret') !== 'the-client-secret') {
        response.setHeader('www-authenticate', 'Basic');
        json(response, 401, { error: 'invalid_client' });
        return;
      }
      if (!good.has(refreshToken)) {
        json(response, 400, { error: 'invalid_grant', error_description: `bad ${refreshToken}` });
        return;
      }
      if (options.strict === true) good.delete(refreshToken);
      const next = `refresh-${randomUUID()}`;
      const accessToken = `access-${randomUUID()}`;
      good.add(next);
      given.push(accessToken);
      active.set(accessToken, Date.now() + state.lifetimeS * 1000);
      json(response, 200, {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: state.lifetimeS,
        refresh_token: next,
        // Its issuer differs from the address, as with Microsoft.
        id_token: 'e30.e30.',
      });
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: TokenServer = {
    url: `${base}/token`,
    introspectionUrl: `${base}/introspect?token=`,
    requests,
    given,
    good,
    misbehave: null,
    lifetimeS: 3600,
    delayMs: 0,
    revoke: (accessToken) => void active.delete(accessToken),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  return state;
}
