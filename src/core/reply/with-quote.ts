/** Puts a quote, or a forwarded email, below a person's text. */
import { escapeText } from 'entities';
import type { Forward, Quote } from './quote.ts';

export interface Written {
  readonly textBody: string | null;
  readonly htmlBody: string | null;
}

/** Adds the quote to each form that the person wrote; without any, the quote is sent in the forms of the email. */
export function withQuote(
  { textBody, htmlBody }: Written,
  quote: Pick<Quote, 'text' | 'html' | 'isHtml'>,
): Written {
  if (textBody === null && htmlBody === null) {
    return { textBody: `${quote.text}\n`, htmlBody: quote.isHtml ? quote.html : null };
  }
  return {
    textBody: textBody === null ? null : `${textBody.trimEnd()}\n\n${quote.text}\n`,
    htmlBody: htmlBody === null ? null : appendHtml(htmlBody, `<br>${quote.html}`),
  };
}

/**
 * Puts what a person wrote, and the header block, before the email, in the forms of both.
 *
 * @param html the email's; `start` is the place for what comes before it, null where the HTML is a part of a body
 */
export function withForward(
  { textBody, htmlBody }: Written,
  forward: Forward,
  html: { readonly html: string; readonly start: number | null } | null,
): Written {
  const end = forward.text.endsWith('\n') ? '' : '\n';
  const text = `${textBody === null ? '' : `${textBody.trimEnd()}\n\n`}${forward.text}${end}`;
  return {
    textBody: textBody === null && htmlBody !== null ? null : text,
    htmlBody:
      html === null && htmlBody === null ? null : forwardedHtml({ textBody, htmlBody }, forward, html),
  };
}

function forwardedHtml(
  { textBody, htmlBody }: Written,
  forward: Forward,
  html: { readonly html: string; readonly start: number | null } | null,
): string {
  const asHtml =
    textBody === null ? null : `<div style="white-space:pre-wrap">${escapeText(textBody.trimEnd())}</div>`;
  const words = htmlBody ?? asHtml;
  const { start = null } = html ?? {};
  if (html !== null && start !== null) {
    const before = words === null ? forward.head : `${words}<br>${forward.head}`;
    return html.html.slice(0, start) + before + html.html.slice(start);
  }
  const email = `${forward.head}${html === null ? forward.textHtml : `<div>${html.html}</div>`}`;
  return words === null ? email : appendHtml(words, `<br>${email}`);
}

/** Appends within the body of a whole document, else at the end. */
export function appendHtml(html: string, addition: string): string {
  // Only the end is searched: the tag is there, and the search costs little however long the HTML is.
  const from = Math.max(0, html.length - 2000);
  const at = html.slice(from).search(/<\/(?:body|html)\s*>/i);
  const end = at === -1 ? html.length : from + at;
  return html.slice(0, end) + addition + html.slice(end);
}
