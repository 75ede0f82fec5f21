import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asBinary, open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClaimKey } from '../../areas/send/claim.ts';
import type { JournalAttempt, JournalEntry, UnrecordedEmail } from '../../areas/send/journal-ports.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { end, makeAttempt, makeQueued, silentLogger, uuid } from '../../../test/helpers/journal-entry.mjs';
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
    const attempt = makeAttempt(1, 100_000);
    await journal.prepare(attempt, spool.create());
    expect(all(journal)).toEqual([{ attempt, ended: null }]);
    await close(journal);
    expect(all((await openIn(temp.path)).journal)).toEqual([{ attempt, ended: null }]);
  });

  it('gives entries oldest first, over more than one page of keys', async () => {
    const { journal, spool } = await openIn(temp.path);
    const numbers = Array.from({ length: 1203 }, (_, index) => index + 1);
    await Promise.all(numbers.toReversed().map((n) => journal.prepare(makeAttempt(n, 10), spool.create())));
    expect(all(journal).map(({ attempt }) => attempt.emailId)).toEqual(numbers.map((n) => uuid(n)));
  });

  it('lets entries be removed during an iteration', async () => {
    const { journal, spool } = await openIn(temp.path);
    await Promise.all([1, 2, 3].map((n) => journal.prepare(makeAttempt(n), spool.create())));
    const seen: string[] = [];
    for (const key of journal.keys()) {
      if (journal.read(key) === null) continue;
      seen.push(key.emailId);
      await journal.remove(key);
      if (seen.length === 1) await journal.remove(direct(2));
    }
    expect(seen).toEqual([uuid(1), uuid(3)]);
    expect(all(journal)).toEqual([]);
  });

  it('adds the outcome, seen at once and after reopening', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeAttempt(1), spool.create());
    const { flush } = journal.settle(end(makeAttempt(1)));
    expect(all(journal)[0]!.ended).toEqual(end(makeAttempt(1)));
    await flush();
    await close(journal);
    expect(all((await openIn(temp.path)).journal)[0]!.ended).toEqual(end(makeAttempt(1)));
  });

  it('keeps the attempts of one email apart, with and without the email', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeQueued(1, 1), null);
    await journal.prepare(makeQueued(1, 2), null);
    await journal.prepare(makeAttempt(1), spool.create());
    await journal.settle(end(makeQueued(1, 2))).flush();
    await journal.remove(makeQueued(1, 2));
    expect(journal.has(makeQueued(1, 1))).toBe(true);
    expect(journal.has(makeQueued(1, 2))).toBe(false);
    expect(all(journal)).toEqual([
      { attempt: makeAttempt(1), ended: null },
      { attempt: makeQueued(1, 1), ended: null },
    ]);
  });

  it('drops an outcome whose entry is gone', async () => {
    const { journal } = await openIn(temp.path);
    await journal.prepare(makeQueued(1), null);
    const { flush } = journal.settle(end(makeQueued(1)));
    await journal.remove(makeQueued(1));
    await flush();
    await close(journal);
    const again = await openIn(temp.path);
    await again.journal.prepare(makeQueued(1), null);
    expect(all(again.journal)).toEqual([{ attempt: makeQueued(1), ended: null }]);
  });

  it('keeps its identity, which a journal that has lost its entries does not get', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeAttempt(1), spool.create());
    expect(journal.owner).toMatch(/^[0-9a-f-]{36}$/);
    await close(journal);
    const again = await openIn(temp.path);
    expect(again.journal.owner).toBe(journal.owner);
    await close(again.journal);
    await rm(join(temp.path, 'journal', 'entries'), { recursive: true });
    expect((await openIn(temp.path)).journal.owner).not.toBe(journal.owner);
  });

  it('gets another identity and keeps its entries when the file of the first is deleted', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeAttempt(1), spool.create());
    await close(journal);
    await rm(join(temp.path, 'journal', 'id'));
    const again = await openIn(temp.path);
    expect(again.journal.owner).not.toBe(journal.owner);
    expect(all(again.journal)).toHaveLength(1);
  });

  it('forgets an entry with its outcome and its files', async () => {
    const { journal, spool } = await openIn(temp.path);
    const scratch = spool.create();
    const raw = await scratch.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await journal.prepare(withFiles({ raw }), scratch);
    await journal.settle(end(makeAttempt(1))).flush();
    await journal.remove(direct(1));
    await journal.remove(direct(1));
    expect(all(journal)).toEqual([]);
    expect(await readdir(spool.root)).toEqual([]);
    await journal.prepare(makeAttempt(1), spool.create());
    expect(all(journal)[0]!.ended).toBeNull();
  });

  it('keeps spool files when the whole data folder is moved', async () => {
    const { journal, spool } = await openIn(join(temp.path, 'old'));
    const scratch = spool.create();
    const raw = await scratch.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    const attachment = await scratch.write([Buffer.from('file')] as unknown as AsyncIterable<Buffer>);
    const inMemory = { kind: 'bytes', bytes: Buffer.from('small') } as const;
    await journal.prepare(withFiles({ raw, attachments: [inMemory, attachment] }), scratch);
    await scratch.remove(); // The files belong to the journal now.
    await close(journal);
    await rename(join(temp.path, 'old'), join(temp.path, 'new'));

    const [entry] = all((await openIn(join(temp.path, 'new'))).journal);
    expect(await contentOf(entry!)).toBe('raw');
    expect(entry!.attempt.email!.attachments).toEqual([
      inMemory,
      { kind: 'file', path: join(temp.path, 'new', 'spool', scratch.name, '2'), sizeBytes: 4 },
    ]);
  });

  it('deletes spool folders that no entry names when it opens', async () => {
    const { journal, spool } = await openIn(temp.path);
    const [kept, stale] = [spool.create(), spool.create()];
    const raw = await kept.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await stale.write([Buffer.from('x')] as unknown as AsyncIterable<Buffer>);
    await journal.prepare(withFiles({ raw }), kept);
    await close(journal);
    await openIn(temp.path);
    expect(await readdir(spool.root)).toEqual([kept.name]);
  });

  it('refuses an entry whose file is not in its folder, and leaves the folder to the request', async () => {
    const { journal, spool } = await openIn(temp.path);
    const [one, two] = [spool.create(), spool.create()];
    const raw = await one.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await expect(journal.prepare(withFiles({ raw }), two)).rejects.toThrow('not in its folder');
    await one.remove();
    expect(await readdir(spool.root)).toEqual([]);
  });

  it('keeps entries that it cannot read, reports them once, and skips them', async () => {
    const first = await openIn(temp.path);
    const scratch = first.spool.create();
    const raw = await scratch.write([Buffer.from('raw')] as unknown as AsyncIterable<Buffer>);
    await first.journal.prepare(withFiles({ raw }), scratch);
    await first.journal.prepare(makeAttempt(5), first.spool.create());
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
      expect(all(journal).map(({ attempt }) => attempt.emailId)).toEqual([uuid(5)]);
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
    for (const n of numbers) await journal.prepare(makeAttempt(n, 1_000_000), spool.create());
    expect((await stat(file)).size).toBeGreaterThan(80_000_000);
    expect(all(journal)).toHaveLength(80);
    await Promise.all(numbers.map((n) => journal.remove(direct(n))));
    await close(journal);
    const again = await openIn(temp.path);
    expect((await stat(file)).size).toBeLessThan(1_000_000);
    expect(again.journal.owner).toBe(journal.owner);
    await again.journal.prepare(makeAttempt(1), again.spool.create());
    expect(all(again.journal)).toHaveLength(1);
  });

  it('has no trace of what it has forgotten when it is opened again, and keeps what it has not', async () => {
    const { journal, spool } = await openIn(temp.path);
    const marker = Buffer.from('ada@acme.test');
    const traces = async () => {
      const found: string[] = [];
      for (const entry of await readdir(temp.path, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile() && (await readFile(path)).includes(marker)) found.push(path);
      }
      return found;
    };
    for (const n of [1, 2, 3]) {
      const attempt = makeAttempt(n);
      const envelope = { ...attempt.envelope, rcptTo: [marker.toString()] as never };
      await journal.prepare({ ...attempt, envelope }, spool.create());
    }
    for (const n of [1, 2]) await journal.remove(direct(n));
    await close(journal);
    const kept = await openIn(temp.path);
    expect(all(kept.journal)).toHaveLength(1);
    await kept.journal.remove(direct(3));
    await close(kept.journal);
    expect(await traces()).not.toEqual([]);
    const again = await openIn(temp.path);
    expect(again.journal.owner).toBe(journal.owner);
    expect(all(again.journal)).toEqual([]);
    expect(await traces()).toEqual([]);
    await again.journal.prepare(makeAttempt(4), again.spool.create());
    expect(all(again.journal)).toHaveLength(1);
  });

  it('says disk_full, keeps what it has, and goes on when there is room again', async (context) => {
    await withTinyDisk(context, 16 * 1024 * 1024, async (disk) => {
      const { journal, spool } = await openIn(disk);
      await writeFile(join(disk, 'filler'), Buffer.alloc(4_000_000));
      let n = 0;
      let failure: unknown;
      while (failure === undefined && n < 1000) {
        n++;
        failure = await journal.prepare(makeAttempt(n, 50_000), spool.create()).then(
          () => undefined,
          (error: unknown) => error,
        );
      }
      expect(failure).toMatchObject({ code: 'disk_full' });
      expect(all(journal)).toHaveLength(n - 1);
      expect(n).toBeGreaterThan(20);
      await journal.remove(direct(1));
      await journal.remove(direct(2));
      await rm(join(disk, 'filler'));
      await journal.prepare(makeAttempt(n, 50_000), spool.create());
      await journal.settle(end(makeAttempt(n))).flush();
      await close(journal);
      const again = await openIn(disk);
      expect(all(again.journal).map(({ attempt }) => attempt.emailId)).toContain(uuid(n));
      await close(again.journal);
    });
  });

  it('writes outcomes and forgets entries on a full disk, and takes nothing new', async (context) => {
    await withTinyDisk(context, 16 * 1024 * 1024, async (disk) => {
      const { journal, spool } = await openIn(disk);
      const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
      await Promise.all(numbers.map((n) => journal.prepare(makeAttempt(n), spool.create())));
      await writeFile(join(disk, 'filler'), Buffer.alloc(16_000_000)).catch(() => undefined);
      await Promise.all(numbers.map((n) => journal.settle(end(makeAttempt(n))).flush()));
      await Promise.all(numbers.slice(0, 10).map((n) => journal.remove(direct(n))));
      await writeFile(join(disk, 'more'), Buffer.alloc(16_000_000)).catch(() => undefined);
      await expect(journal.prepare(makeAttempt(21, 3_000_000), spool.create())).rejects.toMatchObject({
        code: 'disk_full',
      });
      await rm(join(disk, 'more'));
      await rm(join(disk, 'filler'));
      await journal.prepare(makeAttempt(21), spool.create());
      await close(journal);
      const again = await openIn(disk);
      const entries = all(again.journal);
      expect(entries.map(({ attempt }) => attempt.emailId)).toEqual(
        [...numbers.slice(10), 21].map((n) => uuid(n)),
      );
      expect(entries.filter((entry) => entry.ended !== null)).toHaveLength(10);
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

  it('has everything that prepare promised after a kill at any moment', { tags: ['long'] }, async () => {
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
      // A line that the kill cut off is no promise.
      const promised = output.split('\n').slice(0, -1).map(Number);
      expect(promised.length).toBeGreaterThan(500);

      const { journal } = await openIn(folder);
      const found = new Map(all(journal).map((entry) => [entry.attempt.emailId, entry]));
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
      expect(all(journal).map(({ ended }) => ended)).toEqual([end(makeAttempt(1))]);
      await close(journal);
    }
  });

  it('deletes outcomes of another boot of the machine unread', async () => {
    const { journal, spool } = await openIn(temp.path);
    await journal.prepare(makeAttempt(1), spool.create());
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

const direct = (n: number): ClaimKey => ({ emailId: uuid(n), claimId: uuid(n) });

function withFiles(files: Pick<Partial<UnrecordedEmail>, 'raw' | 'attachments'>): JournalAttempt {
  const attempt = makeAttempt(1);
  return { ...attempt, email: { ...attempt.email, ...files } };
}

const all = (journal: LmdbJournal): JournalEntry[] =>
  [...journal.keys()].map((key) => journal.read(key)).filter((entry) => entry !== null);

async function contentOf({ attempt }: JournalEntry): Promise<string> {
  const { raw } = attempt.email!;
  return raw.kind === 'bytes' ? raw.bytes.toString() : readFile(raw.path, 'utf8');
}
