/** What the image proxy needs from outside. */
import type { Readable } from 'node:stream';

/** `detail` is for the log: it never contains more of an address than its host. */
export type FetchedImage =
  | { readonly kind: 'image'; readonly bytes: Buffer }
  /** `isSlow`: it took all the time that it had. */
  | { readonly kind: 'none'; readonly detail: string; readonly isSlow: boolean };

/**
 * Fetches a raster image from a public server, within bounds of time and size.
 *
 * @param address see toProxied
 * @param signal ends the fetch, which then has failed
 */
export type FetchImage = (address: string, signal: AbortSignal) => Promise<FetchedImage>;

/** An image that was fetched. */
export interface RemoteImage {
  /** By its bytes, such as `image/png`. */
  readonly type: string;
  readonly sizeBytes: number;
  /** Must be read or destroyed. */
  readonly stream: Readable;
}

/** Images that were fetched, for a bounded time and within a bounded size. */
export interface ImageCache {
  /** False also while the images of an earlier process are being listed. */
  has(address: string): boolean;
  /** null: it is not there, or too old. */
  get(address: string): Promise<RemoteImage | null>;
  put(address: string, bytes: Buffer): Promise<void>;
}
