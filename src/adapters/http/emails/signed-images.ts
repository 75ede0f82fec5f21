/**
 * GET /api/images/{id}: an image within an email, by the signed address in its safe HTML. A page's `img` can't send a secret; the signature
 * takes its place.
 */
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { FILE_HEADERS, sendFile } from '../answers/file-response.ts';
import { errorResponses } from '../../../platform/schemas/error-schemas.ts';
import { Uuid } from '../../../platform/schemas/schemas.ts';

const ImageQuery = {
  type: 'object',
  additionalProperties: false,
  required: ['expires', 'signature'],
  properties: {
    expires: {
      type: 'integer',
      minimum: 0,
      // The last second that a Date can represent.
      maximum: 8_640_000_000_000,
      description: 'Unix time in seconds.',
    },
    signature: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$', description: 'Signature from the address.' },
  },
} as const;

export function registerSignedImageRoutes(app: HttpServer, context: HttpContext): void {
  app.get(
    '/api/images/:id',
    {
      schema: {
        operationId: 'getImage',
        tags: ['Emails'],
        summary: 'Show an image within an email',
        description:
          'Serves an address from `html_safe`: it needs no secret and is valid for an hour and for one image. Only raster ' +
          'images, recognised by their bytes; everything else, and an expired address, is 404.',
        security: [],
        params: {
          type: 'object',
          required: ['id'],
          properties: { id: { ...Uuid, description: 'The attachment.' } },
        },
        querystring: ImageQuery,
        response: {
          200: {
            description: 'The image.',
            headers: FILE_HEADERS,
            content: { 'image/*': { schema: { type: 'string', format: 'binary' } } },
          },
          ...errorResponses(
            'invalid_uuid',
            'invalid_request',
            'image_not_found',
            'content_missing',
            'database_unavailable',
            'storage_unavailable',
            'storage_mismatch',
          ),
        },
      },
    },
    async (request, reply) => {
      const { expires, signature } = request.query;
      const attachmentId = request.params.id.toLowerCase();
      const { attachment, type } = await context.signedImages.readSignedImage({
        attachmentId,
        expires,
        signature,
      });
      const seconds = Math.max(0, expires - Math.ceil(context.clock().getTime() / 1000));
      reply.header('cache-control', `private, max-age=${seconds}, immutable`);
      // Pages of other origins show mail, too, and mail in a sandbox has no origin.
      reply.header('cross-origin-resource-policy', 'cross-origin');
      reply.header('accept-ranges', 'none');
      reply.header('content-type', type);
      return sendFile(reply, context, {
        filename: attachment.filename,
        sizeBytes: attachment.sizeBytes,
        disposition: 'inline',
        stream: await context.files.openAttachment(attachment),
      });
    },
  );
}
