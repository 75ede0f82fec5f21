/** A release of a small project with a history, in a temporary clone of it. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempFolder } from '../helpers/temp-folder.ts';

const RELEASE = fileURLToPath(new URL('../../scripts/release.mjs', import.meta.url));
const run = promisify(execFile);

const CHANGELOG = `# Changelog

User-visible changes.

## Unreleased

- A thing is new.

### Sending

- Another one.
`;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let clone: string;
let env: NodeJS.ProcessEnv;

const at = (...names: readonly string[]) => path.join(clone, ...names);
const read = (...names: readonly string[]) => readFile(at(...names), 'utf8');
const write = (file: string, text: string) => writeFile(at(file), text);
const git = async (...args: readonly string[]) => (await run('git', args, { cwd: clone, env })).stdout;
const release = (...args: readonly string[]) =>
  run(process.execPath, [RELEASE, ...args], { cwd: clone, env });

/** The parts of the project: packages at our paths, without anything to build. */
async function writeProject(root: string): Promise<void> {
  const manifest = (name: string, more: object = {}) =>
    `${JSON.stringify({ name, version: '0.1.0', ...more, files: ['README.md'] }, null, 2)}\n`;
  const entry = { version: '0.1.0' };
  const packages = {
    '': entry,
    'clients/typescript': entry,
    page: entry,
    'node_modules/other': { version: '0.1.0' },
  };
  const files = {
    'package.json': manifest('mail', { workspaces: ['clients/typescript', 'page'] }),
    'clients/typescript/package.json': manifest('mail-client'),
    'clients/typescript/README.md': 'npm install ./mail-client-0.1.0.tgz\n',
    'page/package.json': manifest('mail-page'),
    'package-lock.json': `${JSON.stringify({ name: 'mail', version: '0.1.0', lockfileVersion: 3, packages }, null, 2)}\n`,
    'docs/hosting/systemd.md': 'tar -xzf mail-0.1.0.tgz\n',
    'CHANGELOG.md': CHANGELOG,
    'SECURITY.md': '| Version           | Fixes            |\n| 0.1.0             | not released yet |\n',
    'README.md': 'Mail.\n',
    '.gitignore': 'release/\n',
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
}

beforeEach(async () => {
  folder = await makeTempFolder();
  const origin = path.join(folder.path, 'origin');
  clone = path.join(folder.path, 'clone');
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder.path,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  await writeProject(origin);
  const inOrigin = { cwd: origin, env };
  await run('git', ['init', '--quiet', '--initial-branch', 'main'], inOrigin);
  await run('git', ['add', '.'], inOrigin);
  await run('git', ['commit', '--quiet', '--message', 'all'], inOrigin);
  await run('git', ['clone', '--quiet', origin, clone], { env });
});
afterEach(() => folder.remove());

describe('a release', () => {
  it('sets versions and the changelog, packs with checksums, commits and tags', async () => {
    const { stdout } = await release('minor');
    for (const file of ['package.json', 'clients/typescript/package.json', 'page/package.json']) {
      expect(JSON.parse(await read(file))).toMatchObject({ version: '0.2.0' });
    }
    expect(JSON.parse(await read('package-lock.json'))).toMatchObject({
      version: '0.2.0',
      packages: {
        '': { version: '0.2.0' },
        'clients/typescript': { version: '0.2.0' },
        page: { version: '0.2.0' },
        'node_modules/other': { version: '0.1.0' },
      },
    });
    expect(await read('docs/hosting/systemd.md')).toBe('tar -xzf mail-0.2.0.tgz\n');
    expect(await read('CHANGELOG.md')).toMatch(
      /^## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- A thing is new\.\n\n### Sending\n\n- Another one\.\n$/m,
    );
    expect(await read('SECURITY.md')).toBe(
      '| Version           | Fixes            |\n| 0.2.0             | yes              |\n',
    );
    expect(await readdir(at('release'))).toEqual(['SHA256SUMS', 'mail-0.2.0.tgz', 'mail-client-0.2.0.tgz']);
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: at('release') });
    expect(stdout).toContain(await read('release', 'SHA256SUMS'));
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('log', '-1', '--format=%s')).toBe('release: 0.2.0\n');
    expect(await git('describe', '--exact-match')).toBe('v0.2.0\n');

    // The next release begins where this one ended.
    await expect(release('patch')).rejects.toThrow('CHANGELOG.md has nothing under "## Unreleased"');
    await write(
      'CHANGELOG.md',
      (await read('CHANGELOG.md')).replace('## Unreleased\n', '## Unreleased\n\n- Mended.\n'),
    );
    await git('commit', '--quiet', '--all', '--message', 'mended');
    await release('patch');
    expect(await git('describe', '--exact-match')).toBe('v0.2.1\n');
    expect(await read('CHANGELOG.md')).toMatch(
      /## Unreleased\n\n## 0\.2\.1 \([^)]*\)\n\n- Mended\.\n\n## 0\.2\.0 \([^)]*\)\n\n- A thing is new\./,
    );
  });

  it('may be the first one of the version that is there', async () => {
    await release('0.1.0');
    expect(await git('describe', '--exact-match')).toBe('v0.1.0\n');
    expect(await read('CHANGELOG.md')).toContain('## 0.1.0 (');
  });

  it('is signed with a key, when one is named', async () => {
    const key = path.join(folder.path, 'key');
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'releases', '-f', key]);
    await release('major', '--sign', key);
    const signers = path.join(folder.path, 'signers');
    await writeFile(signers, `releases ${await readFile(`${key}.pub`, 'utf8')}`);
    const sums = at('release', 'SHA256SUMS');
    const verify = `ssh-keygen -Y verify -f '${signers}' -I releases -n file -s '${sums}.sig' < '${sums}'`;
    expect((await run('sh', ['-c', verify])).stdout).toContain('Good "file" signature for releases');
    await git('-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-tag', 'v1.0.0');
    expect(await git('describe', '--exact-match')).toBe('v1.0.0\n');
  });

  it('changes nothing with --dry-run, and says what it would do', async () => {
    const { stdout } = await release('1.2.3', '--dry-run');
    expect(stdout).toMatch(
      /^release 1\.2\.3, after 0\.1\.0\n[^]*tags v1\.2\.3\nnothing was changed: --dry-run\n$/,
    );
    expect(await git('status', '--porcelain', '--ignored')).toBe('');
    expect(await git('tag')).toBe('');
  });

  it('leaves everything as it was when packing fails', async () => {
    const manifest = JSON.parse(await read('package.json')) as object;
    const broken = { ...manifest, scripts: { prepack: 'exit 1' } };
    await write('package.json', `${JSON.stringify(broken, null, 2)}\n`);
    await git('commit', '--quiet', '--all', '--message', 'broken');
    const before = await git('rev-parse', 'HEAD');
    await expect(release('patch')).rejects.toThrow('npm pack');
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('rev-parse', 'HEAD')).toBe(before);
    expect(await git('tag')).toBe('');
  });

  it.each<[string, readonly string[], string, () => Promise<unknown>]>([
    ['a tree that is not clean', ['patch'], 'the tree is not clean', () => write('new.txt', 'x')],
    [
      'another branch',
      ['patch'],
      'releases are made on main, and this is side',
      () => git('checkout', '-q', '-b', 'side'),
    ],
    [
      'a version that was released',
      ['0.3.0'],
      '0.3.0 is not newer than the release v0.10.0',
      () => git('tag', 'v0.10.0'),
    ],
    ['an older version', ['0.0.9'], '0.0.9 is older than 0.1.0 of package.json', async () => {}],
    ['what is no version', ['v1.2'], 'v1.2 is no version', async () => {}],
    ['no version', [], 'one version is wanted', async () => {}],
    ['an option that there is not', ['patch', '--force'], "Unknown option '--force'", async () => {}],
    ['a key that is not there', ['patch', '--sign', 'nowhere'], 'there is no key nowhere', async () => {}],
    [
      'a branch that is behind',
      ['patch'],
      'main is behind the branch it follows: pull first',
      async () => {
        await git('commit', '--quiet', '--allow-empty', '--message', 'more');
        await git('push', '--quiet', 'origin', 'HEAD:refs/heads/other');
        await git('branch', '--quiet', '--set-upstream-to', 'origin/other');
        await git('reset', '--quiet', '--hard', 'HEAD~1');
      },
    ],
  ])('is refused for %s', async (_, args, words, spoil) => {
    await spoil();
    const before = await git('status', '--porcelain');
    await expect(release(...args)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`no release: ${words}`),
    });
    expect(await git('status', '--porcelain')).toBe(before);
  });
});
