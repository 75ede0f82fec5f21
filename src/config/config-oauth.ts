/** Reads the `oauth2` object of an account. */
import { createPrivateKey } from 'node:crypto';
import type { ConsentProvider } from '../areas/accounts/consent-ports.ts';
import type { OwnGrant } from '../areas/accounts/token-ports.ts';
import { ConfigError } from './config-error.ts';
import { isHttpsOrLocal } from '../core/server-url.ts';

export interface OAuth2Config {
  /** Whose consent page it is: a known provider, or an issuer (OpenID Connect Discovery); null: its consents are given elsewhere. */
  readonly consent: ConsentProvider | null;
  /** https, or http to this machine; null: the issuer names it when the consent is given. */
  readonly tokenUrl: string | null;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
  /** null: the owner of the mailbox has not consented yet. */
  readonly refreshToken: string | null;
  /** null: the consent of a person gives the token. */
  readonly ownGrant: OwnGrant | null;
  /** null: the scope of the refresh token. */
  readonly scope: string | null;
}

/** An application that is registered with a provider, for accounts that name none. */
export interface OAuth2Client {
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
  /** Of Microsoft; null: that of the account. */
  readonly tenant: string | null;
}
export type OAuth2Clients = Readonly<Record<'google' | 'microsoft', OAuth2Client | null>>;

/** The connections where the token replaces a password, and the user there. */
export interface TokenUses {
  readonly imap: boolean;
  readonly smtp: boolean;
  readonly user: string | null;
}

