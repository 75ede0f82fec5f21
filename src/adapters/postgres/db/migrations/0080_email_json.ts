/**
 * What the JSON of an email and of a file has beside the text, made when they are written: PostgreSQL keeps these columns in
 * step with the others, and reading a thread joins them. Made at each read, they took more of its time than all else.
 *
 * The functions are immutable in fact: no setting changes what they give. They call no function of ours, so that they work with
 * the empty search path of a restore.
 */
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** Arguments of `concat`: `{"name":…,"address":…}`; a stored address may have more, or lack one. */
const address = (value: string) =>
  `'{"name":', coalesce(${value} -> 'name', 'null'), ',"address":', coalesce(${value} -> 'address', 'null'), '}'`;

const STATEMENTS = [
  // One `concat` and not many `||`: each operator has to be made ready for each statement.
  `create function email_json_before_text(
    id uuid, message_id text, direction text, from_address jsonb, to_addresses jsonb, subject text
  ) returns text language plpgsql immutable parallel safe as $$
  declare
    recipients text;
  begin
    -- Most emails have one.
    if jsonb_array_length(to_addresses) = 1 then
      recipients = concat(${address('to_addresses -> 0')});
    else
      recipients = (
        select string_agg(concat(${address('r.value')}), ',' order by r.ordinality)
        from jsonb_array_elements(to_addresses) with ordinality r
      );
    end if;
    return concat('{"id":"', id, '","message_id":', to_json('<' || message_id || '>'), ',"direction":"', direction,
      '","from_address":', ${address('from_address')}, ',"to_addresses":[', recipients,
      '],"subject":', to_json(subject), ',"text_body":');
  end $$`,

  // With milliseconds, as \`Date.toISOString\`. Years have four digits: see parseMessageDate.
  `create function email_json_after_text(date timestamptz) returns text language plpgsql immutable parallel safe as $$
  begin
    return ',"date":"' || to_char(date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","has_attachments":';
  end $$`,

  `create function attachment_json(id uuid, filename text, content_type text, size_bytes bigint, storage_path text)
  returns text language plpgsql immutable parallel safe as $$
  begin
    return concat('{"id":"', id, '","filename":', to_json(filename), ',"content_type":', to_json(content_type),
      ',"size_bytes":', size_bytes, ',"storage_path":', to_json(storage_path), '}');
  end $$`,

  `alter table emails
    add json_before_text text not null generated always as (email_json_before_text(
      id, coalesce(written_message_id, message_id), direction, from_address, to_addresses, subject
    )) stored,
    add json_after_text text not null generated always as (email_json_after_text(date)) stored`,

  `alter table email_attachments add json text not null
    generated always as (attachment_json(id, filename, content_type, size_bytes, storage_path)) stored`,
];
