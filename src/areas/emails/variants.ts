/** `VariantStore` on PostgreSQL. Code that adds or removes variants locks the row of their email. */
import type { Pool } from 'pg';
import { ServiceError } from '../../core/errors.ts';
import { EMAIL_ID } from './email-aliases.ts';
import { locateRaw, locateVariant } from './raw-locations.ts';
import { dropLongTexts, isLong, longText, sendLongTexts } from './long-texts.ts';
import { toStorableJson } from '../../core/storable-text.ts';
import { inTransaction } from '../../platform/db/transaction.ts';
import { run, statement, type Executor } from '../../platform/db/statement.ts';
import type { KeyedContent } from '../../core/message/identity.ts';
import type { RawLocation, RecordedRaw } from '../../platform/files/file-ports.ts';
import type { MailSource } from '../../core/message/mail-source.ts';

export interface VariantRecord extends RecordedRaw, KeyedContent {
  readonly id: string;
  readonly emailId: string;
  /** SHA-256 of its bytes, in lower-case hex. */
  readonly rawDigest: string;
  readonly receivedAt: Date;
  readonly source: MailSource | null;
  readonly isSentCopy: boolean;
  readonly textBody: string;
}

/** Throws `ServiceError('database_unavailable')` when the database can't be reached or does not answer in time. */
export interface VariantStore {
  /**
   * Keeps a variant once. `known`: the record or a variant has the same bytes. `refused`: the email already has as many as are kept
   * (MAX_VARIANTS, MAX_VARIANT_BYTES).
   */
  addVariant(variant: VariantRecord): Promise<'kept' | 'known' | 'refused'>;
  /** Counts a variant that is not kept. */
  countRefused(emailId: string, at: Date): Promise<void>;
  /** The location of an email's raw message. */
  locateRaw(emailId: string): Promise<RawLocation | null>;
  /** The same of a variant. */
  locateVariant(emailId: string, id: string): Promise<RawLocation | null>;
  /** Sent emails whose copies were recorded before them, and are not compared yet. */
  dueComparisons(limit: number): Promise<readonly string[]>;
  /** The ids of the email's copies that are not compared yet. */
  uncompared(emailId: string): Promise<readonly string[]>;
  /** The copies are compared: those that are what was sent are not variants. Returns the paths of their files. */
  concludeComparison(
    emailId: string,
    compared: readonly { readonly id: string; readonly isUnchanged: boolean }[],
  ): Promise<readonly string[]>;
}

/**
 * The maximum number of variants kept for one email. Our choice: a mail to ten lists has ten; a sender who forges more
 * could just as well send that many new emails.
 */
export const MAX_VARIANTS = 100;

/**
 * Bytes of the raw messages of one email's variants, together. Our choice: a few of the largest messages that are
 * accepted.
 */
export const MAX_VARIANT_BYTES = 200_000_000;

/** An email may be merged into another one, and that one into a third, while its variant is being added. */
const MAX_TRIES = 5;

export function createVariantStore(pool: Pool): VariantStore {
  return {
    async addVariant(variant) {
      for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
        const added = await add(pool, variant);
        if (added !== 'gone') return added;
      }
      throw new ServiceError('busy');
    },

    async countRefused(emailId, at) {
      await run(pool, REFUSE, { id: emailId, at });
    },

    locateRaw: (emailId) => locateRaw(pool, emailId),

    locateVariant: (emailId, id) => locateVariant(pool, emailId, id),

    async dueComparisons(limit) {
      const rows = await run(pool, DUE_COMPARISONS, { limit });
      return rows.map((row) => row.email_id);
    },

    async uncompared(emailId) {
      return (await run(pool, UNCOMPARED, { emailId })).map(({ id }) => id);
    },

    async concludeComparison(emailId, compared) {
      const idsOf = (isUnchanged: boolean) =>
        compared.flatMap((copy) => (copy.isUnchanged === isUnchanged ? [copy.id] : []));
      const rows = await run(pool, CONCLUDE, { emailId, unchanged: idsOf(true), others: idsOf(false) });
      return rows.flatMap((row) => row.raw_path ?? []);
    },
  };
}

