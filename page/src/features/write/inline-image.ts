/**
 * Images in the text of a message. The HTML names each by its Content-ID (RFC 2392), and the file goes along with the draft; while it
 * is written the editor shows the file itself, at once.
 */
import { Node } from '@tiptap/core';

/** Files that every mail program shows within a text. */
export const SHOWN_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);
/** As wide as a column of mail; a wider one would have to be scrolled in many programs. */
const MAX_WIDTH_PX = 600;
/** Of files that the writer put into a text, and may take out of it again. */
const OWN_PREFIX = 'written-';
const CID = /^cid:/i;

export const isShown = ({ type }: Blob): boolean => SHOWN_TYPES.has(type);

export const newContentId = (): string => `${OWN_PREFIX}${crypto.randomUUID()}`;

/** The Content-IDs that HTML shows; null is no HTML. */
export function contentIdsIn(html: string | null): ReadonlySet<string> {
  const ids = [...(html ?? '').matchAll(/\bcid:([^"'\s<>)]+)/gi)].map(([, id = '']) => id);
  return new Set(ids);
}

/** Where a file of a draft is seen: in the text, beside it, or nowhere, since the writer took it out of the text. */
export function placeOf(contentId: string | null, html: string | null): 'text' | 'list' | 'dropped' {
  if (contentId === null || html === null) return 'list';
  if (contentIdsIn(html).has(contentId)) return 'text';
  return contentId.startsWith(OWN_PREFIX) ? 'dropped' : 'list';
}

/** By Content-ID, where the browser finds what it shows. */
export type ImageSources = Map<string, string>;

/** Of what a draft or the clipboard has, or `adoptImages` has named. */
const contentIdOf = (image: HTMLElement): string | null => {
  const src = image.getAttribute('src') ?? '';
  return image.dataset['contentId'] ?? (CID.test(src) ? src.replace(CID, '') : null);
};

export const inlineImage = (sources: ImageSources) =>
  Node.create({
    name: 'image',
    group: 'inline',
    inline: true,
    atom: true,
    draggable: true,
    addAttributes: () => ({
      contentId: { default: '', parseHTML: contentIdOf, rendered: false },
      alt: { default: '', parseHTML: (image: HTMLElement) => image.getAttribute('alt') ?? '' },
      width: {
        default: null,
        parseHTML: (image: HTMLElement) => Number(image.getAttribute('width')) || null,
      },
    }),
    parseHTML: () => [
      {
        tag: 'img',
        getAttrs: (image: HTMLElement) => (contentIdOf(image) === null ? false : null),
      },
    ],
    // Not `cid:`, which the browser would ask the Content-Security-Policy about where this is put into the page.
    renderHTML: ({ node, HTMLAttributes }) => [
      'img',
      { 'data-content-id': String(node.attrs['contentId']), ...HTMLAttributes },
    ],
    addNodeView:
      () =>
      ({ node, view, getPos }) => {
        const image = document.createElement('img');
        image.className = 'writer-image';
        image.alt = String(node.attrs['alt']);
        const { contentId, width } = node.attrs as {
          readonly contentId: string;
          readonly width: number | null;
        };
        if (width !== null) image.width = width;
        else
          image.addEventListener('load', () => {
            const at = getPos();
            if (at === undefined || view.isDestroyed) return;
            const attrs = { ...node.attrs, width: Math.min(image.naturalWidth, MAX_WIDTH_PX) };
            // No step of what a person wrote.
            view.dispatch(view.state.tr.setNodeMarkup(at, null, attrs).setMeta('addToHistory', false));
          });
        const source = sources.get(contentId);
        if (source !== undefined) image.src = source;
        return { dom: image };
      },
  });

/** Names images as mail does, in HTML that the editor has made. */
export function nameByContentId(box: HTMLElement): void {
  for (const image of box.querySelectorAll<HTMLImageElement>('img[data-content-id]')) {
    image.setAttribute('src', `cid:${image.dataset['contentId'] ?? ''}`);
    delete image.dataset['contentId'];
  }
}

const DATA_URL = /^data:(image\/[a-z]+);base64,([A-Za-z0-9+/=\s]+)$/;

/** The file in a `data:` URL, as other programs put images on the clipboard; null for what can't be shown in mail. */
function fileOf(url: string): File | null {
  const [, type = '', content = ''] = DATA_URL.exec(url) ?? [];
  if (!SHOWN_TYPES.has(type)) return null;
  try {
    const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
    return new File([bytes], `image.${type.slice('image/'.length)}`, { type });
  } catch {
    return null;
  }
}

/**
 * Pasted HTML with the images that it holds itself as files, which `adopt` takes in and gives a Content-ID; `name` is what those are
 * called that have no name. Others are left out: recipients could not see what lies on the writer's machine, and what lies elsewhere would
 * tell when it is read.
 */
export function adoptImages(
  html: string,
  sources: ImageSources,
  name: string,
  adopt: (file: File) => string | null,
): string {
  if (!/<img\b/i.test(html)) return html;
  const { body, images } = new DOMParser().parseFromString(html, 'text/html');
  for (const image of Array.from(images)) {
    const known = contentIdOf(image);
    const file = fileOf(image.getAttribute('src') ?? '');
    const contentId = known !== null && sources.has(known) ? known : file === null ? null : adopt(file);
    if (contentId === null) image.remove();
    else {
      image.removeAttribute('src');
      image.dataset['contentId'] = contentId;
      if (image.alt === '') image.alt = name;
    }
  }
  return body.innerHTML;
}
