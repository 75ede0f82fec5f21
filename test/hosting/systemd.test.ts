/** ops/systemd/email-worker.service, as systemd reads it, and its guide. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { skipWithout } from '../helpers/skip.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { ROOT } from './packed-files.ts';

const run = promisify(execFile);
const PROGRAM = '/usr/bin/systemd-analyze';
/** In tenths of systemd's points; its OK goes up to 4.9. */
const MAX_EXPOSURE = 15;

const UNIT = readFileSync(path.join(ROOT, 'ops/systemd/email-worker.service'), 'utf8');
const GUIDE = readFileSync(path.join(ROOT, 'docs/hosting/systemd.md'), 'utf8');

/** The values of a setting of the unit. */
const valuesOf = (name: string) =>
  [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);

describe.skipIf(skipWithout('tests of the systemd unit', PROGRAM))('systemd', () => {
  let folder: TempFolder;
  let file: string;
  beforeAll(async () => {
    folder = await makeTempFolder();
    file = path.join(folder.path, 'email-worker.service');
    // Node.js need not be where systemd looks for it on a server.
    await writeFile(file, UNIT.replace('ExecStart=node ', `ExecStart=${process.execPath} `));
  });
  afterAll(() => folder.remove());

  it('finds nothing wrong with the unit', async () => {
    expect(await run(PROGRAM, ['verify', '--man=no', file])).toEqual({ stdout: '', stderr: '' });
  });

  it('finds nothing wrong with the backup of each night, which is as little exposed', async () => {
    const files = await Promise.all(
      ['service', 'timer'].map(async (kind) => {
        const name = `email-worker-backup.${kind}`;
        const text = readFileSync(path.join(ROOT, 'ops/systemd', name), 'utf8');
        const copy = path.join(folder.path, name);
        await writeFile(copy, text.replaceAll('ExecStart=node ', `ExecStart=${process.execPath} `));
        return copy;
      }),
    );
    expect(await run(PROGRAM, ['verify', '--man=no', ...files])).toEqual({ stdout: '', stderr: '' });
    const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, '--no-pager', files[0] ?? ''];
    await expect(run(PROGRAM, args)).resolves.toMatchObject({
      stdout: expect.stringContaining('exposure level'),
    });
  });

  it('would find what is wrong', async () => {
    const broken = path.join(folder.path, 'broken.service');
    await writeFile(broken, UNIT.replace('ExecStart=node ', 'ExecStart=/nowhere/node '));
    await expect(run(PROGRAM, ['verify', '--man=no', broken])).rejects.toThrow('/nowhere/node');
  });

  it(`finds the service exposed by ${MAX_EXPOSURE / 10} of 10 at most`, async () => {
    const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, '--no-pager', file];
    await expect(run(PROGRAM, args)).resolves.toMatchObject({
      stdout: expect.stringContaining('exposure level'),
    });
  });
});

it('starts what the guide installs, in the folder that the guide makes', () => {
  const [start = ''] = valuesOf('ExecStart');
  const [, target = '', link = ''] = /^ln -s (\S+) (\S+)$/m.exec(GUIDE) ?? [];
  expect(start).toBe(`node ${link}`);
  const { bin } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  expect(target).toBe(`/opt/email-worker/${bin['email-worker']}`);
  const [home = ''] = valuesOf('WorkingDirectory');
  expect(home).toBe(`/var/lib/${valuesOf('StateDirectory')[0]}`);
  expect(GUIDE).toContain(`install -d -o ${valuesOf('User')[0]} -g ${valuesOf('Group')[0]} -m 700 ${home}\n`);
  expect(loadConfig({}, home).dataDir).toBe(`${home}/data`);
});

it('waits for the end of a stop, which the service does in order by itself', () => {
  // SHUTDOWN_TIMEOUT_MS bounds the whole stop; test/e2e/shutdown.test.ts.
  expect(Number(valuesOf('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(loadConfig({}, '/').shutdownTimeoutMs);
  expect(valuesOf('KillMode')).toEqual(['mixed']);
});

it('names the version of package.json in the guide', () => {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  const named = new Set([...GUIDE.matchAll(/email-worker-(\S+?)\.tgz/g)].map(([, one]) => one));
  expect([...named]).toEqual([version]);
});