const toBytes = (digest: string) => Buffer.from(digest, 'hex');

async function add(pool: Pool, variant: VariantRecord): Promise<'kept' | 'known' | 'refused' | 'gone'> {
  const rawDigest = toBytes(variant.rawDigest);
  return await inTransaction(pool, async (client) => {
    const emails = await run(client, LOCK_EMAIL, { id: variant.emailId });
    const [email] = emails;
    if (email === undefined) return 'gone';
    const [found] = await run(client, FIND_ROOM, {
      emailId: email.id,
      rawDigest,
      maxVariants: MAX_VARIANTS,
      sizeBytes: variant.rawSizeBytes,
      maxBytes: MAX_VARIANT_BYTES,
    });
    if (found?.is_known === true) return 'known';
    if (found?.has_room !== true) return 'refused';
    const long = await sendLongTexts(client, variant.id, { text_body: variant.textBody });
    await run(client, INSERT, {
      id: variant.id,
      emailId: email.id,
      digest: toBytes(variant.contentDigest),
      answers: variant.answers === null ? null : toBytes(variant.answers),
      rawDigest,
      receivedAt: variant.receivedAt,
      source: variant.source === null ? null : toStorableJson(variant.source),
      isSentCopy: variant.isSentCopy,
      text: isLong(variant.textBody) ? null : variant.textBody,
      sizeBytes: variant.rawSizeBytes,
      raw: variant.raw,
      rawPath: variant.rawPath,
    });
    await dropLongTexts(client, variant.id, long);
    return 'kept';
  });
}

/** Turns the recorded content of a received email into a variant, because other content takes its place. */
export async function keepAsVariant(executor: Executor, emailId: string, variantId: string): Promise<void> {
  await run(executor, KEEP_RECEIVED, { emailId, variantId });
}

/** Returns the path of the variant's file, which nothing refers to any more; empty if it has none. @param rawDigest of its bytes */
export async function dropVariant(
  executor: Executor,
  emailId: string,
  rawDigest: string,
): Promise<readonly string[]> {
  const rows = await run(executor, DROP, { emailId, rawDigest: toBytes(rawDigest) });
  return rows.flatMap((row) => row.raw_path ?? []);
}

/**
 * Turns the contents of records that are merged into the email, and their variants, into variants of the email; each once. Returns the
 * paths of files that nothing refers to any more.
 */
export async function mergeVariants(
  executor: Executor,
  emailId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  await run(executor, LOCK_EMAIL, { id: emailId });
  await run(executor, KEEP_MERGED, { emailId, ids });
  await run(executor, MOVE_MERGED, { emailId, ids });
  const rows = await run(executor, UNUSED_PATHS, { emailId, ids });
  await run(executor, MERGE_REFUSED, { emailId, ids });
  return rows.flatMap((row) => row.raw_path ?? []);
}

const DUE_COMPARISONS = statement(
  'due-variant-comparisons',
  `select distinct email_id from email_variants where not is_compared order by email_id limit $limit`,
);

const UNCOMPARED = statement(
  'uncompared-variants',
  'select id from email_variants where email_id = $emailId and not is_compared order by id',
);

const CONCLUDE = statement(
  'conclude-variant-comparison',
  `with same as (
          delete from email_variants where email_id = $emailId and id = any ($unchanged::uuid[]) and not is_compared returning raw_path
        ), others as (
          update email_variants set is_compared = true where email_id = $emailId and id = any ($others::uuid[]) and not is_compared
        )
        select raw_path from same`,
);

/** The record of a copy may have been merged into that of the sent email. */
const LOCK_EMAIL = statement(
  'lock-email-of-variant',
  `select id from emails where id = ${EMAIL_ID} for no key update`,
);

