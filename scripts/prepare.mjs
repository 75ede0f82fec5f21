/**
 * Makes a checkout ready to run: installs the packages and builds `dist/`, each only when it is missing or stale.
 * `npm start`, `npm test` and `npm run bench` call it first. It needs nothing but Node.js and npm.
 *
 * Stale is decided by content, never by time: a stamp in `node_modules/` and one in `dist/` hold a hash of what they
 * were made from. With nothing to do it takes no lock, starts no process and writes nothing.
 */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PACKAGES = path.join(ROOT, 'node_modules');
const DIST = path.join(ROOT, 'dist');
const INSTALL_STAMP = path.join(PACKAGES, '.prepare-stamp.json');
const BUILD_STAMP = path.join(DIST, '.prepare-stamp');
const LOCK = path.join(ROOT, '.prepare-lock');

/** While it works, a holder renews its lock this often. */
const LOCK_RENEWAL_MS = 1000;
/** A lock that was not renewed for this long is abandoned: its process is gone, here or in another container. */
const LOCK_STALE_MS = 15_000;

/** Starting the built service needs no compiler; everything else does. */
const NEEDS_DEV = !['prestart', 'precli'].includes(process.env.npm_lifecycle_event);

class PrepareError extends Error {}

async function main() {
  const manifest = JSON.parse(read('package.json'));
  checkNode(manifest.engines.node);
  if (isInstalled(manifest) && isBuilt()) return;
  await withLock(async () => {
    if (!isInstalled(manifest)) await install(manifest);
    if (!isBuilt()) await build();
  });
}

function checkNode(range) {
  const wanted = numbers(range);
  const have = numbers(process.versions.node);
  const difference = wanted.map((part, index) => have[index] - part).find((part) => part !== 0) || 0;
  if (difference < 0) {
    throw new PrepareError(
      `Node.js ${wanted.join('.')} or later is needed; this is ${process.version} (${process.execPath}).`,
    );
  }
}

function numbers(text) {
  return (/\d+\.\d+\.\d+/.exec(text) || ['0.0.0'])[0].split('.').map(Number);
}

// ---------------------------------------------------------------- packages

/**
 * Whether the packages are there that the lock file names. The stamp says so at once; without one, for instance after
 * `npm ci` by hand, npm's own list of what it installed is compared, and a stamp is made.
 */
function isInstalled(manifest) {
  const stamp = readJson(INSTALL_STAMP);
  const now = installState();
  if (stamp !== null && stamp.platform !== now.platform) return false;
  if (stamp !== null && stamp.packages === now.packages) return true;
  const missing = findMissing(manifest);
  if (missing === null || missing.some((entry) => NEEDS_DEV || !isBuilt() || !isDevOnly(entry))) return false;
  if (missing.length === 0) tryWrite(INSTALL_STAMP, JSON.stringify(now));
  return true;
}

function installState() {
  return {
    platform: `node ${process.versions.node.split('.')[0]} ${process.platform} ${process.arch}`,
    packages: hash([read('package.json'), read('package-lock.json')]),
  };
}

/** Entries of the lock file that are not installed as it says; null when nothing can be said. */
function findMissing(manifest) {
  const locked = readJson(path.join(ROOT, 'package-lock.json'));
  const installed = readJson(path.join(PACKAGES, '.package-lock.json'));
  if (locked === null || installed === null) return null;
  const root = locked.packages[''];
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    if (JSON.stringify(root[kind]) !== JSON.stringify(manifest[kind])) return null;
  }
  return Object.entries(locked.packages)
    .filter(([name]) => {
      const wanted = locked.packages[name];
      const found = installed.packages[name];
      if (found === undefined) return name !== '' && isWantedHere(wanted);
      return found.version !== wanted.version || found.integrity !== wanted.integrity;
    })
    .map(([, entry]) => entry);
}

/** npm leaves out optional packages of other platforms. */
function isWantedHere(entry) {
  if (!entry.optional && !entry.devOptional) return true;
  if (!entry.os || !entry.cpu || entry.libc) return false;
  return entry.os.includes(process.platform) && entry.cpu.includes(process.arch);
}

function isDevOnly(entry) {
  return Boolean(entry.dev || entry.devOptional);
}

async function install() {
  const done = progress('installing packages (npm ci)');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  // Under npm its own program is at hand; on its own this script finds npm on the PATH, on Windows as npm.cmd.
  if (npm && /npm-cli\.[cm]?js$/.test(npm)) await run('npm ci', process.execPath, [npm, ...args]);
  else await run('npm ci', 'npm', args, { shell: process.platform === 'win32' });
  fs.writeFileSync(INSTALL_STAMP, JSON.stringify(installState()));
  done();
}

// ---------------------------------------------------------------- build

function isBuilt() {
  return readIfThere(BUILD_STAMP) === buildState();
}

let knownBuildState = null;

