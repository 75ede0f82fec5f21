/** Calls the API of a running service over HTTP, for commands. */
import { readAnswer, targetOf, type ApiCall } from './api-call.ts';

/** A send may take as long as the mail server does. */
export const TIMEOUT_MS = 120_000;

/**
 * @param token a key, or the API secret
 * @param signal aborts requests under way
 */
export function callOver(url: URL, token: string, signal?: AbortSignal): ApiCall {
  return async (request) => {
    const { method, body, idempotencyKey, ifMatch, range } = request;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${url.href.replace(/\/$/, '')}${targetOf(request)}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
        ...(range === undefined ? {} : { range }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The token must go to this service only.
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    return readAnswer(request, {
      status: response.status,
      contentType: response.headers.get('content-type'),
      contentRange: response.headers.get('content-range'),
      replayed: response.headers.get('idempotency-replayed'),
      body: new Uint8Array(await response.arrayBuffer()),
    });
  };
}
