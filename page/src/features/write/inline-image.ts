/**
 * Images in the text of a message. The HTML names each by its Content-ID (RFC 2392), and the file is stored with the draft; during writing
 * the editor shows the local file at once.
 */
import { Node } from '@tiptap/core';

/** File types that every mail program shows within a text. */
export const SHOWN_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);
/** The width of a column of mail; in many programs a wider image would have to be scrolled. */
const MAX_WIDTH_PX = 600;
/** For files that the writer put into a text, and may remove again. */
const OWN_PREFIX = 'written-';
const CID = /^cid:/i;

export const isShown = ({ type }: Blob): boolean => SHOWN_TYPES.has(type);

export const newContentId = (): string => `${OWN_PREFIX}${crypto.randomUUID()}`;

/** The Content-IDs that the HTML shows; null: there is no HTML. */
export function contentIdsIn(html: string | null): ReadonlySet<string> {
  const ids = [...(html ?? '').matchAll(/\bcid:([^"'\s<>)]+)/gi)].map(([, id = '']) => id);
  return new Set(ids);
}

/** The place where a file of a draft is shown: in the text, beside it, or nowhere, since the writer removed it from the text. */
export function placeOf(contentId: string | null, html: string | null): 'text' | 'list' | 'dropped' {
  if (contentId === null || html === null) return 'list';
  if (contentIdsIn(html).has(contentId)) return 'text';
  return contentId.startsWith(OWN_PREFIX) ? 'dropped' : 'list';
}

/** By Content-ID: the address at which the browser finds the image. */
export type ImageSources = Map<string, string>;

/** The Content-ID of an image in a draft or on the clipboard, or the one that `adoptImages` gave it. */
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
    // Without the `cid:` address, which the browser would check against the Content-Security-Policy as soon as this is put into the page.
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
            // Not a step in the writer's undo history.
            view.dispatch(view.state.tr.setNodeMarkup(at, null, attrs).setMeta('addToHistory', false));
          });
        const source = sources.get(contentId);
        if (source !== undefined) image.src = source;
        return { dom: image };
      },
  });

/** Names images as mail does, in HTML that the editor made. */
export function nameByContentId(box: HTMLElement): void {
  for (const image of box.querySelectorAll<HTMLImageElement>('img[data-content-id]')) {
    image.setAttribute('src', `cid:${image.dataset['contentId'] ?? ''}`);
    delete image.dataset['contentId'];
  }
}

const DATA_URL = /^data:(image\/[a-z]+);base64,([A-Za-z0-9+/=\s]+)$/;

/** The file in a `data:` URL, as other programs put images on the clipboard; null for a type that can't be shown in mail. */
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

/** Such an image is no picture: it keeps a distance, or counts readers. */
const isSpacer = (image: HTMLImageElement): boolean =>
  ['width', 'height'].some((side) => /^[01](?:px)?$/.test(image.getAttribute(side) ?? ''));

/**
 * Embedded images of pasted HTML become files, which `adopt` takes in and gives a Content-ID; `name` is the alternative text of those
 * without one. Other images are left out: recipients could not see a file on the writer's machine, and an image on another server would
 * reveal when it is read. Returns the number of pictures that were left out.
 */
export function adoptImages(
  body: HTMLElement,
  sources: ImageSources,
  name: string,
  adopt: (file: File) => string | null,
): number {
  let refused = 0;
  for (const image of body.querySelectorAll('img')) {
    const known = contentIdOf(image);
    const file = fileOf(image.getAttribute('src') ?? '');
    const contentId = known !== null && sources.has(known) ? known : file === null ? null : adopt(file);
    if (contentId === null) {
      if (file === null && !isSpacer(image)) refused += 1;
      image.remove();
    } else {
      image.removeAttribute('src');
      image.dataset['contentId'] = contentId;
      if (image.alt === '') image.alt = name;
    }
  }
  return refused;
}
