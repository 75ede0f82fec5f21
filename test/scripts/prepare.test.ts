import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TempFolder, makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const PREPARE = fileURLToPath(new URL('../../scripts/prepare.mjs', import.meta.url));

/** Stands for npm: installs a compiler that only copies, and npm's list of installed packages. */
const NPM = `
const fs = require('node:fs');
fs.appendFileSync('calls', 'npm ' + process.argv.slice(2).join(' ') + '\\n');
if (fs.existsSync('offline')) process.exit(7);
fs.rmSync('node_modules', { recursive: true, force: true });
fs.mkdirSync('node_modules/typescript/bin', { recursive: true });
fs.copyFileSync('tsc.cjs', 'node_modules/typescript/bin/tsc');
fs.mkdirSync('node_modules/vite/bin', { recursive: true });
fs.copyFileSync('vite.cjs', 'node_modules/vite/bin/vite.js');
fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
`;
const TSC = `
const fs = require('node:fs');
fs.appendFileSync('calls', 'tsc\\n');
fs.cpSync('src', 'dist', { recursive: true });
if (fs.existsSync('broken')) process.exit(2);
if (fs.existsSync('slow')) { fs.writeFileSync('building', ''); setTimeout(() => {}, 60_000); }
`;
/** Stands for the script that bundles the sources. */
const BUNDLE = `
import fs from 'node:fs';
fs.appendFileSync('calls', 'bundle\\n');
fs.mkdirSync('dist/bundle', { recursive: true });
`;
/** Stands for the bundler, in the folder of the page. */
const VITE = `
const fs = require('node:fs');
fs.appendFileSync('../calls', 'vite\\n');
fs.cpSync('src', 'dist', { recursive: true });
if (fs.existsSync('broken')) process.exit(2);
`;
const PACKAGE = {
  name: 'sample',
  engines: { node: '>=20.19.0' },
  dependencies: { one: '^1.0.0' },
  devDependencies: { typescript: '^7.0.0' },
};
const { name: _, ...root } = PACKAGE;
const LOCK = {
  packages: {
    '': root,
    'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' },
    'node_modules/other': { version: '1.0.0', optional: true, os: ['plan9'], cpu: ['mips'] },
    'node_modules/typescript': { version: '7.0.0', integrity: 'sha512-ts', dev: true },
  },
};
const INSTALL = 'npm ci --include=dev --no-audit --no-fund --no-json --loglevel=error';

