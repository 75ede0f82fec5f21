/** Uploads one file to the service, and reports progress. */
import { PAGE_HEADERS } from '../../api/client.ts';

/** The reason why a file did not arrive. `code` is the service's own; null: no answer arrived. */
export class UploadFailure extends Error {
  override readonly name = 'UploadFailure';
  readonly code: string | null;
  /** A repeat may work: the connection broke, or the service is busy. */
  readonly isTemporary: boolean;

  constructor(status: number, code: string | null) {
    super(`POST /api/uploads: ${code ?? status}`);
    this.code = code;
    this.isTemporary = status === 0 || status === 408 || status === 429 || status >= 500;
  }
}

export interface UploadOptions {
  /** The account that will send it; undefined: the default one. */
  readonly accountId: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
}

/**
 * Resolves to the `upload_id` of the file. Throws `UploadFailure`, or the reason of the signal. Uses XMLHttpRequest, because `fetch` does
 * not report upload progress.
 */
export function uploadFile(file: File, { accountId, signal, onProgress }: UploadOptions): Promise<string> {
  const query = new URLSearchParams({ filename: file.name });
  if (file.type !== '') query.set('content_type', file.type);
  if (accountId !== undefined) query.set('account_id', accountId);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    signal.addEventListener('abort', abort, { once: true });
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
    request.addEventListener('loadend', () => {
      signal.removeEventListener('abort', abort);
      const { id, code } = (request.response ?? {}) as { readonly id?: string; readonly code?: string };
      if (signal.aborted) reject(signal.reason as Error);
      else if (request.status === 201 && id !== undefined) resolve(id);
      else reject(new UploadFailure(request.status, code ?? null));
    });
    request.open('POST', `/api/uploads?${query}`);
    request.responseType = 'json';
    for (const [name, value] of Object.entries(PAGE_HEADERS)) request.setRequestHeader(name, value);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.send(file);
  });
}
