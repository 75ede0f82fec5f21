/** A file that is read as it comes. */
import { EmailWorkerError } from './errors.ts';

/** Read it once, by one of `stream`, `bytes()`, `text()` and `blob()`, or `cancel()` it: until then the connection is held. */
export class Download {
  readonly #response: Response;
  /** MIME type, as the sender of the email named it: untrusted. */
  readonly contentType: string | null;
  /** What is to come; null when it is not known. */
  readonly sizeBytes: number | null;
  /** For `ifRange`. */
  readonly etag: string | null;
  /** Only the range that was asked for comes. */
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

  /** Ends with an error when the connection breaks before everything came. */
  get stream(): ReadableStream<Uint8Array> {
    return this.#response.body ?? new Blob([]).stream();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#read(() => this.#response.arrayBuffer()));
  }

  /** UTF-8; what is not becomes U+FFFD. */
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
      // What the caller's signal was aborted with.
      if (!(cause instanceof TypeError)) throw cause;
      throw new EmailWorkerError(
        { code: 'connection_failed', text: 'The download broke off.', status: this.#response.status, cause },
        null,
      );
    }
  }
}
