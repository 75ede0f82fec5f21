/**
 * /unsubscribe/{token}, for recipients and their mail programs, without a secret. GET shows a page and changes nothing, as link
 * scanners follow every link. POST with `List-Unsubscribe=One-Click` unsubscribes at once (RFC 8058 §3.2); the button of
 * the page sends the same.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TokenView, UnsubscribeUseCases } from './use-cases.ts';
import { ServiceError } from '../../core/errors.ts';
import { UNSUBSCRIBE_BUTTON, UNSUBSCRIBE_TEXTS } from '../../core/texts.ts';
import { WindowCounts } from '../../core/edge/window-counts.ts';
import { RETRY_AFTER_SECONDS } from '../../platform/http/answers/error-handler.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { languageOf, sendSmallPage, type PageLanguage } from '../../platform/http/answers/small-page.ts';
import { readRequestBody } from '../../platform/http/body/request-body.ts';
import { clientAddressOf } from '../../platform/http/connections/client-address.ts';

/** One form field, also as multipart/form-data. */
const MAX_BODY_BYTES = 4096;
const WINDOW_MS = 60_000;
/** Invalid tokens from one client in a minute. Valid ones are not counted by client: large providers post for all their users. */
const MAX_BAD_TOKENS = 50;
/** Requests with one token in a minute: a person reloads, a provider repeats failed requests. */
const MAX_OF_TOKEN = 20;
/** Some 200 bytes each. */
const MAX_COUNTED = 10_000;

type PageKind = keyof (typeof UNSUBSCRIBE_TEXTS)[PageLanguage];

const STATUS: Readonly<Record<PageKind, number>> = {
  ask: 200,
  done: 200,
  unknown: 404,
  bad_request: 400,
  busy: 429,
  unavailable: 503,
};

const TokenParams = {
  type: 'object',
  required: ['token'],
  properties: { token: { type: 'string' } },
} as const;

export function registerUnsubscribePage(
  app: HttpServer,
  { limits, logger }: HttpContext,
  unsubscribing: Pick<UnsubscribeUseCases, 'readUnsubscribeToken' | 'unsubscribe'>,
): void {
  const badTokens = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_COUNTED });
  const ofToken = new WindowCounts({ windowMs: WINDOW_MS, maxKeys: MAX_COUNTED });
  const schema = { hide: true, params: TokenParams };

  /** @param find returns null for an invalid token */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    token: string,
    kind: 'ask' | 'done',
    find: (token: string) => Promise<TokenView | null>,
  ): Promise<FastifyReply> {
    const now = performance.now();
    const key = createHash('sha256').update(token).digest('base64url');
    if (ofToken.add(key, now).count > MAX_OF_TOKEN) return show(request, reply, 'busy');
    let view: TokenView | null;
    try {
      view = await find(token);
    } catch (err) {
      if (!(err instanceof ServiceError) || !err.temporary) throw err;
      logger.warn({ err, requestId: request.id }, 'a recipient could not be unsubscribed');
      return show(request, reply, 'unavailable');
    }
    if (view !== null) return show(request, reply, kind, view);
    const isGuessing = badTokens.add(clientAddressOf(request), now).count > MAX_BAD_TOKENS;
    return show(request, reply, isGuessing ? 'busy' : 'unknown');
  }

  app.get('/unsubscribe/:token', { schema }, (request, reply) =>
    answer(request, reply, request.params.token, 'ask', (token) => unsubscribing.readUnsubscribeToken(token)),
  );

  app.post('/unsubscribe/:token', { schema }, async (request, reply) => {
    const pieces: Buffer[] = [];
    const body = readRequestBody(request.raw, {
      maxBytes: MAX_BODY_BYTES,
      idleTimeoutMs: limits.bodyIdleTimeoutMs,
      onSize: () => undefined,
    });
    for await (const piece of body) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('latin1');
    if (!asksForIt(text)) return show(request, reply, 'bad_request');
    return answer(request, reply, request.params.token, 'done', (token) => unsubscribing.unsubscribe(token));
  });
}

/** RFC 8058 §3.2: application/x-www-form-urlencoded or multipart/form-data, whatever the Content-Type. */
function asksForIt(body: string): boolean {
  return (
    new URLSearchParams(body).get('List-Unsubscribe') === 'One-Click' ||
    // Input: at most 4,096 characters, MAX_BODY_BYTES.
    /\bname="?List-Unsubscribe"?[^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\nOne-Click\r\n/.test(body)
  );
}

function show(request: FastifyRequest, reply: FastifyReply, kind: PageKind, view?: TokenView): FastifyReply {
  const language = languageOf(request);
  const [title, text] = UNSUBSCRIBE_TEXTS[language][kind];
  const { list = '', address = '' } = view ?? {};
  const words = text.replace(/\{(list|address)\}/g, (_, name) => (name === 'list' ? list : address));
  if (kind === 'busy' || kind === 'unavailable') reply.header('retry-after', String(RETRY_AFTER_SECONDS));
  return sendSmallPage(reply, STATUS[kind], {
    language,
    title,
    text: words,
    form:
      kind === 'ask'
        ? `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${UNSUBSCRIBE_BUTTON[language]}</button></form>`
        : '',
  });
}
