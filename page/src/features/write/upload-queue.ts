/**
 * The files on their way into a draft: each is uploaded, and then becomes a file of the draft. An upload that a broken connection or a busy
 * service interrupts starts again by itself, as long as the file can be read.
 */
import { EmailWorkerError, type DraftRequest } from 'email-worker-client';
import { UploadFailure, uploadFile } from './upload.ts';

type NewFile = NonNullable<DraftRequest['attachments']>[number];

/** `waiting` for other uploads; `storing`: uploaded, and becoming a file of the draft; `offline`: continues by itself. */
export type UploadState = 'waiting' | 'sending' | 'storing' | 'offline' | 'failed';

/** `gone`: the browser can't read the file any more; `full`: the service has no room; `elsewhere`: another window changed the draft. */
export type UploadProblem = 'refused' | 'gone' | 'full' | 'elsewhere' | 'failed';

export interface Upload {
  readonly id: number;
  readonly file: File;
  /** The Content-ID by which the text shows the file; null: an ordinary attachment. */
  readonly contentId: string | null;
  readonly state: UploadState;
  readonly sentBytes: number;
  readonly problem: UploadProblem | null;
}

export interface UploadTarget {
  readonly accountId: () => string | undefined;
  /** Adds the file to the draft's files. */
  readonly attach: (file: NewFile) => Promise<void>;
}

/** A failed upload is not on its way. */
export const isOnTheWay = ({ state }: Upload): boolean => state !== 'failed';

/** More uploads would share the line, and none would finish earlier. */
const AT_ONCE = 2;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** After that a person decides when to try again; the pauses add up to about two minutes. */
const MAX_TRIES = 8;

let lastId = 0;

export class UploadQueue {
  readonly #target: UploadTarget;
  readonly #tell: (uploads: readonly Upload[]) => void;
  readonly #stops = new Map<number, AbortController>();
  #uploads: readonly Upload[] = [];

  constructor(target: UploadTarget, tell: (uploads: readonly Upload[]) => void) {
    this.#target = target;
    this.#tell = tell;
  }

  /** True while a file is on its way. */
  get isBusy(): boolean {
    return this.#uploads.some(isOnTheWay);
  }

  add(file: File, contentId: string | null): void {
    const upload: Upload = {
      id: ++lastId,
      file,
      contentId,
      state: 'waiting',
      sentBytes: 0,
      problem: null,
    };
    this.#set([...this.#uploads, upload]);
    this.#start();
  }

  retry(id: number): void {
    this.#change(id, { state: 'waiting', sentBytes: 0, problem: null });
    this.#start();
  }

  cancel(id: number): void {
    this.#stops.get(id)?.abort();
    this.#set(this.#uploads.filter((upload) => upload.id !== id));
    this.#start();
  }

  /** Returns the names of the files that did not arrive. */
  cancelAll(): readonly string[] {
    const names = this.#uploads.map(({ file }) => file.name);
    this.#set([]);
    for (const stop of this.#stops.values()) stop.abort();
    return names;
  }

  #start(): void {
    const free = AT_ONCE - this.#stops.size;
    for (const upload of this.#uploads.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, free)))
      void this.#run(upload);
  }

  async #run({ id, file, contentId }: Upload): Promise<void> {
    const stop = new AbortController();
    this.#stops.set(id, stop);
    try {
      await this.#bring(id, file, contentId, stop.signal);
      this.#set(this.#uploads.filter((upload) => upload.id !== id));
    } catch (error) {
      if (!stop.signal.aborted) this.#change(id, { state: 'failed', problem: problemOf(error) });
    } finally {
      this.#stops.delete(id);
      this.#start();
    }
  }

  async #bring(id: number, file: File, contentId: string | null, signal: AbortSignal): Promise<void> {
    const names = {
      filename: file.name,
      ...(contentId === null ? {} : { content_id: contentId }),
    };
    let uploadId: string | null = null;
    for (let tries = 1; ; tries += 1) {
      try {
        if (uploadId === null) {
          this.#change(id, { state: 'sending', sentBytes: 0 });
          uploadId = await uploadFile(file, {
            accountId: this.#target.accountId(),
            signal,
            onProgress: (sentBytes) => this.#change(id, { sentBytes }),
          });
        }
        this.#change(id, { state: 'storing', sentBytes: file.size });
        await this.#target.attach({ ...names, upload_id: uploadId });
        return;
      } catch (error) {
        signal.throwIfAborted();
        // The service keeps an upload for a day, and for the account that it was made for.
        const isGone = error instanceof EmailWorkerError && error.code === 'upload_not_found';
        if (isGone) uploadId = null;
        if (!(isGone || isTemporary(error)) || tries >= MAX_TRIES) throw error;
        await assertReadable(file);
        this.#change(id, { state: 'offline', sentBytes: 0 });
        await pause(isGone ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS), signal);
      }
    }
  }

  #change(id: number, changed: Partial<Upload>): void {
    this.#set(this.#uploads.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)));
  }

  #set(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    this.#tell(uploads);
  }
}

class UnreadableFile extends Error {}

/** A file that was moved, changed or deleted since it was chosen looks like a broken connection. */
async function assertReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch (error) {
    throw new UnreadableFile('the file can’t be read', { cause: error });
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof UploadFailure) return error.isTemporary && error.code !== 'uploads_full';
  return error instanceof EmailWorkerError && (error.status === null || error.status >= 500);
}

function problemOf(error: unknown): UploadProblem {
  if (error instanceof UnreadableFile) return 'gone';
  const code = error instanceof UploadFailure || error instanceof EmailWorkerError ? error.code : null;
  switch (code) {
    case 'payload_too_large':
    case 'attachments_too_large':
    case 'too_many_attachments':
      return 'refused';
    case 'uploads_full':
    case 'disk_full':
      return 'full';
    case 'draft_changed':
      return 'elsewhere';
    default:
      return 'failed';
  }
}

/** Ends early when the browser is online again. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  }).then(() => signal.throwIfAborted());
}
