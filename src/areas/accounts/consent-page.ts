/**
 * /oauth2/callback, to which a provider sends the owner of a mailbox back. The state in its query, which only the provider and that browser
 * have, stands for a secret; it is good for one request.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WindowCounts } from '../../core/edge/window-counts.ts';
import { ServiceError } from '../../core/errors.ts';
import { CONSENT_TEXTS } from '../../core/texts.ts';
import { RETRY_AFTER_SECONDS } from '../../platform/http/answers/error-handler.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { languageOf, sendSmallPage, type PageLanguage } from '../../platform/http/answers/small-page.ts';
import { clientAddressOf } from '../../platform/http/connections/client-address.ts';
import { CONSENT_PATH, type AccountConsents } from './account-consents.ts';

const WINDOW_MS = 60_000;
/** Requests with an unknown state from one client in a minute; further ones are refused, whatever their state. */
const MAX_UNKNOWN = 50;
/** Some 200 bytes each. */
const MAX_COUNTED = 10_000;

type PageKind = keyof (typeof CONSENT_TEXTS)[PageLanguage];

const STATUS: Readonly<Record<PageKind, number>> = {
  given: 200,
  denied: 200,
  other_address: 403,
  failed: 502,
  changed: 409,
  unknown: 404,
  busy: 429,
  unavailable: 503,
};

export function registerConsentPage(
  app: HttpServer,
  { logger }: HttpContext,
  consents: Pick<AccountConsents, 'answer'>,
): void {
  const unknown = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_COUNTED });

  // No HEAD: it would use up the link, and show nothing.
  app.get(CONSENT_PATH, { schema: { hide: true }, exposeHeadRoute: false }, async (request, reply) => {
    const address = clientAddressOf(request);
    // Without the database, and without using up a link that may be good.
    if (unknown.count(address, performance.now()) >= MAX_UNKNOWN) return show(request, reply, 'busy');
    // As it came: a parameter that is given twice is refused with the others.
    const query = new URLSearchParams(request.url.slice(CONSENT_PATH.length));
    let answered: Awaited<ReturnType<typeof consents.answer>>;
    try {
      answered = await consents.answer(query);
    } catch (err) {
      if (!(err instanceof ServiceError) || !err.temporary) throw err;
      logger.warn({ err, requestId: request.id }, 'a consent could not be stored');
      return show(request, reply, 'unavailable');
    }
    const { outcome, accountId, returnUrl } = answered;
    if (accountId === null) {
      unknown.add(address, performance.now());
      return show(request, reply, 'unknown');
    }
    if (returnUrl === null) return show(request, reply, outcome);
    const target = new URL(returnUrl);
    target.searchParams.set('account_id', accountId);
    target.searchParams.set('consent', outcome);
    return reply
      .code(303)
      .header('location', target.href)
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .send();
  });
}

function show(request: FastifyRequest, reply: FastifyReply, kind: PageKind): FastifyReply {
  const language = languageOf(request);
  const [title, text] = CONSENT_TEXTS[language][kind];
  if (kind === 'busy' || kind === 'unavailable') reply.header('retry-after', String(RETRY_AFTER_SECONDS));
  return sendSmallPage(reply, STATUS[kind], { language, title, text, form: '' });
}
