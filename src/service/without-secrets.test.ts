import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, VARIABLES } from '../config/config.ts';
import { problem } from './finding.ts';
import { withoutSecrets } from './without-secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'without-secrets-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const SECRET = 'Hj7-Kq2-Wx9-Zp4-Rt6';

interface Sample {
  readonly value: string;
  /** Variables without which this one has no effect. */
  readonly beside?: Readonly<Record<string, string>>;
  /** The part of the value that a server may quote. Default: SECRET. */
  readonly secret?: string;
}

/** Each variable that is declared as a secret. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  API_SECRET: { value: `0123456789abcdef,${SECRET}` },
  DATABASE_URL: { value: `postgres://mail:${SECRET}@db.test/mail` },
  DATABASE_READ_URL: {
    value: `postgres://mail:${SECRET}@replica.test/mail`,
    beside: { DATABASE_URL: 'postgres://db.test/mail' },
  },
  AWS_ACCESS_KEY_ID: { value: SECRET, beside: { AWS_SECRET_ACCESS_KEY: 'other' } },
  AWS_SECRET_ACCESS_KEY: { value: SECRET, beside: { AWS_ACCESS_KEY_ID: 'other' } },
  BACKUP_KEY: {
    value: `AGE-SECRET-KEY-1${'Q'.repeat(58)}`,
    secret: `AGE-SECRET-KEY-1${'Q'.repeat(58)}`,
  },
  SMTP_URL: { value: `smtp://alice:${SECRET}@mail.test` },
  IMAP_URL: { value: `imaps://alice:${SECRET}@mail.test` },
  GOOGLE_CLIENT_SECRET: { value: SECRET, beside: { GOOGLE_CLIENT_ID: 'other' } },
  MICROSOFT_CLIENT_SECRET: { value: SECRET, beside: { MICROSOFT_CLIENT_ID: 'other' } },
  SECRETS_KEY: { value: `0123456789abcdef,${SECRET}` },
  OTEL_EXPORTER_OTLP_HEADERS: {
    value: `authorization=${SECRET}`,
    beside: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
  },
  EMAIL_WORKER_KEY: { value: SECRET },
};

function told(text: string, env: Readonly<Record<string, string>>): string {
  const config = loadConfig(env, folder);
  const { text: problemText, advice } = withoutSecrets(config)(problem(text, text));
  expect(advice).toBe(problemText);
  return problemText;
}

describe('what the doctor prints', () => {
  const secrets = VARIABLES.filter(({ mayBeInFile }) => mayBeInFile).map(({ name }) => name);

  it.each(secrets)('does not hold %s', (name) => {
    const sample = SAMPLES[name];
    if (sample === undefined) throw new Error(`add a sample of ${name}`);
    const { value, beside, secret = SECRET } = sample;
    const base64 = Buffer.from(secret).toString('base64');
    expect(told(`refused: ${secret}, ${base64}`, { ...beside, [name]: value })).toBe('refused: ***, ***');
  });

  it.each(['client_secret', 'refresh_token', 'smtp_url', 'imap_url'])(
    'does not hold the %s of an account',
    (field) => {
      const secretOf = (one: string) => (one === field ? SECRET : 'other');
      const urlOf = (scheme: string, one: string) =>
        `${scheme}://alice${one === field ? `:${SECRET}` : ''}@mail.test`;
      const account = {
        id: 'sales',
        from: 'sales@example.com',
        smtp_url: urlOf('smtp', 'smtp_url'),
        imap_url: urlOf('imaps', 'imap_url'),
        oauth2: {
          provider: 'google',
          client_id: 'client',
          client_secret: secretOf('client_secret'),
          refresh_token: secretOf('refresh_token'),
        },
      };
      writeFileSync(path.join(folder, 'accounts.json'), JSON.stringify([account]));
      expect(told(`refused: ${SECRET}`, { ACCOUNTS_FILE: 'accounts.json' })).toBe('refused: ***');
    },
  );

  it('does not hold a password that stands behind the address of the database, or is encoded in it', () => {
    const env = { DATABASE_URL: `postgres://mail:pass%20word@db.test/mail?password=${SECRET}` };
    expect(told(`pass%20word, pass word, ${SECRET}`, env)).toBe('***, ***, ***');
  });

  it('holds nothing of a secret that another one is a part of', () => {
    expect(
      told('sesame and sesame-street', {
        SMTP_URL: 'smtp://a:sesame@mail.test',
        IMAP_URL: 'imaps://a:sesame-street@mail.test',
      }),
    ).toBe('*** and ***');
  });
});
