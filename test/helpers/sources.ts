/** The sources of the service, for tests of what is in them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SRC = path.join(import.meta.dirname, '../../src');
const USES_DATABASE = /from '(?:pg|[./]*platform\/db\/[\w/-]+\.ts)'/;

export interface Source {
  /** Below `src/`, with slashes. */
  readonly file: string;
  readonly text: string;
}

/** All but tests and generated files, by their names. */
export const allSources = (): readonly Source[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => file.endsWith('.ts') && !/\.(?:test|generated)\.ts$/.test(file))
    .sort()
    .map((file) => ({ file, text: readFileSync(path.join(SRC, file), 'utf8') }));

/** Those with statements, or that pass values to the database: `src/platform/db`, and what imports from it or from the driver. */
export const sqlSources = (): readonly Source[] =>
  allSources().filter(({ file, text }) => file.startsWith('platform/db/') || USES_DATABASE.test(text));
