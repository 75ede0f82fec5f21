/** `VariantStore` on PostgreSQL. Code that adds or removes variants locks the row of their email. */
import type { Pool } from 'pg';
import { ServiceError } from '../../../core/errors.ts';
import {
  MAX_VARIANT_BYTES,
  MAX_VARIANTS,
  type VariantRecord,
  type VariantStore,
} from '../../../app/receive/variant-ports.ts';
import { createNamedQuery } from '../db/named-query.ts';
import { dropLongTexts, isLong, longText, sendLongTexts } from './long-texts.ts';
import { clean } from './received-values.ts';
import { inTransaction } from '../db/transaction.ts';

/** An email may be merged into another one, and that one into a third, while its variant comes. */
const MAX_TRIES = 5;

export function createVariantStore(pool: Pool): VariantStore {
  const query = createNamedQuery(pool);
  return {
    async addVariant(variant) {
      for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
        const added = await add(pool, variant);
        if (added !== 'gone') return added;
      }
      throw new ServiceError('busy');
    },

    async readRawPlace(emailId) {
      const [row] = await query<{ raw: Buffer | null; raw_path: string | null }>(
        'read-raw-place',
        `select raw, raw_path from emails where id = ${EMAIL}`,
        [emailId],
      );
      return row === undefined ? null : { bytes: row.raw, path: row.raw_path };
    },

    async dueComparisons(limit) {
      const rows = await query<{ email_id: string }>(
        'due-variant-comparisons',
        'select distinct email_id from email_variants where not is_compared order by email_id limit $1',
        [limit],
      );
      return rows.map((row) => row.email_id);
    },

    async hasUncompared(emailId, contentDigest) {
      const rows = await query(
        'has-uncompared-variant',
        'select from email_variants where email_id = $1 and content_digest = $2 and not is_compared',
        [emailId, toBytes(contentDigest)],
      );
      return rows.length > 0;
    },

    async concludeComparison(emailId, contentDigest) {
      const rows = await query<{ raw_path: string | null }>(
        'conclude-variant-comparison',
        `with same as (
          delete from email_variants where email_id = $1 and content_digest = $2 and not is_compared returning raw_path
        ), others as (
          update email_variants set is_compared = true where email_id = $1 and content_digest is distinct from $2 and not is_compared
        )
        select raw_path from same`,
        [emailId, contentDigest === null ? null : toBytes(contentDigest)],
      );
      return rows.flatMap((row) => row.raw_path ?? []);
    },
  };
}

/** $1 an identifier; the record of a copy may have been merged into that of the sent email. */
const EMAIL = `coalesce((select email_id from email_aliases where id = $1::uuid), $1::uuid)`;

const toBytes = (digest: string) => Buffer.from(digest, 'hex');

async function add(pool: Pool, variant: VariantRecord): Promise<'kept' | 'known' | 'refused' | 'gone'> {
  const digest = toBytes(variant.contentDigest);
  return await inTransaction(pool, async (client) => {
    const { rows: emails } = await client.query<{ id: string; content_digest: Buffer | null }>(
      `select id, content_digest from emails where id = ${EMAIL} for no key update`,
      [variant.emailId],
    );
    const [email] = emails;
    if (email === undefined) return 'gone';
    if (email.content_digest?.equals(digest) === true) return 'known';
    const { rows } = await client.query<{ is_known: boolean; has_room: boolean }>(
      `select coalesce(bool_or(content_digest = $2), false) as is_known,
        count(*) < $3 and coalesce(sum(raw_size_bytes), 0) + $4 <= $5 as has_room
      from email_variants where email_id = $1`,
      [email.id, digest, MAX_VARIANTS, variant.rawSizeBytes, MAX_VARIANT_BYTES],
    );
    if (rows[0]?.is_known === true) return 'known';
    if (rows[0]?.has_room !== true) {
      await client.query(
        `insert into email_variants_refused as r (email_id, messages, last_at) values ($1, 1, $2)
        on conflict (email_id) do update set messages = r.messages + 1, last_at = excluded.last_at`,
        [email.id, variant.receivedAt],
      );
      return 'refused';
    }
    const run = (statement: string, values: readonly unknown[]) => client.query(statement, [...values]);
    const long = await sendLongTexts(run, variant.id, { text_body: variant.textBody });
    await client.query(
      `insert into email_variants
        (id, email_id, content_digest, received_at, received_by, is_sent_copy, text_body, raw_size_bytes, raw, raw_path)
      values ($1, $2, $3, $4, $5, $6, coalesce($7, ${longText('$1', "'text_body'")}), $8, $9, $10)`,
      [
        variant.id,
        email.id,
        digest,
        variant.receivedAt,
        variant.source === null ? null : JSON.stringify(variant.source),
        variant.isSentCopy,
        isLong(variant.textBody) ? null : clean(variant.textBody),
        variant.rawSizeBytes,
        variant.raw,
        variant.rawPath,
      ],
    );
    await dropLongTexts(run, variant.id, long);
    return 'kept';
  });
}
