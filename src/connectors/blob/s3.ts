/**
 * Blobs in a bucket of any S3 server: AWS, MinIO, Garage, Supabase. Content that fits into one part is sent as one request; larger files
 * are uploaded in parts that are read as they are sent, so that memory stays flat. Nothing is stored locally. Unfinished uploads after a
 * crash are left for the bucket's lifecycle rule to delete.
 */
import { setMaxListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type {
  BlobStore,
  ByteRange,
  Content,
  StorageIdentity,
  StoredFile,
} from '../../platform/files/file-ports.ts';
import { ServiceError } from '../../core/errors.ts';
import { requireSource, storageFailure } from './failure.ts';
import { formatIdentity, IDENTITY_NAME, parseIdentity } from './identity.ts';
import type { S3Location } from './s3-url.ts';
import { parseStoragePath } from './storage-path.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3BlobStoreOptions extends S3Location {
  /** null: the SDK looks for credentials that the machine offers. */
  readonly credentials: S3Credentials | null;
  /** A connection on which nothing moves for so long, in ms, is dead. Default 20,000. */
  readonly idleTimeoutMs?: number;
}

/** The smallest part that S3 takes (except for the last), so that a transfer holds little in memory. */
const PART_BYTES = 5 * 1024 * 1024;
/** Parts of one transfer under way at the same time. */
const PARTS_AT_ONCE = 2;
const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 20_000;
/** Limit of one request with its body, such as a part over a slow line. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Limit of every request that moves no file: finding one, deleting one, checking; tries and pauses included. */
const ANSWER_TIMEOUT_MS = 15_000;
/** Including the first try; pauses grow from about 100 ms. */
const MAX_ATTEMPTS = 3;
const MAX_SOCKETS = 50;
/** A file written to prove that the store can be written to; only at intervals, since each write costs money. */
const PROBE_NAME = '.check';
const PROBE_INTERVAL_MS = 60_000;
const OWN_NAMES: ReadonlySet<string> = new Set([PROBE_NAME, IDENTITY_NAME]);
/** Reading the identity for each file would double the requests. */
const IDENTITY_MAX_AGE_MS = 5_000;
/** There is an object already (RFC 9110 §13.1.2). */
const STATUS_PRECONDITION_FAILED = 412;
/** The server's disk is full: RFC 4918 §11.5, and MinIO's name for it. */
const STATUS_INSUFFICIENT_STORAGE = 507;

