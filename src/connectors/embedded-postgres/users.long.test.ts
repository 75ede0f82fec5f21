import { chmod, chown, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type EmbeddedWorkspace,
  createEmbeddedSeed,
  createEmbeddedWorkspace,
} from '../../../test/helpers/embedded-workspace.ts';
import { query } from '../../../test/helpers/query.ts';
import type { TempFolder } from '../../../test/helpers/temp-folder.ts';
import { findBinaries } from './binaries.ts';
import { run } from './identity.ts';

const NOBODY = 65_534;
/** Not in /etc/passwd. */
const NAMELESS = 54_321;

const isRoot = process.geteuid?.() === 0;

/** The reason why a test that needs all of root's rights can't run here; null when it can. */
const rootMissing = isRoot ? null : 'the tests do not run as root';

async function whyNoNamespaces(): Promise<string | null> {
  if (process.platform !== 'linux' || !isRoot) return 'only for root on Linux';
  const root = {
    kind: 'self' as const,
    name: 'root',
    uid: 0,
    gid: 0,
    named: true,
    command: (file: string, args: readonly string[]) => ({
      file,
      args: [...args],
      options: { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } },
    }),
  };
  const args = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--', 'true'];
  return await run(root, 'unshare', args).then(
    () => null,
    () => 'user namespaces are forbidden here',
  );
}

/** The reason why some account may not pass through a folder above the binaries; null when every account may. */
async function whyBinariesClosed(): Promise<string | null> {
  for (let folder = dirname((await findBinaries()).postgres); folder !== '/'; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return `${folder} is closed to other users`;
  }
  return null;
}

