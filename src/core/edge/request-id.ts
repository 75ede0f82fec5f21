/** The name of a request in its answer, in the log and, for a caller that names its requests, in other programs. */

/** As long as proxies and clouds write, without anything that breaks a header, a line of a log or a shell. */
const SAFE = /^[A-Za-z0-9][A-Za-z0-9._:=+/@-]{0,127}$/;

/**
 * The caller's own name of the request if it is safe to repeat; else null.
 *
 * @param header X-Request-Id as Node.js gives it; Node.js joins several by `, `, which is not safe
 */
export const readRequestId = (header: string | readonly string[] | undefined): string | null =>
  typeof header === 'string' && SAFE.test(header) ? header : null;
