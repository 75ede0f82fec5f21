/** The addresses at which HTTP listens, and which clients may use it. */
import { domainToASCII } from 'node:url';
import { ConfigError } from './config-error.ts';
import { isHttpsOrLocal } from '../core/server-url.ts';
import { readListen, readNetworks, readSecrets, readWord } from './config-values.ts';
import { integer, secretVariable, variable } from './variable.ts';

/** A year. */
const MAX_SESSION_HOURS = 8760;

export const HTTP_VARIABLES = {
  port: integer('PORT', 3000, { min: 0, max: 65_535 }, 'Port where HTTP listens; 0 picks a free one.'),
  host: variable('HOST', {
    parse: (value) => value ?? '127.0.0.1',
    defaultText: '127.0.0.1',
    meaning: 'Address where HTTP listens; `0.0.0.0` or `::` for all.',
  }),
  httpMaxConnections: integer(
    'HTTP_MAX_CONNECTIONS',
    500,
    { min: 1, max: 100_000 },
    'Maximum number of HTTP connections. A further one replaces a connection that never showed a right secret. A key keeps half ' +
      'of them at most.',
  ),
  httpRatePerMinute: integer(
    'HTTP_RATE_PER_MINUTE',
    6000,
    { min: 1, max: 10_000_000 },
    'Requests per minute of one key in each process, unless the key has its own `rate_limit`; further ones get 429. The ' +
      'sessions of a key have the same limit again, `API_SECRET` a hundred times as much.',
  ),
  httpMaxAtOnce: integer(
    'HTTP_MAX_AT_ONCE',
    32,
    { min: 1, max: 100_000 },
    'Simultaneous requests of one key in each process, until their responses begin; waits for events do not count. Further ones ' +
      'get 429. `API_SECRET` may have eight times as many.',
  ),
  publicUrl: variable('PUBLIC_URL', {
    parse: readPublicUrl,
    defaultText: 'none',
    meaning:
      'URL at which recipients of mail reach the service, such as `https://mail.example.com`, for unsubscribe links, and owners of ' +
      'mailboxes for consents. A proxy may strip its path. Only `/unsubscribe/` and `/oauth2/callback` must be public.',
  }),
  consentReturnOrigins: variable('CONSENT_RETURN_ORIGINS', {
    parse: readOrigins,
    defaultText: 'only that of `PUBLIC_URL`',
    meaning:
      'Origins of applications, such as `https://crm.example.com`, separated by commas, to which the owner of a mailbox may be sent ' +
      'back after a consent: `return_url` of `POST /api/accounts/{id}/consent`.',
  }),
  allowedHosts: variable('ALLOWED_HOSTS', {
    parse: readHosts,
    defaultText: 'none',
    meaning:
      'Host names, such as `mail.intern.example,mail`, under which browsers reach the page, besides those of `PUBLIC_URL` and ' +
      '`HOST`, `localhost` and IP addresses. Requests without a bearer secret under any other name get 421, so that a page of a ' +
      'stranger whose name resolves to this service cannot use a login.',
  }),
  accessLog: variable('ACCESS_LOG', {
    parse: (value, name) => readWord(name, value ?? 'off', ['off', 'routes', 'paths']),
    defaultText: 'off',
    meaning:
      'Log line for each request: `routes` with its route, such as `/api/thread/:threadId`; `paths` also with path and query, ' +
      'which may contain addresses of people.',
  }),
  /** null: metrics are off. */
  metricsListen: variable('METRICS_LISTEN', {
    parse: (value, name) => readListen(name, value),
    defaultText: 'off',
    meaning:
      'Address for Prometheus, such as `127.0.0.1:9464`: serves `/metrics` without TLS and without a secret; see ops/.',
  }),
  /** Addresses, or networks such as `10.0.0.0/8`. */
  trustedProxies: variable('TRUSTED_PROXIES', {
    parse: (value, name) => readNetworks(name, value),
    defaultText: 'none',
    meaning:
      'Addresses and networks of proxies, such as `127.0.0.1,10.0.0.0/8`, whose `X-Forwarded-For` names the client: for failed ' +
      'logins, the security log and the access log. A number of hops is not supported, because a client that bypasses the ' +
      'proxies could claim any address.',
  }),
  /** Empty: the service makes one and keeps it in the data folder. */
  apiSecrets: secretVariable('API_SECRET', {
    parse: readSecrets,
    defaultText: 'made at the first start, kept in `DATA_DIR/api-secret`',
    meaning: 'Bearer secret, at least 16 characters; two, separated by a comma, during a change.',
  }),
  sessionIdleHours: integer(
    'SESSION_IDLE_HOURS',
    168,
    { min: 1, max: MAX_SESSION_HOURS },
    'Hours without use after which a browser must log in again.',
  ),
  sessionMaxHours: integer(
    'SESSION_MAX_HOURS',
    720,
    { min: 1, max: MAX_SESSION_HOURS },
    'Hours after which a browser must log in again in any case.',
  ),
};

/** Leaves room for a token in a header line. */
const MAX_PUBLIC_URL_CHARS = 200;

/** RFC 8058 §3.1 requires https; http is for trials on this machine. */
function readPublicUrl(text: string | null, name: string): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isHttpsOrLocal(url))
    throw new ConfigError(name, 'must be an address that starts with https://');
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new ConfigError(name, 'must end with its path');
  }
  if (url.href.length > MAX_PUBLIC_URL_CHARS) {
    throw new ConfigError(name, `must have at most ${MAX_PUBLIC_URL_CHARS} characters`);
  }
  // Input: at most 200 characters, MAX_PUBLIC_URL_CHARS.
  return url.href.replace(/\/+$/, '');
}

/** Origins of web applications (RFC 6454), as browsers write them. */
function readOrigins(text: string | null, name: string): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')
    .map((origin) => {
      const url = URL.canParse(origin) ? new URL(origin) : null;
      if (url === null || !isHttpsOrLocal(url) || url.href !== `${url.origin}/`)
        throw new ConfigError(name, 'must be origins, such as https://crm.example.com, separated by commas');
      return url.origin;
    });
}

/** In lower-case ASCII, without ports. */
function readHosts(text: string | null, name: string): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')
    .map((host) => {
      const ascii = domainToASCII(host);
      if (!/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(ascii))
        throw new ConfigError(name, 'must be names of hosts, without ports, separated by commas');
      return ascii;
    });
}
