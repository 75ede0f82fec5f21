/**
 * The address of a mail server in a form: host, port and encryption apart, as people know them. Requests have one URL, with user and
 * password in it.
 */

/** `offered`: STARTTLS if the server offers it, which only accounts of before have; the page itself offers `starttls`, which requires it. */
export type Security = 'tls' | 'starttls' | 'offered' | 'none';
export type Scheme = 'imap' | 'smtp';

export interface ServerFields {
  /** Empty: there is no such server. */
  readonly host: string;
  readonly port: string;
  readonly security: Security;
  /** Other options of the URL, which the form does not show and keeps. */
  readonly options: string;
  /** The host that they are about. */
  readonly optionsHost: string;
}

export interface LogIn {
  readonly user: string;
  /** null: the owner of the mailbox consents instead. */
  readonly password: string | null;
}

const PORTS = {
  imap: { tls: '993', starttls: '143', offered: '143', none: '143' },
  smtp: { tls: '465', starttls: '587', offered: '587', none: '587' },
} as const;

export const usualPort = (scheme: Scheme, security: Security): string => PORTS[scheme][security];

export const noServer = (scheme: Scheme): ServerFields => ({
  host: '',
  port: usualPort(scheme, 'tls'),
  security: 'tls',
  options: '',
  optionsHost: '',
});

/** These trust one server, such as one in the own network, and no other one gets the password by them. */
const OF_HOST = ['tls_verify', 'tls_servername', 'allow_plaintext_auth'];

/** The port follows the encryption, unless another one than the usual was typed. */
export function withSecurity(scheme: Scheme, server: ServerFields, security: Security): ServerFields {
  const isUsual = server.port === '' || server.port === usualPort(scheme, server.security);
  return { ...server, security, port: isUsual ? usualPort(scheme, security) : server.port };
}

/** Of a URL of the service, with or without a user. */
export function readServer(scheme: Scheme, text: string | null): ServerFields {
  if (text === null || !URL.canParse(text)) return noServer(scheme);
  const url = new URL(text);
  const query = url.searchParams;
  const startTls = query.get('starttls');
  query.delete('starttls');
  const security: Security =
    url.protocol === `${scheme}s:`
      ? 'tls'
      : startTls === 'required'
        ? 'starttls'
        : startTls === 'off'
          ? 'none'
          : 'offered';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: url.port === '' ? usualPort(scheme, security) : url.port,
    security,
    options: query.toString(),
    optionsHost: host,
  };
}

/** The decoded user of a URL; empty when it has none. */
export function userOf(text: string | null): string {
  if (text === null || !URL.canParse(text)) return '';
  try {
    return decodeURIComponent(new URL(text).username);
  } catch {
    return '';
  }
}

/** null: there is no server. */
export function toUrl(scheme: Scheme, server: ServerFields, logIn: LogIn | null): string | null {
  const host = server.host.trim();
  if (host === '') return null;
  const query = new URLSearchParams(server.options);
  if (host.toLowerCase() !== server.optionsHost.toLowerCase()) for (const name of OF_HOST) query.delete(name);
  if (server.security === 'starttls') query.set('starttls', 'required');
  if (server.security === 'none') {
    query.set('starttls', 'off');
    // Who chose "none" for a server elsewhere has agreed that the password is sent without encryption.
    if (logIn !== null && !isLoopback(host)) query.set('allow_plaintext_auth', 'true');
  }
  const password = logIn === null || logIn.password === null ? '' : `:${encodeURIComponent(logIn.password)}`;
  const user = logIn === null ? '' : `${encodeURIComponent(logIn.user)}${password}@`;
  const options = query.size === 0 ? '' : `?${query.toString()}`;
  const shownHost = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `${scheme}${server.security === 'tls' ? 's' : ''}://${user}${shownHost}:${server.port.trim()}${options}`;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

/** Such as `.co.uk`: the label before it is that of a company. */
const SHARED_SUFFIX = /\.(?:ac|co|com|edu|go|gob|gov|gv|ne|net|nom|or|org)\.[a-z]{2}$/;

/** True for two servers of one provider, which have the same user and password. */
export function areTogether(one: ServerFields, other: ServerFields): boolean {
  const site = ({ host: given }: ServerFields) => {
    const host = given.toLowerCase();
    if (/^[\d.:[\]]+$/.test(host)) return host;
    return host
      .split('.')
      .slice(SHARED_SUFFIX.test(host) ? -3 : -2)
      .join('.');
  };
  return one.host !== '' && site(one) === site(other);
}
