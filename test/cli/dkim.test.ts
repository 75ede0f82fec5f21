/** `email-worker dkim`, with a DNS server of its own. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { runCommand } from '../helpers/command-process.ts';
import { startDnsServer, type DnsServer } from '../helpers/dns-server.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

let dns: DnsServer;
let folder: TempFolder;
beforeAll(async () => {
  dns = await startDnsServer();
});
afterAll(() => dns.stop());
beforeEach(async () => {
  folder = await makeTempFolder();
});
afterEach(async () => {
  await folder.remove();
  dns.records.clear();
});

const MAIL_FROM = 'Sales <sales@mail.example.com>';

const optionsOf = (env: Readonly<Record<string, string>>) => ({
  dataDir: folder.path,
  env: { MAIL_FROM, ...env },
});
const dkim = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommandInProcess(['dkim', ...args], optionsOf(env));

/** The setting that generate prints, and its records: name → strings. */
async function generate(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await dkim(['generate', '--selector', 'k', ...args]);
  expect([exitCode, stderr]).toEqual([0, '']);
  const records = [...stdout.matchAll(/^(\S+)\. IN TXT (.*)$/gm)].map(
    ([, name = '', value = '']) =>
      [name, [...value.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text)] as const,
  );
  return { DKIM_KEYS: /^DKIM_KEYS=(.*)$/m.exec(stdout)?.[1] ?? '', records };
}

describe('dkim generate', () => {
  it('writes keys for this user alone, and records in strings that DNS takes', async () => {
    const { DKIM_KEYS, records } = await generate();
    expect(records.map(([name]) => name)).toEqual([
      'k-rsa._domainkey.mail.example.com',
      'k-ed25519._domainkey.mail.example.com',
    ]);
    expect(records[0]?.[1].map((text) => text.length)).toEqual([255, expect.any(Number)]);
    expect(Math.max(...records.flatMap(([, strings]) => strings.map((text) => text.length)))).toBe(255);
    for (const file of DKIM_KEYS.split(',').map((entry) => entry.split('=')[1] ?? '')) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
      expect(await readFile(file, 'utf8')).toContain('-----BEGIN PRIVATE KEY-----');
    }
  });

  it('never replaces a key, and then writes none', async () => {
    const { DKIM_KEYS } = await generate('--type', 'ed25519');
    const file = DKIM_KEYS.split('=')[1] ?? '';
    const before = await readFile(file, 'utf8');
    const again = await dkim(['generate', '--selector', 'k']);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain('is there already; choose another --selector');
    expect(await readFile(file, 'utf8')).toBe(before);
    await expect(stat(file.replace('ed25519', 'rsa'))).rejects.toThrow('ENOENT');
  });

  it.each([
    [['nonsense'], '<action> must be generate, show or check'],
    [['generate', '--type', 'dsa'], '--type must be one of both, rsa, ed25519'],
    [['generate', '--selector', 'a b'], '--selector must be'],
    [['generate', '--account', 'x'], 'there is no account x'],
  ])('%j can not be used', async (args, message) => {
    const result = await dkim(args);
    expect([result.exitCode, result.stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('dkim show and check', () => {
  it('show the records that generate has printed, with SPF and DMARC', async () => {
    const { DKIM_KEYS, records } = await generate();
    const { stdout } = await dkim(['show'], { DKIM_KEYS, SMTP_URL: 'smtp://smtp.gmail.com:587' });
    for (const [name, strings] of records) {
      expect(stdout).toContain(`${name}. IN TXT ${strings.map((text) => `"${text}"`).join(' ')}`);
    }
    expect(stdout).toContain('mail.example.com. IN TXT "v=spf1 include:_spf.google.com ~all"');
    expect(stdout).toContain('_dmarc.mail.example.com. IN TXT "v=DMARC1; p=none; rua=');
  });

  it('find what was published as it was printed good', { tags: ['long'] }, async () => {
    const { DKIM_KEYS, records } = await generate();
    for (const [name, strings] of records) dns.records.set(name, [strings]);
    dns.records.set('mail.example.com', [['other=1'], ['v=spf1 mx -all']]);
    // The policy of the registered domain counts for those below it.
    dns.records.set('_dmarc.example.com', [['v=DMARC1; p=reject']]);
    // As a user runs it: no DNS query keeps the process alive.
    const { exitCode, stdout } = await runCommand(
      ['dkim', 'check', '--resolver', dns.address],
      optionsOf({ DKIM_KEYS }),
    );
    expect(stdout.match(/^\w+/gm)).toEqual(['good', 'good', 'good', 'good']);
    expect(exitCode).toBe(0);
  });

  it('say in words what is wrong, and fail', async () => {
    const { DKIM_KEYS, records } = await generate();
    const [rsa, ed25519] = records;
    dns.records.set(rsa?.[0] ?? '', [rsa?.[1].slice(0, 1) ?? []]);
    dns.records.set(ed25519?.[0] ?? '', 'fail');
    const { exitCode, stdout } = await dkim(['check', '--resolver', dns.address], { DKIM_KEYS });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('k-rsa._domainkey.mail.example.com: the public key is cut off');
    expect(stdout).toContain('k-ed25519._domainkey.mail.example.com: DNS could not be asked: ESERVFAIL');
    expect(stdout).toContain(
      'mail.example.com: there is no SPF record; publish one such as "v=spf1 a mx ~all"',
    );
    expect(stdout).toContain('_dmarc.example.com: there is no DMARC record');
  });

  it('say that no account signs', async () => {
    const { exitCode, stderr } = await dkim(['check']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no account signs its mail')]);
  });
});
