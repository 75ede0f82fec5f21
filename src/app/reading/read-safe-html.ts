/** The reading `safeHtml`. */
import { HtmlLimitError } from '../../core/html/parse-html.ts';
import { sanitizeHtml } from '../../core/html/sanitize-html.ts';
import type { Readings } from './reading-ports.ts';

export function readSafeHtml({
  html,
  ...options
}: Readings['safeHtml']['asked']): Readings['safeHtml']['given'] {
  try {
    return sanitizeHtml(html, options);
  } catch (error) {
    if (error instanceof HtmlLimitError) return null;
    throw error;
  }
}
