/** Puts a quote below a person's text. */
import { escapeText } from 'entities';
import type { Quote } from './quote.ts';

export interface Written {
  readonly textBody: string | null;
  readonly htmlBody: string | null;
}

/**
 * Adds the quote to each form that the person wrote; without any, the quote is sent in the forms of the email.
 *
 * @param isForward words in plain text get a form in HTML as well where the email has one
 */
export function withQuote(
  { textBody, htmlBody: given }: Written,
  quote: Pick<Quote, 'text' | 'html' | 'isHtml'>,
  isForward = false,
): Written {
  const isText = given === null && textBody !== null && isForward && quote.isHtml;
  const htmlBody = isText
    ? `<div style="white-space:pre-wrap">${escapeText(textBody.trimEnd())}</div>`
    : given;
  if (textBody === null && htmlBody === null) {
    return { textBody: `${quote.text}\n`, htmlBody: quote.isHtml ? quote.html : null };
  }
  return {
    textBody: textBody === null ? null : `${textBody.trimEnd()}\n\n${quote.text}\n`,
    htmlBody: htmlBody === null ? null : appendHtml(htmlBody, `<br>${quote.html}`),
  };
}

/** Appends within the body of a whole document, else at the end. */
function appendHtml(html: string, addition: string): string {
  // Only the end is searched: the tag is there, and the search costs little however long the HTML is.
  const from = Math.max(0, html.length - 2000);
  const at = html.slice(from).search(/<\/(?:body|html)\s*>/i);
  const end = at === -1 ? html.length : from + at;
  return html.slice(0, end) + addition + html.slice(end);
}