/** Names and content of the sources, the compiler's settings and, with the lock file, the compiler. */
function buildState() {
  if (knownBuildState !== null) return knownBuildState;
  const files = listSources('src');
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  knownBuildState = hash([...files, ...settings].flatMap((file) => [file, read(file)]));
  return knownBuildState;
}

function listSources(folder) {
  return fs
    .readdirSync(path.join(ROOT, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return listSources(file);
      return entry.name.endsWith('.test.ts') ? [] : [file];
    });
}

async function build() {
  const done = progress('building (tsc)');
  // From nothing, so that the output of a deleted or renamed source is not left.
  fs.rmSync(DIST, { recursive: true, force: true });
  knownBuildState = null;
  const state = buildState();
  const tsc = path.join(PACKAGES, 'typescript', 'bin', 'tsc');
  await run('the build', process.execPath, [tsc, '-p', 'tsconfig.build.json']);
  fs.writeFileSync(BUILD_STAMP, state);
  done();
}

// ---------------------------------------------------------------- lock

/** Runs the work while no other prepare runs in this checkout; what the other one did is seen by the caller's checks. */
async function withLock(work) {
  const token = `${hostname()} ${process.pid} ${randomBytes(6).toString('hex')}`;
  const unlock = () => {
    if (readIfThere(path.join(LOCK, 'owner')) !== token) return;
    // In one step: while a folder is being emptied, the next holder's lock could be removed with it.
    const away = draftName();
    fs.renameSync(LOCK, away);
    fs.rmSync(away, { recursive: true, force: true });
  };
  let told = false;
  while (!tryLock(token)) {
    if (removeStaleLock()) continue;
    if (!told) say('waiting for another run that is installing or building');
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.on('exit', unlock);
  const renewal = setInterval(() => {
    try {
      fs.utimesSync(LOCK, new Date(), new Date());
    } catch {
      // The lock was removed by hand. The work goes on; at worst it is done twice.
    }
  }, LOCK_RENEWAL_MS);
  try {
    knownBuildState = null;
    await work();
  } finally {
    clearInterval(renewal);
    unlock();
  }
}

/** The lock is a folder, made whole under another name: renaming onto a folder with something in it fails. */
function tryLock(token) {
  const draft = draftName();
  fs.mkdirSync(draft);
  fs.writeFileSync(path.join(draft, 'owner'), token);
  try {
    fs.renameSync(draft, LOCK);
    return true;
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    // It may be gone again by now.
    if (['EEXIST', 'ENOTEMPTY'].includes(error.code)) return false;
    if (['EPERM', 'EACCES'].includes(error.code) && fs.existsSync(LOCK)) return false;
    throw error;
  }
}

const draftName = () => `${LOCK}-${randomBytes(6).toString('hex')}`;

/** True when the lock was removed. */
function removeStaleLock() {
  const owner = readIfThere(path.join(LOCK, 'owner'));
  if (owner === null || !isStale(owner)) return false;
  const away = draftName();
  try {
    fs.renameSync(LOCK, away);
  } catch {
    return false;
  }
  // Between the look and the rename another waiter may have done the same, and this may be its new lock.
  if (readIfThere(path.join(away, 'owner')) !== owner) {
    fs.renameSync(away, LOCK);
    return false;
  }
  fs.rmSync(away, { recursive: true, force: true });
  return true;
}

function isStale(owner) {
  const [host, pid] = owner.split(' ');
  if (host === hostname() && !isAlive(Number(pid))) return true;
  try {
    return Date.now() - fs.statSync(LOCK).mtimeMs > LOCK_STALE_MS;
  } catch {
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

// ---------------------------------------------------------------- small steps

function say(text) {
  process.stderr.write(`prepare: ${text}\n`);
}

function progress(what) {
  const begin = Date.now();
  say(`${what} …`);
  return () => say(`${what}: done in ${((Date.now() - begin) / 1000).toFixed(1)} s`);
}

/** Runs a program with its output on ours. */
async function run(what, file, args, options = {}) {
  const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', 2, 2], ...options });
  const forward = (signal) => child.kill(signal);
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  const { code, signal, error } = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  process.off('SIGINT', forward);
  process.off('SIGTERM', forward);
  if (error) throw new PrepareError(`${what} could not be started: ${error.message}`);
  if (code !== 0) throw new PrepareError(`${what} failed (${signal || `exit code ${code}`}); see above.`);
}

function hash(texts) {
  const digest = createHash('sha256');
  for (const text of texts) digest.update(`${Buffer.byteLength(text)}:`).update(text);
  return digest.digest('hex');
}

function read(file) {
  return fs.readFileSync(path.join(ROOT, file), 'utf8');
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** A checkout that can't be written to needs no stamp; the next run compares again. */
function tryWrite(file, text) {
  try {
    fs.writeFileSync(file, text);
  } catch {
    // As above.
  }
}

main().catch((error) => {
  if (!(error instanceof PrepareError)) throw error;
  say(error.message);
  process.exitCode = 1;
});
