/** A file that is read while it arrives. */
import { EmailWorkerError } from './errors.ts';

/** Read it once, with `stream`, `bytes()`, `text()` or `blob()`, or `cancel()` it: until then the connection stays open. */
export class Download {
  readonly #response: Response;
  /** MIME type as the email's sender named it: untrusted. */
  readonly contentType: string | null;
  /** The number of bytes to come; null when it is not known. */
  readonly sizeBytes: number | null;
  /** The value for `ifRange`. */
  readonly etag: string | null;
  /** True if only the requested range is sent. */
  readonly isPartial: boolean;

  /** @internal */
  constructor(response: Response) {
    this.#response = response;
    const { headers } = response;
    const size = headers.get('content-length');
    this.contentType = headers.get('content-type');
    this.sizeBytes = size === null ? null : Number(size);
    this.etag = headers.get('etag');
    this.isPartial = response.status === 206;
  }

  /** Fails when the connection breaks before everything has arrived. */
  get stream(): ReadableStream<Uint8Array> {
    return this.#response.body ?? new Blob([]).stream();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#read(() => this.#response.arrayBuffer()));
  }

  /** Decodes UTF-8; invalid bytes become U+FFFD. */
  text(): Promise<string> {
    return this.#read(() => this.#response.text());
  }

  blob(): Promise<Blob> {
    return this.#read(() => this.#response.blob());
  }

  async cancel(): Promise<void> {
    await this.#response.body?.cancel();
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    if (this.#response.bodyUsed) throw new TypeError('this download was read already');
    try {
      return await read();
    } catch (cause) {
      // The reason that the caller's signal was aborted with.
      if (!(cause instanceof TypeError)) throw cause;
      throw new EmailWorkerError(
        { code: 'connection_failed', text: 'The download broke off.', status: this.#response.status, cause },
        null,
      );
    }
  }
}
