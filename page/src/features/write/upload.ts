/** Takes one file to the service, and tells meanwhile how much of it has gone. */
import { PAGE_HEADERS } from '../../api/client.ts';

/** Why a file did not get there. `code` is the service's own; null: no answer came. */
export class UploadFailure extends Error {
  override readonly name = 'UploadFailure';
  readonly code: string | null;
  /** A repeat may work: the line was cut, or the service is busy. */
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
 * Resolves to its `upload_id`. Throws `UploadFailure`, or the reason of the signal. By XMLHttpRequest: `fetch` does not tell how much
 * has gone.
 */
export function uploadFile(file: File, { accountId, signal, onProgress }: UploadOptions): Promise<string> {
  const query = new URLSearchParams({ filename: file.name });
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
    request.setRequestHeader('Content-Type', file.type === '' ? 'application/octet-stream' : file.type);
    request.send(file);
  });
}
