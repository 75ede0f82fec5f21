/** The readings `safeHtml` and `forwardHtml`. */
import { HtmlLimitError } from '../../core/html/parse-html.ts';
import { sanitizeHtml } from '../../core/html/sanitize-html.ts';
import { withoutActive } from '../../core/html/without-active.ts';
import type { Readings } from './reading-ports.ts';

export const readSafeHtml = ({
  html,
  ...options
}: Readings['safeHtml']['asked']): Readings['safeHtml']['given'] =>
  withinLimits(() => sanitizeHtml(html, options));

export const readForwardHtml = ({
  html,
}: Readings['forwardHtml']['asked']): Readings['forwardHtml']['given'] =>
  withinLimits(() => withoutActive(html));

/** null when a limit is exceeded. */
function withinLimits<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof HtmlLimitError) return null;
    throw error;
  }
}
