/** The client as users of the package get it: packed, and unpacked into a project. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const run = promisify(execFile);

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const CLIENT = path.join(ROOT, 'clients/typescript');

const DEPENDENCIES = [
  '@stablelib',
  '@types',
  'fast-sha256',
  'openapi-fetch',
  'openapi-typescript-helpers',
  'pg',
  'standardwebhooks',
];

export interface Project {
  readonly folder: string;
  /** Paths of the files in the package, below its root. */
  readonly files: readonly string[];
  /** Writes a file of the project. */
  write(name: string, text: string): Promise<void>;
  dispose(): Promise<void>;
}

/** A project that has the packed client in its node_modules, and the client's dependencies. */
export async function makeProject(): Promise<Project> {
  const folder = await mkdtemp(path.join(tmpdir(), 'email-worker-client-'));
  // Without the workspace's own folder for output: test files pack at the same time.
  const source = path.join(folder, 'source');
  await mkdir(source);
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [
    tsc,
    '-p',
    path.join(CLIENT, 'tsconfig.build.json'),
    '--outDir',
    `${source}/dist`,
  ]);
  for (const name of ['package.json', 'README.md', 'LICENSE'])
    await writeFile(path.join(source, name), readFileSync(path.join(CLIENT, name)));
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { stdout } = await run(npm, ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];

  const modules = path.join(folder, 'node_modules');
  const unpacked = path.join(modules, 'email-worker-client');
  await mkdir(unpacked, { recursive: true });
  await run('tar', ['-xzf', path.join(folder, packed.filename), '--strip-components=1', '-C', unpacked]);
  for (const name of DEPENDENCIES)
    await symlink(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  return {
    folder,
    files: packed.files.map((file) => file.path).sort(),
    write: (name, text) => writeFile(path.join(folder, name), text),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The TypeScript examples of the README as one program; for a browser, without those that are for servers. */
export function readmeProgram(platform: 'node' | 'browser' = 'node'): string {
  const readme = readFileSync(path.join(CLIENT, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
  const isServer = (code: string) => code.includes('email-worker-client/webhooks');
  return examples.filter((code) => platform === 'node' || !isServer(code)).join('\n');
}
