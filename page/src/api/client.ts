/**
 * The project's own client, as the page uses it. A browser has a session in place of the secret: the cookie goes along by
 * itself, and the header tells the service that a page of its own asks, which no other site can send.
 */
import { createClient } from 'email-worker-client';

/** What the service wants of every request of a page that changes something. */
export const PAGE_HEADERS = { 'X-Requested-With': 'email-worker' } as const;

export const client = createClient({
  url: globalThis.location.origin,
  // The client wants one; the request that goes out has none.
  secret: 'session',
  fetch: (request) => fetch(withSession(request)),
  retries: 1,
});

function withSession(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.delete('Authorization');
  for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value);
  return new Request(request, { headers, credentials: 'same-origin' });
}
