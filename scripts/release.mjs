/**
 * Makes a release of the checkout it runs in: `npm run release -- patch|minor|major|1.2.3 [--dry-run] [--sign <key>]`.
 *
 * It sets versions, the documents that name the package, and the changelog; then it builds and packs into `release/`, writes checksums,
 * commits and tags. Nothing is pushed or published. The version, the state of the checkout and the changelog are checked before anything is
 * written. When a step before the commit fails, those files are restored; when the tag fails, the commit stays. It needs Node.js, npm, git,
 * and ssh-keygen to sign.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const MANIFESTS = ['package.json', 'clients/typescript/package.json', 'page/package.json'];
const LOCK = 'package-lock.json';
const CHANGELOG = 'CHANGELOG.md';
/** Documents that name the file of a package. */
const DOCUMENTS = ['docs/hosting/systemd.md', 'clients/typescript/README.md'];
/** The document with the table of versions that get fixes. */
const SECURITY = 'SECURITY.md';
const FILES = [...MANIFESTS, LOCK, CHANGELOG, SECURITY, ...DOCUMENTS];
/** Ignored by git. */
const OUTPUT = 'release';
const SUMS = 'SHA256SUMS';
const BRANCH = 'main';
/** The namespace in a signature of ssh-keygen: the kind of signed content. */
const NAMESPACE = 'file';

const VERSION = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/;
const USAGE = 'npm run release -- patch|minor|major|1.2.3 [--dry-run] [--sign <private key for ssh-keygen>]';

/** A fault that the operator can correct; reported without a stack trace. */
class Refusal extends Error {}

try {
  release(readArguments());
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(`no release: ${error.message}`);
  process.exitCode = 1;
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { 'dry-run': { type: 'boolean', default: false }, sign: { type: 'string' } },
    });
    if (positionals.length !== 1) throw new Error('one version is wanted');
    return { wanted: positionals[0], isDry: values['dry-run'], key: values.sign ?? null };
  } catch (error) {
    throw new Refusal(`${error.message}\n${USAGE}`);
  }
}

function release({ wanted, isDry, key }) {
  const current = JSON.parse(readFileSync('package.json', 'utf8')).version;
  const version = nextVersion(current, wanted);
  checkTree(version);
  if (key !== null && !existsSync(key)) throw new Refusal(`there is no key ${key}`);
  const after = new Map(
    FILES.filter((file) => existsSync(file)).map((file) => [file, change(file, current, version)]),
  );
  console.log(`release ${version}, after ${current}`);
  for (const [file] of after) console.log(`  sets the version in ${file}`);
  console.log(`  builds and packs into ${OUTPUT}/, with ${SUMS}${key === null ? '' : ' and its signature'}`);
  console.log(`  commits, and tags v${version}`);
  if (isDry) {
    console.log('nothing was changed: --dry-run');
    return;
  }
  const before = new Map([...after.keys()].map((file) => [file, readFileSync(file)]));
  try {
    for (const [file, text] of after) writeFileSync(file, text);
    pack(key);
    git('add', '--', ...after.keys());
    git('commit', '--quiet', '--message', `release: ${version}`);
    tag(version, key);
  } catch (error) {
    if (git('log', '-1', '--format=%s').trim() !== `release: ${version}`) {
      git('reset', '--quiet');
      for (const [file, bytes] of before) writeFileSync(file, bytes);
    }
    throw error;
  }
  console.log(
    `${version} is committed and tagged; the packages are in ${OUTPUT}/. To publish: git push --follow-tags`,
  );
}

function nextVersion(current, wanted) {
  const numbers = VERSION.exec(current)?.slice(1).map(Number);
  if (numbers === undefined) throw new Refusal(`package.json has a version that is none: ${current}`);
  const place = ['major', 'minor', 'patch'].indexOf(wanted);
  if (place !== -1)
    return numbers.map((n, index) => (index < place ? n : index === place ? n + 1 : 0)).join('.');
  if (!VERSION.test(wanted)) throw new Refusal(`${wanted} is no version\n${USAGE}`);
  if (compare(wanted, current) < 0) throw new Refusal(`${wanted} is older than ${current} of package.json`);
  return wanted;
}

