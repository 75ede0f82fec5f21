/**
 * Adds to package-lock.json the optional packages of other platforms. A registry mirror that does not serve them makes
 * `npm install` leave them out, and `npm ci` refuses a lock file without them. Run it after each `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package-lock.json', import.meta.url);
const SYSTEMS = new Set(['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'sunos', 'win32']);

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
const packages = lock.packages;

/** As Node.js looks a package up: in the importer's own node_modules, then in each folder above. */
function isLocked(importer, name) {
  for (let at = importer; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === '') return false;
  }
}

/** `@swc/core-linux-arm64-musl` → system, processor and C library; null for a package that is not of one platform. */
function platformOf(name) {
  const words = name.split('/').at(-1).split('-');
  const index = words.findIndex((word) => SYSTEMS.has(word));
  if (index < 0) return null;
  const library = words[index + 2] ?? '';
  return {
    cpu: [words[index + 1]],
    ...(words[index] === 'linux' && library.startsWith('gnu') ? { libc: ['glibc'] } : {}),
    ...(words[index] === 'linux' && library.startsWith('musl') ? { libc: ['musl'] } : {}),
    os: [words[index]],
  };
}

for (const [importer, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const platform = platformOf(name);
    if (platform === null || !/^\d/.test(version) || isLocked(importer, name)) continue;
    packages[`node_modules/${name}`] = { version, ...(dev ? { dev } : {}), optional: true, ...platform };
    console.log(`added ${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