// Otherwise the SDK prints its plans for versions of Node.js in each process, on standard error, where commands report errors.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #answerTimeoutMs: number;
  readonly #aborted = new AbortController();
  /** On the clock of `performance.now`. */
  #lastWriteMs = Number.NEGATIVE_INFINITY;

  constructor(options: S3BlobStoreOptions) {
    const idleTimeoutMs = options.idleTimeoutMs ?? IDLE_TIMEOUT_MS;
    this.#bucket = options.bucket;
    this.#prefix = options.prefix;
    this.#answerTimeoutMs = Math.min(ANSWER_TIMEOUT_MS, idleTimeoutMs);
    // Each request listens to the signal.
    setMaxListeners(0, this.#aborted.signal);
    this.#client = new S3Client({
      region: options.region,
      forcePathStyle: options.pathStyle,
      ...(options.endpoint !== null && { endpoint: options.endpoint }),
      ...(options.credentials !== null && { credentials: options.credentials }),
      maxAttempts: MAX_ATTEMPTS,
      // Newer SDKs send checksums as trailers, which several servers other than AWS refuse.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        throwOnRequestTimeout: true,
        socketTimeout: idleTimeoutMs,
        httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
        httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      },
    });
  }

  async put(path: string, content: Content, contentType: string): Promise<void> {
    const target = { ...this.#locate(path), ContentType: contentType };
    const sizeBytes = content.kind === 'bytes' ? content.bytes.length : content.sizeBytes;
    if (content.kind === 'file') await requireSource(content.path);
    try {
      if (sizeBytes <= PART_BYTES) {
        // Read into memory even when it is a file: only a body that can be sent again can be retried.
        const body = content.kind === 'bytes' ? content.bytes : await readFile(content.path);
        await this.#client.send(new PutObjectCommand({ ...target, Body: body, ContentLength: body.length }), {
          abortSignal: this.#aborted.signal,
        });
      } else {
        await this.#putInParts(target, content);
      }
      this.#lastWriteMs = performance.now();
    } catch (error) {
      throw toFailure(error);
    }
  }

  async get(path: string, range?: ByteRange): Promise<Readable | null> {
    const target = this.#locate(path);
    const bytes = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
    try {
      const { Body } = await this.#answered((abortSignal) =>
        this.#client.send(new GetObjectCommand({ ...target, ...bytes }), { abortSignal }),
      );
      if (!(Body instanceof Readable)) throw new Error('an answer without a stream');
      return Body;
    } catch (error) {
      if (isMissing(error)) return null;
      // The range covers nothing of the file, such as any range of an empty file.
      if (statusOf(error) === 416) return Readable.from([]);
      throw toFailure(error);
    }
  }

  async delete(path: string): Promise<void> {
    const target = this.#locate(path);
    try {
      await this.#answered((abortSignal) =>
        this.#client.send(new DeleteObjectCommand(target), { abortSignal }),
      );
    } catch (error) {
      if (!isMissing(error)) throw toFailure(error);
    }
  }

  async *list(): AsyncGenerator<StoredFile> {
    let token: string | undefined;
    do {
      const page = await this.#listPage(token);
      for (const { Key: key, Size: sizeBytes, LastModified: storedAt } of page.Contents ?? []) {
        const path = key?.slice(this.#prefix.length);
        if (path === undefined || path === '' || OWN_NAMES.has(path)) continue;
        if (sizeBytes === undefined || storedAt === undefined)
          throw toFailure(new Error('a list without times'));
        yield { path, sizeBytes, storedAt };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  /** Writes a small file, or only looks for it when something was written within the last minute. */
  async check(): Promise<void> {
    const target = { Bucket: this.#bucket, Key: this.#prefix + PROBE_NAME };
    try {
      if (performance.now() - this.#lastWriteMs < PROBE_INTERVAL_MS) {
        await this.#answered((abortSignal) =>
          this.#client.send(new HeadObjectCommand(target), { abortSignal }),
        );
        return;
      }
      await this.#answered((abortSignal) =>
        this.#client.send(new PutObjectCommand({ ...target, Body: '', ContentLength: 0 }), { abortSignal }),
      );
      this.#lastWriteMs = performance.now();
    } catch (error) {
      // The file does not exist, but the server answered. A missing bucket looks the same; the next write will show it.
      if (!isHeadMiss(error)) throw toFailure(error);
    }
  }

  /** A process reaches one bucket for as long as it lives, unless the server itself is exchanged. */
  readonly identityMaxAgeMs = IDENTITY_MAX_AGE_MS;

  async readIdentity(): Promise<StorageIdentity | null> {
    const target = { Bucket: this.#bucket, Key: this.#prefix + IDENTITY_NAME };
    try {
      const text = await this.#answered(async (abortSignal) => {
        const { Body } = await this.#client.send(new GetObjectCommand(target), { abortSignal });
        return await Body?.transformToString();
      });
      return parseIdentity(text ?? '');
    } catch (error) {
      if (isMissing(error)) return null;
      throw toFailure(error);
    }
  }

  async writeIdentity(identity: StorageIdentity, mode: 'create' | 'replace'): Promise<void> {
    const body = formatIdentity(identity);
    const request = {
      Bucket: this.#bucket,
      Key: this.#prefix + IDENTITY_NAME,
      Body: body,
      ContentLength: body.length,
      ContentType: 'application/json',
    };
    // Servers that do not know the condition ignore it: their callers keep others from making one.
    const condition = mode === 'create' ? { IfNoneMatch: '*' } : {};
    try {
      await this.#answered((abortSignal) =>
        this.#client.send(new PutObjectCommand({ ...request, ...condition }), { abortSignal }),
      );
    } catch (error) {
      if (statusOf(error) !== STATUS_PRECONDITION_FAILED) throw toFailure(error);
    }
  }

  abort(): void {
    this.#aborted.abort();
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async #listPage(token: string | undefined): Promise<ListObjectsV2CommandOutput> {
    const request = {
      Bucket: this.#bucket,
      Prefix: this.#prefix,
      ...(token === undefined ? {} : { ContinuationToken: token }),
    };
    try {
      return await this.#answered((abortSignal) =>
        this.#client.send(new ListObjectsV2Command(request), { abortSignal }),
      );
    } catch (error) {
      throw toFailure(error);
    }
  }

  async #putInParts(
    target: { readonly Bucket: string; readonly Key: string; readonly ContentType: string },
    content: Content,
  ): Promise<void> {
    const body =
      content.kind === 'bytes'
        ? content.bytes
        : createReadStream(content.path, { highWaterMark: 1024 * 1024 });
    // One for each upload: an upload takes over its controller's `onabort`.
    const controller = new AbortController();
    const upload = new Upload({
      client: this.#client,
      params: { ...target, Body: body },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
      leavePartsOnError: false,
      abortController: controller,
    });
    try {
      await this.#abortable(controller, () => upload.done());
    } finally {
      if (body instanceof Readable) body.destroy();
    }
  }

  #locate(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + parseStoragePath(path).join('/') };
  }

  /** Limits the wait for an answer, not the transfer of its body. */
  async #answered<T>(request: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), this.#answerTimeoutMs);
    try {
      return await this.#abortable(controller, () => request(controller.signal));
    } finally {
      clearTimeout(timer);
    }
  }

  /** `abort` aborts the controller, too. */
  async #abortable<T>(controller: AbortController, request: () => Promise<T>): Promise<T> {
    const { signal } = this.#aborted;
    const end = () => controller.abort();
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    try {
      return await request();
    } finally {
      signal.removeEventListener('abort', end);
    }
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** No such file; a missing bucket is a fault, not a missing file. */
function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && error instanceof Error && error.name !== 'NoSuchBucket';
}

function isHeadMiss(error: unknown): boolean {
  return statusOf(error) === 404 && error instanceof Error && error.name === 'NotFound';
}

function toFailure(error: unknown): ServiceError {
  if (statusOf(error) === STATUS_INSUFFICIENT_STORAGE) return new ServiceError('disk_full', { cause: error });
  return storageFailure(error);
}
