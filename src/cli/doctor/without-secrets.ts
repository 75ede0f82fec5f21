/** Takes the secrets of the configuration out of what is printed: servers and libraries quote what they did not take. */
import type { Config } from '../../config/config.ts';
import type { Finding } from './finding.ts';

/** Shorter ones are words that stand in any text. */
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

function secretsOf({
  apiSecrets,
  commands,
  databaseUrl,
  s3Credentials,
  accounts,
}: Config): readonly string[] {
  const urls = [databaseUrl, ...accounts.flatMap(({ smtpUrl, imap }) => [smtpUrl, imap?.url ?? null])];
  const passwords = urls.flatMap((url) => {
    if (url === null) return [];
    const { password } = new URL(url);
    return [password, decoded(password)];
  });
  const all = [...apiSecrets, commands.serviceKey ?? '', s3Credentials?.secretAccessKey ?? '', ...passwords];
  const readable = [...new Set(all)].filter((secret) => secret.length >= MIN_LENGTH);
  // Base64 is how SMTP and IMAP carry them.
  return readable.flatMap((secret) => [secret, Buffer.from(secret).toString('base64')]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
