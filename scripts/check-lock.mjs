/**
 * Checks package-lock.json, or the lock file given as an argument: every package has an integrity hash, is listed for every platform, and
 * names no registry. A package without a hash is installed as whatever the registry serves that day.
 *
 * A registry mirror that lacks the newest packages of other platforms makes `npm install` leave them out. In that case pin the version
 * whose packages it has; never add entries by hand.
 */
import { readFileSync } from 'node:fs';

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const { packages } = JSON.parse(readFileSync(file, 'utf8'));

/** Finds a package as Node.js does: in the importer's own node_modules, then in each folder above. */
function isLocked(importer, name) {
  for (let at = importer; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === '') return false;
  }
}

const faults = Object.entries(packages).flatMap(([place, { integrity, resolved, link, ...entry }]) => {
  // Folders of this repository, such as workspaces, are not downloaded.
  const isOwn = link === true || !place.includes('node_modules/');
  const names = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
  return [
    ...(isOwn || /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ? [] : [`${place} has no integrity`]),
    ...(isOwn || resolved === undefined ? [] : [`${place} names a registry`]),
    ...names
      .filter((name) => !isLocked(place, name))
      .map((name) => `${name} is missing, for ${place || 'this project'}`),
  ];
});

for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
