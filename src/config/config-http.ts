/** The addresses at which HTTP listens, and which clients may use it. */
import { domainToASCII } from 'node:url';
import { ConfigError } from './config-error.ts';
import { isLoopback } from '../core/server-url.ts';
import { readListen, readNetworks, readWord } from './config-values.ts';
import { integer, secretVariable, variable } from './variable.ts';

const MIN_SECRET_LENGTH = 16;
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
    'HTTP connections at the same time; for one more, one that never brought a right secret is closed. A key keeps half of them at most.',
  ),
  httpRatePerMinute: integer(
    'HTTP_RATE_PER_MINUTE',
    6000,
    { min: 1, max: 10_000_000 },
    'Requests of one key within a minute, in each process; `rate_limit` of a key takes its place. More are answered with 429. The sessions of a key may do as much again, and `API_SECRET` a hundred times as much.',
  ),
  httpMaxAtOnce: integer(
    'HTTP_MAX_AT_ONCE',
    32,
    { min: 1, max: 100_000 },
    'Requests of one key under way at the same time, in each process, until their answers begin; waits for events do not count. More are answered with 429. `API_SECRET` may have eight times as many.',
  ),
  publicUrl: variable('PUBLIC_URL', {
    parse: readPublicUrl,
    defaultText: 'none',
    meaning:
      'Where recipients of mail reach the service, such as `https://mail.example.com`; a proxy may take a path in front of it away. For links to unsubscribe; only `/unsubscribe/` needs to be reachable there.',
  }),
  allowedHosts: variable('ALLOWED_HOSTS', {
    parse: readHosts,
    defaultText: 'none',
    meaning:
      'Names of hosts, such as `mail.intern.example,mail`, under which browsers reach the page, beside those of `PUBLIC_URL` and `HOST`, `localhost` and addresses. Under any other name the service answers 421 to what has no bearer secret, so that no page of a stranger whose name leads here can use a log-in.',
  }),
  accessLog: variable('ACCESS_LOG', {
    parse: (value, name) => readWord(name, value ?? 'off', ['off', 'routes', 'paths']),
    defaultText: 'off',
    meaning:
      'Whether the log has a line for each request: `routes` names its route, such as `/api/thread/:threadId`; `paths` also its path and query, which may hold addresses of people.',
  }),
  /** null: metrics are off. */
  metricsListen: variable('METRICS_LISTEN', {
    parse: (value, name) => readListen(name, value),
    defaultText: 'off',
    meaning:
      'Address for Prometheus, such as `127.0.0.1:9464`, where `/metrics` is served without TLS and without a secret; see ops/.',
  }),
  /** Addresses, or networks such as `10.0.0.0/8`. */
  trustedProxies: variable('TRUSTED_PROXIES', {
    parse: (value, name) => readNetworks(name, value),
    defaultText: 'none',
    meaning:
      'Addresses and networks of proxies, such as `127.0.0.1,10.0.0.0/8`, whose `X-Forwarded-For` says who the client is: for failed log-ins, the security log and the access log. A number of hops is not taken: a client that reaches the service past the proxies could claim any address.',
  }),
  /** Empty: the service makes one and keeps it in the data folder. */
  apiSecrets: secretVariable('API_SECRET', {
    parse: readSecrets,
    defaultText: 'made at the first start, kept in `DATA_DIR/api-secret`',
    meaning:
      'The bearer secret, at least 16 characters; two, separated by a comma, while it is being changed.',
  }),
  sessionIdleHours: integer(
    'SESSION_IDLE_HOURS',
    168,
    { min: 1, max: MAX_SESSION_HOURS },
    'Hours without use after which a browser has to log in again.',
  ),
  sessionMaxHours: integer(
    'SESSION_MAX_HOURS',
    720,
    { min: 1, max: MAX_SESSION_HOURS },
    'Hours after which a browser has to log in again, however much it is used.',
  ),
};

/** Leaves room for a token in a header line. */
const MAX_PUBLIC_URL_CHARS = 200;

/** RFC 8058 §3.1 requires https; http is for trials on this machine. */
function readPublicUrl(text: string | null, name: string): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isSafe) throw new ConfigError(name, 'must be an address that starts with https://');
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new ConfigError(name, 'must end with its path');
  }
  if (url.href.length > MAX_PUBLIC_URL_CHARS) {
    throw new ConfigError(name, `must have at most ${MAX_PUBLIC_URL_CHARS} characters`);
  }
  // Input: at most 200 characters, MAX_PUBLIC_URL_CHARS.
  return url.href.replace(/\/+$/, '');
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

function readSecrets(text: string | null, name: string): readonly string[] {
  if (text === null) return [];
  const secrets = text.split(',').map((secret) => secret.trim());
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) {
      throw new ConfigError(name, `must have at least ${MIN_SECRET_LENGTH} characters`);
    }
    // RFC 9110 §5.5: the characters that a header field may contain
    if (!/^[\x21-\x7e]+$/.test(secret)) throw new ConfigError(name, 'must be printable ASCII without spaces');
  }
  return secrets;
}
