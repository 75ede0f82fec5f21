/** Backups and restores through the commands: what they contain, what is copied again, what is deleted, and what is refused. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Decrypter } from 'age-encryption';
import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { createBackupWorld, importMail, listFiles, type BackupWorld } from '../helpers/backup-world.ts';
import { startCommand } from '../helpers/command-process.ts';
import { readEverything } from '../helpers/compare-databases.ts';
import { addressForService, createEmptyDatabase, createTestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { startS3Server } from '../helpers/s3-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const worlds: BackupWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

async function createSource(numbers: readonly number[] = [1]): Promise<BackupWorld & { place: string }> {
  const world = await createBackupWorld(await createTestDatabase());
  worlds.push(world);
  await importMail(world, numbers);
  return { ...world, place: path.join(world.folder, 'place') };
}

async function createTarget(): Promise<BackupWorld> {
  const world = await createBackupWorld(await createEmptyDatabase());
  worlds.push(world);
  return world;
}

const contentOf = (world: BackupWorld) => readEverything(world.database.connectionString);

/** All backups, oldest first. */
async function listBackups(world: BackupWorld, place: string): Promise<readonly string[]> {
  const { stdout } = await world.run('backup', '--list', place);
  return stdout.split('\n').filter((line) => line !== '');
}

it('has every row and every file, and what is restored goes on', async () => {
  const source = await createSource([1, 2]);
  const made = await source.run('backup', source.place);
  expect(made).toMatchObject({ exitCode: 0, stderr: '' });
  expect(made.stdout).toMatch(/ rows, 4 files \(.*\), 4 of them new/);
  const before = await contentOf(source);

  const target = await createTarget();
  expect(await target.run('restore', source.place)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await contentOf(target)).toEqual(before);
  expect(before['emails']).toHaveLength(6);
  expect(await target.files()).toEqual(await source.files());
  expect((await target.run('verify')).stdout).toMatch(/^4 files .* read, 0 faults; 0 files/);

  // Indexes, foreign keys, triggers and identities exist again.
  const shape = (world: BackupWorld) =>
    query(
      world.database.connectionString,
      `select pg_get_constraintdef(oid) as text from pg_constraint where connamespace = 'email_worker'::regnamespace
        and contype <> 'n' and conparentid = 0
      union all select indexdef from pg_indexes where schemaname = 'email_worker' and tablename !~ '_[0-9]{8}$'
      union all select concat(tgrelid::regclass, tgname, tgenabled) from pg_trigger where not tgisinternal order by 1`,
    );
  expect(await shape(target)).toEqual(await shape(source));
  await importMail(target, [2, 3]);
  expect((await contentOf(target))['emails']).toHaveLength(9);
});

it('copies only what is new, and deletes old backups with what only they have', async () => {
  const { place, ...source } = await createSource([1]);
  expect((await source.run('backup', place)).stdout).toContain('2 files');
  await importMail(source, [2]);
  const second = await source.run('backup', place);
  expect(second.stdout).toMatch(/ 4 files \(.*\), 2 of them new/);
  const [first = ''] = await listBackups(source, place);

  await query(
    source.database.connectionString,
    'delete from email_attachments where id = (select id from email_attachments order by id limit 1)',
  );
  const kept = await source.run('backup', place, '--keep', '2');
  expect(kept.stdout).toMatch(/0 of them new.*\n1 old backup and 0 files deleted\n$/s);
  expect(await listBackups(source, place)).not.toContain(first);
  expect((await source.run('backup', place, '--keep', '1')).stdout).toMatch(
    /\n2 old backups and 1 file deleted\n$/,
  );
  expect(await listFiles(path.join(place, 'files'))).toHaveLength(3);
  expect(await source.run('verify', place)).toMatchObject({ exitCode: 0, stderr: '' });
});

it('is nothing without its manifest, and the next one uses its files', async () => {
  const { place, ...source } = await createSource();
  await source.run('backup', place);
  const [line = ''] = await listBackups(source, place);
  const id = line.split(' ')[0] ?? '';
  await rm(path.join(place, 'backups', id, 'manifest.json'));

  expect(await listBackups(source, place)).toEqual([`${id} cut off`]);
  const target = await createTarget();
  expect(await target.run('restore', place)).toMatchObject({ exitCode: 1 });
  expect((await target.run('restore', place, '--at', id)).stderr).toContain('no whole backup');
  expect(await target.run('verify', place, '--at', id)).toMatchObject({ exitCode: 1 });

  const again = await source.run('backup', place, '--keep', '1');
  // A raw message has no checksum in its record, so it is read again.
  expect(again.stdout).toMatch(/1 of them new.*\n1 old backup and 0 files deleted/s);
  expect(await target.run('restore', place)).toMatchObject({ exitCode: 0 });
});

