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
    ['SHUTDOWN_DRAIN_MS', '15001'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '0x10'],
    ['PORT', 'NaN'],
    ['API_SECRET', 'short'],
    ['API_SECRET', `${'a'.repeat(16)},`],
    ['API_SECRET', `${'a'.repeat(16)} b`],
    ['DATABASE_URL', 'localhost'],
    ['DATABASE_POOL_SIZE', '1'],
    ['DATABASE_READ_URL', 'postgres://host/without-a-primary'],
    ['DATABASE_READ_MAX_LAG_MS', '-1'],
    ['SMTP_URL', 'http://host'],
    ['BLOB_URL', '/tmp'],
    ['MAX_ATTACHMENT_BYTES', '0'],
    ['MAX_ATTACHMENT_BYTES', '25MB'],
    ['LOG_LEVEL', 'loud'],
    ['IMAGE_PROXY', 'yes'],
    ['MAIL_FROM', 'nobody'],
    ['MAIL_FROM', 'a@example.com, b@example.com'],
    ['AWS_ACCESS_KEY_ID', 'key without its secret'],
    ['SMTP_RATE_PER_MINUTE', '0'],
    ['SMTP_RATE_PER_DAY', '1.5'],
    ['SEND_RETRY_DELAYS_S', '300,,900'],
    ['SEND_RETRY_DELAYS_S', '300,0'],
    ['SEND_RETRY_DELAYS_S', '1e3'],
    ['SEND_GIVE_UP_HOURS', '-1'],
    ['SEND_GIVE_UP_HOURS', '9000'],
    ['SEND_LEASE_MS', '99'],
  ])('refuses %s=%s and names the variable', (name, value) => {
    const failing = () => load({ [name]: value });
    expect(failing).toThrow(ConfigError);
    expect(failing).toThrow(name === 'AWS_ACCESS_KEY_ID' ? 'AWS_SECRET_ACCESS_KEY' : name);
  });

  it('has the service load remote images, or not', () => {
    expect(load({}).hasImageProxy).toBe(true);
    expect(load({ IMAGE_PROXY: 'on' }).hasImageProxy).toBe(true);
    expect(load({ IMAGE_PROXY: 'off' }).hasImageProxy).toBe(false);
  });

  it('takes a schedule of retries', () => {
    const config = load({ SEND_RETRY_DELAYS_S: '60, 0.5', SEND_GIVE_UP_HOURS: '0.5' });
    expect(config.retrySchedule).toEqual({ delaysMs: [60_000, 500], giveUpAfterMs: 1_800_000 });
    expect(load({}).retrySchedule.delaysMs[0]).toBe(300_000);
  });

  it('takes rate limits of the default account', () => {
    const [account] = load({ SMTP_RATE_PER_MINUTE: '30' }).accounts;
    expect(account.rate).toEqual({ perMinute: 30, perDay: null });
  });

  it.each([
    ['127.0.0.1:24', { host: '127.0.0.1', port: 24 }],
    ['[::1]:2424', { host: '::1', port: 2424 }],
    ['mail.example.com:0', { host: 'mail.example.com', port: 0 }],
  ])('takes %s as an address to listen at', (text, address) => {
    expect(load({ LMTP_LISTEN: text }).lmtpListen).toEqual(address);
    expect(load({ SMTP_LISTEN: text }).smtpListen).toEqual(address);
  });

  it.each(['SUBMISSION_LISTEN', 'SUBMISSIONS_LISTEN'])('refuses %s without a certificate', (variable) => {
    expect(() => load({ [variable]: '127.0.0.1:587' })).toThrow(`${variable}: needs a certificate`);
  });

  it.each(['2424', ':2424', '::1:2424', 'host:', 'host:65536', 'host:24x', 'a b:24'])(
    'refuses to listen at %s',
    (text) => {
      expect(() => load({ LMTP_LISTEN: text })).toThrow(ConfigError);
    },
  );

  it('takes addresses and networks of proxies that are trusted, none by default', () => {
    expect(load({}).trustedProxies).toEqual([]);
    const networks = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'];
    expect(load({ TRUSTED_PROXIES: networks.join(', ') }).trustedProxies).toEqual(networks);
  });

  it.each([
    'proxy.example.com',
    '10.0.0.0/0',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0/8',
    '*',
    '10.0.0.1,',
    '1/1/1',
  ])('refuses to trust %s as a proxy', (text) => {
    expect(() => load({ TRUSTED_PROXIES: text })).toThrow(ConfigError);
  });

  it('refuses a certificate without its key, and files that cannot be read', () => {
    expect(() => load({ LISTEN_TLS_CERT_FILE: 'a.pem' })).toThrow(ConfigError);
    expect(() => load({ LISTEN_TLS_KEY_FILE: 'a.pem' })).toThrow(ConfigError);
    expect(() => load({ LISTEN_TLS_CERT_FILE: 'a.pem', LISTEN_TLS_KEY_FILE: 'b.pem' })).toThrow(ConfigError);
  });

  it('reads the mailboxes of the default account', () => {
    expect(load({}).accounts[0].imap).toBeNull();
    const url = 'imaps://u:p@imap.example.com';
    expect(load({ IMAP_URL: url }).accounts[0].imap).toEqual({ url, since: null, sentPath: null });
    expect(
      load({ IMAP_URL: url, IMAP_SINCE: '2024-02-29', IMAP_SENT: 'INBOX.Gesendet' }).accounts[0].imap,
    ).toEqual({ url, since: new Date('2024-02-29T00:00:00Z'), sentPath: 'INBOX.Gesendet' });
  });

  it.each([
    [{ IMAP_URL: 'smtp://h' }, /^IMAP_URL: must be an address that starts with imap:/],
    [{ IMAP_SINCE: '2024-01-01' }, /^IMAP_SINCE: has no effect without IMAP_URL/],
    [{ IMAP_SENT: 'Sent' }, /^IMAP_SENT: has no effect/],
    [{ IMAP_URL: 'imap://u:p@h', IMAP_SINCE: '2023-02-29' }, /^IMAP_SINCE: must be a day/],
    [{ IMAP_URL: 'imap://u:p@h', IMAP_SINCE: 'yesterday' }, /^IMAP_SINCE/],
    [{ IMAP_URL: 'imap://u:p@h', IMAP_SENT: 'a\nb' }, /^IMAP_SENT: is not the name/],
  ])('refuses %j', (env, message) => {
    expect(() => load(env)).toThrow(message);
  });

  it('never shows a value that could be a secret', () => {
    for (const name of ['API_SECRET', 'DATABASE_URL', 'SMTP_URL', 'IMAP_URL', 'BLOB_URL']) {
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

  it('declares accounts whose secrets are in the environment', () => {
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

  it('declares mailboxes to read', () => {
    const file = [
      {
        id: 'a',
        from: 'a@example.com',
        imap_url: 'imaps://a:${P}@h',
        imap_since: '2026-01-31',
        imap_sent: 'S',
      },
    ];
    expect(loadAccounts(file, { P: 'x' })[0].imap).toEqual({
      url: 'imaps://a:x@h',
      since: new Date('2026-01-31T00:00:00Z'),
      sentPath: 'S',
    });
  });

  it('declares tokens that take the place of passwords', () => {
    const oauth2 = { provider: 'microsoft', client_id: 'c', refresh_token: '${R}' };
    const urls = { imap_url: 'imaps://a@h', smtp_url: 'smtp://a:p@h' };
    const file = [{ id: 'a', from: 'a@example.com', ...urls, oauth2 }];
    expect(loadAccounts(file, { R: 'x' })[0].oauth2).toMatchObject({
      refreshToken: 'x',
      scope: 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access',
    });
    const unused = [{ ...file[0], imap_url: 'imaps://a:p@h' }];
    expect(() => loadAccounts(unused, { R: 'x' })).toThrow('account 1, oauth2: is not used');
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
      'a start that is no day',
      [{ id: 'a', from: 'a@example.com', imap_url: 'imap://u:p@h', imap_since: 1 }],
      'account 1: imap_since must be text',
    ],
    [
      'a start without a server',
      [{ id: 'a', from: 'a@example.com', imap_since: '2026-01-31' }],
      'account 1, imap_since: has no effect without ACCOUNTS_FILE, account 1, imap_url',
    ],
    [
      'a variable that is not set',
      [{ id: 'a', from: 'a@example.com', smtp_url: 'smtp://${NOT_SET}@h' }],
      'NOT_SET',
    ],
  ])('refuses a file with %s', (_, content, reason) => {
    expect(() => loadAccounts(content)).toThrow(reason);
  });

  it('refuses a file that is not there, and MAIL_FROM or SMTP_URL beside it', () => {
    expect(() => loadConfig({ ACCOUNTS_FILE: 'missing.json', MAIL_FROM: 'a@b.test' }, folder)).toThrow(
      /^ACCOUNTS_FILE: can not be read: ENOENT.*missing\.json/,
    );
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
