/** `client.uploads` */
import { refuseUnknownOptions, type RequestOptions } from '../options.ts';
import { plain, type Transport } from '../transport.ts';
import type { NamedBlob, QueryOf, Upload, UploadDetails } from '../types.ts';

/** Files that are uploaded once, for one or more sends. */
export class Uploads {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Keeps a file for a day; its `id` is the `upload_id` of an attachment. Not retried automatically. */
  async create(
    file: NamedBlob | Blob | Uint8Array | ArrayBuffer,
    options: RequestOptions & UploadDetails = {},
  ): Promise<Upload> {
    const { account_id, filename, content_type, ...rest } = options;
    refuseUnknownOptions(rest);
    const name = filename ?? (file instanceof Blob && 'name' in file ? file.name : undefined);
    const type = content_type ?? (file instanceof Blob && file.type !== '' ? file.type : undefined);
    const query = plain<QueryOf<'createUpload'>>({ account_id, filename: name, content_type: type });
    return this.#transport.json({ ...rest, repeatable: false }, (attempt) =>
      this.#transport.api.POST('/api/uploads', {
        ...attempt,
        params: { query },
        // Not the type of a Blob, which fetch would send otherwise.
        headers: { 'Content-Type': 'application/octet-stream' },
        body: file as never,
        bodySerializer: () => file as Blob,
      }),
    );
  }
}
