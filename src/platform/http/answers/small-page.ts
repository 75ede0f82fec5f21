/** A page of one title and one sentence, for people who follow a link and have no secret. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeUTF8 } from 'entities';

export type PageLanguage = 'de' | 'en';

const PAGE_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export interface SmallPage {
  readonly language: PageLanguage;
  readonly title: string;
  readonly text: string;
  /** HTML; may be empty. */
  readonly form: string;
}

export function sendSmallPage(
  reply: FastifyReply,
  status: number,
  { language, title, text, form }: SmallPage,
): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', PAGE_CSP)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('x-robots-tag', 'noindex')
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept-language')
    .send(
      `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeUTF8(title)}</title>
<style>
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem; overflow-wrap: anywhere }
  button { font: inherit; padding: 0.5rem 1.5rem }
</style>
<main>
<h1>${escapeUTF8(title)}</h1>
<p>${escapeUTF8(text)}</p>
${form}
</main>
</html>
`,
    );
}

/** RFC 9110 §12.5.4, without weights: the first language that we have; German without the header, else English. */
export function languageOf({ headers }: FastifyRequest): PageLanguage {
  const header = headers['accept-language'];
  if (header === undefined) return 'de';
  const known = header.split(',').map((part) => part.trim().slice(0, 2).toLowerCase());
  return known.find((language): language is PageLanguage => language === 'de' || language === 'en') ?? 'en';
}