function compare(one, other) {
  return one.localeCompare(other, 'en', { numeric: true });
}

function checkTree(version) {
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD').trim();
  if (branch !== BRANCH) throw new Refusal(`releases are made on ${BRANCH}, and this is ${branch}`);
  const changed = git('status', '--porcelain').trim();
  if (changed !== '') throw new Refusal(`the tree is not clean:\n${changed}`);
  const newest = git('tag', '--list', 'v*')
    .split('\n')
    .map((name) => name.slice(1))
    .filter((name) => VERSION.test(name))
    .sort(compare)
    .at(-1);
  if (newest !== undefined && compare(version, newest) <= 0) {
    throw new Refusal(`${version} is not newer than the release v${newest}`);
  }
  const behind = gitOrNull('rev-list', '--count', 'HEAD..@{upstream}');
  if (behind !== null && Number(behind) > 0)
    throw new Refusal(`${BRANCH} is behind the branch it follows: pull first`);
}

function change(file, current, version) {
  const text = readFileSync(file, 'utf8');
  if (file === CHANGELOG) return changeLog(text, version);
  if (file === SECURITY) return supportedVersions(text, version);
  if (DOCUMENTS.includes(file)) {
    return text.replaceAll(`-${current}.tgz`, `-${version}.tgz`);
  }
  const json = JSON.parse(text);
  json.version = version;
  if (file === LOCK) {
    for (const manifest of MANIFESTS) {
      const own = json.packages[path.dirname(manifest).replace(/^\.$/, '')];
      if (own === undefined) throw new Refusal(`${LOCK} does not have ${manifest}: npm install first`);
      own.version = version;
    }
  }
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Moves the entries under "Unreleased" to the version. */
function changeLog(text, version) {
  const [, before, entries, after] = /^(.*?^## Unreleased\n)(.*?)(^## .*)?$(?![^])/ms.exec(text) ?? [];
  if (before === undefined) throw new Refusal(`${CHANGELOG} has no "## Unreleased"`);
  if (entries.trim() === '') throw new Refusal(`${CHANGELOG} has nothing under "## Unreleased"`);
  const today = new Date().toISOString().slice(0, 10);
  return `${before}\n## ${version} (${today})\n\n${entries.trim()}\n${after === undefined ? '' : `\n${after}`}`;
}

/** Replaces the version's row with that of the new one; cells keep their width. */
function supportedVersions(text, version) {
  const row = /^\| \d+\.\d+\.\d+ *\|([^|\n]*)\|$/m.exec(text);
  if (row === null) throw new Refusal(`${SECURITY} has no row of a version`);
  const [name, fixes] = [row[0].indexOf('|', 1) - 3, row[1].length - 2];
  return text.replace(row[0], `| ${version.padEnd(name)} | ${'yes'.padEnd(fixes)} |`);
}

/** Makes the packages, their checksums, and a signature of the checksums. */
function pack(key) {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT);
  const names = [[], ['--workspace', 'clients/typescript']].map((of) => {
    const [{ filename }] = JSON.parse(
      run('npm', ['pack', '--json', '--silent', '--pack-destination', OUTPUT, ...of]).replace(/^[^[]*/s, ''),
    );
    return filename;
  });
  const sums = names.map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(path.join(OUTPUT, name)))
      .digest('hex');
    // In the format of sha256sum, which checks it with --check.
    return `${digest}  ${name}\n`;
  });
  writeFileSync(path.join(OUTPUT, SUMS), sums.join(''));
  process.stdout.write(sums.join(''));
  if (key !== null) run('ssh-keygen', ['-Y', 'sign', '-f', key, '-n', NAMESPACE, path.join(OUTPUT, SUMS)]);
}

function tag(version, key) {
  const signed =
    key === null
      ? ['tag', '--annotate']
      : ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`, 'tag', '--sign'];
  git(...signed, '--message', version, `v${version}`);
}

function git(...args) {
  return run('git', args);
}

function gitOrNull(...args) {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

function run(program, args) {
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
}
