/** What is shown of the HTML of an email. */
import type { Removed } from '../../core/html/removed.ts';

export interface SafeHtmlView {
  /** One `div`. */
  readonly html: string;
  /** `text`: the email has no HTML, or it could not be made safe. */
  readonly madeFrom: 'html' | 'text';
  readonly removed: Removed;
  readonly deceptiveLinks: number;
  readonly isCut: boolean;
  readonly images: readonly ShownImage[];
  /** When the addresses of its images end. */
  readonly imagesExpireAt: Date;
}

/** An image of the email, and the address that the HTML has for it. */
export interface ShownImage {
  readonly attachmentId: string;
  readonly contentId: string;
  readonly url: string;
}
