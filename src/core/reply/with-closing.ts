/** Puts a signature and a footer below what was written. */
import { escapeText } from 'entities';
import type { ClosingText } from '../accounts/closing.ts';
import { appendHtml, type Written } from './with-quote.ts';

/** RFC 3676 §4.3: the line before a signature; the space at its end belongs to it. */
const SEPARATOR = '-- ';

/** Puts the parts below each form that was written; without any, in both. */
export function withClosing({ textBody, htmlBody }: Written, parts: readonly ClosingText[]): Written {
  if (parts.length === 0) return { textBody, htmlBody };
  const text = `${SEPARATOR}\n${parts.map((part) => part.text.trimEnd()).join('\n\n')}\n`;
  const html = `<div>${SEPARATOR}<br>${parts.map((part) => `<div>${htmlOf(part)}</div>`).join('<br>')}</div>`;
  if (textBody === null && htmlBody === null) return { textBody: text, htmlBody: html };
  return {
    textBody: textBody === null ? null : `${textBody.trimEnd()}\n\n${text}`,
    htmlBody: htmlBody === null ? null : appendHtml(htmlBody, `<br>${html}`),
  };
}

/** The HTML of a part. */
export const htmlOf = ({ text, html }: ClosingText): string =>
  html ?? `<span style="white-space:pre-wrap">${escapeText(text.trimEnd())}</span>`;

/** True if the text has the footer, whatever its line breaks. That of a quoted email does not count. @param footer its text */
export function hasFooter(text: string, footer: string): boolean {
  const sought = squeezed(footer);
  return sought !== '' && squeezed(text).includes(sought);
}

const squeezed = (text: string): string => text.replace(/^>.*$/gm, '').replace(/\s+/g, ' ').trim();
