import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asBinary, open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JournalEntry } from '../../app/send/journal-ports.ts';
import type { Logger } from '../../app/base/basics.ts';
import { accepted, makeEntry, silentLogger, uuid } from '../../../test/helpers/journal-entry.mjs';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { withTinyDisk } from '../../../test/helpers/tiny-disk.ts';
import { LmdbJournal } from './lmdb-journal.ts';
import { createSpool } from './spool.ts';

const CHILD = fileURLToPath(new URL('../../../test/helpers/journal-child.mjs', import.meta.url));

describe('LMDB journal', () => {
  let temp: TempFolder;
  const opened: LmdbJournal[] = [];
  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((journal) => journal.close()));
    await temp.remove();
  });

  const openIn = async (folder: string, logger = silentLogger) => {
    const spool = createSpool(join(folder, 'spool'));
    const journal = await LmdbJournal.open({ folder: join(folder, 'journal'), spool, logger });
    opened.push(journal);
    return { journal, spool };
  };
  const close = (journal: LmdbJournal) => opened.splice(opened.indexOf(journal), 1)[0]!.close();

  it('gives an entry back as it was, Dates and Buffers included', async () => {
    const { journal, spool } = await openIn(temp.path);
    const entry = makeEntry(1, 100_000);
    await journal.prepare(entry, spool.create());
    expect(await all(journal)).toEqual([entry]);
    await close(journal);
    expect(await all((await openIn(temp.path)).journal)).toEqual([entry]);
  });

  it('gives entries oldest first, over more than one page of keys', async () => {
    const { journal, spool } = await openIn(temp.path);
    const numbers = Array.from({ length: 1203 }, (_, index) => index + 1);
    await Promise.all(numbers.toReversed().map((n) => journal.prepare(makeEntry(n, 10), spool.create())));
    expect((await all(journal)).map((entry) => entry.record.id)).toEqual(numbers.map((n) => uuid(n)));
  });

  it('lets entries be removed during an iteration', async () => {
    const { journal, spool } = await openIn(temp.path);
    await Promise.all([1, 2, 3].map((n) => journal.prepare(makeEntry(n), spool.create())));
    const seen: string[] = [];
    for await (const entry of journal.entries()) {
      seen.push(entry.record.id);
      await journal.remove(entry.record.id);
      if (seen.length === 1) await journal.remove(uuid(2));
    }
    expect(seen).toEqual([uuid(1), uuid(3)]);
    expect(await all(journal)).toEqual([]);
  });

  it('adds the outcome, seen at once and after reopening', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeEntry(1), spool.create());
    const { flush } = journal.settle(uuid(1), accepted);
    expect((await all(journal))[0]!.result).toEqual(accepted);
    await flush();
    await close(journal);
    expect((await all((await openIn(temp.path)).journal))[0]!.result).toEqual(accepted);
  });

  it('forgets an entry with its outcome and its files', async () => {
    const { journal, spool } = await openIn(temp.path);
    const scratch = spool.create();
    const raw = await scratch.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await journal.prepare({ ...makeEntry(1), raw }, scratch);
    await journal.settle(uuid(1), accepted).flush();
    await journal.remove(uuid(1));
    await journal.remove(uuid(1));
    expect(await all(journal)).toEqual([]);
    expect(await readdir(spool.root)).toEqual([]);
    await journal.prepare(makeEntry(1), spool.create());
    expect((await all(journal))[0]!.result).toBeNull();
  });

  it('keeps spool files when the whole data folder is moved', async () => {
    const { journal, spool } = await openIn(join(temp.path, 'old'));
    const scratch = spool.create();
    const raw = await scratch.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    const attachment = await scratch.write([Buffer.from('file')] as unknown as AsyncIterable<Buffer>);
    const inMemory = { kind: 'bytes', bytes: Buffer.from('small') } as const;
    await journal.prepare({ ...makeEntry(1), raw, attachments: [inMemory, attachment] }, scratch);
    await scratch.remove(); // The files belong to the journal now.
    await close(journal);
    await rename(join(temp.path, 'old'), join(temp.path, 'new'));

    const [entry] = await all((await openIn(join(temp.path, 'new'))).journal);
    expect(await contentOf(entry!)).toBe('raw');
    expect(entry!.attachments).toEqual([
      inMemory,
      { kind: 'file', path: join(temp.path, 'new', 'spool', scratch.name, '2'), sizeBytes: 4 },
    ]);
  });

  it('deletes spool folders that no entry names when it opens', async () => {
    const { journal, spool } = await openIn(temp.path);
    const [kept, stale] = [spool.create(), spool.create()];
    const raw = await kept.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await stale.write([Buffer.from('x')] as unknown as AsyncIterable<Buffer>);
    await journal.prepare({ ...makeEntry(1), raw }, kept);
    await close(journal);
    await openIn(temp.path);
    expect(await readdir(spool.root)).toEqual([kept.name]);
  });

  it('refuses an entry whose file is not in its folder, and leaves the folder to the request', async () => {
    const { journal, spool } = await openIn(temp.path);
    const [one, two] = [spool.create(), spool.create()];
    const raw = await one.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await expect(journal.prepare({ ...makeEntry(1), raw }, two)).rejects.toThrow('not in its folder');
    await one.remove();
    expect(await readdir(spool.root)).toEqual([]);
  });

  it('keeps entries that it cannot read, reports them once, and skips them', async () => {
    const first = await openIn(temp.path);
    const scratch = first.spool.create();
    const raw = await scratch.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await first.journal.prepare({ ...makeEntry(1), raw }, scratch);
    await first.journal.prepare(makeEntry(5), first.spool.create());
    await close(first.journal);
    const env = open({
      path: join(temp.path, 'journal', 'entries'),
      noSubdir: false,
      overlappingSync: false,
    });
    const table = env.openDB({ name: 'entries', keyEncoding: 'binary' });
    const key = (n: number) => Buffer.from(uuid(n).replaceAll('-', ''), 'hex');
    const good = table.getBinary(key(1))!;
    await table.put(key(1), asBinary(good.subarray(0, 100)));
    await table.put(key(2), [2, { from: 'the future' }]);
    await table.put(key(3), 'nonsense');
    await table.put(key(4), asBinary(Buffer.from([0xc1])));
    await env.close();

    const error = vi.fn<Logger['error']>();
    const { journal, spool } = await openIn(temp.path, { ...silentLogger, error });
    for (let round = 0; round < 2; round++) {
      expect((await all(journal)).map((entry) => entry.record.id)).toEqual([uuid(5)]);
    }
    expect(error.mock.calls.map(([fields]) => 'emailId' in fields && fields.emailId)).toEqual(
      [1, 2, 3, 4].map((n) => uuid(n)),
    );
    expect(await readdir(spool.root)).toEqual([scratch.name]);
  });

  it('grows far beyond its first map, and shrinks when it is opened empty', async () => {
    const { journal, spool } = await openIn(temp.path);
    const file = join(temp.path, 'journal', 'entries', 'data.mdb');
    const numbers = Array.from({ length: 80 }, (_, index) => index + 1);
    for (const n of numbers) await journal.prepare(makeEntry(n, 1_000_000), spool.create());
    expect((await stat(file)).size).toBeGreaterThan(80_000_000);
    expect(await all(journal)).toHaveLength(80);
    await Promise.all(numbers.map((n) => journal.remove(uuid(n))));
    await close(journal);
    const again = await openIn(temp.path);
    expect((await stat(file)).size).toBeLessThan(1_000_000);
    await again.journal.prepare(makeEntry(1), again.spool.create());
    expect(await all(again.journal)).toHaveLength(1);
  });

  it('says disk_full, keeps what it has, and goes on when there is room again', async (context) => {
    await withTinyDisk(context, 16 * 1024 * 1024, async (disk) => {
      const { journal, spool } = await openIn(disk);
      await writeFile(join(disk, 'filler'), Buffer.alloc(4_000_000));
      let n = 0;
      let failure: unknown;
      while (failure === undefined && n < 1000) {
        n++;
        failure = await journal.prepare(makeEntry(n, 50_000), spool.create()).then(
          () => undefined,
          (error: unknown) => error,
        );
      }
      expect(failure).toMatchObject({ code: 'disk_full' });
      expect(await all(journal)).toHaveLength(n - 1);
      expect(n).toBeGreaterThan(20);
      await journal.remove(uuid(1));
      await journal.remove(uuid(2));
      await rm(join(disk, 'filler'));
      await journal.prepare(makeEntry(n, 50_000), spool.create());
      await journal.settle(uuid(n), accepted).flush();
      await close(journal);
      const again = await openIn(disk);
      expect((await all(again.journal)).map((entry) => entry.record.id)).toContain(uuid(n));
      await close(again.journal);
    });
  });

  it('writes outcomes and forgets entries on a full disk, and takes nothing new', async (context) => {
    await withTinyDisk(context, 16 * 1024 * 1024, async (disk) => {
      const { journal, spool } = await openIn(disk);
      const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
      await Promise.all(numbers.map((n) => journal.prepare(makeEntry(n), spool.create())));
      await writeFile(join(disk, 'filler'), Buffer.alloc(16_000_000)).catch(() => undefined);
      await Promise.all(numbers.map((n) => journal.settle(uuid(n), accepted).flush()));
      await Promise.all(numbers.slice(0, 10).map((n) => journal.remove(uuid(n))));
      await writeFile(join(disk, 'more'), Buffer.alloc(16_000_000)).catch(() => undefined);
      await expect(journal.prepare(makeEntry(21, 3_000_000), spool.create())).rejects.toMatchObject({
        code: 'disk_full',
      });
      await rm(join(disk, 'more'));
      await rm(join(disk, 'filler'));
      await journal.prepare(makeEntry(21), spool.create());
      await close(journal);
      const again = await openIn(disk);
      const entries = await all(again.journal);
      expect(entries.map((entry) => entry.record.id)).toEqual([...numbers.slice(10), 21].map((n) => uuid(n)));
      expect(entries.filter((entry) => entry.result !== null)).toHaveLength(10);
      await close(again.journal);
    });
  });

  it('survives being opened on a full disk', async (context) => {
    await withTinyDisk(context, 1024 * 1024, async (disk) => {
      await writeFile(join(disk, 'filler'), Buffer.alloc(2_000_000)).catch(() => undefined);
      const { stdout, signal } = spawnSync(process.execPath, [CHILD, disk, 'open']);
      expect({ signal, code: stdout.toString() }).toEqual({ signal: null, code: 'disk_full' });
    });
  });

  it('has everything that prepare promised after a kill at any moment', async () => {
    for (let round = 0; round < 4; round++) {
      const folder = join(temp.path, `kill-${round}`);
      const child = spawn(process.execPath, [CHILD, folder, 'prepare'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      const killAt = 500 + Math.random() * 2000;
      let output = '';
      for await (const chunk of child.stdout) {
        output += String(chunk);
        if (output.length > killAt * '1000\n'.length) child.kill('SIGKILL');
      }
      await exited;
      // A line that the kill cut off promised nothing.
      const promised = output.split('\n').slice(0, -1).map(Number);
      expect(promised.length).toBeGreaterThan(500);

      const { journal } = await openIn(folder);
      const found = new Map((await all(journal)).map((entry) => [entry.record.id, entry]));
      expect(promised.filter((n) => !found.has(uuid(n)))).toEqual([]);
      for (const n of promised.filter((n) => n % 10 === 0)) {
        expect(await contentOf(found.get(uuid(n))!)).toBe(`raw of ${n}`);
      }
      await close(journal);
    }
  });

  it('has an outcome when the process is killed right after settle returned', async (context) => {
    if (process.platform !== 'linux') context.skip('outcomes are kept at once on Linux only');
    const child = spawnSync(process.execPath, [CHILD, temp.path, 'settle']);
    expect(child.signal).toBe('SIGKILL');
    for (let round = 0; round < 2; round++) {
      const { journal } = await openIn(temp.path);
      expect((await all(journal)).map((entry) => entry.result)).toEqual([accepted]);
      await close(journal);
    }
  });

  it('deletes outcomes of another boot of the machine unread', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeEntry(1), spool.create());
    await close(journal);
    const other = open({
      path: join(temp.path, 'journal', 'recent-00000000-0000-4000-8000-000000000000'),
      noSubdir: false,
    });
    await other.close();
    await openIn(temp.path);
    const names = await readdir(join(temp.path, 'journal'));
    expect(names.filter((name) => name.includes('00000000-0000'))).toEqual([]);
  });
});

async function all(journal: LmdbJournal): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of journal.entries()) entries.push(entry);
  return entries;
}

async function contentOf(entry: JournalEntry): Promise<string> {
  return entry.raw.kind === 'bytes' ? entry.raw.bytes.toString() : readFile(entry.raw.path, 'utf8');
}
