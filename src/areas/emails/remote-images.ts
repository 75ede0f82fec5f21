/**
 * The image proxy: remote images of an email that its reader wants to see are fetched by the service, so that the sender learns nothing of
 * the reader's machine. What was fetched is kept for a while, and what failed is remembered for some minutes: opened again, or by another
 * reader, the email asks the sender for nothing.
 */
import { Readable } from 'node:stream';
import { ServiceError } from '../../core/errors.ts';
import { rasterImageType } from '../../core/html/image-type.ts';
import type { Logger } from '../../platform/base/basics.ts';
import { createFailureLog } from '../../platform/base/failure-log.ts';
import { Recent } from '../../platform/base/recent.ts';
import { Turns } from '../../platform/base/turns.ts';
import type { Meter } from '../../platform/base/meter.ts';
import type { ImageUrls, SignedRemoteImage } from './image-urls.ts';
import type { FetchedImage, FetchImage, ImageCache, RemoteImage } from './remote-image-ports.ts';

/** Concurrent fetches; each may hold an image in memory (5 MB). Newsletters have 10 to 60 images. */
const TURNS = { size: 16, sizeOfOne: 8, maxWaiting: 600, maxWaitingOfOne: 300 };
/** How long a failed image is not asked for again. */
const FAILURES = { maxAgeMs: 10 * 60_000, maxEntries: 5000 };
/**
 * What the images of one email may cost: those that use up their time, and the time of all of them together, in ms, since a server may also
 * answer just in time. Further ones then fail at once. A browser has six connections to this service, and its page would stand still while
 * all of them wait for a server that hardly answers.
 */
const MAX_SLOW = 4;
const MAX_SPENT_MS = 120_000;

export interface RemoteImagePorts {
  readonly imageUrls: Pick<ImageUrls, 'isValidRemote'>;
  /** False for an email that was deleted. */
  readonly hasEmail: (id: string) => Promise<boolean>;
  readonly fetchImage: FetchImage;
  readonly cache: ImageCache;
  readonly meter: Pick<Meter, 'noteImage'>;
  /** In milliseconds, by a clock that never goes back. */
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Throws `image_not_found` without a valid signature, `remote_image_unavailable`, `busy`, `rate_limited`.
 *
 * @param stopping aborted when the service stops: then no image is fetched, or waited for
 */
export type ReadRemoteImage = (image: SignedRemoteImage, stopping: AbortSignal) => Promise<RemoteImage>;

/** For a service without the proxy. */
export const refuseRemoteImage: ReadRemoteImage = () => Promise.reject(new ServiceError('image_not_found'));

export function createRemoteImages(ports: RemoteImagePorts): ReadRemoteImage {
  const { imageUrls, hasEmail, fetchImage, cache, meter, now, logger } = ports;
  const turns = new Turns(TURNS);
  const failed = new Recent<true>({ ...FAILURES, now });
  /** By email. */
  const costs = new Recent<Cost>({ ...FAILURES, now });
  /** By address: readers that ask at the same moment get the same image. */
  const underWay = new Map<string, Promise<Fetched>>();
  const cacheFailures = createFailureLog(
    logger,
    'remote images could not be kept; they are fetched each time',
  );

  function fetchOnce({ address, emailId, by }: SignedRemoteImage, stopping: AbortSignal): Promise<Fetched> {
    const running = underWay.get(address);
    if (running !== undefined) return running;
    const fetching = turns
      .run(by, async () => {
        // While it waited, another reader may have got it, and others of the email may have used up its time.
        if (cache.has(address)) return KEPT;
        const { slow, spentMs } = costs.get(emailId) ?? NOTHING;
        if (slow >= MAX_SLOW || spentMs >= MAX_SPENT_MS) return TOO_SLOW;
        const from = now();
        const fetched = await fetchImage(address, stopping);
        noteCost(emailId, now() - from, fetched);
        // Readers then get it from the file: a slow one must not keep it in memory.
        if (fetched.kind === 'image') return (await isKept(address, fetched.bytes)) ? KEPT : fetched;
        if (!stopping.aborted) noteFailure(address, emailId, fetched);
        return fetched;
      })
      .finally(() => underWay.delete(address));
    underWay.set(address, fetching);
    return fetching;
  }

  async function isKept(address: string, bytes: Buffer): Promise<boolean> {
    try {
      await cache.put(address, bytes);
      cacheFailures.worked();
      return true;
    } catch (error) {
      cacheFailures.failed(error);
      return false;
    }
  }

  async function readKept(address: string): Promise<RemoteImage | null> {
    try {
      return await cache.get(address);
    } catch (error) {
      cacheFailures.failed(error);
      return null;
    }
  }

  function noteCost(emailId: string, tookMs: number, fetched: FetchedImage): void {
    const { slow, spentMs } = costs.get(emailId) ?? NOTHING;
    const isSlow = fetched.kind === 'none' && fetched.isSlow;
    costs.set(emailId, { slow: slow + (isSlow ? 1 : 0), spentMs: spentMs + tookMs });
  }

  function noteFailure(address: string, emailId: string, { detail }: FetchedImage & { kind: 'none' }) {
    failed.set(address, true);
    // Its path and query may stand for the person who got the email.
    logger.info({ emailId, host: new URL(address).host, detail }, 'a remote image could not be fetched');
  }

  async function fetchNow(image: SignedRemoteImage, stopping: AbortSignal): Promise<RemoteImage> {
    if (failed.get(image.address) === true) throw unavailable();
    const fetched = await fetchOnce(image, stopping);
    const kept = fetched.kind === 'kept' ? await readKept(image.address) : null;
    if (kept !== null) return kept;
    if (fetched.kind !== 'image') throw unavailable();
    const type = rasterImageType(fetched.bytes);
    if (type === null) throw unavailable();
    const { bytes } = fetched;
    return { type, sizeBytes: bytes.length, stream: Readable.from([bytes], { objectMode: false }) };
  }

  return async (image, stopping) => {
    if (!imageUrls.isValidRemote(image) || !(await hasEmail(image.emailId)))
      throw new ServiceError('image_not_found');
    const cached = await readKept(image.address);
    if (cached !== null) {
      meter.noteImage('cached');
      return cached;
    }
    try {
      const fetched = await fetchNow(image, stopping);
      meter.noteImage('fetched');
      return fetched;
    } catch (error) {
      const isFull = error instanceof ServiceError && error.code !== 'remote_image_unavailable';
      meter.noteImage(isFull ? 'busy' : 'failed');
      throw error;
    }
  };
}

type Fetched = FetchedImage | { readonly kind: 'kept' };

interface Cost {
  readonly slow: number;
  readonly spentMs: number;
}

const NOTHING: Cost = { slow: 0, spentMs: 0 };
const KEPT: Fetched = { kind: 'kept' };
const TOO_SLOW: Fetched = { kind: 'none', detail: 'other images of the email were too slow', isSlow: false };

const unavailable = () => new ServiceError('remote_image_unavailable');
