/** The sources of the service that contain statements, or pass values to the database. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const SRC = path.join(import.meta.dirname, '../../src');
const USES_DATABASE = /from '(?:pg|[./]*platform\/db\/[\w/-]+\.ts)'/;

export interface Source {
  /** Below `src/`, with slashes. */
  readonly file: string;
  readonly text: string;
}

/** All of `src/platform/db`, and what imports from it or from the driver. */
export const sqlSources = (): readonly Source[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !/\.(?:test|generated)\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(path.join(SRC, file), 'utf8') }))
    .filter(({ file, text }) => file.startsWith('platform/db/') || USES_DATABASE.test(text));