describe('preparing a checkout', () => {
  let temp: TempFolder;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    temp = await makeTempFolder();
    await mkdir(join(temp.path, 'scripts'));
    await copyFile(PREPARE, join(temp.path, 'scripts', 'prepare.mjs'));
    await mkdir(join(temp.path, 'src'));
    await write('src/main.ts', 'main');
    await write('src/main.test.ts', 'test');
    await write('package.json', JSON.stringify(PACKAGE));
    await write('package-lock.json', JSON.stringify(LOCK));
    await write('tsconfig.json', '{}');
    await write('tsconfig.build.json', '{}');
    await write('npm-cli.js', NPM);
    await write('tsc.cjs', TSC);
    await write('vite.cjs', VITE);
    await write('scripts/bundle.mjs', BUNDLE);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await temp.remove();
  });

  const write = (file: string, content: string) => writeFile(join(temp.path, file), content);
  const abandon = (lock: string) => utimes(join(temp.path, lock), new Date(0), new Date(0));
  const remove = (file: string) => rm(join(temp.path, file), { recursive: true, force: true });
  const launch = (env: Readonly<Record<string, string>> = {}) => {
    const child = spawn(process.execPath, [join(temp.path, 'scripts', 'prepare.mjs')], {
      cwd: '/',
      env: { npm_execpath: join(temp.path, 'npm-cli.js'), npm_lifecycle_event: 'pretest', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    return child;
  };
  const run = async (env?: Readonly<Record<string, string>>) => {
    const child = launch(env);
    const [output, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    return { code: code as number | null, output };
  };
  /** The calls since the last look. */
  const calls = async () => {
    const lines = await readFile(join(temp.path, 'calls'), 'utf8').catch(() => '');
    await remove('calls');
    return lines.split('\n').filter((line) => line !== '');
  };
  const prepare = async () => {
    expect((await run()).code).toBe(0);
    return await calls();
  };
  const built = async () =>
    (await readdir(join(temp.path, 'dist'))).filter((name) => !name.startsWith('.') && name !== 'bundle');
  const locks = async () => (await readdir(temp.path)).filter((name) => name.startsWith('.prepare-lock'));

  test('installs and builds the first time, and says so; then it does nothing, silently', async () => {
    const first = await run();
    expect(first.code).toBe(0);
    expect(first.output).toMatch(/npm ci.*done in.*the modules.*done in.*the build.*done in/s);
    expect(await calls()).toEqual([INSTALL, 'tsc', 'bundle']);
    expect(await run()).toEqual({ code: 0, output: '' });
    expect(await calls()).toEqual([]);
    expect(await locks()).toEqual([]);
  });

  test('builds again from nothing when a source is changed, added, renamed or deleted', async () => {
    await prepare();
    await write('src/main.ts', 'changed');
    expect(await prepare()).toEqual(['tsc', 'bundle']);
    await write('src/more.ts', 'more');
    expect(await prepare()).toEqual(['tsc', 'bundle']);
    await rename(join(temp.path, 'src/more.ts'), join(temp.path, 'src/other.ts'));
    expect(await prepare()).toEqual(['tsc', 'bundle']);
    expect(await built()).toEqual(['main.test.ts', 'main.ts', 'other.ts']);
    await remove('src/other.ts');
    expect(await prepare()).toEqual(['tsc', 'bundle']);
    expect(await built()).toEqual(['main.test.ts', 'main.ts']);
  });

  describe('with a page', () => {
    beforeEach(async () => {
      for (const folder of ['page/src', 'page/build', 'clients/typescript/src'])
        await mkdir(join(temp.path, folder), { recursive: true });
      await write('page/package.json', '{}');
      await write('page/index.html', 'page');
      await write('page/src/main.tsx', 'main');
      await write(
        'page/build/compress.mjs',
        `import fs from 'node:fs'; fs.appendFileSync('../calls', 'compress\\n');`,
      );
      await write('clients/typescript/src/index.ts', 'client');
    });

    test('builds it as well, from nothing, and then does nothing', async () => {
      expect(await prepare()).toEqual([INSTALL, 'tsc', 'bundle', 'vite', 'compress']);
      expect(await prepare()).toEqual([]);
      await write('page/dist/main-old.js', 'old');
      await remove('page/dist/.prepare-stamp');
      expect(await prepare()).toEqual(['vite', 'compress']);
      expect(await readdir(join(temp.path, 'page/dist'))).toEqual(['.prepare-stamp', 'main.tsx']);
    });

    test.each([
      'page/src/main.tsx',
      'page/index.html',
      'clients/typescript/src/index.ts',
      'page/build/compress.mjs',
    ])('builds it alone when %s has changed', async (file) => {
      await prepare();
      await write(file, '// changed');
      expect((await prepare())[0]).toBe('vite');
    });

    test('builds the service alone when only that has changed', async () => {
      await prepare();
      await write('src/main.ts', 'changed');
      expect(await prepare()).toEqual(['tsc', 'bundle']);
    });

    test('says when its build fails, and builds it the next time', async () => {
      await write('page/broken', '');
      const { code, output } = await run();
      expect(code).toBe(1);
      expect(output).toContain('the build of the page failed: exit code 2');
      await remove('page/broken');
      await calls();
      expect(await prepare()).toEqual(['vite', 'compress']);
    });

    test('starts with what was built where its sources are not', async () => {
      await prepare();
      for (const part of ['page/src', 'page/build', 'page/package.json', 'page/index.html'])
        await remove(part);
      expect(await prepare()).toEqual([]);
      expect(await readdir(join(temp.path, 'page/dist'))).toContain('main.tsx');
    });
  });

  test('goes by content: neither a new time nor a changed test is a reason to build', async () => {
    await prepare();
    await utimes(join(temp.path, 'src/main.ts'), new Date(), new Date());
    await write('src/main.test.ts', 'changed');
    expect(await prepare()).toEqual([]);
  });

  test('installs again when the lock file asks for another version, and builds with that compiler', async () => {
    await prepare();
    const changed = structuredClone(LOCK);
    changed.packages['node_modules/one'].version = '1.0.1';
    await write('package-lock.json', JSON.stringify(changed));
    expect(await prepare()).toEqual([INSTALL, 'tsc', 'bundle']);
  });

  test('takes what was installed by hand, when it is what the lock file says', async () => {
    await prepare();
    const installed = structuredClone(LOCK) as { packages: Record<string, unknown> };
    // npm leaves out packages for other platforms.
    delete installed.packages['node_modules/other'];
    await write('node_modules/.package-lock.json', JSON.stringify(installed));
    expect(await prepare()).toEqual([]);
    delete installed.packages['node_modules/one'];
    await write('node_modules/.package-lock.json', JSON.stringify(installed));
    expect(await prepare()).toEqual([INSTALL]);
  });

  test('installs again what was installed on another platform', async () => {
    const native = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] };
    const lock = { packages: { ...LOCK.packages, 'node_modules/native': native } };
    await write('package-lock.json', JSON.stringify(lock));
    await prepare();
    await write('node_modules/.package-lock.json', JSON.stringify(LOCK));
    expect(await prepare()).toEqual([INSTALL]);
  });

  describe.each(['prestart', 'precli', 'prepack'])('for %s', (npm_lifecycle_event) => {
    test('installs and builds nothing that only tests and scripts need', async () => {
      expect((await run({ npm_lifecycle_event })).code).toBe(0);
      expect(await calls()).toEqual([INSTALL.replace('--include=dev', '--omit=dev'), 'bundle']);
      expect(await run({ npm_lifecycle_event })).toEqual({ code: 0, output: '' });
      expect(await calls()).toEqual([]);
    });

    test('needs no compiler, and tests install it', async () => {
      await prepare();
      const installed = structuredClone(LOCK) as { packages: Record<string, unknown> };
      delete installed.packages['node_modules/typescript'];
      await write('node_modules/.package-lock.json', JSON.stringify(installed));
      await write('src/main.ts', 'changed');
      expect((await run({ npm_lifecycle_event })).code).toBe(0);
      expect(await calls()).toEqual(['bundle']);
      expect(await prepare()).toEqual([INSTALL, 'tsc', 'bundle']);
      expect(await prepare()).toEqual([]);
    });
  });

  test('fails when npm or the compiler fails, and does not take the remains for a result', async () => {
    await write('offline', '');
    expect(await run()).toMatchObject({
      code: 1,
      output: expect.stringContaining('npm ci failed: exit code 7'),
    });
    await remove('offline');
    await write('broken', '');
    expect(await run()).toMatchObject({
      code: 1,
      output: expect.stringContaining('the modules failed: exit code 2'),
    });
    await calls();
    await remove('broken');
    expect(await prepare()).toEqual(['tsc', 'bundle']);
    expect(await locks()).toEqual([]);
  });

  test('refuses an old Node.js with both versions, before anything else', async () => {
    await write('package.json', JSON.stringify({ ...PACKAGE, engines: { node: '>=99.1.0' } }));
    expect(await run()).toMatchObject({
      code: 1,
      output: expect.stringContaining(`Node.js 99.1.0 or later is needed; this is ${process.version}`),
    });
    expect(await calls()).toEqual([]);
  });

  test('does the work once when several ask at the same moment', async () => {
    const results = await Promise.all([run(), run(), run(), run()]);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await calls()).toEqual([INSTALL, 'tsc', 'bundle']);
    expect(await locks()).toEqual([]);
  });

  test('goes on after a run that was killed midway', async () => {
    await write('slow', '');
    const killed = launch();
    await waitUntil('it builds', async () => (await readdir(temp.path)).includes('building'));
    const ended = once(killed, 'exit');
    killed.kill('SIGKILL');
    await ended;
    expect(await locks()).toEqual(['.prepare-lock']);
    await remove('slow');
    await calls();
    await abandon('.prepare-lock');
    expect(await prepare()).toEqual(['tsc', 'bundle']);
    expect(await locks()).toEqual([]);
  });

  test('removes a lock only when it is no longer renewed', async () => {
    await mkdir(join(temp.path, '.prepare-lock'));
    // The lock is not stale, however long the start takes.
    const later = new Date(Date.now() + 3_600_000);
    await utimes(join(temp.path, '.prepare-lock'), later, later);
    const child = launch();
    const ended = once(child, 'exit');
    await once(child.stderr!, 'data');
    expect(await calls()).toEqual([]);
    await abandon('.prepare-lock');
    expect(await ended).toEqual([0, null]);
    expect(await calls()).toEqual([INSTALL, 'tsc', 'bundle']);
  });
});
