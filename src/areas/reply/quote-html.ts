/** The HTML of an email as an answer quotes it, made safe, or as a forward sends it on; with the images that either includes. */
import type { ForwardHtml } from '../../core/html/without-active.ts';
import { contentIdsIn, isContentId } from '../../core/mime/text/content-ids.ts';
import type { AttachmentView, EmailDetail } from '../emails/email-ports.ts';
import type { MakeSafeHtml } from '../emails/make-safe-html.ts';
import type { SendAttachment } from '../send/take-references.ts';

/** Images that a reply includes, in bytes together: logos and screenshots, but not a photograph with each answer. */
const MAX_REPLY_IMAGE_BYTES = 1024 * 1024;
const MAX_REPLY_IMAGES = 20;

/** The types that mail programs show within HTML; any other is a file. */
const RASTER = /^image\/(?:png|jpe?g|gif|webp|bmp)$/i;

/** A Content-ID that no other file of the email has. */
type NewContentIds = ReadonlyMap<AttachmentView, string>;

export interface QuotedHtml {
  readonly html: string;
  /** The files of the email that the HTML shows, by their new Content-IDs. */
  readonly images: NewContentIds;
  /** Where a forward begins in it, which is as it was; null: it is made safe. */
  readonly start: number | null;
}

/** Room for images that the caller did not attach. */
interface Room {
  readonly files: number;
  readonly bytes: number;
}

/**
 * null when only the text can be quoted. An image that is not in `images` leaves its alternative text, and so does one
 * that would be fetched from elsewhere: an answer must not reveal to a stranger that it is read.
 *
 * @param candidates see imagesOfReply, imagesOfForward
 * @param isForward the email is sent on as it was: its recipient decides what is fetched
 */
export async function quoteHtml(
  makeSafe: MakeSafeHtml,
  email: EmailDetail,
  candidates: readonly AttachmentView[],
  authorKeyId: string | null | undefined,
  isForward = false,
): Promise<QuotedHtml | null> {
  const ids = new Map(candidates.map((image) => [image, `quoted-${image.id}`]));
  const byContentId = new Map<string, string>();
  for (const [{ contentId }, id] of ids) {
    // If several share one, the first.
    if (contentId !== null && !byContentId.has(contentId)) byContentId.set(contentId, `cid:${id}`);
  }
  const safe = await makeSafe(email, {
    allowRemote: isForward,
    images: byContentId,
    isQuote: !isForward,
    authorKeyId: authorKeyId ?? null,
  });
  if (safe === null || safe.isCut) return null;
  const shown = contentIdsIn(safe.html);
  return { html: safe.html, images: new Map([...ids].filter(([, id]) => shown.has(id))), start: null };
}

/**
 * The HTML of an email as it was, for a forward: without what runs, and with the Content-IDs of its images, unless one is another
 * file's, or can't be sent. null when only a safe form, or the text, can be sent.
 *
 * @param taken Content-IDs of files that the forward has besides
 */
export async function forwardedHtml(
  { toForward }: QuotePorts,
  { htmlBody }: EmailDetail,
  candidates: readonly AttachmentView[],
  taken: readonly string[],
  authorKeyId: string | null | undefined,
): Promise<QuotedHtml | null> {
  if (htmlBody === null || htmlBody.trim() === '') return null;
  const forwarded = await toForward(htmlBody, authorKeyId);
  if (forwarded === null) return null;
  let head = forwarded.html.slice(0, forwarded.start);
  let rest = forwarded.html.slice(forwarded.start);
  // RFC 2392; senders often write another case.
  const shown = new Set([...contentIdsIn(forwarded.html)].map((id) => id.toLowerCase()));
  const others = new Set(taken.map((id) => id.toLowerCase()));
  const sent = new Map<string, string>();
  const images = new Map<AttachmentView, string>();
  for (const image of candidates) {
    const written = image.contentId ?? '';
    const id = written.toLowerCase();
    // If several share one, the first.
    if (!shown.has(id) || sent.has(id)) continue;
    const isKept = isContentId(written) && !others.has(id);
    const given = isKept ? written : `quoted-${image.id}`;
    sent.set(id, given);
    images.set(image, given);
    if (isKept) continue;
    head = head.replaceAll(`cid:${written}`, () => `cid:${given}`);
    rest = rest.replaceAll(`cid:${written}`, () => `cid:${given}`);
  }
  return { html: head + rest, images, start: head.length };
}

const isImage = ({ contentId, contentType }: AttachmentView) =>
  contentId !== null && RASTER.test(contentType);

/** Styles by which HTML may hide something. */
const HIDES = /hidden|display\s*:\s*none|opacity|(?:height|width|font(?:-size)?)\s*:\s*0/i;

/**
 * The text of the email for an answer: without what its HTML shows to no reader, where the text was made of that HTML. Senders put lines
 * for lists of mail there, and others put words that a customer should get from us.
 *
 * @param quoted the HTML of the quote, where there is one already
 */
export async function quotedText(
  { makeSafe, toText }: QuotePorts,
  email: EmailDetail,
  quoted: QuotedHtml | null,
  authorKeyId: string | null | undefined,
): Promise<string> {
  const { htmlBody, textBody } = email;
  if (htmlBody === null || !HIDES.test(htmlBody)) return textBody;
  const whole = await toText(htmlBody, authorKeyId);
  if (whole.trim() !== textBody.trim()) return textBody;
  const shown = quoted ?? (await quoteHtml(makeSafe, email, [], authorKeyId));
  return shown === null ? textBody : toText(shown.html, authorKeyId);
}

export interface QuotePorts {
  readonly makeSafe: MakeSafeHtml;
  /** See withoutActive; null for HTML that can't be read within its limits. */
  readonly toForward: (html: string, authorKeyId: string | null | undefined) => Promise<ForwardHtml | null>;
  /** The text of HTML. */
  readonly toText: (html: string, authorKeyId: string | null | undefined) => Promise<string>;
}

/** A forward includes all of them anyway. */
export const imagesOfForward = (email: EmailDetail): readonly AttachmentView[] =>
  email.attachments.filter(isImage);

/** Small images; the others leave their alternative text. */
export function imagesOfReply(email: EmailDetail, room: Room): readonly AttachmentView[] {
  let bytes = Math.min(room.bytes, MAX_REPLY_IMAGE_BYTES);
  let count = Math.min(room.files, MAX_REPLY_IMAGES);
  return email.attachments.filter((file) => {
    if (!file.inline || !isImage(file) || count <= 0 || file.sizeBytes > bytes) return false;
    bytes -= file.sizeBytes;
    count -= 1;
    return true;
  });
}

/** A file of the email, with its new Content-ID if the quote shows it. */
export function takenAlong(file: AttachmentView, images: NewContentIds): SendAttachment {
  const contentId = images.get(file);
  return {
    filename: null,
    contentType: null,
    content: { kind: 'attachment', id: file.id },
    ...(contentId === undefined ? {} : { contentId }),
  };
}