const FIELDS = new Set([
  'provider',
  'issuer',
  'grant',
  'private_key',
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
 * @param clients those of the configuration: the refresh token may come later, by the owner's consent; null: neither
 */
export function readOAuth2(
  where: string,
  value: unknown,
  expand: (text: string) => string,
  uses: TokenUses,
  clients: OAuth2Clients | null,
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
  const isKnown = provider === 'google' || provider === 'microsoft';
  // An application that needs no consent is named by the account itself: it may read all mailboxes.
  const isShared = isKnown && text('client_id') === null && text('grant') === null;
  const shared = isShared ? (clients?.[provider] ?? null) : null;
  if (shared !== null && text('client_secret') !== null)
    throw new ConfigError(where, 'client_secret has no effect without client_id');
  if (isShared && clients !== null && shared === null) {
    const variable = `${provider.toUpperCase()}_CLIENT_ID`;
    throw new ConfigError(where, `client_id is missing, and ${variable} is not set`);
  }
  const server = readServer(where, {
    provider,
    issuer: text('issuer'),
    tokenUrl: text('token_url'),
    tenant: text('tenant') ?? shared?.tenant ?? null,
  });
  const ownGrant = readGrant(where, {
    grant: text('grant'),
    clientSecret: text('client_secret'),
    privateKey: text('private_key'),
    user: uses.user,
    tenant: text('tenant'),
    provider,
  });
  if (ownGrant !== null && text('refresh_token') !== null)
    throw new ConfigError(where, 'refresh_token has no effect beside grant');
  const isLater = ownGrant !== null || (clients !== null && server.consent !== null);
  const refreshToken = isLater ? text('refresh_token') : needed('refresh_token');
  if ((refreshToken !== null || ownGrant !== null) && server.tokenUrl === null)
    throw new ConfigError(where, 'must have token_url beside issuer, unless a consent is asked for');
  return {
    ...server,
    clientId: shared?.clientId ?? needed('client_id'),
    clientSecret: shared === null ? text('client_secret') : shared.clientSecret,
    refreshToken,
    ownGrant,
    scope: text('scope') ?? defaultScope(provider, ownGrant, uses),
  };
}

interface GrantTexts {
  readonly grant: string | null;
  readonly clientSecret: string | null;
  readonly privateKey: string | null;
  readonly user: string | null;
  readonly tenant: string | null;
  readonly provider: string | null;
}

function readGrant(
  where: string,
  { grant, clientSecret, privateKey, user, tenant, provider }: GrantTexts,
): OwnGrant | null {
  if (privateKey !== null && grant !== 'jwt_bearer')
    throw new ConfigError(where, 'private_key is only for the grant jwt_bearer');
  if (grant === null) return null;
  if (grant === 'client_credentials') {
    if (clientSecret === null) throw new ConfigError(where, 'client_secret is missing');
    // Without a person, nothing else says whose directory is meant.
    if (provider === 'microsoft' && tenant === null) throw new ConfigError(where, 'tenant is missing');
    return { kind: 'client_credentials' };
  }
  if (grant !== 'jwt_bearer') throw new ConfigError(where, 'grant must be client_credentials or jwt_bearer');
  if (privateKey === null) throw new ConfigError(where, 'private_key is missing');
  if (clientSecret !== null) throw new ConfigError(where, 'client_secret has no effect beside private_key');
  if (user === null) throw new ConfigError(where, 'is not used: no URL names a user');
  return { kind: 'jwt_bearer', privateKey: checkRsaKey(where, privateKey), subject: user };
}

function checkRsaKey(where: string, pem: string): string {
  let type: string | undefined;
  try {
    type = createPrivateKey(pem).asymmetricKeyType;
  } catch {
    // The parser's message may quote the key.
  }
  if (type !== 'rsa') throw new ConfigError(where, 'private_key is not an RSA key in PEM');
  return pem;
}

function defaultScope(provider: string | null, ownGrant: OwnGrant | null, uses: TokenUses): string | null {
  if (provider === 'google') return ownGrant === null ? null : 'https://mail.google.com/';
  if (provider !== 'microsoft') return null;
  return ownGrant === null ? microsoftScope(uses) : 'https://outlook.office365.com/.default';
}

/** A domain, an identifier, or one of Microsoft's own names such as `organizations`: a part of the path. */
export const TENANT = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;

interface ServerTexts {
  readonly provider: string | null;
  readonly issuer: string | null;
  readonly tokenUrl: string | null;
  readonly tenant: string | null;
}

function readServer(
  where: string,
  { provider, issuer, tokenUrl, tenant }: ServerTexts,
): Pick<OAuth2Config, 'consent' | 'tokenUrl'> {
  if ((provider === null) === (tokenUrl === null && issuer === null)) {
    throw new ConfigError(where, 'must have either provider, or token_url or issuer');
  }
  if (tenant !== null && provider !== 'microsoft') {
    throw new ConfigError(where, 'tenant is only for the provider microsoft');
  }
  if (provider === null) {
    return {
      consent: issuer === null ? null : { kind: 'issuer', issuer: checkUrl(where, 'issuer', issuer) },
      tokenUrl: tokenUrl === null ? null : checkUrl(where, 'token_url', tokenUrl),
    };
  }
  if (provider === 'google') {
    return { consent: { kind: 'google' }, tokenUrl: 'https://oauth2.googleapis.com/token' };
  }
  if (provider !== 'microsoft') throw new ConfigError(where, 'provider must be google or microsoft');
  if (tenant !== null && !TENANT.test(tenant)) {
    throw new ConfigError(where, 'tenant is not the name or the identifier of one');
  }
  const name = tenant ?? 'common';
  return {
    consent: { kind: 'microsoft', tenant: name },
    tokenUrl: `https://login.microsoftonline.com/${name}/oauth2/v2.0/token`,
  };
}

function checkUrl(where: string, name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isHttpsOrLocal(url))
    throw new ConfigError(where, `${name} must start with https://, save to this machine`);
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new ConfigError(where, `${name} must have no user, password or fragment`);
  }
  // An issuer is compared character by character (RFC 8414 §3.3).
  return name === 'issuer' ? text : url.href;
}

/** Microsoft issues a token only for the named rights; `offline_access` keeps the refresh token. */
function microsoftScope(uses: TokenUses): string {
  return [
    ...(uses.imap ? ['https://outlook.office.com/IMAP.AccessAsUser.All'] : []),
    ...(uses.smtp ? ['https://outlook.office.com/SMTP.Send'] : []),
    'offline_access',
  ].join(' ');
}
