/**
 * `FetchImage` with node:https. The bytes of the answer decide whether it is an image, and nothing else of it is passed on. An SVG is none:
 * it can run scripts and load more.
 */
import type { LookupFunction } from 'node:net';
import type { FetchImage } from '../../areas/emails/remote-image-ports.ts';
import { createPublicFetcher, readBounded, UnusableAnswer } from '../../platform/base/fetch-public.ts';
import { rasterImageType, SIGNATURE_BYTES } from '../../core/html/image-type.ts';
import { toProxied } from '../../core/html/proxied-images.ts';

/** Of one image, with its redirects, in ms. */
const TIMEOUT_MS = 10_000;
/** More than any image that a mail should show. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/**
 * The same for all readers. Without compression: an answer that grows when it is decoded has no use for images. Some servers give pictures
 * only to what looks like a browser.
 */
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; image-proxy)',
  accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8',
  'accept-encoding': 'identity',
};

export interface ImageFetcherOptions {
  /** Resolves names to permitted addresses only. */
  readonly lookup: LookupFunction;
  /** Throws for an address that may not be connected to. */
  readonly checkAddress: (address: string) => void;
  /** Default: 10 s. */
  readonly timeoutMs?: number;
  /** Default: 5 MiB. */
  readonly maxBytes?: number;
  /** Certificates of trusted authorities, in PEM; default: those of Node.js. */
  readonly ca?: string;
}

export function createImageFetcher(options: ImageFetcherOptions): FetchImage {
  const { lookup, checkAddress, timeoutMs = TIMEOUT_MS, maxBytes = MAX_IMAGE_BYTES, ca } = options;
  const fetchPublic = createPublicFetcher({
    what: 'image',
    lookup,
    checkAddress,
    headers: HEADERS,
    timeoutMs,
    toTarget: toProxied,
    async read(response, signal) {
      let isChecked = false;
      // Reads no more than is needed to know that the answer is no image, or too large.
      const image = await readBounded(response, maxBytes, signal, (bytes, pieces) => {
        if (isChecked || bytes < SIGNATURE_BYTES) return;
        requireImage(Buffer.concat(pieces));
        isChecked = true;
      });
      requireImage(image);
      return image;
    },
    ...(ca === undefined ? {} : { ca }),
  });
  return async (address, stopping) => {
    const fetched = await fetchPublic(address, stopping);
    return fetched.kind === 'fetched' ? { kind: 'image', bytes: fetched.value } : fetched;
  };
}

function requireImage(start: Buffer): void {
  if (rasterImageType(start) === null) throw new UnusableAnswer('no raster image');
}
