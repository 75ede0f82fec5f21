/** The box that safe HTML is in, and plain text in one. */

/** Around everything: nothing is drawn beyond it (CSS Containment), whatever is in it. */
export const BOX = 'contain:content;overflow:auto;overflow-wrap:anywhere';
export const BOX_MARK = 'dataEmailBody';
export const BOX_MARK_NAME = 'data-email-body';

/** As safe HTML, line by line as it is. */
export function textAsHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div ${BOX_MARK_NAME}="1" style="${BOX};white-space:pre-wrap">${escaped}</div>`;
}
