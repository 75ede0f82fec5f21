/** Commands as processes: their arguments, and how they reach the data with and without a running service. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MAIN, runCommand, startCommand } from '../helpers/command-process.ts';
import { disposeService, startServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const folders: TempFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder.remove();
});

async function makeDataDir(): Promise<string> {
  const folder = await makeTempFolder();
  folders.push(folder);
  return folder.path;
}

const mail = (name: string, references = '') =>
  `Message-ID: <${name}@example.com>\r\n${references}From: ada@example.com\r\nTo: bob@example.org\r\n` +
  `Subject: ${name}\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000\r\n\r\nHello\r\n`;

async function makeMails(folder: string, names: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const name of names) await writeFile(path.join(folder, `${name}.eml`), mail(name));
  return folder;
}

describe('arguments', () => {
  it.each([
    [['--help'], 0, 'Commands:\n  doctor', ''],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/, ''],
    [['import', '--help'], 0, `Usage: node ${MAIN} import [options] <path>…`, ''],
    [['nonsense'], 2, '', `there is no command nonsense; node ${MAIN} --help lists them`],
    [['--nonsense'], 2, '', "Unknown option '--nonsense'"],
    [['--nonsense'], 2, '', `see node ${MAIN} --help`],
    [['import'], 2, '', `email-worker import: <path> is missing; see node ${MAIN} import --help`],
    [['import', '--nonsense', 'x'], 2, '', "Unknown option '--nonsense'"],
    [['import', '--account'], 2, '', 'argument missing'],
  ] as const)('%j ends with %i', async (args, exitCode, stdout, stderr) => {
    const dataDir = await makeDataDir();
    const result = await runCommand(args, { dataDir });
    expect(result.exitCode).toBe(exitCode);
    expect(result.stdout).toMatch(stdout);
    expect(result.stderr).toContain(stderr);
    // No work was begun.
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('say in a clone what works in a clone', { tags: ['long'] }, async () => {
    const dataDir = await makeDataDir();
    const env = { npm_lifecycle_event: 'cli', npm_package_name: 'email-worker' };
    const run = (...args: readonly string[]) => runCommand(args, { dataDir, env });
    expect((await run('import')).stderr).toContain('see npm run --silent cli -- import --help');
    expect((await run('import', '--help')).stdout).toContain(
      'Usage: npm run --silent cli -- import [options] <path>…',
    );
    const help = (await run('--help')).stdout;
    expect(help).toContain('  npm start [-- --help | --version]');
    expect(help).toContain('  npm run --silent cli -- <command> [arguments]');

    // Without a command, the caller did not mean the service.
    const none = await run();
    expect(none).toMatchObject({ exitCode: 2, stdout: '' });
    expect(none.stderr).toContain(`which command?\n\n${help}`);
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('a configuration that cannot be used is named, and fails', { tags: ['long'] }, async () => {
    const dataDir = await makeDataDir();
    const result = await runCommand(['import', '.'], { dataDir, env: { DATABASE_POOL_SIZE: 'many' } });
    expect(result).toMatchObject({ exitCode: 1, stdout: '' });
    expect(result.stderr).toContain('DATABASE_POOL_SIZE');
  });
});

describe('data', () => {
  it('is opened without a service, beside one, and beside another command', { tags: ['long'] }, async () => {
    const dataDir = await makeDataDir();
    const mails = await makeMails(path.join(dataDir, 'mails'), ['one', 'two']);

    const alone = await Promise.all([
      runCommand(['import', mails], { dataDir }),
      runCommand(['import', mails], { dataDir }),
    ]);
    expect(alone.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const counted = alone.map(({ stdout }) => Number(/imported (\d+)/.exec(stdout)?.[1]));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(2);

    const service = await startServiceProcess({ dataDir });
    await writeFile(path.join(mails, 'three.eml'), mail('three', 'In-Reply-To: <one@example.com>\r\n'));
    const beside = await runCommand(['import', mails], { dataDir });
    expect(beside).toMatchObject({ exitCode: 0, stderr: '' });
    expect(beside.stdout).toContain('imported 1, known before 0, failed 0, files done before 2');

    const { emails } = (await (await service.request('/api/emails')).json()) as {
      emails: { subject: string; thread_id: string }[];
    };
    const threads = new Map(emails.map(({ subject, thread_id }) => [subject, thread_id]));
    expect([...threads.keys()].sort()).toEqual(['one', 'three', 'two']);
    expect(threads.get('three')).toBe(threads.get('one'));
    // The lock is released with the process, and the process left nothing behind.
    expect(await readdir(path.join(dataDir, 'commands', '1', 'spool'))).toEqual([]);
    await disposeService(service);
  });

  it('a service that starts while a command has DATA_DIR says who has it', { tags: ['long'] }, async () => {
    const dataDir = await makeDataDir();
    const mails = await makeMails(
      path.join(dataDir, 'mails'),
      Array.from({ length: 3000 }, (_, index) => `m${index}`),
    );
    const command = startCommand(['import', mails], { dataDir });
    await waitUntil(
      'the command has DATA_DIR',
      async () => (await readFile(path.join(dataDir, 'lock'), 'utf8').catch(() => '')) !== '',
    );
    await expect(startServiceProcess({ dataDir })).rejects.toThrow(
      `in use by process ${command.process.pid}`,
    );
    command.process.kill('SIGINT');
    expect(await command.ended()).toBe(130);
    expect(command.stderr()).toContain('stopping');
    expect(command.stdout()).toMatch(/imported \d+, known before 0, failed 0/);
  });
});
