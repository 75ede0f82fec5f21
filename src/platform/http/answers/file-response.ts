/** Answers with a file that a stranger may have made: as a download, or as something that a browser shows, but never runs. */
import { pipeline, Transform, type Readable, type TransformCallback } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { formatDisposition } from './content-disposition.ts';
import type { HttpContext } from './context.ts';
import { FILE_CSP } from '../connections/security-headers.ts';
import { cutStalledReader } from '../connections/stalled-reader.ts';

export interface FileResponse {
  readonly filename: string;
  /** `inline` only for a type that a browser shows without running anything; default: `attachment`. */
  readonly disposition?: 'attachment' | 'inline';
  /** The value of Content-Length: the number of bytes in the stream. */
  readonly sizeBytes: number;
  /** null when only the headers are requested. */
  readonly stream: Readable | null;
}

/** Header fields of every answer that is a file. */
export const FILE_HEADERS = {
  'Content-Length': { type: 'integer', minimum: 0, description: 'Bytes of this answer.' },
  'Content-Disposition': {
    type: 'string',
    description: '`attachment` or `inline`, with the name of the file (RFC 6266).',
  },
  'Accept-Ranges': { type: 'string', enum: ['bytes', 'none'], description: 'RFC 9110 §14.3.' },
} as const;

/** Sends the file; the stream is destroyed when the client goes away or stops reading. */
export function sendFile(
  reply: FastifyReply,
  { limits, logger }: Pick<HttpContext, 'limits' | 'logger'>,
  file: FileResponse,
): FastifyReply {
  reply.header('content-length', file.sizeBytes);
  reply.header('content-disposition', formatDisposition(file.disposition ?? 'attachment', file.filename));
  reply.header('content-security-policy', FILE_CSP);
  if (reply.request.method === 'HEAD') {
    file.stream?.destroy();
    return reply.send();
  }
  if (file.stream === null) return reply.send();
  cutStalledReader(reply, limits);
  const checked = new ExactLength(file.sizeBytes);
  checked.once('error', (err) => {
    // Before the first byte it is an ordinary error, and the error handler logs it.
    if (reply.raw.headersSent) {
      const { id: requestId, routeOptions } = reply.request;
      logger.error({ err, requestId, route: routeOptions.url }, 'a download was cut off');
    }
  });
  // Failures reach `checked`; a client that goes away is not a failure.
  pipeline(file.stream, checked, () => {});
  return reply.send(checked);
}

/** type "/" subtype and parameters, RFC 9110 §8.3.1. */
const MEDIA_TYPE =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[\w !#$%&'()*+,./:;<=>?@[\]^`{|}~-]*"))*$/;

/** The stored type when it is well-formed, else `application/octet-stream`. */
export function toContentType(stored: string): string {
  return stored.length <= 255 && MEDIA_TYPE.test(stored) ? stored : 'application/octet-stream';
}

/**
 * Fails when a stream does not have exactly the announced length. With too few bytes the client would take the next answer on the
 * connection for the rest of this one.
 */
class ExactLength extends Transform {
  #left: number;

  constructor(sizeBytes: number) {
    super();
    this.#left = sizeBytes;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#left -= piece.length;
    if (this.#left < 0) done(new Error('stored file is longer than recorded'));
    else done(null, piece);
  }

  override _flush(done: TransformCallback): void {
    done(this.#left === 0 ? null : new Error(`stored file is ${this.#left} bytes shorter than recorded`));
  }
}
