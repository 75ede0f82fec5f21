/**
 * The project's own client, set up for the page. A browser has a session in place of the secret: it sends the cookie by itself, and the
 * header proves that the request comes from the service's own page, as no other site can send it.
 */
import { createClient } from 'email-worker-client';

/** The header that the service requires of every page request that changes something. */
export const PAGE_HEADERS = { 'X-Requested-With': 'email-worker' } as const;

/** The name of the event that the window gets when the service no longer knows the session. */
export const SESSION_ENDED = 'email-worker.session-ended';

export const client = createClient({
  url: globalThis.location.origin,
  // The client requires a secret; the request that goes out has none.
  secret: 'session',
  fetch: async (request) => {
    const response = await fetch(withSession(request));
    // Whatever asked: the saving of a draft, the list, the events.
    if (response.status === 401) dispatchEvent(new Event(SESSION_ENDED));
    return response;
  },
  retries: 1,
});

function withSession(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.delete('Authorization');
  for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value);
  return new Request(request, { headers, credentials: 'same-origin' });
}
