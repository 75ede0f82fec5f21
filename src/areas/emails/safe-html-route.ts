/** GET /api/emails/{id}/html: the HTML of an email, safe to show, as JSON or as a document for a frame. */
import { routed, type EmailDeps } from './routed.ts';
import type { XStatic } from 'typebox/schema';
import type { SafeHtmlView } from './safe-html-view.ts';
import type { RemovedKind } from '../../core/html/removed.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { OF_EMAIL } from '../../platform/http/operations/account-rules.ts';
import { schemaOfOperation } from '../../platform/http/operations/operation-schema.ts';
import { keyIdOf } from '../../core/keys/caller.ts';
import { MAIL_THEMES, sendMailDocument, wantsDocument } from './mail-document.ts';
import { errorResponses } from '../../platform/schemas/error-schemas.ts';
import { EmailParams, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';

const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;

const removedProperties = {
  scripts: count('Scripts, and links that run one.'),
  event_handlers: count('Attributes such as `onclick`.'),
  forms: count('Forms, fields and buttons; their text stays.'),
  frames: count('Pages and programs within the page: `iframe`, `object`, `embed`.'),
  media: count('Sound and film.'),
  vector_graphics: count('SVG and MathML.'),
  metadata: count('`meta`, `base` and `link`.'),
  styles: count('Declarations of styles that are not allowed, such as `position`.'),
  style_sheets: count('All style sheets of an email, where they take too much to be followed.'),
  links: count('Links to anything but web pages, mail addresses and telephone numbers.'),
  remote_images: count('Remote images and backgrounds; `remote=allow` keeps them.'),
  remote_content: count('Anything else that would be fetched: fonts, style sheets, films.'),
  images: count('Images that are neither raster images nor files of the email.'),
} satisfies Record<RemovedKind, object>;

export const SafeHtmlSchema = record('SafeHtml', {
  html_safe: {
    type: 'string',
    description:
      'One `div` without scripts, remote content and content outside its box. Show it in a separate frame (`<iframe ' +
      'sandbox="allow-popups" srcdoc=…>`) with a Content-Security-Policy all the same. Images of the email have paths of this ' +
      'service: prepend its origin on pages of another origin.',
  },
  made_from: {
    type: 'string',
    enum: ['html', 'text'],
    description: '`text`: the email has no HTML, or HTML that takes too much to be made safe.',
  },
  removed: {
    ...record('RemovedContent', removedProperties),
    description: 'Count of removed content by kind.',
  },
  deceptive_links: count(
    'Links whose text or alternative text shows, or may show, a site or address other than their target. They have ' +
      '`data-shown-host`, `data-link-host` and a `title` with the true host or address.',
  ),
  cut: {
    type: 'boolean',
    description: 'True when the HTML is longer than 2 million characters and its end was cut.',
  },
  images: {
    type: 'array',
    items: record('ShownImage', {
      attachment_id: Uuid,
      content_id: { type: 'string', description: 'Without angle brackets.' },
      url: { type: 'string', description: 'A path of this service, with its signature.' },
    }),
    description: 'Files of the email that its HTML can show, with their paths in `html_safe`.',
  },
  images_expire_at: { ...Timestamp, description: 'Until then the addresses of its images work.' },
  image_proxy: {
    type: 'boolean',
    description:
      'True: with `remote=allow`, remote images have paths of this service, which loads them; false: the browser does.',
  },
});

const SafeHtmlQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    remote: {
      type: 'string',
      enum: ['block', 'allow'],
      default: 'block',
      description:
        '`allow` keeps images that are loaded by http and https; loading them informs the sender that the email was opened. See ' +
        '`image_proxy`.',
    },
    theme: {
      type: 'string',
      enum: MAIL_THEMES,
      default: 'auto',
      description:
        'Background of the document for an email that sets no colours; `auto`: the preference of the browser. An email that sets ' +
        'colours is shown on a light background.',
    },
  },
} as const;

const getSafeHtml = routed<{ readonly id: string }, SafeHtmlView>()({
  id: 'getSafeHtml',
  method: 'GET',
  path: '/api/emails/:id/html',
  right: 'read',
  tag: 'Emails',
  summary: 'Read the sanitised HTML of an email',
  description:
    'Safe for mail of any sender: scripts, forms, frames and remote content are removed, links open in a new window ' +
    'without a referrer, `cid:` images have signed addresses that are valid for an hour. For an email without HTML, the ' +
    'text in the same form. With `Accept: text/html`, as a frame of a page sends it, the response is a document without ' +
    'scripts, sandboxed by its own Content-Security-Policy, that only pages of this service can frame.',
  account: OF_EMAIL,
});

export function registerSafeHtmlRoutes(app: HttpServer, { perform }: HttpContext<EmailDeps>): void {
  app.get(
    getSafeHtml.path,
    {
      schema: {
        ...schemaOfOperation(getSafeHtml),
        params: EmailParams,
        querystring: SafeHtmlQuery,
        response: {
          200: {
            description: 'The HTML.',
            content: {
              'application/json': { schema: SafeHtmlSchema },
              'text/html': { schema: { type: 'string' } },
            },
          },
          ...errorResponses(
            'invalid_uuid',
            'invalid_request',
            'invalid_credentials',
            'email_not_found',
            'database_unavailable',
            'reading_unavailable',
          ),
        },
      },
    },
    async (request, reply) => {
      const { remote, theme = 'auto' } = request.query;
      const id = request.params.id.toLowerCase();
      const allowRemote = remote === 'allow';
      const isDocument = wantsDocument(request);
      const document = isDocument ? { scheme: theme } : null;
      const safe = await perform(request, getSafeHtml, { id }, (_, emails, caller) =>
        emails.readSafeHtml(id, { allowRemote, document, authorKeyId: keyIdOf(caller) }),
      );
      return isDocument
        ? sendMailDocument(request, reply, safe, { allowRemote, theme })
        : toSafeHtmlJson(safe);
    },
  );
}

function toSafeHtmlJson(safe: SafeHtmlView): XStatic<typeof SafeHtmlSchema> {
  return {
    html_safe: safe.html,
    made_from: safe.madeFrom,
    removed: safe.removed,
    deceptive_links: safe.deceptiveLinks,
    cut: safe.isCut,
    images: safe.images.map(({ attachmentId, contentId, url }) => ({
      attachment_id: attachmentId,
      content_id: contentId,
      url,
    })),
    images_expire_at: safe.imagesExpireAt.toISOString(),
    image_proxy: safe.hasImageProxy,
  };
}
