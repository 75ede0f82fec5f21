/** The package as users install it: without compilers and without development tools. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { readHealthCheck, readStages } from './dockerfile.ts';
import { ROOT } from './packed-files.ts';

const run = promisify(execFile);
const MAIL = { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' };
const NOBODY = 65_534;
/** npm writes a hundred megabytes. */
const INSTALL_TIMEOUT_MS = 600_000;

/** npm's own settings and the location of its cache, without anything about this package and its settings. */
const ENV = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_(?:package|lifecycle)_|npm_config_(?:local_prefix|engine_strict)$|NODE_ENV$|VITEST)/.test(
        name,
      ),
  ),
);
/** Reuses packages that `npm ci` has fetched for the tests; no package may build anything. */
const NPM = { ...ENV, npm_config_prefer_offline: 'true', npm_config_ignore_scripts: 'true' };

let folder: TempFolder;
beforeAll(async () => {
  folder = await makeTempFolder();
  // Users other than the owner run the files below it.
  await chmod(folder.path, 0o755);
  const checkout = path.join(folder.path, 'checkout');
  await copyCheckout(checkout);
  await run('npm', ['pack', '--pack-destination', folder.path], { cwd: checkout, env: ENV });
}, INSTALL_TIMEOUT_MS);
afterAll(() => folder.remove());

/** The parts of a checkout that are packed, and those that scripts/prepare.mjs checks to see that everything is built. */
const PACKED_FROM = [
  'package.json',
  'package-lock.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'tsconfig.json',
  'tsconfig.build.json',
  'clients',
  'dist',
  'docs',
  'node_modules/.package-lock.json',
  'ops',
  'page',
  'scripts',
  'src',
];

/** Packing installs packages if the lock file has changed, and writes a file beside it: so it must not run where other tests run. */
async function copyCheckout(to: string): Promise<void> {
  for (const name of PACKED_FROM) {
    await cp(path.join(ROOT, name), path.join(to, name), {
      recursive: true,
      filter: (source) => path.basename(source) !== 'node_modules',
    });
  }
}

interface Running {
  readonly url: string;
  readonly output: () => string;
  /** Ends the service as a terminal does: with a signal to every process. */
  interrupt(): Promise<void>;
}

