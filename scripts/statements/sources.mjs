/** Where statements are defined. */
import fs from 'node:fs';
import path from 'node:path';

const DEFINITION = /\bstatements?\(\s*'([^']*)'/g;

/**
 * Returns the file of each statement by its name, and faults: every name is a literal, so that it is found by a search.
 */
export function findStatements(folder) {
  const places = new Map();
  const faults = [];
  for (const entry of fs.readdirSync(folder, { recursive: true }).sort()) {
    if (!entry.endsWith('.ts') || /\.(test|generated)\.ts$/.test(entry)) continue;
    const text = fs.readFileSync(path.join(folder, entry), 'utf8');
    for (const match of text.matchAll(DEFINITION)) {
      const line = text.slice(0, match.index).split('\n').length;
      const place = {
        file: path.join('src', 'adapters', 'postgres', entry),
        line,
        room: entry.split(path.sep)[0],
      };
      if (!/^[a-z0-9-]+$/.test(match[1])) faults.push(`${place.file}:${line}: not a name: ${match[1]}`);
      places.set(match[1], place);
    }
  }
  return { places, faults };
}
