/** The box around safe HTML, and plain text in such a box. */

/**
 * Styles of the box: nothing is drawn beyond it (CSS Containment), whatever it contains. Words break only where a line has no other room:
 * with `anywhere`, a cell of a table may become one letter wide.
 */
export const BOX = 'contain:content;overflow:auto;overflow-wrap:break-word';
export const BOX_MARK = 'dataEmailBody';
export const BOX_MARK_NAME = 'data-email-body';

/** Plain text as safe HTML, with its line breaks. */
export function textAsHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div ${BOX_MARK_NAME}="1" style="${BOX};white-space:pre-wrap">${escaped}</div>`;
}