describe('the user the server runs as', () => {
  let seed: TempFolder;
  let workspace: EmbeddedWorkspace;
  let fallbackFolder: string;
  /** PATH of a system without `unshare`. */
  let withoutUnshare: string;

  beforeAll(async () => {
    seed = await createEmbeddedSeed();
  });
  afterAll(() => seed.remove());
  beforeEach(async () => {
    workspace = await createEmbeddedWorkspace();
    fallbackFolder = join(workspace.folder, 'elsewhere', 'email-worker');
    await mkdir(dirname(fallbackFolder), { mode: 0o755 });
    withoutUnshare = join(workspace.folder, 'bin');
    await mkdir(withoutUnshare);
    await symlink('/bin/sh', join(withoutUnshare, 'sh'));
  });
  afterEach(() => workspace.dispose());

  const forbidNamespaces = async () => {
    const file = join(withoutUnshare, 'unshare');
    await writeFile(file, '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2; exit 1\n');
    await chmod(file, 0o755);
  };
  const closed = async () => {
    const folder = join(workspace.folder, 'closed');
    await mkdir(folder, { mode: 0o700 });
    return join(folder, 'data');
  };
  const ownerOf = async (path: string) => (await stat(path)).uid;

  test('for root is root in a user namespace, also below a folder closed to all others', async (context) => {
    const missing = await whyNoNamespaces();
    context.skip(missing !== null, missing ?? '');
    const dataDir = await closed();
    const child = await workspace.start({ dataDir });
    expect(await query(child.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await ownerOf(join(dataDir, 'postgres', 'data'))).toBe(0);
  });

  test.for(['missing', 'forbidden'])(
    'for root is another account when namespaces are %s, and DATA_DIR lets only that one pass',
    async (how, context) => {
      context.skip(rootMissing !== null, rootMissing ?? '');
      if (how === 'forbidden') await forbidNamespaces();
      const options = { env: { PATH: withoutUnshare }, fallbackFolder };
      const first = await workspace.start(options);
      await query(first.connection, 'create table note as select 1 as one');
      const data = join(workspace.dataDir, 'postgres', 'data');
      expect(await ownerOf(data)).not.toBe(0);
      expect((await stat(workspace.dataDir)).mode & 0o777).toBe(0o710);
      expect((await stat(workspace.dataDir)).gid).toBe((await stat(data)).gid);
      await first.stop();
      const second = await workspace.start(options);
      expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
      await expect(stat(fallbackFolder)).rejects.toThrow('ENOENT');
    },
  );

  test('may change between starts without a loss', async (context) => {
    const missing = await whyNoNamespaces();
    context.skip(missing !== null, missing ?? '');
    const data = join(workspace.dataDir, 'postgres', 'data');
    const first = await workspace.start();
    await query(first.connection, 'create table note as select 1 as one');
    expect(await ownerOf(data)).toBe(0);
    await first.stop();
    const second = await workspace.start({ env: { PATH: withoutUnshare } });
    expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
    const owner = await ownerOf(data);
    expect(owner).not.toBe(0);
    await second.stop();
    // The account that owns the data keeps it.
    const third = await workspace.start();
    expect(await query(third.connection, 'select one from note')).toEqual([{ one: 1 }]);
    expect(await ownerOf(data)).toBe(owner);
  });

  test('that cannot enter DATA_DIR keeps the data elsewhere from then on', async (context) => {
    context.skip(rootMissing !== null, rootMissing ?? '');
    const dataDir = await closed();
    const first = await workspace.start({ dataDir, fallbackFolder, env: { PATH: withoutUnshare } });
    await query(first.connection, 'create table note as select 1 as one');
    const places = await readdir(fallbackFolder);
    expect(places).toHaveLength(1);
    await first.stop();
    // With namespaces, or with the folder open, the data could be in DATA_DIR now. It stays where it is.
    await chmod(dirname(dataDir), 0o755);
    const second = await workspace.start({ dataDir, fallbackFolder });
    expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
    expect(await readdir(fallbackFolder)).toEqual(places);
    await second.stop();

    await rm(join(fallbackFolder, places[0]!), { recursive: true });
    const message = await workspace.startInVain({ dataDir, fallbackFolder });
    expect(message).toMatch(/but it is not there\. Put it back, or delete that file.*DATABASE_URL/);
    await rm(join(dataDir, 'postgres-place.json'));
    const anew = await workspace.start({ dataDir, fallbackFolder });
    expect(await query(anew.connection, `select to_regclass('note') as note`)).toEqual([{ note: null }]);
  });

  test('when there is none, the error gives each reason and names DATABASE_URL', async (context) => {
    context.skip(rootMissing !== null, rootMissing ?? '');
    await forbidNamespaces();
    const dataDir = await closed();
    const message = await workspace.startInVain({
      dataDir,
      env: { PATH: withoutUnshare },
      fallbackFolder: join(dirname(dataDir), 'closed-too', 'email-worker'),
    });
    expect(message).toContain('PostgreSQL does not run as root');
    expect(message).toContain('a user namespace: unshare: unshare failed: Operation not permitted');
    expect(message).toContain(`the account nobody can't enter ${dirname(dataDir)}`);
    expect(message).toContain('Set DATABASE_URL');
    expect(await readdir(dataDir)).toEqual(['lock']);
  });

  test('for an ordinary user is that user', async (context) => {
    const missing = rootMissing ?? (await whyBinariesClosed());
    context.skip(missing !== null, missing ?? '');
    await mkdir(workspace.dataDir);
    await chown(workspace.dataDir, NOBODY, NOBODY);
    const first = await workspace.start({ uid: NOBODY });
    await query(first.connection, 'create table note as select 1 as one');
    expect(await ownerOf(join(workspace.dataDir, 'postgres', 'data'))).toBe(NOBODY);
    await first.kill();
    const second = await workspace.start({ uid: NOBODY });
    expect(await query(second.connection, 'select one from note')).toEqual([{ one: 1 }]);
    await second.stop();
    // Root in between does not take the data away from its owner.
    const asRoot = await workspace.start();
    expect(await query(asRoot.connection, 'select one from note')).toEqual([{ one: 1 }]);
    expect(await ownerOf(join(workspace.dataDir, 'postgres', 'data'))).toBe(NOBODY);
  });

  test('may be one without a name, as containers make them, once there is a database', async (context) => {
    const missing = rootMissing ?? (await whyBinariesClosed());
    context.skip(missing !== null, missing ?? '');
    const seeded = await createEmbeddedWorkspace(seed);
    try {
      for (const path of ['', ...(await readdir(seeded.dataDir, { recursive: true }))]) {
        await chown(join(seeded.dataDir, path), NAMELESS, NAMELESS);
      }
      const child = await seeded.start({ uid: NAMELESS });
      expect(await query(child.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await seeded.dispose();
    }
  });

  test('without a name cannot make a database where namespaces are missing, and is told so', async (context) => {
    const missing = rootMissing ?? (await whyBinariesClosed());
    context.skip(missing !== null, missing ?? '');
    await mkdir(workspace.dataDir);
    await chown(workspace.dataDir, NAMELESS, NAMELESS);
    const message = await workspace.startInVain({
      uid: NAMELESS,
      env: { PATH: withoutUnshare },
      fallbackFolder,
    });
    expect(message).toMatch(/has no name in the system's list of users.*DATABASE_URL/);
  });

  test('reaches its binaries in a copy when the installation is closed to it', async (context) => {
    context.skip(rootMissing !== null, rootMissing ?? '');
    const missing = await whyBinariesClosed();
    const child = await workspace.start({ env: { PATH: withoutUnshare } });
    const names = await readdir(join(workspace.dataDir, 'postgres'));
    expect(names.some((name) => name.startsWith('runtime-'))).toBe(missing !== null);
    const [row] = await query(child.connection, `select pg_read_file('postmaster.opts') as text`);
    expect(String(row!['text'])).toContain(
      missing === null ? (await findBinaries()).postgres : join(workspace.dataDir, 'postgres', 'runtime-'),
    );
    expect(await readFile(join(workspace.dataDir, 'lock'), 'utf8')).toMatch(/^\d+\n$/);
  });
});
