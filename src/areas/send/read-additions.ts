/** Checks a caller's additions to its email besides people, subject and text. */
import { parseAddress, parseAddressList } from '../../core/address/address-list.ts';
import type { Address } from '../../core/address/address.ts';
import { invalidRequest, ServiceError } from '../../core/errors.ts';
import { Mistakes, refuse } from '../../core/mistakes.ts';
import {
  readCustomHeaders,
  type CustomHeader,
  type CustomHeaders,
} from '../../core/message/custom-headers.ts';
import { parseMessageId, type MessageId } from '../../core/message/message-id.ts';
import { formatMetadata, readTags } from '../../core/message/tags.ts';
import { customTokens, textTokens } from '../../core/mime/compose/header.ts';
import { MAX_FROM_NAME_CHARS, MAX_REPLY_TO } from '../../platform/base/limits.ts';
import type { SendRequest } from './use-cases.ts';

export interface Additions {
  readonly replyTo: readonly Address[];
  /** null: the account's own. */
  readonly fromName: string | null;
  /** The header fields for the message. */
  readonly headers: readonly CustomHeader[];
  /** The part that the record keeps. */
  readonly recorded: {
    readonly replyTo: readonly Address[];
    readonly headers: CustomHeaders;
    readonly tags: readonly string[];
    readonly metadata: string | null;
  };
}

type Asked = Pick<SendRequest, 'replyTo' | 'fromName' | 'headers' | 'tags' | 'metadata'>;

/** A send whose other fields may be missing. */
export type UnfinishedSend = Omit<Asked, 'replyTo'> & Pick<SendRequest, 'subject' | 'inReplyTo' | 'from'>;

/** Finds every mistake that a caller can make in them. */
export function readAdditions(request: Asked, note = refuse): Additions {
  const replyTo = request.replyTo.flatMap((text) => parseAddressList(text, 'reply_to', note));
  if (replyTo.length > MAX_REPLY_TO) {
    note(invalidRequest('too_many_entries', { field: 'reply_to', limit: MAX_REPLY_TO }));
  }
  const headers = readCustomHeaders(request.headers, note);
  return {
    replyTo,
    fromName: readFromName(request.fromName, note),
    headers,
    recorded: {
      replyTo,
      headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
      tags: readTags(request.tags, note),
      metadata: formatMetadata(request.metadata, note),
    },
  };
}

/** The address in which a caller sends; null: it names none. Throws as parseAddress does, and for a name that is too long. */
export function parseFrom(text: string | null): Address | null {
  if (text === null) return null;
  const address = parseAddress(text, 'from');
  if (address.name.length > MAX_FROM_NAME_CHARS)
    throw invalidRequest('too_long', { field: 'from', limit: MAX_FROM_NAME_CHARS });
  return address;
}

/** null: none is named. Throws `invalid_message_id`. */
export function readInReplyTo(text: string | null): MessageId | null {
  if (text === null) return null;
  const messageId = parseMessageId(text);
  if (messageId === null) throw new ServiceError('invalid_message_id', { values: { field: 'in_reply_to' } });
  return messageId;
}

/**
 * Refuses what no send accepts, for a draft. Addresses may be unfinished, as a person leaves them, and
 * a time may pass. Throws as the send does.
 */
export function refuseUnsendable(request: UnfinishedSend): void {
  const mistakes = new Mistakes();
  mistakes.inPart('message', () => {
    mistakes.check(() => readInReplyTo(request.inReplyTo));
    mistakes.check(() => parseFrom(request.from ?? null));
    noteAdditions({ ...request, replyTo: [] }, mistakes);
  });
  mistakes.refuseAny();
}

/** The mistakes in the subject and the additions, also those that are found when they are written. */
export function noteAdditions(request: Asked & Pick<SendRequest, 'subject'>, mistakes: Mistakes): void {
  mistakes.check(() => textTokens(request.subject, 'subject'));
  const { headers } = readAdditions(request, mistakes.note);
  for (const { value, field, isStructured } of headers) {
    mistakes.check(() => customTokens(value, field, !isStructured));
  }
}

/** A blank name counts as absent, like any empty form field. */
function readFromName(given: string | null, note = refuse): string | null {
  const name = given?.trim() ?? '';
  if (name === '') return null;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    note(new ServiceError('header_injection', { values: { field: 'from_name' } }));
  }
  if (!name.isWellFormed()) note(new ServiceError('invalid_text', { values: { field: 'from_name' } }));
  if (name.length > MAX_FROM_NAME_CHARS) {
    note(invalidRequest('too_long', { field: 'from_name', limit: MAX_FROM_NAME_CHARS }));
  }
  return name;
}
