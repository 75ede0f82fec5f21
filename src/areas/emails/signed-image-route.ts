/**
 * GET /api/images/{id}: an image within an email, or a remote image of it that the service fetches, by the signed address in its safe HTML. A
 * page's `img` can't send a secret; the signature takes its place.
 */
import type { FastifyReply } from 'fastify';
import type { RemoteImage } from './remote-image-ports.ts';
import type { EmailUseCases } from './use-cases.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { FILE_HEADERS, sendFile } from '../../platform/http/answers/file-response.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { Uuid } from '../../platform/schemas/schemas.ts';

const ImageQuery = {
  type: 'object',
  additionalProperties: false,
  required: ['expires', 'signature'],
  properties: {
    address: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'Of a remote image: its address, in Base64url.',
    },
    by: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{12}$',
      description: 'Of a remote image: stands for the caller that read the HTML.',
    },
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

export function registerSignedImageRoutes(
  app: HttpServer,
  context: HttpContext,
  signedImages: SignedImages,
): void {
  app.get(
    '/api/images/:id',
    {
      schema: {
        operationId: 'getImage',
        tags: ['Emails'],
        summary: 'Show an image within an email',
        description:
          'Serves an address from `html_safe`: it needs no secret and is valid for an hour and for one image. Only raster ' +
          'images, recognised by their bytes; everything else, and an expired address, is 404. With `address`, the service ' +
          'loads a remote image, at most 5 MiB, or has it from the last day.',
        security: [],
        params: {
          type: 'object',
          required: ['id'],
          properties: { id: { ...Uuid, description: 'The attachment; of a remote image, the email.' } },
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
            'remote_image_unavailable',
            'rate_limited',
            'busy',
            'content_missing',
            'database_unavailable',
            'storage_unavailable',
            'storage_mismatch',
          ),
        },
      },
    },
    async (request, reply) => {
      const { address, by = '', expires, signature } = request.query;
      const id = request.params.id.toLowerCase();
      const { image, filename } =
        address === undefined
          ? await openFile(signedImages, context, { attachmentId: id, expires, signature })
          : await openRemote(signedImages, context, {
              emailId: id,
              address: decode(address),
              by,
              expires,
              signature,
            });
      const seconds = Math.max(0, expires - Math.ceil(context.clock().getTime() / 1000));
      return sendImage(reply, context, { image, filename, seconds });
    },
  );
}

/** The operation that signed addresses allow, for any holder. */
type SignedImages = Pick<EmailUseCases, 'readSignedImage' | 'readRemoteImage'>;
type SignedFile = Parameters<SignedImages['readSignedImage']>[0];
type SignedRemote = Parameters<SignedImages['readRemoteImage']>[0];

async function openFile(signedImages: SignedImages, { files }: HttpContext, signed: SignedFile) {
  const { attachment, type } = await signedImages.readSignedImage(signed);
  const { filename, sizeBytes } = attachment;
  return { filename, image: { type, sizeBytes, stream: await files.openAttachment(attachment) } };
}

const openRemote = async (signedImages: SignedImages, { stopping }: HttpContext, signed: SignedRemote) => ({
  // No name of the sender's choice.
  filename: 'image',
  image: await signedImages.readRemoteImage(signed, stopping),
});

const decode = (address: string): string => Buffer.from(address, 'base64url').toString();

function sendImage(
  reply: FastifyReply,
  context: HttpContext,
  { image, filename, seconds }: { image: RemoteImage; filename: string; seconds: number },
): FastifyReply {
  reply.header('cache-control', `private, max-age=${seconds}, immutable`);
  // Pages of other origins show mail, too, and mail in a sandbox has no origin.
  reply.header('cross-origin-resource-policy', 'cross-origin');
  reply.header('accept-ranges', 'none');
  reply.header('content-type', image.type);
  const { sizeBytes, stream } = image;
  return sendFile(reply, context, { filename, sizeBytes, disposition: 'inline', stream });
}
