/**
 * The location of the database. It is always `<DATA_DIR>/postgres`, unless the server's user can't enter that: then it is a separate folder
 * below `fallbackFolder`. A file in DATA_DIR remembers that folder, so that the data of one DATA_DIR is never silently split in two.
 */
import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Binaries, copyBinaries } from './binaries.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { chownTree, exists, readIfExists, syncFolder } from './file-system.ts';
import { type Identity, describe, listIdentities, tryAccess } from './identity.ts';

/** The folders of one database. */
export interface Location {
  /** Holds all of the following; 0700 and owned by the server's user. */
  readonly folder: string;
  /** PostgreSQL's data directory. */
  readonly dataFolder: string;
  /** For the socket, when the path is short enough. */
  readonly runFolder: string;
  readonly logFile: string;
  /** The file in DATA_DIR that remembers this location; null for a location inside DATA_DIR. */
  readonly marker: string | null;
}

/** All facts that running the server depends on. */
export interface Setup {
  readonly location: Location;
  readonly identity: Identity;
  /** Runnable by `identity`. */
  readonly binaries: Binaries;
}

/**
 * Chooses location and user: the existing database in its place, else the first combination that works. Throws `EmbeddedPostgresError` with
 * the reasons when there is none.
 *
 * @param dataDir real path of DATA_DIR, which exists.
 */
export async function chooseLocation(
  dataDir: string,
  fallbackFolder: string,
  binaries: Binaries,
): Promise<Setup> {
  const reasons: string[] = [];
  for (const location of await listLocations(dataDir, fallbackFolder)) {
    const initialised = await isInitialised(location);
    const owner = initialised ? await stat(location.dataFolder) : null;
    for (const identity of await listIdentities(owner, await stat(dataDir))) {
      const result = await tryLocation(location, identity, initialised, binaries);
      if (typeof result !== 'string') return result;
      reasons.push(result);
    }
  }
  const asRoot =
    process.geteuid?.() === 0 ? 'PostgreSQL does not run as root, and no substitute works' : 'tried';
  throw new EmbeddedPostgresError(`${asRoot}: ${reasons.join(' | ')}`);
}

/** True if a complete database exists; an `initdb` that was cut short never gets this far. */
export async function isInitialised(location: Location): Promise<boolean> {
  return await exists(join(location.dataFolder, 'PG_VERSION'));
}

/** Creates the folders, and gives them to the server's user. The server must not be running. */
export async function prepareLocation({ location, identity }: Setup): Promise<void> {
  await mkdir(location.folder, { recursive: true, mode: 0o700 });
  await mkdir(location.runFolder, { recursive: true, mode: 0o700 });
  const folders = [location.folder, location.runFolder];
  if (await isInitialised(location)) folders.push(location.dataFolder);
  const owners = await Promise.all(folders.map((folder) => stat(folder)));
  if (process.geteuid?.() === 0 && owners.some(({ uid }) => uid !== identity.uid)) {
    await chownTree(location.folder, identity.uid, identity.gid);
  }
  await chmod(location.folder, 0o700);
}

/** Notes that the database of a fallback location is complete; from now on its absence is an error. */
export async function rememberInitialised(location: Location): Promise<void> {
  if (location.marker !== null)
    await writeMarker(location.marker, { folder: location.folder, initialised: true });
}

/** The complete database of a DATA_DIR; null when there is none yet. Throws `EmbeddedPostgresError`. */
export async function findLocation(dataDir: string): Promise<Location | null> {
  // Does not look for a new location: one that is not initialised is not returned.
  for (const location of await listLocations(dataDir, dataDir))
    if (await isInitialised(location)) return location;
  return null;
}

async function listLocations(dataDir: string, fallbackFolder: string): Promise<readonly Location[]> {
  const home = createLocation(join(dataDir, 'postgres'), null);
  if (await isInitialised(home)) return [home];
  const marker = join(dataDir, 'postgres-place.json');
  const text = await readIfExists(marker);
  if (text === null) {
    // The random part: a DATA_DIR that was deleted and created again must not get the old data back.
    const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
    const folder = join(fallbackFolder, `${hash}-${randomBytes(4).toString('hex')}`);
    return [home, createLocation(folder, marker)];
  }
  const { folder, initialised } = parseMarker(text, marker);
  const location = createLocation(folder, marker);
  if (await isInitialised(location)) return [location];
  if (!initialised) return [home, location];
  throw new EmbeddedPostgresError(
    `the database of ${dataDir} is kept in ${folder}, as ${marker} says, but it is not there. ` +
      'Put it back, or delete that file to begin with an empty database',
  );
}

function createLocation(folder: string, marker: string | null): Location {
  return {
    folder,
    dataFolder: join(folder, 'data'),
    runFolder: join(folder, 'run'),
    logFile: join(folder, 'server.log'),
    marker,
  };
}

/** The setup, or the reason why there is none. */
async function tryLocation(
  location: Location,
  identity: Identity,
  initialised: boolean,
  binaries: Binaries,
): Promise<Setup | string> {
  if (!initialised && !identity.named) return `${identity.name} has no name in the system's list of users`;
  try {
    // The same user can enter every folder that this process can.
    if (identity.kind === 'self') {
      return {
        location,
        identity,
        binaries: binaries.complete ? binaries : await copyTo(location, binaries),
      };
    }
    const parent = dirname(location.folder);
    if (location.marker !== null) await mkdir(parent, { recursive: true, mode: 0o711 });
    const access = await tryAccess(identity, [dirname(parent), parent, binaries.postgres]);
    if (access.kind === 'refused') return access.reason;
    const [canReach, canEnter, canRun] = access.allowed;
    if (canReach !== true) return `${identity.name} can't enter ${dirname(parent)}`;
    if (canEnter !== true && !(await letIn(identity, parent)))
      return `${identity.name} can't enter ${parent}`;
    const usable = canRun === true && binaries.complete ? binaries : await copyTo(location, binaries);
    if (location.marker !== null)
      await writeMarker(location.marker, { folder: location.folder, initialised });
    return { location, identity, binaries: usable };
  } catch (error) {
    return `${identity.name} in ${location.folder}: ${describe(error)}`;
  }
}

async function copyTo(location: Location, binaries: Binaries): Promise<Binaries> {
  await mkdir(location.folder, { recursive: true, mode: 0o700 });
  return await copyBinaries(binaries, location.folder);
}

/**
 * Lets one account pass through a folder of ours, without letting it list or read: through the group if the folder gives its group no
 * rights yet, otherwise through the rights of all others.
 */
async function letIn(identity: Identity, folder: string): Promise<boolean> {
  const { uid, mode } = await stat(folder);
  if (identity.kind !== 'account' || uid !== process.geteuid?.()) return false;
  const byGroup = (mode & 0o070) === 0;
  if (byGroup) await chown(folder, uid, identity.gid);
  await chmod(folder, (mode & 0o7777) | (byGroup ? 0o010 : 0o001));
  return true;
}

interface Marker {
  readonly folder: string;
  /** False while the first `initdb` may not have ended. */
  readonly initialised: boolean;
}

async function writeMarker(path: string, marker: Marker): Promise<void> {
  const unfinished = `${path}.unfinished`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(marker)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, path);
  await syncFolder(dirname(path));
}

function parseMarker(text: string, path: string): Marker {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const folder: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'folder') : null;
  if (typeof folder !== 'string' || !folder.startsWith('/')) {
    throw new EmbeddedPostgresError(`${path} does not say where the database is`);
  }
  const initialised =
    typeof value === 'object' && value !== null && Reflect.get(value, 'initialised') === true;
  return { folder, initialised };
}
