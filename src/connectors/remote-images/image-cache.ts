/**
 * `ImageCache` in a folder of DATA_DIR, which one process has at a time. A file is named after the digest of its address and completed under
 * another name, so that it is seen whole or not at all. Bounded are the bytes together (the image that was used longest ago is dropped) and
 * the age since it was fetched, used or not: an image of a deleted email, or of an erased person, is gone after that time. The last of the
 * disk is for mail.
 */
import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../platform/base/basics.ts';
import type { ImageCache, RemoteImage } from '../../areas/emails/remote-image-ports.ts';
import { DAY_MS } from '../../core/durations.ts';
import { rasterImageType, SIGNATURE_BYTES } from '../../core/html/image-type.ts';

/** Some hundred newsletters. */
const MAX_CACHE_BYTES = 256 * 1024 * 1024;
/** What a small file takes on most disks: a pixel counts as much, so that their number is bounded too. */
const MIN_FILE_BYTES = 4096;
/** Left to mail on the disk, which is not accepted when it is full. */
const MIN_FREE_BYTES = 512 * 1024 * 1024;
const NAME = /^[0-9a-f]{64}$/;

export interface ImageCacheOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** Default: 256 MiB. */
  readonly maxBytes?: number;
  /** Default: a day. */
  readonly maxAgeMs?: number;
  /** Bytes of the disk that stay free. Default: 512 MiB. */
  readonly minFreeBytes?: number;
}

export interface FolderImageCache extends ImageCache {
  /** Deletes images whose time is over, also those of earlier processes. */
  clean(): Promise<void>;
}

interface Entry {
  readonly sizeBytes: number;
  readonly fetchedAt: number;
}

/** Reads and writes nothing before it is used. */
export function createImageCache(options: ImageCacheOptions): FolderImageCache {
  const {
    folder,
    clock,
    maxBytes = MAX_CACHE_BYTES,
    maxAgeMs = DAY_MS,
    minFreeBytes = MIN_FREE_BYTES,
  } = options;
  /** By name, the image that was used longest ago first. */
  const entries = new Map<string, Entry>();
  let bytes = 0;
  let opening: Promise<void> | null = null;
  let written = 0;

  const pathOf = (name: string): string => join(folder, name);
  const sizeOf = ({ sizeBytes }: Entry): number => Math.max(sizeBytes, MIN_FILE_BYTES);
  // A clock that was set back must not keep an image for long.
  const isOld = ({ fetchedAt }: Entry): boolean => Math.abs(clock().getTime() - fetchedAt) >= maxAgeMs;

  function add(name: string, entry: Entry): void {
    forget(name);
    entries.set(name, entry);
    bytes += sizeOf(entry);
  }

  function forget(name: string): void {
    const entry = entries.get(name);
    if (entry === undefined) return;
    entries.delete(name);
    bytes -= sizeOf(entry);
  }

  function moveToEnd(name: string): void {
    const entry = entries.get(name);
    // It may have been dropped meanwhile.
    if (entry === undefined) return;
    entries.delete(name);
    entries.set(name, entry);
  }

  async function drop(name: string): Promise<void> {
    forget(name);
    await rm(pathOf(name), { force: true });
  }

  async function makeRoom(): Promise<void> {
    for (const name of entries.keys()) {
      if (bytes <= maxBytes) return;
      await drop(name);
    }
  }

  /** Gives back what is kept where there is too little room, and throws. */
  async function requireRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize >= minFreeBytes) return;
    for (const name of entries.keys()) await drop(name);
    throw new Error(`less than ${minFreeBytes} bytes are free on the disk`);
  }

  async function list(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    entries.clear();
    bytes = 0;
    const found: [string, Entry][] = [];
    for (const name of await readdir(folder)) {
      // A process that ended left it half written.
      if (!NAME.test(name)) await rm(pathOf(name), { recursive: true, force: true });
      else {
        const { size, mtimeMs } = await stat(pathOf(name));
        found.push([name, { sizeBytes: size, fetchedAt: mtimeMs }]);
      }
    }
    for (const [name, entry] of found.sort(([, a], [, b]) => a.fetchedAt - b.fetchedAt)) add(name, entry);
    await makeRoom();
  }

  /** Tries again after a failure. */
  function whenOpen(): Promise<void> {
    opening ??= list().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  return {
    has(address) {
      const entry = entries.get(nameOf(address));
      return entry !== undefined && !isOld(entry);
    },

    async get(address) {
      await whenOpen();
      const name = nameOf(address);
      const entry = entries.get(name);
      if (entry === undefined) return null;
      const image = isOld(entry) ? null : await openImage(pathOf(name));
      if (image === null) await drop(name);
      else moveToEnd(name);
      return image;
    },

    async put(address, image) {
      await whenOpen();
      const name = nameOf(address);
      written += 1;
      const unfinished = pathOf(`${written}.unfinished`);
      try {
        await requireRoom();
        await writeFile(unfinished, image, { flag: 'wx', mode: 0o600 });
        await rename(unfinished, pathOf(name));
      } catch (error) {
        // The folder may have been removed: the next image lists it again.
        opening = null;
        await rm(unfinished, { force: true });
        throw error;
      }
      add(name, { sizeBytes: image.length, fetchedAt: clock().getTime() });
      await makeRoom();
    },

    async clean() {
      await whenOpen();
      for (const [name, entry] of entries) if (isOld(entry)) await drop(name);
    },
  };
}

/** For a service without the proxy: what an earlier process kept. */
export const removeImageCache = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

const nameOf = (address: string): string => createHash('sha256').update(address).digest('hex');

/** null when the file is gone, or is no image. */
async function openImage(path: string): Promise<RemoteImage | null> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (Object(error)['code'] === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const start = Buffer.alloc(SIGNATURE_BYTES);
    const [{ bytesRead }, { size }] = await Promise.all([
      file.read(start, 0, SIGNATURE_BYTES, 0),
      file.stat(),
    ]);
    const type = rasterImageType(start.subarray(0, bytesRead));
    if (type !== null) return { type, sizeBytes: size, stream: file.createReadStream({ start: 0 }) };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return null;
}
