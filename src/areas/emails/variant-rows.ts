/** Variants of emails: the statements that read them, and their mapping to the type of the use cases. */
import type { VariantView } from './variant-view.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';
import { statement, type RowOf } from '../../platform/db/statement.ts';
import { EMAIL_ID } from './email-aliases.ts';

const CONTENT_DIGEST = "encode(v.content_digest, 'hex')";
/** Of a send of ours all are false: a copy with its content is no variant. */
const HAS_SAME_CONTENT = `coalesce((select o.content_digest = v.content_digest from emails o where o.id = v.email_id), false)`;

/** The variants of an email `e`, for toVariant. */
const VARIANT = jsonObject('variant-json', {
  from: 'email_variants v',
  columns: {
    ...columnsOf('v', 'id', 'received_at', 'received_by', 'is_sent_copy', 'raw_size_bytes'),
    content_digest: CONTENT_DIGEST,
    same_content: HAS_SAME_CONTENT,
  },
}).narrow<{ content_digest: string; same_content: boolean }>();
export const VARIANTS = VARIANT.array('where v.email_id = e.id', 'v.received_at, v.id');
export type VariantJson = JsonOf<typeof VARIANT>;

export const READ_VARIANT = statement(
  'read-variant',
  `select v.id, v.received_at, v.received_by, v.is_sent_copy, v.raw_size_bytes, v.text_body,
    ${CONTENT_DIGEST} as content_digest, ${HAS_SAME_CONTENT} as same_content
  from email_variants v where v.id = $variantId and v.email_id = ${EMAIL_ID}`,
).narrow<{ content_digest: string; same_content: boolean }>();

export function toVariant(row: RowOf<typeof READ_VARIANT> | VariantJson): VariantView {
  return {
    id: row.id,
    receivedAt: new Date(row.received_at),
    source: row.received_by,
    isSentCopy: row.is_sent_copy,
    rawSizeBytes: Number(row.raw_size_bytes),
    contentDigest: row.content_digest,
    hasSameContent: row.same_content,
  };
}
