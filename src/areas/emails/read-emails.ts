/** The reads: the list of emails, a customer's emails, one email, its raw message, an attachment. */
import { Readable } from 'node:stream';
import { isSearch, parseSearchQuery } from '../../core/search/query.ts';
import { parseTag } from '../../core/message/tags.ts';
import { ServiceError } from '../../core/errors.ts';
import type { EmailUseCases, CustomerEmailsRequest, RawMessage } from './use-cases.ts';
import type { EmailStore } from './email-ports.ts';
import { PLACE_CURSOR } from '../../platform/base/paging.ts';
import type { BlobStore, RawLocation } from '../../platform/files/file-ports.ts';
import { openStored } from '../../platform/files/open-stored.ts';

type Reads = Pick<
  EmailUseCases,
  | 'listEmails'
  | 'listCustomerEmails'
  | 'readEmail'
  | 'readRaw'
  | 'readVariant'
  | 'readVariantRaw'
  | 'readAttachment'
  | 'openAttachment'
>;

export function createReads(store: EmailStore, blobs: BlobStore): Reads {
  async function openRaw({ bytes, path, sizeBytes }: RawLocation): Promise<RawMessage> {
    if (bytes !== null) return { sizeBytes, stream: Readable.from([bytes]) };
    return { sizeBytes, stream: await openStored(blobs, path) };
  }

  return {
    async listEmails({ cursor, q, searchIn, tag: asked, ...request }) {
      const after = PLACE_CURSOR.parse(cursor);
      const search = parseSearchQuery(q, searchIn);
      const tag = asked === null ? null : parseTag(asked);
      if (asked !== null && tag === null) throw new ServiceError('invalid_tag', { values: { value: asked } });
      if (search === null && isSearch(q, searchIn))
        return { emails: { kind: 'whole', json: '' }, nextCursor: null };
      const { emails, next } = await store.listEmails({ ...request, search, tag, after });
      return { emails, nextCursor: PLACE_CURSOR.format(next) };
    },

    async listCustomerEmails({ cursor, ...request }: CustomerEmailsRequest) {
      const after = PLACE_CURSOR.parse(cursor);
      const { emails, next } = await store.listCustomerEmails({ ...request, after });
      return { emails, nextCursor: PLACE_CURSOR.format(next) };
    },

    async readEmail(id) {
      const email = await store.readEmail(id);
      if (email === null) throw new ServiceError('email_not_found');
      return email;
    },

    async readRaw(id) {
      const raw = await store.readRaw(id);
      if (raw === null) throw new ServiceError('email_not_found');
      return await openRaw(raw);
    },

    async readVariant(emailId, id) {
      const variant = await store.readVariant(emailId, id);
      if (variant === null) throw new ServiceError('variant_not_found');
      return variant;
    },

    async readVariantRaw(emailId, id) {
      const raw = await store.readVariantRaw(emailId, id);
      if (raw === null) throw new ServiceError('variant_not_found');
      return await openRaw(raw);
    },

    async readAttachment(id) {
      const attachment = await store.readAttachment(id);
      if (attachment === null) throw new ServiceError('attachment_not_found');
      return attachment;
    },

    openAttachment: (attachment, range) => openStored(blobs, attachment.storagePath, range),
  };
}
