/**
 * Answers with the bytes of one stored file that never changes, whole or a range of them (RFC 9110 §13 and §14).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoredAttachment } from '../../files/stored-attachment.ts';
import type { ErrorCode } from '../../../core/error-registry.ts';
import { ServiceError } from '../../../core/errors.ts';
import { parseByteRange } from './byte-range.ts';
import type { HttpContext } from './context.ts';
import { isMatched, isSameEntity, isUnchanged } from './entity-tag.ts';
import { FILE_HEADERS, sendFile, toContentType } from './file-response.ts';

export const STORED_FILE_CONDITIONS = {
  type: 'object',
  properties: {
    range: {
      type: 'string',
      description: 'One range of bytes, such as `bytes=0-1023`, `bytes=1024-` or `bytes=-500`.',
    },
    'if-range': {
      type: 'string',
      description: 'ETag of the file that the range belongs to; with another ETag the whole file is sent.',
    },
    'if-match': {
      type: 'string',
      description: 'ETags of which one must be current; otherwise the response is 412.',
    },
    'if-none-match': {
      type: 'string',
      description: 'ETags of copies that the caller has; the response is 304 when one of them is current.',
    },
  },
} as const;

export const STORED_FILE_QUERY = {
  type: 'object',
  additionalProperties: false,
  properties: {
    disposition: {
      type: 'string',
      enum: ['attachment', 'inline'],
      default: 'attachment',
      description:
        '`inline` to show the file in a page: raster images and PDF, recognised by their bytes, and plain text. Everything else ' +
        'stays a download.',
    },
  },
} as const;

const Bytes = { '*/*': { schema: { type: 'string', format: 'binary' } } } as const;

const CacheHeaders = {
  ETag: { type: 'string', description: 'The SHA-256 of the whole file, in quotes.' },
  'Cache-Control': {
    type: 'string',
    const: 'private, no-cache',
    description: 'A browser may store the response and revalidates it by the ETag.',
  },
} as const;
const FileHeaders = { ...FILE_HEADERS, ...CacheHeaders } as const;
const RangeHeaders = {
  ...FileHeaders,
  'Content-Range': { type: 'string', description: 'Which bytes of how many (RFC 9110 §14.4).' },
} as const;

export const STORED_FILE_RESPONSES = {
  200: { description: 'The whole file.', headers: FileHeaders, content: Bytes },
  206: { description: 'The range asked for.', headers: RangeHeaders, content: Bytes },
  304: { description: 'Not modified.', headers: CacheHeaders, type: 'null' },
} as const;

/** The possible errors of these answers, whatever the file. */
export const STORED_FILE_ERRORS = [
  'invalid_uuid',
  'invalid_request',
  'invalid_credentials',
  'precondition_failed',
  'range_not_satisfiable',
  'content_missing',
  'database_unavailable',
  'storage_unavailable',
  'storage_mismatch',
] as const satisfies readonly ErrorCode[];

/** As validated by the schemas above. */
interface FileRequest {
  readonly headers: {
    readonly range?: string | undefined;
    readonly 'if-range'?: string | undefined;
    readonly 'if-match'?: string | undefined;
    readonly 'if-none-match'?: string | undefined;
  };
  readonly query: { readonly disposition?: 'attachment' | 'inline' | undefined };
}

export async function answerStoredFile(
  request: FastifyRequest & FileRequest,
  reply: FastifyReply,
  context: HttpContext,
  file: StoredAttachment,
): Promise<FastifyReply> {
  const { inlineTypeOf, openAttachment } = context.files;
  const { sizeBytes } = file;
  const etag = `"${file.sha256}"`;
  const { headers }: FileRequest = request;
  // RFC 9110 §13.2.2: evaluated before all other conditions.
  if (headers['if-match'] !== undefined && !isMatched(headers['if-match'], etag)) {
    throw new ServiceError('precondition_failed');
  }
  reply.header('etag', etag);
  // Only the browser may cache the file, and it must ask each time: a secret may have been revoked.
  reply.header('cache-control', 'private, no-cache');
  if (headers['if-none-match'] !== undefined && isUnchanged(headers['if-none-match'], etag)) {
    return reply.code(304).send();
  }
  reply.header('accept-ranges', 'bytes');
  const inlineType = request.query.disposition === 'inline' ? await inlineTypeOf(file) : null;
  reply.header('content-type', inlineType ?? toContentType(file.contentType));
  const disposition = inlineType === null ? ('attachment' as const) : ('inline' as const);
  const answer = { filename: file.filename, sizeBytes, disposition };
  if (request.method === 'HEAD') return sendFile(reply, context, { ...answer, stream: null });

  const applies = headers['if-range'] === undefined || isSameEntity(headers['if-range'], etag);
  const range = applies ? parseByteRange(headers.range, sizeBytes) : null;
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${sizeBytes}`);
    throw new ServiceError('range_not_satisfiable');
  }
  if (range === null) {
    const stream = await openAttachment(file);
    return sendFile(reply, context, { ...answer, stream });
  }
  const stream = await openAttachment(file, range);
  reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  return sendFile(reply, context, {
    ...answer,
    sizeBytes: range.end - range.start + 1,
    stream,
  });
}
