import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatVariables, loadConfig, VARIABLES } from './config.ts';
import { ConfigError } from './config-error.ts';

const load = (env: Record<string, string>) => loadConfig(env, '/srv');

describe('the defaults', () => {
  it('need nothing to be set', () => {
    expect(load({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      apiSecrets: [],
      dataDir: '/srv/data',
      databaseUrl: null,
      blobUrl: null,
      maxAttachmentBytes: 26_214_400,
      accounts: [
        {
          id: 'default',
          smtpUrl: null,
          from: { name: 'email-worker', localPart: 'noreply', domain: 'localhost' },
        },
      ],
    });
  });

  it('count for variables that are empty or blank', () => {
    expect(load({ PORT: '', DATABASE_URL: '  ' })).toEqual(load({}));
  });
});

describe('values', () => {
  it('takes two secrets while one is being changed', () => {
    expect(load({ API_SECRET: 'a'.repeat(16) + ', ' + 'b'.repeat(16) }).apiSecrets).toEqual([
      'a'.repeat(16),
      'b'.repeat(16),
    ]);
  });

  it.each([
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '0x10'],
    ['PORT', 'NaN'],
    ['API_SECRET', 'short'],
    ['API_SECRET', `${'a'.repeat(16)},`],
    ['API_SECRET', `${'a'.repeat(16)} b`],
    ['DATABASE_URL', 'localhost'],
    ['DATABASE_POOL_SIZE', '1'],
    ['SMTP_URL', 'http://host'],
    ['BLOB_URL', '/tmp'],
    ['MAX_ATTACHMENT_BYTES', '0'],
    ['MAX_ATTACHMENT_BYTES', '25MB'],
    ['LOG_LEVEL', 'loud'],
    ['MAIL_FROM', 'nobody'],
    ['MAIL_FROM', 'a@example.com, b@example.com'],
    ['AWS_ACCESS_KEY_ID', 'key without its secret'],
  ])('refuses %s=%s and names the variable', (name, value) => {
    const failure = expect(() => load({ [name]: value }));
    failure.toThrow(ConfigError);
    failure.toThrow(name === 'AWS_ACCESS_KEY_ID' ? 'AWS_SECRET_ACCESS_KEY' : name);
  });

  it('never shows a value that could be a secret', () => {
    for (const name of ['API_SECRET', 'DATABASE_URL', 'SMTP_URL', 'BLOB_URL']) {
      expect(() => load({ [name]: 'hunter2' })).toThrow(/^((?!hunter2).)*$/s);
    }
  });
});

describe('ACCOUNTS_FILE', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'email-worker-config-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  const loadAccounts = (content: unknown, env: Record<string, string> = {}) => {
    const file = path.join(folder, 'accounts.json');
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return loadConfig({ ACCOUNTS_FILE: file, ...env }, folder).accounts;
  };

  it('declares accounts whose secrets stand in the environment', () => {
    const file = [
      {
        id: 'sales',
        from: 'Sales <sales@example.com>',
        smtp_url: 'smtp://sales:${SALES_PASS}@mail.example.com',
      },
      { id: 'support', from: 'help@example.com' },
    ];
    expect(loadAccounts(file, { SALES_PASS: 'p%40ss' })).toMatchObject([
      { id: 'sales', from: { name: 'Sales' }, smtpUrl: 'smtp://sales:p%40ss@mail.example.com' },
      { id: 'support', smtpUrl: null },
    ]);
  });

  it.each([
    ['no JSON', '{', 'JSON'],
    ['no array', {}, 'array'],
    ['no account', [], 'at least one'],
    ['no object', [1], 'object'],
    ['a bad id', [{ id: 'A/B', from: 'a@example.com' }], 'account 1'],
    [
      'an id twice',
      [
        { id: 'a', from: 'a@example.com' },
        { id: 'a', from: 'b@example.com' },
      ],
      'taken',
    ],
    ['no address', [{ id: 'a' }], 'from'],
    ['a wrong address', [{ id: 'a', from: 'x' }], 'from'],
    ['an unknown field', [{ id: 'a', from: 'a@example.com', smpt_url: 'x' }], 'smpt_url'],
    [
      'a variable that is not set',
      [{ id: 'a', from: 'a@example.com', smtp_url: 'smtp://${NOT_SET}@h' }],
      'NOT_SET',
    ],
  ])('refuses a file with %s', (_, content, reason) => {
    expect(() => loadAccounts(content)).toThrow(reason);
  });

  it('refuses a file that is not there, and MAIL_FROM or SMTP_URL beside it', () => {
    expect(() => loadConfig({ ACCOUNTS_FILE: 'missing.json' }, folder)).toThrow('can not be read');
    expect(() => loadAccounts([{ id: 'a', from: 'a@example.com' }], { MAIL_FROM: 'b@example.com' })).toThrow(
      'MAIL_FROM',
    );
  });
});

it('documents every variable for --help', () => {
  for (const { name, meaning } of VARIABLES) {
    expect(formatVariables()).toContain(name);
    expect(meaning).toMatch(/\S/);
  }
});
