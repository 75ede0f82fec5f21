/** Secrets in files, as containers and systemd provide them: `NAME_FILE` replaces `NAME`. */
import { closeSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from './config-error.ts';
import { fileVariableOf, type Environment } from './variable.ts';

/** More than any secret has, including a key in PEM; in bytes. A larger file is not a secret. */
const MAX_SECRET_BYTES = 64 * 1024;

/** Reads secrets, and remembers which files it read. */
export class SecretFiles {
  readonly #get: Environment['get'];
  readonly #cwd: string;
  readonly #files = new Set<string>();

  constructor({ get, cwd }: Pick<Environment, 'get' | 'cwd'>) {
    this.#get = get;
    this.#cwd = cwd;
  }

  /** Absolute paths of the files that were read. */
  get files(): readonly string[] {
    return [...this.#files];
  }

  /**
   * The value of a variable, from the environment or from its file, without one newline at the file's end. null: neither is set. Throws
   * ConfigError, which never quotes the file.
   */
  read(name: string): string | null {
    const value = this.#get(name);
    const variable = fileVariableOf(name);
    const named = this.#get(variable);
    if (named === null) return value;
    if (value !== null) throw new ConfigError(variable, `is set beside ${name}: leave one of them out`);
    const file = path.resolve(this.#cwd, named);
    const text = readBounded(variable, file).replace(/\r?\n$/, '');
    if (text.trim() === '') throw new ConfigError(variable, `names an empty file: ${file}`);
    this.#files.add(file);
    return text;
  }
}

function readBounded(variable: string, file: string): string {
  const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
  let length = 0;
  try {
    const fd = openSync(file, 'r');
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(fd, bytes, length, bytes.length - length, null);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new ConfigError(variable, `names a file that can not be read: ${code}: ${file}`);
  }
  if (length > MAX_SECRET_BYTES) {
    throw new ConfigError(variable, `names a file of more than ${MAX_SECRET_BYTES} bytes: ${file}`);
  }
  return bytes.toString('utf8', 0, length);
}