it('is known to be damaged, whatever is damaged, and is not restored', async () => {
  const { place, ...source } = await createSource();
  await source.run('backup', place);
  const [line = ''] = await listBackups(source, place);
  const id = line.split(' ')[0] ?? '';
  const objects = (await listFiles(place)).filter((file) => !file.endsWith('.md'));
  const parts = [
    `backups/${id}/manifest.json`,
    `backups/${id}/files-00001.gz`,
    `backups/${id}/tables/emails-00001.gz`,
    ...objects.filter((file) => file.startsWith('files/')),
  ];
  expect(objects).toEqual(expect.arrayContaining(parts));
  const target = await createTarget();
  for (const part of parts) {
    const file = path.join(place, part);
    const whole = await readFile(file);
    const damaged = Buffer.from(whole);
    const at = Math.floor(damaged.length / 2);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    for (const content of [damaged, null]) {
      if (content === null) await rm(file);
      else await writeFile(file, content);
      const found = await target.run('verify', place);
      expect(found, part).toMatchObject({ exitCode: 1 });
      expect(found.stderr, part).not.toBe('');
    }
    await writeFile(file, whole.subarray(0, -1));
    // A restore would not read files again that an earlier one had stored.
    await rm(path.join(target.folder, 'data', 'files'), { recursive: true, force: true });
    expect(await target.run('restore', place), part).toMatchObject({ exitCode: 1 });
    await writeFile(file, whole);
  }
  // No program uses a database that was restored in part.
  expect(await target.run('import', target.folder)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('A restore into the database was cut off. Run it again'),
  });
  expect(await target.run('restore', place)).toMatchObject({ exitCode: 0 });
  expect(await target.run('verify', place)).toMatchObject({ exitCode: 0, stderr: '' });
});

it('tells nothing without the key', async () => {
  const { place, ...source } = await createSource();
  const [key, other] = await Promise.all(
    [1, 2].map(async () => (await source.run('backup', '--new-key')).stdout),
  );
  const identity = /^AGE-SECRET-KEY-1.*$/m.exec(key ?? '')?.[0] ?? '';
  const withKey = { BACKUP_KEY: identity };
  expect(await source.runWith(withKey, 'backup', place)).toMatchObject({ exitCode: 0, stderr: '' });
  const objects = await listFiles(place);
  expect(objects.filter((file) => !file.endsWith('.age') && !file.includes('.tmp'))).toEqual([]);
  const hashes = await query(
    source.database.connectionString,
    `select encode(sha256, 'hex') as hash from email_attachments`,
  );
  for (const file of objects) {
    expect(file).not.toContain(hashes[0]?.['hash']);
    expect((await readFile(path.join(place, file))).subarray(0, 22).toString()).toBe(
      'age-encryption.org/v1\n',
    );
  }
  // Any program that knows the format opens it.
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const manifest = objects.find((file) => file.endsWith('manifest.json.age')) ?? '';
  const text = await decrypter.decrypt(await readFile(path.join(place, manifest)), 'text');
  expect(JSON.parse(text)).toMatchObject({ format: 1, files: { count: 2 } });

  const target = await createTarget();
  expect((await target.run('restore', place)).stderr).toContain('BACKUP_KEY is needed');
  const keyFile = path.join(target.folder, 'other.key');
  await writeFile(keyFile, other ?? '');
  expect((await target.runWith({ BACKUP_KEY_FILE: keyFile }, 'restore', place)).stderr).toContain(
    'another key',
  );
  expect((await target.runWith({ BACKUP_KEY: 'secret' }, 'verify', place)).stderr).toContain('BACKUP_KEY');
  await writeFile(keyFile, key ?? '');
  expect(await target.runWith({ BACKUP_KEY_FILE: keyFile }, 'verify', place)).toMatchObject({ exitCode: 0 });
  expect(await target.runWith({ BACKUP_KEY_FILE: keyFile }, 'restore', place)).toMatchObject({ exitCode: 0 });
  expect(await contentOf(target)).toEqual(await contentOf(source));
  // The next backup copies nothing, and old ones are deleted.
  const again = await source.runWith(withKey, 'backup', place, '--keep', '1');
  expect(again.stdout).toMatch(/0 of them new.*\n1 old backup and 0 files deleted/s);
});

