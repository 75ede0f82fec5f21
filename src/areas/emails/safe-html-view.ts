/** The view of an email's HTML that a page shows. */
import type { Removed } from '../../core/html/removed.ts';

export interface SafeHtmlView {
  /** One `div`. */
  readonly html: string;
  /** The style sheet of a document, scoped to the `div`; empty without one. */
  readonly sheet: string;
  /** The background of the whole email, such as `#112233`; null: it has none, or a picture. */
  readonly ground: string | null;
  /** `text`: the email has no HTML, or it could not be made safe. */
  readonly madeFrom: 'html' | 'text';
  readonly removed: Removed;
  readonly deceptiveLinks: number;
  readonly isCut: boolean;
  readonly images: readonly ShownImage[];
  /** The time when the addresses of its images expire. */
  readonly imagesExpireAt: Date;
  /** Remote images that are kept have addresses of this service, which fetches them. */
  readonly hasImageProxy: boolean;
}

/** An image of the email, and the address that the HTML uses for it. */
export interface ShownImage {
  readonly attachmentId: string;
  readonly contentId: string;
  readonly url: string;
}
