/**
 * An email as a document of its own, for a frame of the page. It runs nothing, whatever it contains: the HTML was made safe, the document's
 * policy allows no script, and it is sandboxed, and each of these suffices alone. docs/decisions/0034-mail-frame.md explains why the frame
 * keeps its origin.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeUTF8 } from 'entities';
import { setsColours } from '../../core/html/sets-colours.ts';
import type { SafeHtmlView } from './safe-html-view.ts';

export const MAIL_THEMES = ['auto', 'light', 'dark'] as const;
export type MailTheme = (typeof MAIL_THEMES)[number];

export interface MailDocumentOptions {
  readonly allowRemote: boolean;
  readonly theme: MailTheme;
}

const COLOUR_SCHEMES: Readonly<Record<MailTheme, string>> = {
  auto: 'light dark',
  light: 'light',
  dark: 'dark',
};

/** As much of RFC 9110 §12.5.1 as is needed here: browsers name it first when they navigate, and programs do not. */
export const wantsDocument = ({ headers }: FastifyRequest): boolean =>
  /^\s*text\/html\s*(?:[,;]|$)/i.test(headers.accept ?? '');

export function sendMailDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  safe: SafeHtmlView,
  { allowRemote, theme }: MailDocumentOptions,
): FastifyReply {
  // Mail that sets no colours is text on a background of the reader's choice; all other mail was written for a light one.
  const isLaidOut = safe.madeFrom === 'html' && setsColours(safe.html, safe.sheet);
  const scheme = isLaidOut ? 'light' : COLOUR_SCHEMES[theme];
  const look = { theme, isLaidOut, scheme, ground: safe.ground };
  return reply
    .header('content-security-policy', policy(request, allowRemote && !safe.hasImageProxy))
    .header('vary', 'accept, sec-fetch-dest')
    .type('text/html; charset=utf-8')
    .send(toDocument(safe, look));
}

/**
 * No script at all. Links open in windows outside the sandbox. In a frame of our page the document keeps our origin, so that only the page
 * can measure and search it; opened by itself it has no origin.
 */
function policy({ headers }: FastifyRequest, browserLoadsRemote: boolean): string {
  const isAlone = headers['sec-fetch-dest'] === 'document';
  return [
    `sandbox allow-popups allow-popups-to-escape-sandbox${isAlone ? '' : ' allow-same-origin'}`,
    "default-src 'none'",
    `img-src 'self' data:${browserLoadsRemote ? ' https: http:' : ''}`,
    // Mail is styled with attributes, and with one sheet.
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}

interface Look {
  readonly theme: MailTheme;
  /** The mail sets colours, so it was laid out with the lines of a browser. */
  readonly isLaidOut: boolean;
  readonly scheme: string;
  readonly ground: string | null;
}

/**
 * On a dark page, mail that was written for a light background gets a light sheet, with a margin between its text and the edge, in the
 * colour of the mail. All other mail has the background of the page, and lines up with its surroundings.
 */
function sheet({ scheme, theme, ground }: Look): string {
  const padding = 'body { padding: 16px } @media (max-width: 400px) { body { padding: 8px } }';
  if (scheme !== 'light' || theme === 'light') return '';
  const color = ground === null ? '' : ` :root { background: ${escapeUTF8(ground)} }`;
  return theme === 'dark' ? padding + color : `@media (prefers-color-scheme: dark) { ${padding} }`;
}

/**
 * Shown before the words of a link that display another site than the one it leads to: the true host, which the sanitizer has read from the
 * address (it removes a sender's own attributes of that name). In front of the words it can't be hidden by anything that hides the end of a
 * line. The mail can style it only by inheritance, and it inherits nothing. In a layer, `!important` counts for more than in the mail's sheet.
 */
const marked = (scheme: string): string => `@layer guard { a[data-link-host] {
  display: inline !important; overflow: visible !important; opacity: 1 !important;
  width: auto !important; height: auto !important; max-width: none !important; max-height: none !important;
  visibility: visible !important; mix-blend-mode: normal !important; text-indent: 0 !important; float: none !important;
} }
a[data-link-host]::before {
  all: initial; content: "[" attr(data-link-host) "]"; color-scheme: ${scheme};
  margin-inline-end: .4em; padding: 0 .3em; border-radius: 3px;
  background: light-dark(#fdeeed, #33191a); color: light-dark(#b3261e, #ff9c94);
  font: 600 13px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; direction: ltr; unicode-bidi: isolate;
}`;

/** Few lines of style: the mail's own styles take precedence over most of it. */
const toDocument = ({ html, sheet: own }: SafeHtmlView, look: Look): string =>
  `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${escapeUTF8(look.scheme)}">
<title>HTML</title>
<style>
:root { color-scheme: ${look.scheme};${look.scheme === 'light' ? ' background: Canvas;' : ''} color: CanvasText }
@media print { :root { color-scheme: light } }
html, body { margin: 0; padding: 0 }
body { font: 14px/${look.isLaidOut ? 'normal' : '1.5'} system-ui, sans-serif; overflow-wrap: break-word }
img { max-width: 100% }
blockquote { margin: 0 0 0 .5em; padding-left: .75em; border-left: 2px solid GrayText }
pre { white-space: pre-wrap; overflow-x: auto }
${sheet(look)}
${marked(look.scheme)}
</style>
<style>${own}</style>
</head>
<body>${html}</body>
</html>
`;
