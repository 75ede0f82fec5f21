/** Removes the secrets of the configuration from printed text: servers and libraries quote a value that they refuse. */
import type { Config } from '../../config/config.ts';
import type { Finding } from '../../service/finding.ts';

/** Shorter secrets occur as words in any text. */
const MIN_LENGTH = 4;

export function withoutSecrets(config: Config): <F extends Finding>(finding: F) => F {
  const secrets = secretsOf(config);
  const clean = (text: string) => secrets.reduce((result, secret) => result.replaceAll(secret, '***'), text);
  return (finding) => ({
    ...finding,
    text: clean(finding.text),
    advice: finding.advice === null ? null : clean(finding.advice),
  });
}

function secretsOf(config: Config): readonly string[] {
  const { apiSecrets, commands, databaseUrl, databaseReadUrl, s3Credentials, backupKey, tracing, accounts } =
    config;
  const urls = [
    databaseUrl,
    databaseReadUrl,
    ...accounts.flatMap(({ smtpUrl, imap }) => [smtpUrl, imap?.url ?? null]),
  ];
  const all = [
    ...apiSecrets,
    commands.serviceKey,
    s3Credentials?.accessKeyId,
    s3Credentials?.secretAccessKey,
    backupKey,
    ...Object.values(tracing?.headers ?? {}).flatMap((value) => [value, encodeURIComponent(value)]),
    ...accounts.flatMap(({ oauth2 }) => [oauth2?.clientSecret, oauth2?.refreshToken]),
    ...urls.flatMap(passwordsOf),
  ];
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
