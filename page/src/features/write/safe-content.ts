/** The parts of foreign HTML that can be shown without running or loading anything, as nodes of a document. */
import { withoutStyles } from './pasted-styles.ts';

/** Elements that keep their meaning; of all others the content is shown. */
const SHOWN =
  /^(?:a|abbr|address|b|big|blockquote|br|caption|center|code|col|colgroup|dd|div|dl|dt|em|font|h[1-6]|hr|i|li|ol|p|pre|s|small|span|strike|strong|sub|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul)$/;
/** These have no content for readers. */
const LEFT_OUT =
  'script, style, title, template, noscript, iframe, object, embed, svg, math, audio, video, select, textarea';
const ATTRIBUTES =
  /^(?:align|bgcolor|border|cellpadding|cellspacing|color|colspan|dir|face|height|lang|rowspan|size|start|valign|width)$/;
const DATA_IMAGE = /^data:image\/(?:png|jpe?g|gif|webp);/i;

/** True if the HTML sets colours, or has images: it was written for a light background. */
export const isLaidOut = (html: string): boolean =>
  /\sstyle\s*=\s*["'](?:[^"']*[;:\s])?(?:color|background(?:-color|-image)?)\s*:|\sbgcolor\s*=|\scolor\s*=|<img\s/i.test(
    html,
  );

/** @param imageName stands for an image that has no words of its own and is not loaded */
export function safeContent(html: string, target: Document, imageName: string): DocumentFragment {
  const { body } = new DOMParser().parseFromString(withoutStyles(html), 'text/html');
  for (const element of body.querySelectorAll(LEFT_OUT)) element.remove();
  const fragment = target.createDocumentFragment();
  for (const child of body.childNodes) fragment.append(...copies(child, target, imageName));
  return fragment;
}

function copies(node: Node, target: Document, imageName: string): readonly Node[] {
  if (node.nodeType === Node.TEXT_NODE) return [target.createTextNode(node.nodeValue ?? '')];
  if (!(node instanceof HTMLElement)) return [];
  const inner = [...node.childNodes].flatMap((child) => copies(child, target, imageName));
  if (node.localName === 'img') return [imageOf(node, target, imageName)];
  if (!SHOWN.test(node.localName)) return inner;
  const copy = target.createElement(node.localName);
  for (const { name, value } of node.attributes) if (ATTRIBUTES.test(name)) copy.setAttribute(name, value);
  takeStyle(copy, node);
  // It leads nowhere here, but looks like a link.
  if (node.localName === 'a' && node.hasAttribute('href')) {
    copy.style.color ||= 'LinkText';
    copy.style.textDecoration ||= 'underline';
  }
  copy.append(...inner);
  return [copy];
}

function imageOf(image: HTMLElement, target: Document, imageName: string): HTMLElement {
  const source = image.getAttribute('src') ?? '';
  const words = (image.getAttribute('alt') ?? '').trim();
  if (DATA_IMAGE.test(source)) {
    const copy = target.createElement('img');
    copy.alt = words;
    for (const name of ['width', 'height'] as const) {
      const value = image.getAttribute(name);
      if (value !== null) copy.setAttribute(name, value);
    }
    takeStyle(copy, image);
    copy.style.maxWidth = '100%';
    copy.src = source;
    return copy;
  }
  const place = target.createElement('span');
  place.textContent = words === '' ? imageName : words;
  place.style.cssText = 'padding: 0 6px; border: 1px dashed GrayText; border-radius: 4px';
  return place;
}

/**
 * Without what loads anything. A property of one's own keeps its text, in which `url` may be written with escapes. `withoutStyles` has renamed
 * the attribute.
 */
function takeStyle(copy: HTMLElement, node: HTMLElement): void {
  copy.style.cssText = node.dataset['style'] ?? '';
  // A copy, since the list gets shorter.
  for (const property of Array.from(copy.style))
    if (property.startsWith('--') || /url\(/i.test(copy.style.getPropertyValue(property)))
      copy.style.removeProperty(property);
}
