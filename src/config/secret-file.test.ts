import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig, VARIABLES } from './config.ts';

const SECRET = 'a-secret-of-20-chars';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'email-worker-secrets-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(content: string | Buffer, name = 'secret'): string {
  writeFileSync(path.join(folder, name), content);
  return name;
}

const load = (env: Record<string, string>) => loadConfig(env, folder);

describe('a secret in a file', () => {
  it.each([
    ['as it stands', SECRET],
    ['without one newline', `${SECRET}\n`],
    ['without one newline of Windows', `${SECRET}\r\n`],
  ])('is taken %s', (_name, content) => {
    expect(load({ API_SECRET_FILE: write(content) }).apiSecrets).toEqual([SECRET]);
  });

  it('is each of those that hold one', () => {
    const config = load({
      API_SECRET_FILE: write(`${SECRET},${SECRET}-2`, 'api'),
      DATABASE_URL_FILE: write('postgres://user:pass@db/mail\n', 'database'),
      SMTP_URL_FILE: write('smtps://user:pass@mail.example.com\n', 'smtp'),
      IMAP_URL_FILE: write('imaps://user:pass@mail.example.com\n', 'imap'),
      AWS_ACCESS_KEY_ID_FILE: write('key', 'id'),
      AWS_SECRET_ACCESS_KEY_FILE: write('secret\n', 'aws'),
    });
    expect(config.apiSecrets).toEqual([SECRET, `${SECRET}-2`]);
    expect(config.databaseUrl).toBe('postgres://user:pass@db/mail');
    expect(config.accounts[0].smtpUrl).toBe('smtps://user:pass@mail.example.com');
    expect(config.accounts[0].imap?.url).toBe('imaps://user:pass@mail.example.com');
    expect(config.s3Credentials).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret' });
    // The service warns at its start about files that others can read.
    expect(config.secretFiles).toEqual(
      expect.arrayContaining(
        ['api', 'database', 'smtp', 'imap', 'id', 'aws'].map((name) => path.join(folder, name)),
      ),
    );
  });

  it('takes the place of a variable that ACCOUNTS_FILE or DKIM_KEYS names', () => {
    const accounts = [{ id: 'sales', from: 'a@example.com', smtp_url: '${SALES_SMTP_URL}' }];
    const env = {
      ACCOUNTS_FILE: write(JSON.stringify(accounts), 'accounts.json'),
      SALES_SMTP_URL_FILE: write('smtp://user:pass@mail.example.com\n', 'sales'),
    };
    const { accounts: read, secretFiles } = load(env);
    expect(read[0].smtpUrl).toBe('smtp://user:pass@mail.example.com');
    expect(secretFiles).toContain(path.join(folder, 'sales'));
    expect(() => load({ ...env, SALES_SMTP_URL: 'smtp://other' })).toThrow(
      /^SALES_SMTP_URL_FILE: is set beside SALES_SMTP_URL/,
    );
  });

  it.each([
    ['both are set', SECRET, { API_SECRET: SECRET }, 'API_SECRET_FILE: is set beside API_SECRET'],
    ['it is empty', '', {}, 'API_SECRET_FILE: names an empty file'],
    ['it holds a newline alone', '\n', {}, 'API_SECRET_FILE: names an empty file'],
    ['it is too large', Buffer.alloc(64 * 1024 + 1, 'x'), {}, 'API_SECRET_FILE: names a file of more than'],
    ['it holds more lines', `${SECRET}\n${SECRET}\n`, {}, 'API_SECRET: must be printable ASCII'],
  ])('is refused when %s, and never quoted', (_name, content, env, message) => {
    const refused = () => load({ ...env, API_SECRET_FILE: write(content) });
    expect(refused).toThrow(message);
    expect(refused).not.toThrow(SECRET);
  });

  it('is refused when its file can not be read', () => {
    expect(() => load({ DATABASE_URL_FILE: 'missing' })).toThrow(
      /^DATABASE_URL_FILE: names a file that can not be read: ENOENT/,
    );
    expect(() => load({ DATABASE_URL_FILE: '.' })).toThrow(/EISDIR/);
  });

  it('has no effect for an account of the environment beside ACCOUNTS_FILE', () => {
    const accounts = write('[{"id": "a", "from": "a@example.com"}]', 'one.json');
    expect(() => load({ ACCOUNTS_FILE: accounts, SMTP_URL_FILE: write('smtp://mail', 'smtp') })).toThrow(
      /^SMTP_URL_FILE: has no effect beside ACCOUNTS_FILE/,
    );
  });

  it('is told of where its variable is declared', () => {
    const names = VARIABLES.filter(({ mayBeInFile }) => mayBeInFile).map(({ name }) => name);
    expect(names).toEqual([
      'API_SECRET',
      'DATABASE_URL',
      'DATABASE_READ_URL',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'BACKUP_KEY',
      'SMTP_URL',
      'IMAP_URL',
      'GOOGLE_CLIENT_SECRET',
      'MICROSOFT_CLIENT_SECRET',
      'SECRETS_KEY',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'EMAIL_WORKER_KEY',
    ]);
  });
});
