/** Removes secrets from findings: servers and libraries quote a value that they refuse. */
import type { AccountConfig } from '../config/config-accounts.ts';
import type { Config } from '../config/config.ts';
import type { Finding } from './finding.ts';

/** Shorter secrets occur as words in any text. */
const MIN_LENGTH = 4;

type Clean = <F extends Finding>(finding: F) => F;

/** Without those of the configuration. */
export const withoutSecrets = (config: Config): Clean => without(secretsOf(config));

/** Without those of one account. */
export const withoutSecretsOf = (account: AccountConfig): Clean => without(secretsOfAccount(account));

function without(all: readonly (string | null | undefined)[]): Clean {
  const secrets = toForms(all);
  const clean = (text: string) => secrets.reduce((result, secret) => result.replaceAll(secret, '***'), text);
  return (finding) => ({
    ...finding,
    text: clean(finding.text),
    advice: finding.advice === null ? null : clean(finding.advice),
  });
}

const secretsOfAccount = ({ smtpUrl, imap, oauth2 }: AccountConfig) => [
  ...[smtpUrl, imap?.url ?? null].flatMap(passwordsOf),
  oauth2?.clientSecret,
  oauth2?.refreshToken,
  oauth2?.ownGrant?.kind === 'jwt_bearer' ? oauth2.ownGrant.privateKey : null,
];

function secretsOf(config: Config): readonly (string | null | undefined)[] {
  const { apiSecrets, commands, databaseUrl, databaseReadUrl, s3Credentials, backupKey, tracing } = config;
  return [
    ...apiSecrets,
    ...config.secretsKeys,
    commands.serviceKey,
    s3Credentials?.accessKeyId,
    s3Credentials?.secretAccessKey,
    backupKey,
    ...Object.values(tracing?.headers ?? {}).flatMap((value) => [value, encodeURIComponent(value)]),
    config.oauth2Clients.google?.clientSecret,
    config.oauth2Clients.microsoft?.clientSecret,
    ...config.accounts.flatMap(secretsOfAccount),
    ...[databaseUrl, databaseReadUrl].flatMap(passwordsOf),
  ];
}

function toForms(all: readonly (string | null | undefined)[]): readonly string[] {
  const readable = all.flatMap((secret) => ((secret ?? '').length >= MIN_LENGTH ? [secret as string] : []));
  // SMTP and IMAP carry passwords in Base64.
  const forms = readable.flatMap((secret) => [secret, Buffer.from(secret).toString('base64')]);
  // Longest first: a secret may be part of another one, whose rest would otherwise stay.
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** The password as it appears in the URL, and as it is sent. */
function passwordsOf(text: string | null): readonly string[] {
  if (text === null) return [];
  const { password, searchParams } = new URL(text);
  // PostgreSQL also takes a password from the query.
  return [password, decoded(password), ...searchParams.getAll('password')];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
