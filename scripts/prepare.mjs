/**
 * Makes a checkout ready to run: installs the packages and builds `dist/` and the page, each only when it is missing or stale. `npm start`,
 * `npm test` and `npm run bench` call it first. It needs nothing but Node.js and npm. What only starts or packs the service gets neither
 * the packages nor the modules that only tests, benchmarks and scripts need.
 *
 * Content decides what is stale, never time. When nothing has to be done, it takes no lock, starts no process and writes nothing.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const INSTALLED = 'node_modules/.package-lock.json';
/** A file in the output of a part: contains a hash of the sources it was built from. */
const STAMP = '.prepare-stamp';

/** Starting or packing the service needs no compiler and no tests; everything else does. */
const NEEDS_DEV = !['prestart', 'precli', 'prepack'].includes(process.env.npm_lifecycle_event);

const isCode = ({ name }) => !name.endsWith('.test.ts');

/** In order: the bundle lies within the output of the modules. */
const PARTS = [
  {
    name: 'the modules',
    output: 'dist',
    folder: '.',
    folders: ['src'],
    settings: ['tsconfig.json', 'tsconfig.build.json'],
    isSource: isCode,
    isAbsent: () => !NEEDS_DEV,
    steps: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']],
  },
  {
    name: 'the build',
    output: 'dist/bundle',
    // Not within the output, which `npm run build` makes anew and `npm pack` packs.
    stamp: 'dist/.bundle-stamp',
    folder: '.',
    folders: ['src'],
    settings: ['tsconfig.json', 'scripts/bundle.mjs'],
    isSource: isCode,
    isAbsent: () => false,
    steps: [['scripts/bundle.mjs']],
  },
  {
    name: 'the build of the page',
    output: 'page/dist',
    folder: 'page',
    // The page includes the client's sources.
    folders: ['page', 'clients/typescript/src'],
    settings: [],
    isSource: ({ name, parentPath }) =>
      !name.endsWith('.test.ts') &&
      !/^page\/(?:dist|node_modules)(?:\/|$)/.test(parentPath.replaceAll('\\', '/')),
    // An installed package has the built files, but not their sources.
    isAbsent: () => !fs.existsSync('page/package.json'),
    // The package's file list is for developers of the page.
    steps: [['../node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], ['build/compress.mjs']],
  },
];

const LOCK = '.prepare-lock';
/** The holder of the lock renews it this often while it works. */
const LOCK_RENEWAL_MS = 1000;
/** A lock that was not renewed for this long is abandoned: its process has ended, here or in another container. */
const LOCK_STALE_MS = 10_000;

async function prepare() {
  checkNode();
  if (isInstalled() && isBuilt()) return;
  await withLock(async () => {
    // Another run may have finished the work by now.
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  });
}

function checkNode() {
  const wanted = readJson('package.json').engines.node.replace('>=', '');
  const isOld = wanted.localeCompare(process.versions.node, 'en', { numeric: true }) > 0;
  if (isOld)
    throw new Error(
      `Node.js ${wanted} or later is needed; this is ${process.version} (${process.execPath}).`,
    );
}

/** True if npm's own list of installed packages has all that the lock file names. npm writes that list last. */
function isInstalled() {
  if (!fs.existsSync(INSTALLED)) return false;
  const { packages: locked } = readJson('package-lock.json');
  const { packages: installed } = readJson(INSTALLED);
  return Object.entries(locked).every(([name, entry]) => {
    const found = installed[name];
    if (found !== undefined) return found.version === entry.version && found.integrity === entry.integrity;
    return name === '' || isForOtherPlatform(entry) || (!NEEDS_DEV && (entry.dev || entry.devOptional));
  });
}

/** npm leaves out optional packages of other platforms; a package that names a C library may be one. */
function isForOtherPlatform({ optional, devOptional, os, cpu, libc }) {
  if (!optional && !devOptional) return false;
  return !os?.includes(process.platform) || !cpu?.includes(process.arch) || libc !== undefined;
}

async function install() {
  // Within `npm pack --json` it would print each installed package.
  const args = [
    'ci',
    NEEDS_DEV ? '--include=dev' : '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--no-json',
    '--loglevel=error',
  ];
  // Under npm, the path of npm itself is known.
  const npm = process.env.npm_execpath;
  const [program, ...first] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  await timed('npm ci', () => run(program, [...first, ...args]));
}

const isBuilt = () => PARTS.every(isPartBuilt);

const stampOf = ({ output, stamp }) => stamp ?? path.join(output, STAMP);

function isPartBuilt(part) {
  if (part.isAbsent()) return true;
  const isThere = [part.output, stampOf(part)].every((file) => fs.existsSync(file));
  return isThere && fs.readFileSync(stampOf(part), 'utf8') === hashOf(part);
}

/** Hashes the names and content of the sources, the settings and, through the lock file, the compilers. */
function hashOf({ folders, settings, isSource }) {
  const sources = folders.flatMap((folder) =>
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isSource(entry))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort(),
  );
  const hash = createHash('sha256');
  for (const file of [...settings, 'package-lock.json', ...sources])
    hash.update(`${file}\0`).update(fs.readFileSync(file)).update('\0');
  return hash.digest('hex');
}

async function build() {
  for (const part of PARTS) {
    if (isPartBuilt(part)) continue;
    // From an empty folder, so that no output of a deleted or renamed source is left.
    for (const old of [stampOf(part), part.output]) fs.rmSync(old, { recursive: true, force: true });
    const stamp = hashOf(part);
    await timed(part.name, async () => {
      for (const args of part.steps) await run(process.execPath, args, part.folder);
    });
    fs.writeFileSync(stampOf(part), stamp);
  }
}

/** Runs the work while no other prepare runs in this checkout. The lock is a folder: making one is a single step. */
async function withLock(work) {
  let isTold = false;
  for (let isMine = false; !isMine;) {
    try {
      fs.mkdirSync(LOCK);
      isMine = true;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isTold) say('waiting for another run that is installing or building');
      isTold = true;
      removeStaleLock();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const renewal = setInterval(() => fs.utimesSync(LOCK, new Date(), new Date()), LOCK_RENEWAL_MS);
  try {
    await work();
  } finally {
    clearInterval(renewal);
    fs.rmdirSync(LOCK);
  }
}

function removeStaleLock() {
  if (!isStale(LOCK)) return;
  const away = `${LOCK}-${process.pid}`;
  try {
    fs.renameSync(LOCK, away);
  } catch {
    // Another run was quicker.
    return;
  }
  // Another waiter may have replaced that lock since the check: the folder moved away may be that waiter's own.
  if (isStale(away)) fs.rmdirSync(away);
  else fs.renameSync(away, LOCK);
}

function isStale(lock) {
  const renewedAt = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  return Date.now() - renewedAt > LOCK_STALE_MS;
}

/** Prints the name of the work, and how long it took. */
async function timed(what, work) {
  const begin = Date.now();
  say(`${what} …`);
  try {
    await work();
  } catch (error) {
    throw new Error(`${what} failed: ${error.message}; see above.`, { cause: error });
  }
  say(`${what}: done in ${((Date.now() - begin) / 1000).toFixed(1)} s`);
}

/** Runs a program with its output on stderr. Rejects with its exit code or signal when it fails. */
async function run(file, args, cwd = '.') {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 2, 2] });
  const forward = (signal) => child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  const reason = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : (signal ?? `exit code ${code}`)));
  });
  process.off('SIGINT', forward).off('SIGTERM', forward);
  if (reason !== null) throw new Error(reason);
}

function say(text) {
  process.stderr.write(`prepare: ${text}\n`);
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

prepare().catch((error) => {
  say(error.message);
  process.exitCode = 1;
});