it('lies in a bucket as well', async () => {
  const source = await createSource();
  const server = await startS3Server();
  const env = {
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
  };
  try {
    for (const copied of [2, 0]) {
      const made = await source.runWith(env, 'backup', server.url, '--keep', '1');
      expect(made).toMatchObject({ exitCode: 0, stderr: '' });
      expect(made.stdout).toContain(`${copied} of them new`);
    }
    expect(await source.runWith(env, 'verify', server.url)).toMatchObject({ exitCode: 0, stderr: '' });
    const target = await createTarget();
    expect(await target.runWith(env, 'restore', server.url)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await contentOf(target)).toEqual(await contentOf(source));
    expect(await target.files()).toEqual(await source.files());
  } finally {
    await server.close();
  }
});

it('is not put in place of mail unasked, nor beside backups of another database', async () => {
  const { place, ...source } = await createSource([1]);
  await source.run('backup', place);
  const other = await createTarget();
  await importMail(other, [2, 3]);
  const refused = await other.run('restore', place);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('holds 6 emails') });
  expect((await other.run('backup', place)).stderr).toContain('another database');
  expect((await contentOf(other))['emails']).toHaveLength(6);

  const before = await contentOf(source);
  expect(await other.run('restore', place, '--replace')).toMatchObject({ exitCode: 0 });
  expect(await contentOf(other)).toEqual(before);
});

it('is given up by the server when the program is killed while the server is at work', async () => {
  const { place, ...source } = await createSource([1]);
  await source.run('backup', place);
  const target = await createTarget();
  await importMail(target, [2]);
  const before = await contentOf(target);
  // Keeps the server from emptying the tables, as an index build would do for minutes.
  const holder = new Client({ connectionString: target.database.connectionString });
  await holder.connect();
  // Not on the holder's connection: within a transaction the view stays as it was first seen.
  const sessions = async (more: string) =>
    (
      await query(
        target.database.connectionString,
        `select from pg_stat_activity where application_name = 'email-worker' and datname = current_database() ${more}`,
      )
    ).length;
  try {
    await holder.query('begin; select count(*) from email_worker.emails');
    const command = startCommand(['restore', place, '--replace'], {
      dataDir: target.folder,
      env: { DATABASE_URL: addressForService(target.database.connectionString) },
    });
    await waitUntil('the restore waits', async () => (await sessions(`and wait_event_type = 'Lock'`)) === 1);
    command.process.kill('SIGKILL');
    await command.ended();
    await waitUntil('the server has given it up', async () => (await sessions('')) === 0);
  } finally {
    await holder.end();
  }
  expect(await contentOf(target)).toEqual(before);
  expect(await target.run('restore', place, '--replace')).toMatchObject({ exitCode: 0, stderr: '' });
});

it('refuses what it can not do, and leaves nothing behind', async () => {
  const source = await createSource();
  expect(await source.run('backup')).toMatchObject({ exitCode: 2 });
  expect(await source.run('backup', source.place, '--keep', '0')).toMatchObject({ exitCode: 2 });
  expect(await source.run('verify', '--at', 'x')).toMatchObject({ exitCode: 2 });
  expect(await source.run('verify', source.place)).toMatchObject({ exitCode: 1 });
  expect((await source.run('restore', path.join(source.folder, 'none'))).stderr).toContain(
    'there are no backups',
  );
  expect((await source.run('backup', 's3://x')).stderr).toContain('the place does not name a bucket');
});

it('tells what the storage has lost, and has the rest', async () => {
  const { place, ...source } = await createSource([1]);
  const file = (await source.files()).find((name) => name.endsWith('pdf')) ?? '';
  const stored = path.join(source.folder, 'data', 'files', file);
  await writeFile(stored, 'kontent 1\n');
  const changed = await source.run('verify');
  expect(changed).toMatchObject({ exitCode: 1 });
  expect(changed.stdout).toContain('has another content than was recorded');
  await rm(stored);
  expect((await source.run('verify')).stdout).toContain('is missing');

  const made = await source.run('backup', place);
  expect(made).toMatchObject({ exitCode: 1 });
  expect(made.stderr).toContain('missing in the storage');
  expect((await source.run('verify', place)).stdout).toContain(
    'files missing in the storage when the backup was made: 1',
  );
  const target = await createTarget();
  expect((await target.run('restore', place)).stdout).toContain(
    'recorded files that were not in the backup: 1',
  );
  expect((await contentOf(target))['emails']).toHaveLength(3);
});

it('is made once at a time', async () => {
  const { place, ...source } = await createSource();
  const client = new Client(source.database.connectionConfig);
  await client.connect();
  try {
    // The lock that a backup holds until it has deleted old ones.
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(x::bigint) from (values ($1)) v (x)', [0x656d6c78]);
    const refused = await source.run('backup', place);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('another backup') });
    await client.query('commit');
  } finally {
    await client.end();
  }
  expect(await source.run('backup', place)).toMatchObject({ exitCode: 0 });
});