async function start(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number },
): Promise<Running> {
  const child = spawn(command, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const closed = once(child, 'close');
  let url = '';
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output}`);
    url = /"url":"([^"]+)".*email-worker is listening"/.exec(output)?.[1] ?? '';
    return url !== '';
  };
  await waitUntil('the service is ready', isReady).catch((error: unknown) => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL');
    throw error;
  });
  return {
    url,
    output: () => output,
    async interrupt() {
      process.kill(-child.pid!, 'SIGINT');
      await closed;
    },
  };
}

/** Sends an email, and finds it in the outbox of the data folder. */
async function send(url: string, dataDir: string): Promise<void> {
  const secret = (await readFile(path.join(dataDir, 'api-secret'), 'utf8')).trim();
  const sent = await fetch(`${url}/api/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(MAIL),
  });
  expect(sent.status).toBe(200);
  const { threadId } = (await sent.json()) as { threadId: string };
  const read = await fetch(`${url}/api/thread/${threadId}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(((await read.json()) as { emails: unknown[] }).emails).toHaveLength(1);
  const outbox = await readdir(path.join(dataDir, 'outbox'));
  expect(outbox.filter((file) => file.endsWith('.eml'))).toHaveLength(1);
}

describe('installed by the guide for a server', () => {
  let program: string;
  let installed: string;
  let unit: string;
  beforeAll(async () => {
    const guide = await readFile(path.join(ROOT, 'docs/hosting/systemd.md'), 'utf8');
    const [, commands = ''] = /```sh\n(.*?)```/s.exec(guide) ?? [];
    const place = (name: string) => path.join(folder.path, name);
    for (const name of ['opt', 'bin', 'units']) await mkdir(place(name));
    const moved = commands
      .replaceAll(/^useradd .*\n/gm, '')
      .replaceAll('/opt/', `${place('opt')}/`)
      .replaceAll('/usr/local/bin/', `${place('bin')}/`)
      .replaceAll('/etc/systemd/system/', `${place('units')}/`);
    await run('sh', ['-ec', moved], { cwd: folder.path, env: NPM });
    installed = place('opt/email-worker');
    program = place('bin/email-worker');
    unit = place('units/email-worker.service');
  }, INSTALL_TIMEOUT_MS);

  it('has the unit of systemd where systemd reads it', async () => {
    expect(await readFile(unit, 'utf8')).toContain('ExecStart=node /usr/local/bin/email-worker');
  });

  it('has the packages of the lock file, and none that only development or the build needs', async () => {
    const read = async (file: string) =>
      (
        JSON.parse(await readFile(file, 'utf8')) as {
          packages: Record<string, { version: string; dev?: boolean }>;
        }
      ).packages;
    const locked = await read(path.join(ROOT, 'package-lock.json'));
    const packed = await read(path.join(installed, 'npm-shrinkwrap.json'));
    const packages = Object.entries(await read(path.join(installed, 'node_modules/.package-lock.json')));
    expect(packages.length).toBeGreaterThan(100);
    const others = packages.filter(
      ([name, { version }]) => locked[name]?.version !== version || packed[name]?.dev !== undefined,
    );
    expect(others).toEqual([]);
    const names = packages.map(([name]) => name);
    for (const tool of ['esbuild', 'vite', 'react', 'vitest']) {
      expect(locked).toHaveProperty([`node_modules/${tool}`]);
      expect(names).not.toContain(`node_modules/${tool}`);
    }
  });

  it('runs as a user who may write to its folder only, and is healthy', async () => {
    const home = path.join(folder.path, 'home');
    await mkdir(home, { mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(home, NOBODY, NOBODY);
    await writeFile(path.join(home, '.env'), 'PORT=0\n');
    const [node, ...check] = readHealthCheck(readStages().at(-1)!);
    expect(node).toBe('node');
    const service = await start(process.execPath, [program], {
      cwd: home,
      env: { PATH: process.env['PATH'] },
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    const { port } = new URL(service.url);
    const isHealthy = async () => {
      const child = spawn(process.execPath, check, { env: { PORT: port }, stdio: 'ignore' });
      return (await once(child, 'exit'))[0] === 0;
    };
    try {
      await send(service.url, path.join(home, 'data'));
      expect(await isHealthy()).toBe(true);
    } finally {
      await service.interrupt();
    }
    expect(service.output()).toContain('email-worker has stopped');
  });

  it('starts, sends and stops by npx in an empty folder, and keeps its data there', async () => {
    const empty = path.join(folder.path, 'empty');
    const modules = path.join(empty, 'node_modules');
    await mkdir(path.join(modules, '.bin'), { recursive: true });
    // As `npm install` leaves it, but with the packages from above: npm's own choice changes from day to day.
    await symlink(installed, path.join(modules, 'email-worker'));
    await symlink(program, path.join(modules, '.bin/email-worker'));
    const service = await start('npx', ['email-worker'], { cwd: empty, env: { ...ENV, PORT: '0' } });
    try {
      await send(service.url, path.join(empty, 'data'));
      const page = await fetch(service.url);
      expect(await page.text()).toContain('<div id="root">');
    } finally {
      await service.interrupt();
    }
    expect(service.output()).toContain('email-worker has stopped');
    const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
    };
    const { stdout } = await run('npx', ['email-worker', '--version'], { cwd: empty, env: ENV });
    expect(stdout).toBe(`${version}\n`);
  });

  it('names itself in its hints, wherever it was started', async () => {
    const child = spawn(process.execPath, [program, '--help'], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(child.stdout)).toContain('email-worker <command> [arguments]');
  });
});
