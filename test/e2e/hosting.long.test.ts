/** The guides of docs/hosting: their SQL on a fresh server, and the service with exactly the setup that they describe. */
import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../helpers/external-postgres.ts';
import { skipWithoutPgBouncer, startPgBouncer, type PgBouncer } from '../helpers/pgbouncer.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';

const ROLES_OF_SUPABASE = ['anon', 'authenticated'];
const MAIL = { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' };

describe.skipIf(skipWithoutExternalPostgres() || skipWithoutPgBouncer())('a guide', () => {
  let postgres: ExternalPostgres | null = null;
  let pooler: PgBouncer | null = null;
  let service: ServiceProcess | null = null;
  afterEach(async () => {
    if (service !== null) await disposeService(service);
    await pooler?.stop();
    await postgres?.dispose();
    [service, pooler, postgres] = [null, null, null];
  });

  /** Runs the SQL of the guide as the server's first role. Returns the database's address, with the role that the guide names. */
  async function follow(guide: string): Promise<URL> {
    const text = await readFile(new URL(`../../docs/hosting/${guide}.md`, import.meta.url), 'utf8');
    const [, sql = ''] = /```sql\n(.*?)```/s.exec(text) ?? [];
    const [, address = ''] = /^DATABASE_URL=(\S+)$/m.exec(text) ?? [];
    const admin = new URL(postgres!.url);
    admin.pathname = '/postgres';
    for (const statement of sql.split(';\n').filter((one) => one.trim() !== '')) {
      await query(admin.href, statement);
    }
    const url = new URL(postgres!.url);
    const named = new URL(address);
    url.pathname = named.pathname;
    // Supabase's pooler expects the project after the role.
    url.username = named.username.split('.')[0] ?? '';
    return url;
  }

  async function sendAndRead(): Promise<void> {
    const sent = await service!.request('/api/send', { json: MAIL });
    expect(sent.status).toBe(200);
    const { threadId } = (await sent.json()) as { threadId: string };
    const read = await service!.request(`/api/thread/${threadId}`);
    expect(((await read.json()) as { emails: unknown[] }).emails).toHaveLength(1);
    expect((await fetch(`${service!.url}/api/health/ready`)).status).toBe(200);
  }

  it.each(['server', 'aws'])('sets up a database: %s', async (guide) => {
    postgres = await createExternalPostgres();
    const url = await follow(guide);
    service = await startServiceProcess({ env: { DATABASE_URL: url.href } });
    await sendAndRead();
    expect(service.log.join('')).not.toContain('database sessions are shared');
  });

  it('sets up a database behind a pooler, which other roles read nothing of: supabase', async () => {
    postgres = await createExternalPostgres();
    const admin = new URL(postgres.url);
    admin.pathname = '/postgres';
    await query(admin.href, 'create role postgres superuser login');
    for (const role of ROLES_OF_SUPABASE) await query(admin.href, `create role ${role}`);
    const url = await follow('supabase');
    const others = ROLES_OF_SUPABASE.join(', ');
    for (const kind of ['tables', 'sequences', 'functions', 'schemas']) {
      await query(
        admin.href,
        `alter default privileges for role email_worker grant all on ${kind} to ${others}`,
      );
    }
    pooler = await startPgBouncer(url.href);
    service = await startServiceProcess({ env: { DATABASE_URL: pooler.url } });
    await sendAndRead();
    expect(service.log.join('')).toContain('database sessions are shared');

    for (const role of ROLES_OF_SUPABASE) {
      const [found] = await query(
        admin.href,
        `select count(*)::int as n from pg_class c where c.relnamespace = 'email_worker'::regnamespace
          and c.relkind in ('r', 'p') and has_table_privilege('${role}', c.oid, 'select, insert, update, delete, truncate')`,
      );
      expect(found).toEqual({ n: 0 });
    }
    const [inPublic] = await query(
      admin.href,
      `select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace`,
    );
    expect(inPublic).toEqual({ n: 0 });
  });
});
