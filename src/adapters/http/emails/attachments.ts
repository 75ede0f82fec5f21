/**
 * GET /api/attachments/{id}: the bytes of one attachment, whole or a range of them (RFC 9110 §13 and §14).
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { parseByteRange } from '../answers/byte-range.ts';
import { isSameEntity, isUnchanged } from '../answers/entity-tag.ts';
import { FILE_HEADERS, sendFile, toContentType } from '../answers/file-response.ts';
import { ServiceError } from '../../../core/errors.ts';
import { errorResponses } from '../schemas/error-schemas.ts';
import { Uuid } from '../schemas/schemas.ts';

const AttachmentParams = {
  type: 'object',
  required: ['id'],
  properties: { id: { ...Uuid, description: 'The attachment.' } },
} as const;

const ConditionalHeaders = {
  type: 'object',
  properties: {
    range: {
      type: 'string',
      description: 'One range of bytes, such as `bytes=0-1023`, `bytes=1024-` or `bytes=-500`.',
    },
    'if-range': {
      type: 'string',
      description: 'The ETag that the range belongs to; another one gets the whole file.',
    },
    'if-none-match': {
      type: 'string',
      description: 'ETags that the caller has; 304 when one of them is current.',
    },
  },
} as const;

const AttachmentQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    disposition: {
      type: 'string',
      enum: ['attachment', 'inline'],
      default: 'attachment',
      description:
        '`inline` for a page that shows the file. It counts for raster images and PDF, by their bytes, and for plain ' +
        'text; anything else is a download all the same.',
    },
  },
} as const;

const Bytes = { '*/*': { schema: { type: 'string', format: 'binary' } } } as const;

const CacheHeaders = {
  ETag: { type: 'string', description: 'The SHA-256 of the whole file, in quotes.' },
  'Cache-Control': { type: 'string', const: 'private, no-cache' },
} as const;
const AttachmentHeaders = { ...FILE_HEADERS, ...CacheHeaders } as const;
const RangeHeaders = {
  ...AttachmentHeaders,
  'Content-Range': { type: 'string', description: 'Which bytes of how many (RFC 9110 §14.4).' },
} as const;

export function registerAttachmentRoutes(app: HttpServer, context: HttpContext): void {
  const { applicationFor } = context;
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/attachments/:id',
    schema: {
      operationId: 'getAttachment',
      right: 'read',
      tags: ['Emails'],
      summary: 'Download an attachment',
      description:
        'With the content type and the name that the sender gave it. The ETag is the SHA-256 of the bytes; an ' +
        'attachment never changes. Several ranges at once are not supported: the whole file is sent.',
      params: AttachmentParams,
      querystring: AttachmentQuery,
      headers: ConditionalHeaders,
      response: {
        200: { description: 'The whole file.', headers: AttachmentHeaders, content: Bytes },
        206: { description: 'The range asked for.', headers: RangeHeaders, content: Bytes },
        304: { description: 'The caller has it already.', headers: CacheHeaders, type: 'null' },
        ...errorResponses(
          'invalid_uuid',
          'invalid_request',
          'unknown_field',
          'unauthorized',
          'attachment_not_found',
          'range_not_satisfiable',
          'content_missing',
          'database_unavailable',
          'storage_unavailable',
        ),
      },
    },
    handler: async (request, reply) => {
      const attachment = await applicationFor(request).readAttachment(request.params.id.toLowerCase());
      const { sizeBytes } = attachment;
      const etag = `"${attachment.sha256}"`;
      const { headers } = request;
      reply.header('etag', etag);
      // Kept by the browser alone, and asked for again each time: a secret may have been taken back.
      reply.header('cache-control', 'private, no-cache');
      if (headers['if-none-match'] !== undefined && isUnchanged(headers['if-none-match'], etag)) {
        return reply.code(304).send();
      }
      reply.header('accept-ranges', 'bytes');
      const isInlineAsked = request.query.disposition === 'inline';
      const inlineType = isInlineAsked ? await applicationFor(request).inlineTypeOf(attachment) : null;
      reply.header('content-type', inlineType ?? toContentType(attachment.contentType));
      const disposition = inlineType === null ? ('attachment' as const) : ('inline' as const);
      const file = { filename: attachment.filename, sizeBytes, disposition };
      if (request.method === 'HEAD') return sendFile(reply, context, { ...file, stream: null });

      const applies = headers['if-range'] === undefined || isSameEntity(headers['if-range'], etag);
      const range = applies ? parseByteRange(headers.range, sizeBytes) : null;
      if (range === 'unsatisfiable') {
        reply.header('content-range', `bytes */${sizeBytes}`);
        throw new ServiceError('range_not_satisfiable');
      }
      if (range === null) {
        const stream = await applicationFor(request).openAttachment(attachment);
        return sendFile(reply, context, { ...file, stream });
      }
      const stream = await applicationFor(request).openAttachment(attachment, range);
      reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
      return sendFile(reply, context, {
        ...file,
        sizeBytes: range.end - range.start + 1,
        stream,
      });
    },
  });
}
