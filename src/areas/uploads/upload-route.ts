/** POST /api/uploads: takes a file for later sends. */
import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { readRaw } from '../../platform/files/read-raw.ts';
import { keyIdOf } from '../../platform/http/connections/auth.ts';
import { readParameters } from '../../core/mime/parse/read-parameters.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { isOneLine, ONE_LINE_PATTERN } from '../../core/one-line.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { routedWith } from '../../platform/operation/declaration.ts';
import { chooseAccount } from '../../platform/http/operations/account-rules.ts';
import type { UploadUseCases, UploadRequest } from './use-cases.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';

import type { Upload } from './upload-store.ts';
import { BinaryBody } from '../../platform/http/body/binary-body.ts';
import { openBody } from '../../platform/http/body/open-body.ts';
import { RequestSlots } from '../../platform/http/body/request-slots.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { AccountId } from '../../platform/schemas/page-schemas.ts';
import { jsonResponse, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import { readContentDigest } from './content-digest.ts';

const routed = routedWith<UploadUseCases>();

const MAX_FILENAME_CHARS = 1000;
const MAX_CONTENT_TYPE_CHARS = 255;

/** Programs that encode a body by its type, such as a form or JSON, would store other bytes than they were given. */
const FILE_TYPE = /^application\/octet-stream[ \t]*(?:;.*)?$/i;

const UploadSchema = record('Upload', {
  id: { ...Uuid, description: 'For `upload_id` of an attachment.' },
  account_id: { type: 'string', description: 'The only account whose sends may use the file.' },
  filename: { type: 'string', description: 'File name; an attachment may override it.' },
  content_type: { type: 'string', description: 'MIME type.' },
  size_bytes: { type: 'integer', minimum: 0 },
  sha256: { type: 'string', description: 'Of its bytes, in hex.' },
  expires_at: { ...Timestamp, description: 'Time of deletion; emails that were sent with the file keep it.' },
});

const UploadQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    filename: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_FILENAME_CHARS,
      pattern: ONE_LINE_PATTERN,
      description: 'Default: the file name in the header Content-Disposition.',
    },
    content_type: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_CONTENT_TYPE_CHARS,
      description: 'MIME type of the file, such as `image/png`. Default: `application/octet-stream`.',
    },
    account_id: { ...AccountId, description: 'The account that will send it. Default: the default account.' },
  },
} as const;

const UploadHeaders = {
  type: 'object',
  properties: {
    'content-digest': {
      type: 'string',
      description: 'RFC 9530. A body whose SHA-256 differs from `sha-256=:…:` is refused.',
    },
    'content-disposition': { type: 'string', description: '`attachment; filename="…"` (RFC 6266).' },
  },
} as const;

const createUpload = routed<Pick<UploadRequest, 'accountId'>, Upload>()({
  id: 'createUpload',
  method: 'POST',
  path: '/api/uploads',
  // Drafts have files, too.
  right: { anyOf: ['draft', 'send'] },
  tag: 'Sending',
  summary: 'Upload a file for later sends',
  description:
    'The body is the content of the file, always as `application/octet-stream`; `content_type` is the type of the file. ' +
    'The file is kept for a day. Sends refer to it by `upload_id` of an attachment, any number of times.',
  account: { decide: chooseAccount },
});

export function registerUploadRoutes(app: HttpServer, context: HttpContext<UploadUseCases>): void {
  const { perform, limits, logger, spool } = context;
  const slots = new RequestSlots(limits.maxLargeBodies);

  app.post(
    createUpload.path,
    {
      schema: {
        ...schemaOfOperation(createUpload),
        querystring: UploadQuery,
        headers: UploadHeaders,
        body: {
          content: {
            'application/octet-stream': { schema: { ...BinaryBody, description: 'The file.' } },
          },
        },
        response: {
          201: jsonResponse('Stored.', UploadSchema),
          ...errorResponses(
            'invalid_request',
            'invalid_filename',
            'invalid_content_type',
            'invalid_content_digest',
            'content_digest_mismatch',
            'unknown_account',
            'invalid_credentials',
            'request_timeout',
            'payload_too_large',
            'unsupported_content_encoding',
            'file_expected',
            'unsupported_media_type',
            'busy',
            'uploads_full',
            'database_unavailable',
            'storage_unavailable',
            'storage_mismatch',
            'disk_full',
          ),
        },
      },
    },
    async (request, reply) => {
      const { headers, query } = request;
      const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
      if (encoding !== 'identity') throw new ServiceError('unsupported_content_encoding');
      if (!FILE_TYPE.test(headers['content-type'] ?? '')) throw new ServiceError('file_expected');
      const expectedSha256 = readContentDigest(headers['content-digest']);
      const nameInHeader = filenameOf(request);
      if (query.filename !== undefined && nameInHeader !== null && nameInHeader !== query.filename)
        throw invalidRequest('not_with', { field: 'filename', other: 'Content-Disposition' });
      const slot = slots.reserve(keyIdOf(request));
      const folder = spool.create();
      try {
        const { maxAttachmentBytes: maxBytes } = limits;
        const content = await openBody(request, reply, { limits, logger, maxBytes, slot, folder }, (body) =>
          readRaw(body, limits.smallBodyBytes, folder),
        );
        const file = {
          content,
          filename: query.filename ?? nameInHeader ?? '',
          contentType: query.content_type ?? null,
          expectedSha256,
        };
        const asked = { accountId: query.account_id ?? null };
        const upload = await perform(
          request,
          createUpload,
          asked,
          ({ accountId }, uploads) => uploads.createUpload({ ...file, accountId }, folder),
          folder,
        );
        return reply.code(201).send({
          id: upload.id,
          account_id: upload.accountId,
          filename: upload.filename,
          content_type: upload.contentType,
          size_bytes: upload.sizeBytes,
          sha256: upload.sha256,
          expires_at: upload.expiresAt.toISOString(),
        });
      } finally {
        slot.release();
      }
    },
  );
}

function filenameOf({ headers }: FastifyRequest): string | null {
  const header = headers['content-disposition'];
  if (header === undefined) return null;
  // The reader of parameters is made for mail, and gives a name to any bytes.
  if (!isText(header)) throw invalidRequest('malformed', { field: 'Content-Disposition: filename' });
  const name = readParameters(header).parameters.get('filename') ?? null;
  if (name !== null && !isOneLine(name))
    throw invalidRequest('not_one_line', { field: 'Content-Disposition: filename' });
  return name;
}

/** RFC 8187 §3.2: a value in UTF-8, percent-encoded. */
const EXTENDED = /\*[ \t]{0,9}=[ \t]{0,9}"?([^'";]{0,40})'[^'";]{0,40}'([^";]*)/g;

/** False for bytes that are no UTF-8, raw or encoded. */
function isText(header: string): boolean {
  if (!isUtf8(Buffer.from(header, 'latin1'))) return false;
  return [...header.matchAll(EXTENDED)].every(([, charset = '', value = '']) => {
    try {
      decodeURIComponent(value);
      return charset.toLowerCase() === 'utf-8';
    } catch {
      return false;
    }
  });
}
