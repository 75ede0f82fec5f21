/** `TemplateStore` on PostgreSQL. */
import type { Pool } from 'pg';
import { accountIdsOf } from '../../platform/base/account-filter.ts';
import type { TemplateRefusal, TemplateStore, TemplateSummary } from './template-ports.ts';
import { run, statement, type RowOf } from '../../platform/db/statement.ts';

export function createTemplateStore(pool: Pool): TemplateStore {
  /** The reason why a statement found nothing to change. */
  async function refusalOf(id: string, version: number | null): Promise<TemplateRefusal> {
    const [row] = await run(pool, READ, { id, version: null });
    if (row === undefined || version === null) return { kind: 'not_found' };
    return { kind: 'changed', version: row.latest_version };
  }

  return {
    async create(record) {
      await run(pool, CREATE, { ...record, variables: [...record.variables] });
    },

    async read(id, version) {
      const [row] = await run(pool, READ, { id, version });
      if (row === undefined) return null;
      return {
        ...toSummary(row),
        version: row.version,
        textBody: row.text_body,
        htmlBody: row.html_body,
        variables: row.variables,
      };
    },

    async list(filter, after, limit) {
      const rows = await run(pool, LIST, {
        accountIds: accountIdsOf(filter),
        date: after?.date ?? null,
        id: after?.id ?? null,
        limit,
      });
      return rows.map(toSummary);
    },

    async change(version, record) {
      const [row] = await run(pool, CHANGE, { ...record, variables: [...record.variables], version });
      return row === undefined ? refusalOf(record.id, version) : { kind: 'done' };
    },

    async delete(id, version) {
      const [row] = await run(pool, DELETE, { id, version });
      return row === undefined ? refusalOf(id, version) : { kind: 'done' };
    },
  };
}

const COLUMNS = `t.id, t.account_id, t.version as latest_version, t.created_at, t.updated_at, v.name, v.subject`;

const CREATE = statement(
  'create-template',
  `with made as (
    insert into templates (id, account_id) values ($id, $accountId) returning id, version
  )
  insert into template_versions (template_id, version, name, subject, text_body, html_body, variables)
  select id, version, $name, $subject, $textBody, $htmlBody, $variables::text[] from made`,
);

const READ = statement(
  'read-template',
  `select ${COLUMNS}, v.version, v.text_body, v.html_body, v.variables
  from templates t join template_versions v on v.template_id = t.id and v.version = coalesce($version::int, t.version)
  where t.id = $id`,
);

const LIST = statement(
  'list-templates',
  `select ${COLUMNS}
  from templates t join template_versions v on v.template_id = t.id and v.version = t.version
  where ($accountIds::text[] is null or t.account_id is null or t.account_id = any ($accountIds::text[]))
    and ($date::timestamptz is null or (t.updated_at, t.id) < ($date, $id::uuid))
  order by t.updated_at desc, t.id desc limit $limit::int`,
  { plannedEachTime: 'the filters may be empty' },
);

/** Of two changes of one version, only one finds it. */
const CHANGE = statement(
  'change-template',
  `with changed as (
    update templates set version = version + 1, updated_at = clock_timestamp()
    where id = $id and version = $version::int returning id, version
  )
  insert into template_versions (template_id, version, name, subject, text_body, html_body, variables)
  select id, version, $name, $subject, $textBody, $htmlBody, $variables::text[] from changed
  returning version`,
);

const DELETE = statement(
  'delete-template',
  `delete from templates where id = $id and ($version::int is null or version = $version) returning id`,
);

function toSummary(row: RowOf<typeof LIST>): TemplateSummary {
  return {
    id: row.id,
    accountId: row.account_id,
    latestVersion: row.latest_version,
    name: row.name,
    subject: row.subject,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
