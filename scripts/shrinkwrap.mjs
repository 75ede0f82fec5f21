/**
 * Writes `npm-shrinkwrap.json`, the lock file of the package, from `package-lock.json`: without the workspaces, which are not packed, and
 * without what only they need. What the page and the build need is thus installed in a checkout, and by nobody who installs the package.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const { '': root, ...rest } = lock.packages;

/** Finds a package as Node.js does: in the importer's own node_modules, then in each folder above. */
function find(importer, name) {
  for (let at = importer; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (rest[place] !== undefined) return place;
    if (at === '') return null;
  }
}

/** Places of the packages that these need, and they themselves. */
function reach(names) {
  const reached = new Set();
  const next = names.map((name) => find('', name));
  while (next.length > 0) {
    const place = next.pop();
    if (place === null || reached.has(place)) continue;
    reached.add(place);
    const { dependencies, optionalDependencies, peerDependencies } = rest[place];
    for (const name of Object.keys({ ...peerDependencies, ...dependencies, ...optionalDependencies }))
      next.push(find(place, name));
  }
  return reached;
}

const used = reach(Object.keys(root.dependencies));
const forDevelopment = reach(Object.keys(root.devDependencies));
const { workspaces: _, ...ownRoot } = root;

lock.packages = { '': ownRoot };
for (const [place, entry] of Object.entries(rest)) {
  if (used.has(place)) lock.packages[place] = entry;
  else if (forDevelopment.has(place)) lock.packages[place] = { ...entry, dev: true };
}
writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(lock, null, 2)}\n`);
