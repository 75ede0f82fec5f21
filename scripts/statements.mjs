/**
 * Checks every SQL statement against the schema, and writes the files that follow from both: the types of the statements
 * (`statements.generated.ts` of each folder that has some) and `docs/schema.sql`. A PostgreSQL server of its own migrates a fresh
 * database and parses the statements; none is run.
 *
 * With --check it writes nothing and reports stale files; a tree that has passed is not checked again, unless --fresh is given.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from './statements/compile.mjs';
import { describeAll, loadStatements } from './statements/describe.mjs';
import { MigrationFailed, withDatabase } from './statements/fresh-database.mjs';
import { renderSchema } from './statements/schema-sql.mjs';
import { findStatements } from './statements/sources.mjs';
import { renderTypes } from './statements/types.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'statements');
const STAMP = path.join(CACHE, 'checked');
/** Statements also use constants of other folders. */
const INPUTS = ['src', 'scripts/statements', 'docs/schema.sql'];

const isCheck = process.argv.includes('--check');
const isFresh = process.argv.includes('--fresh');

async function main() {
  const state = hashInputs();
  if (isCheck && !isFresh && fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === state) return;

  const dist = compile(ROOT, path.join(CACHE, 'dist'));
  const { places, faults } = findStatements(path.join(ROOT, 'src'));
  const loaded = await loadStatements(dist, places);
  const outputs = await withDatabase(dist, async (client) => {
    const described = await describeAll(client, loaded, places);
    faults.push(...described.faults);
    const types = await renderTypes(client, described.statements, ROOT);
    faults.push(...types.faults);
    return new Map([...types.files, [path.join(ROOT, 'docs', 'schema.sql'), await renderSchema(client)]]);
  });
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) {
    console.error(`${faults.length} faults in statements`);
    process.exitCode = 1;
    return;
  }
  const stale = [...outputs].filter(([file, text]) => read(file) !== text);
  if (!isCheck) {
    for (const [file, text] of stale) fs.writeFileSync(file, text);
  } else if (stale.length > 0) {
    for (const [file] of stale) console.error(`${path.relative(ROOT, file)} is stale: npm run statements`);
    process.exitCode = 1;
    return;
  }
  fs.writeFileSync(STAMP, hashInputs());
}

function read(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
}

function hashInputs() {
  const hash = createHash('sha256');
  for (const input of INPUTS) {
    for (const file of filesOf(path.join(ROOT, input))) hash.update(file).update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}

function filesOf(entry) {
  if (!fs.existsSync(entry)) return [];
  if (fs.statSync(entry).isFile()) return [entry];
  return fs
    .readdirSync(entry, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.name.endsWith('.test.ts'))
    .map((file) => path.join(file.parentPath, file.name))
    .sort();
}

try {
  await main();
} catch (error) {
  if (!(error instanceof MigrationFailed)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
