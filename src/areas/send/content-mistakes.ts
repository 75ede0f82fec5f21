/** The mistakes in the fields of a send that reading them reveals: nothing is looked up, and nothing is composed. */
import { parseAddressList } from '../../core/address/address-list.ts';
import type { Mistakes } from '../../core/mistakes.ts';
import { parseContentType } from '../../core/mime/compose/content-type.ts';
import { readContentId } from '../../core/mime/text/content-ids.ts';
import { refuseLongSubject } from './fill-in.ts';
import { noteAdditions, parseFrom, readInReplyTo } from './read-additions.ts';
import type { SendRequest } from './use-cases.ts';

type Fields = Pick<
  SendRequest,
  | 'to'
  | 'cc'
  | 'bcc'
  | 'subject'
  | 'inReplyTo'
  | 'from'
  | 'replyTo'
  | 'fromName'
  | 'headers'
  | 'tags'
  | 'metadata'
  | 'attachments'
>;

/** Of lists of addresses: a refusal must not cost what a send with so many would. Some 3,000 addresses. */
const MAX_SEARCHED_CHARS = 100_000;

/** undefined: a field that could not be read. */
type Read = { readonly [Field in keyof Fields]: Fields[Field] | undefined };

/** For a send that is refused anyway, so that its answer lists them, too. */
export function noteContentMistakes(read: Read, mistakes: Mistakes): void {
  let left = MAX_SEARCHED_CHARS;
  for (const field of ['to', 'cc', 'bcc'] as const) {
    for (const text of read[field] ?? []) {
      left -= text.length;
      if (left >= 0) parseAddressList(text, field, mistakes.note);
    }
  }
  const { subject = '', inReplyTo = null, replyTo = [], fromName = null } = read;
  const { headers = {}, tags = [], metadata = {} } = read;
  mistakes.check(() => refuseLongSubject({ subject }));
  mistakes.check(() => readInReplyTo(inReplyTo));
  mistakes.check(() => parseFrom(read.from ?? null));
  noteAdditions({ subject, replyTo, fromName, headers, tags, metadata }, mistakes);
  for (const [index, file] of (read.attachments ?? []).entries()) noteOfFile(file, index, mistakes);
}

function noteOfFile(
  file: SendRequest['attachments'][number] | undefined,
  index: number,
  mistakes: Mistakes,
): void {
  const { contentType = null, contentId = null } = file ?? {};
  const path = `attachments[${index}]`;
  if (typeof contentType === 'string')
    mistakes.check(() => parseContentType(contentType, `${path}.content_type`));
  if (typeof contentId === 'string') mistakes.check(() => readContentId(contentId, `${path}.content_id`));
}