/** A Sent copy with these bytes may have become the record since the message was compared with it. */
const FIND_ROOM = statement(
  'find-room-for-variant',
  `select coalesce(bool_or(raw_digest = $rawDigest), false)
      or exists (select from emails where id = $emailId and sha256(raw) = $rawDigest) as is_known,
    count(*) < $maxVariants and coalesce(sum(raw_size_bytes), 0) + $sizeBytes <= $maxBytes as has_room
  from email_variants where email_id = $emailId`,
);

const REFUSE = statement(
  'refuse-variant',
  `insert into email_variants_refused as r (email_id, messages, last_at) 
  select e.id, 1, $at from emails e where e.id = ${EMAIL_ID}
  on conflict (email_id) do update set messages = r.messages + 1, last_at = excluded.last_at`,
);

const INSERT = statement(
  'insert-variant',
  `insert into email_variants
    (id, email_id, content_digest, answers_digest, raw_digest, received_at, received_by, is_sent_copy, text_body, raw_size_bytes, raw,
      raw_path)
  values ($id, $emailId, $digest, $answers, $rawDigest, $receivedAt, $source, $isSentCopy,
    coalesce($text, ${longText('$id', "'text_body'")}), $sizeBytes, $raw, $rawPath)`,
);

const DIGEST = 'coalesce(content_digest, sha256(id::text::bytea))';
/** A message in a file counts as one of its own: the database does not read it. */
const RAW_DIGEST = 'coalesce(sha256(raw), sha256(id::text::bytea))';

const KEEP_RECEIVED = statement(
  'keep-received-as-variant',
  `insert into email_variants
    (id, email_id, content_digest, answers_digest, raw_digest, received_at, received_by, is_sent_copy, text_body, raw_size_bytes, raw,
      raw_path)
  select $variantId::uuid, id, ${DIGEST}, answers_digest, ${RAW_DIGEST}, created_at, received_by, false, text_body, raw_size_bytes, raw, raw_path
  from emails where id = $emailId and direction = 'inbound'`,
);

const DROP = statement(
  'drop-variant',
  'delete from email_variants where email_id = $emailId and raw_digest = $rawDigest returning raw_path',
);

const KEEP_MERGED = statement(
  'keep-merged-as-variants',
  `insert into email_variants (id, email_id, content_digest, answers_digest, raw_digest, received_at, received_by, is_sent_copy,
    text_body, raw_size_bytes, raw, raw_path, is_compared)
  select distinct on (bytes) id, $emailId::uuid, ${DIGEST}, answers_digest, bytes, created_at, received_by, direction = 'outbound', text_body,
    raw_size_bytes, raw, raw_path, false
  from (select *, ${RAW_DIGEST} as bytes from emails where id = any($ids::uuid[])) e
  order by bytes, created_at, id
  on conflict (email_id, raw_digest) do update set is_compared = false`,
);

const MOVE_MERGED = statement(
  'move-merged-variants',
  `update email_variants v set email_id = $emailId, is_compared = false
  from (
    select distinct on (raw_digest) id from email_variants n where email_id = any($ids::uuid[]) and not exists (
      select from email_variants o where o.email_id = $emailId and o.raw_digest = n.raw_digest
    ) order by raw_digest, received_at, id
  ) n
  where v.id = n.id`,
);

const UNUSED_PATHS = statement(
  'unused-paths-of-merged',
  `select raw_path from (
    select raw_path from emails where id = any($ids::uuid[])
    union all
    select raw_path from email_variants where email_id = any($ids::uuid[])
  ) c
  where raw_path is not null and not exists (
    select from email_variants v where v.email_id = $emailId and v.raw_path = c.raw_path
  )`,
);

const MERGE_REFUSED = statement(
  'merge-refused-variants',
  `insert into email_variants_refused as r (email_id, messages, last_at)
  select $emailId::uuid, sum(messages), max(last_at) from email_variants_refused where email_id = any($ids::uuid[])
  having count(*) > 0
  on conflict (email_id) do update
    set messages = r.messages + excluded.messages, last_at = greatest(r.last_at, excluded.last_at)`,
);
