/** Reads the `oauth2` object of an account in ACCOUNTS_FILE. */
import { ConfigError } from './config-error.ts';
import { isLoopback } from '../core/server-url.ts';

export interface OAuth2Config {
  /** https, or http to this machine. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
  readonly refreshToken: string;
  /** null: the scope of the refresh token. */
  readonly scope: string | null;
}

const FIELDS = new Set([
  'provider',
  'tenant',
  'token_url',
  'client_id',
  'client_secret',
  'refresh_token',
  'scope',
]);

/**
 * @param expand replaces `${NAME}` with that environment variable
 * @param uses the connections where the token replaces a password
 */
export function readOAuth2(
  where: string,
  value: unknown,
  expand: (text: string) => string,
  uses: { readonly imap: boolean; readonly smtp: boolean },
): OAuth2Config | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) throw new ConfigError(where, 'must be an object');
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw new ConfigError(where, `has the unknown field ${unknown}`);
  const text = (name: string): string | null => {
    const field = fields[name] ?? null;
    if (field === null) return null;
    if (typeof field !== 'string') throw new ConfigError(where, `${name} must be text`);
    const expanded = expand(field).trim();
    if (expanded === '') throw new ConfigError(where, `${name} is empty`);
    return expanded;
  };
  const needed = (name: string): string => {
    const field = text(name);
    if (field === null) throw new ConfigError(where, `${name} is missing`);
    return field;
  };
  if (!uses.imap && !uses.smtp) {
    throw new ConfigError(where, 'is not used: neither imap_url nor smtp_url has a user without a password');
  }
  const provider = text('provider');
  return {
    tokenUrl: readTokenUrl(where, provider, text('token_url'), text('tenant')),
    clientId: needed('client_id'),
    clientSecret: text('client_secret'),
    refreshToken: needed('refresh_token'),
    scope: text('scope') ?? (provider === 'microsoft' ? microsoftScope(uses) : null),
  };
}

function readTokenUrl(
  where: string,
  provider: string | null,
  tokenUrl: string | null,
  tenant: string | null,
): string {
  if ((provider === null) === (tokenUrl === null)) {
    throw new ConfigError(where, 'must have either provider or token_url');
  }
  if (tenant !== null && provider !== 'microsoft') {
    throw new ConfigError(where, 'tenant is only for the provider microsoft');
  }
  if (tokenUrl !== null) return checkTokenUrl(where, tokenUrl);
  if (provider === 'google') return 'https://oauth2.googleapis.com/token';
  if (provider !== 'microsoft') throw new ConfigError(where, 'provider must be google or microsoft');
  // A GUID, a domain, or one of `common`, `organizations`, `consumers`.
  if (tenant !== null && !/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant)) {
    throw new ConfigError(where, 'tenant is not the name or the identifier of one');
  }
  return `https://login.microsoftonline.com/${tenant ?? 'common'}/oauth2/v2.0/token`;
}

function checkTokenUrl(where: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const secure =
    url?.protocol === 'https:' ||
    (url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, '')));
  if (!secure) throw new ConfigError(where, 'token_url must start with https://, save to this machine');
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new ConfigError(where, 'token_url must have no user, password or fragment');
  }
  return url.href;
}

/** Microsoft issues a token only for the named rights; `offline_access` keeps the refresh token. */
function microsoftScope(uses: { readonly imap: boolean; readonly smtp: boolean }): string {
  return [
    ...(uses.imap ? ['https://outlook.office.com/IMAP.AccessAsUser.All'] : []),
    ...(uses.smtp ? ['https://outlook.office.com/SMTP.Send'] : []),
    'offline_access',
  ].join(' ');
}
