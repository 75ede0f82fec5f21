/**
 * A mail server as one URL, such as `smtp://user:password@host:587?name=value`. The form follows RFC 3986; the names of
 * the query parameters are ours. Errors thrown here contain no part of the URL except parameter names and values.
 */
import { domainToASCII } from 'node:url';

/**
 * How the connection gets its TLS.
 * - `implicit`: from the first byte (RFC 8314 §3.3), `smtps://`, `imaps://`.
 * - `required`: STARTTLS (RFC 3207, RFC 9051 §6.2.1), and nothing without it.
 * - `if_offered`: STARTTLS when the server offers it; otherwise plain text, but without credentials.
 * - `off`: never.
 */
export type TlsMode = 'implicit' | 'required' | 'if_offered' | 'off';

export interface ServerUrlRules {
  readonly plain: { readonly protocol: string; readonly port: number };
  readonly implicit: { readonly protocol: string; readonly port: number };
  /** Every query parameter. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Allowed values of `auth_method`. */
  readonly authMethods: readonly string[];
}

/** The options in every mail server's URL. */
export interface ServerOptions {
  /** A name in lower-case ASCII, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  /** SASL mechanism; null lets the server's offer decide. */
  readonly authMethod: string | null;
  /** Credentials may cross the network without TLS. Always allowed to a loopback address. Default false. */
  readonly allowPlaintextAuth: boolean;
  /** The server's certificate is checked. Default true. */
  readonly tlsVerify: boolean;
  /** PEM file with the authorities to trust in place of the built-in ones; read at each connect. Default null. */
  readonly tlsCaFile: string | null;
  /** The name to ask for and to check in the certificate; null: `host`. */
  readonly tlsServername: string | null;
}

export interface ServerUrl {
  readonly options: ServerOptions;
  /** Decoded; empty when the URL has none. */
  readonly user: string;
  readonly password: string;
  /** Every parameter is known, not empty, and given once. */
  readonly query: ReadonlyMap<string, string>;
}

/** The parameters that every mail server's URL accepts, with their values. */
export const SERVER_URL_PARAMETERS = {
  allow_plaintext_auth: '`true` sends credentials without TLS to a host that is not this machine',
  tls_verify: '`false` accepts any certificate',
  tls_ca: 'PEM file with trusted authorities in place of the built-in ones',
  tls_servername: 'name for SNI and for the check of the certificate; default: the host',
} as const;

/** The longest time that a timer of Node.js can wait, in ms. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Credentials are percent-encoded (UTF-8).
 *
 * @throws {Error} with an English message
 */
export function parseServerUrl(text: string, rules: ServerUrlRules): ServerUrl {
  if (!URL.canParse(text)) {
    throw new Error('it is not a URL; special characters of user and password must be percent-encoded');
  }
  const url = new URL(text);
  const implicit = url.protocol === rules.implicit.protocol;
  if (!implicit && url.protocol !== rules.plain.protocol) {
    throw new Error(`it must start with ${rules.plain.protocol}// or ${rules.implicit.protocol}//`);
  }
  if (!['', '/'].includes(url.pathname) || url.hash !== '') {
    throw new Error(
      'it must not have a path or a fragment; # and / of a password are written as %23 and %2F',
    );
  }
  const host = parseHost(url.hostname);
  if (url.port === '0') throw new Error('the port must not be 0');
  const query = readQuery(url.searchParams, rules.parameters);
  const startTls = oneOf(query, 'starttls', ['required', 'if_offered', 'off'] as const);
  if (implicit && startTls !== null) {
    throw new Error(`starttls makes no sense with ${rules.implicit.protocol}//`);
  }
  const user = percentDecode(url.username, 'the user');
  const password = percentDecode(url.password, 'the password');
  // RFC 4616 §2: NUL separates the fields of PLAIN.
  if (/\0/.test(user + password)) throw new Error('user and password must not contain NUL');
  return {
    options: {
      host,
      port: url.port === '' ? (implicit ? rules.implicit : rules.plain).port : Number(url.port),
      tls: implicit ? 'implicit' : (startTls ?? 'if_offered'),
      authMethod: oneOf(query, 'auth_method', rules.authMethods),
      allowPlaintextAuth: oneOf(query, 'allow_plaintext_auth', ['true', 'false']) === 'true',
      tlsVerify: oneOf(query, 'tls_verify', ['true', 'false']) !== 'false',
      tlsCaFile: query.get('tls_ca') ?? null,
      tlsServername: query.get('tls_servername') ?? null,
    },
    user,
    password,
    query,
  };
}

/** True for this machine: credentials to it cross no network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host);
}

/** True when the URL's host is this machine. */
export const isLoopbackUrl = ({ hostname }: URL): boolean => isLoopback(hostname.replace(/^\[|\]$/g, ''));

/** True for https, and for http to this machine: what is sent there crosses no network in plain text. */
export const isHttpsOrLocal = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(url));

/**
 * The limits that the query sets. A limit of 0, NaN or beyond the range must not disable a guard.
 *
 * @param names query parameter → the limit it sets
 */
export function readLimits<K extends string>(
  query: ReadonlyMap<string, string>,
  names: Readonly<Record<string, K>>,
): Partial<Record<K, number>> {
  const limits: Partial<Record<K, number>> = {};
  for (const [name, key] of Object.entries(names)) {
    const text = query.get(name);
    if (text === undefined) continue;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > MAX_TIMER_MS)
      throw new Error(`${name} must be a whole number from 1, not ${text}`);
    limits[key] = value;
  }
  return limits;
}

function parseHost(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  const host = domainToASCII(percentDecode(hostname, 'the host'));
  // A colon: an IPv6 address without brackets.
  if (host === '' || host.includes(':')) throw new Error('it has no valid host');
  return host;
}

function percentDecode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`${what} is not valid percent-encoding`);
  }
}

function readQuery(
  parameters: URLSearchParams,
  known: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (!Object.hasOwn(known, name)) throw new Error(`unknown parameter ${name}`);
    if (query.has(name)) throw new Error(`${name} is given twice`);
    if (value === '') throw new Error(`${name} is empty`);
    query.set(name, value);
  }
  return query;
}

function oneOf<T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  allowed: readonly T[],
): T | null {
  const value = query.get(name);
  if (value === undefined) return null;
  const found = allowed.find((candidate) => candidate.toLowerCase() === value.toLowerCase());
  if (found === undefined) throw new Error(`${name} must be ${allowed.join(', ')}, not ${value}`);
  return found;
}
