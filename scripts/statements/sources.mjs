/** Finds the places where statements are defined. */
import fs from 'node:fs';
import path from 'node:path';

/**
 * SQL that is not a statement: transaction.ts sends `begin` and `commit`, migrate.ts the schema, connection.ts settings; replica-reads.ts
 * and callers-share.ts pass queries on. Backups and restores work on whatever tables exist.
 */
const UNCHECKED = /\.query\s*[(<]/g;
const MAY_SEND =
  /^(platform\/db\/(statement|transaction|migrate|connection|replica-reads|callers-share)\.ts|connectors\/embedded-postgres\/|areas\/backup\/(snapshot|load|restore-target)\.ts)/;

const DEFINITION = /\b(?:statements?|jsonObjects?|jsonRows)\(\s*'([^']*)'/g;

/**
 * Returns the file of each statement by its name, and faults: every name must be a literal, so that a search finds it, and SQL may only be
 * in statements.
 */
export function findStatements(folder) {
  const places = new Map();
  const faults = [];
  for (const entry of fs.readdirSync(folder, { recursive: true }).sort()) {
    if (!entry.endsWith('.ts') || /\.(test|generated)\.ts$/.test(entry)) continue;
    const text = fs.readFileSync(path.join(folder, entry), 'utf8');
    for (const match of MAY_SEND.test(entry) ? [] : text.matchAll(UNCHECKED)) {
      const line = text.slice(0, match.index).split('\n').length;
      faults.push(
        `src/${entry}:${line}: SQL is sent as a statement, which is checked: platform/db/statement.ts`,
      );
    }
    for (const match of text.matchAll(DEFINITION)) {
      const line = text.slice(0, match.index).split('\n').length;
      const place = {
        file: path.join('src', entry),
        line,
        folder: path.join('src', path.dirname(entry)),
      };
      if (!/^[a-z0-9-]+$/.test(match[1])) faults.push(`${place.file}:${line}: not a name: ${match[1]}`);
      places.set(match[1], place);
    }
  }
  return { places, faults };
}
