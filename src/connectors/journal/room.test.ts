import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asBinary } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempFolder, type TempFolder } from '../../../test/helpers/temp-folder.ts';
import { withTinyDisk } from '../../../test/helpers/tiny-disk.ts';
import { openEnvironment, openTable, type Environment } from './environment.ts';
import { Room } from './room.ts';

const key = (n: number) => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(n);
  return bytes;
};

describe('room', () => {
  let temp: TempFolder;
  beforeEach(async () => {
    temp = await makeTempFolder();
  });
  afterEach(() => temp.remove());

  const openIn = async (folder: string) => {
    const env = await openEnvironment(folder);
    const table = openTable(env, 'table');
    return { env, table, room: await Room.open(env, folder) };
  };
  const close = async ({ env, room }: { env: Environment; room: Room }) => {
    await env.close();
    await room.close();
  };

  it('has blocks for all that it promises, and LMDB stays below', async () => {
    const opened = await openIn(temp.path);
    const { env, table, room } = opened;
    const file = join(temp.path, 'data.mdb');
    for (let n = 0; n < 300; n++) {
      const bytes = Buffer.alloc((n * 977) % 60_000, n);
      const cost = room.costOf(bytes.length);
      await room.reserve(cost);
      const before = await stat(file);
      expect(before.blocks * 512).toBeGreaterThanOrEqual(before.size);
      await table.put(key(n), asBinary(bytes));
      room.release(cost);
      const { lastPageNumber } = env.getStats() as { lastPageNumber: number };
      expect((lastPageNumber + 1) * 4096).toBeLessThanOrEqual(before.size);
      expect((await stat(file)).size).toBe(before.size);
    }
    for (let n = 0; n < 300; n++) {
      expect(table.getBinary(key(n))?.equals(Buffer.alloc((n * 977) % 60_000, n))).toBe(true);
    }
    await close(opened);
  });

  it('keeps a reserve that other reservations may not take', async () => {
    const opened = await openIn(temp.path);
    const { room } = opened;
    await room.reserve(100_000, 500_000);
    let taken = 0;
    while (room.tryReserve(50_000, 500_000)) taken += 1;
    expect(room.tryReserve(50_000, 0)).toBe(true);
    for (let n = 0; n < taken; n++) room.release(50_000);
    expect(room.tryReserve(50_000, 500_000)).toBe(true);
    await close(opened);
  });

  it('refuses on a full disk, or waits for what comes back when that helps', async (context) => {
    await withTinyDisk(context, 8 * 1024 * 1024, async (disk) => {
      const opened = await openIn(join(disk, 'env'));
      const { room } = opened;
      const half = 600_000;
      await room.reserve(half);
      await writeFile(join(disk, 'filler'), Buffer.alloc(16_000_000)).catch(() => undefined);
      await expect(room.reserve(half, 1)).rejects.toMatchObject({ code: 'disk_full' });
      let waited = true;
      const second = room.reserve(half).then(() => {
        waited = false;
      });
      await expect(room.reserve(half, 1)).rejects.toMatchObject({ code: 'disk_full' });
      expect(waited).toBe(true);
      room.release(half);
      await second;
      room.release(half);
      await expect(room.reserve(20_000_000)).rejects.toMatchObject({ code: 'disk_full' });
      await close(opened);
    });
  });
});
