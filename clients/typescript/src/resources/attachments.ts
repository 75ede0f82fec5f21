/** `client.attachments` */
import { Download } from '../download.ts';
import type { RequestOptions } from '../options.ts';
import { segment, type Transport } from '../transport.ts';

export interface DownloadOptions extends RequestOptions {
  /** Bytes from `start` to before `end`, or to the last one without `end`. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  /** The `etag` that the range belongs to: when the file has changed, all of it is sent. */
  readonly ifRange?: string | undefined;
  /** `inline` for files that a page shows: raster images, PDF and plain text. */
  readonly disposition?: 'attachment' | 'inline' | undefined;
}

export class Attachments {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The file of an attachment, whose name and size are in `email_attachments` of its email. */
  async download(id: string, options: DownloadOptions = {}): Promise<Download> {
    const params = { path: { id: segment('id', id) }, ...toFileParams(options) };
    const { response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/attachments/{id}', { ...attempt, params, parseAs: 'stream' }),
    );
    return new Download(response);
  }

  /** An image in an email, by its address in `images` of `client.emails.html`. */
  async image(url: string, options: RequestOptions = {}): Promise<Download> {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const query = {
      expires: Number(searchParams.get('expires')),
      signature: searchParams.get('signature') ?? '',
    };
    const params = { path: { id: segment('url', pathname.split('/').at(-1) ?? '') }, query };
    const { response } = await this.#transport.answer({ ...options, repeatable: true }, (attempt) =>
      this.#transport.api.GET('/api/images/{id}', { ...attempt, params, parseAs: 'stream' }),
    );
    return new Download(response);
  }
}

/** The parameters of every download. */
export function toFileParams({ range, ifRange, disposition }: DownloadOptions) {
  return {
    header: {
      ...(range === undefined ? {} : { range: formatRange(range) }),
      ...(ifRange === undefined ? {} : { 'if-range': ifRange }),
    },
    query: disposition === undefined ? {} : { disposition },
  };
}

/** RFC 9110 §14.1.2: a range names its last byte, not the byte after it. */
function formatRange({ start, end }: NonNullable<DownloadOptions['range']>): string {
  if (
    !Number.isSafeInteger(start) ||
    start < 0 ||
    (end !== undefined && !(Number.isSafeInteger(end) && end > start))
  )
    throw new TypeError('range must be whole numbers of bytes, its end after its start');
  return `bytes=${start}-${end === undefined ? '' : end - 1}`;
}
