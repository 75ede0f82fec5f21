/**
 * Answers when the line to the database breaks exactly at a commit: before the server got it, or after the server carried it out. The
 * database stays away for longer than a caller waits.
 */
import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** A line to PostgreSQL that breaks when a statement with a text passes, once, and is then refused until `heal`. */
class CommitCutter {
  readonly #server = createServer({ allowHalfOpen: false }, (client) => this.#accept(client));
  readonly #lines = new Set<{ readonly client: Socket; readonly server: Socket }>();
  readonly #target: NetConnectOpts;
  #cut: { readonly text: string; readonly when: 'before' | 'after' } | null = null;
  #isRefusing = false;
  hits = 0;

  constructor(target: NetConnectOpts) {
    this.#target = target;
  }

  async start(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** @param text of the statement that commits; it must not be one that each connection prepares once */
  cutAt(text: string, when: 'before' | 'after'): void {
    this.#cut = { text, when };
  }

  heal(): void {
    this.#cut = null;
    this.#isRefusing = false;
  }

  async stop(): Promise<void> {
    this.#breakAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#isRefusing) {
      client.destroy();
      return;
    }
    const server = connect(this.#target);
    const line = { client, server };
    this.#lines.add(line);
    let isAnswerHeld = false;
    server.on('error', () => client.destroy());
    client.on('close', () => {
      server.destroy();
      this.#lines.delete(line);
    });
    server.on('close', () => client.destroy());
    client.on('data', (piece) => {
      const cut = this.#cut;
      if (cut === null || !piece.includes(cut.text)) {
        server.write(piece);
        return;
      }
      this.#cut = null;
      this.#isRefusing = true;
      this.hits += 1;
      if (cut.when === 'before') this.#breakAll();
      else {
        isAnswerHeld = true;
        server.write(piece);
      }
    });
    server.on('data', (piece) => {
      // ReadyForQuery, outside of a transaction: the server has carried it out.
      if (isAnswerHeld) {
        if (piece.includes('Z\0\0\0\u0005I')) this.#breakAll();
      } else client.write(piece);
    });
  }

  #breakAll(): void {
    for (const { client, server } of this.#lines) {
      client.destroy();
      server.destroy();
    }
  }
}

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let cutter: CommitCutter;
/** Of the database, by the line that is cut. */
let url: string;

beforeAll(async () => {
  sink = await startSmtpSink();
});

beforeEach(async () => {
  // Each service has a DATA_DIR of its own, and a database belongs to the files of one.
  database = await createTestDatabase();
  const socket = new URL(database.connectionString);
  cutter = new CommitCutter({ path: `${socket.searchParams.get('host')}/.s.PGSQL.${socket.port}` });
  url = `postgres://${socket.username}@127.0.0.1:${await cutter.start()}${socket.pathname}`;
  service = await startServiceProcess({
    env: { DATABASE_URL: url, SMTP_URL: sink.url, MAIL_FROM: 'Sales <sales@example.com>' },
  });
});

afterEach(async () => {
  cutter.heal();
  await disposeService(service);
  await cutter.stop();
  await database.drop();
});

afterAll(() => sink.stop());

const sql = (text: string, values: readonly unknown[] = []) => query(database.connectionString, text, values);
const copies = (subject: string) =>
  sink.messages.filter(({ raw }) => raw.includes(`Subject: ${subject}\r\n`)).length;

/** Has the loops of the service done with what the start left, so that the next commit is that of a request. */
const isQuiet = () =>
  waitUntil('the service is ready', async () => (await service.request('/api/health/ready')).ok);

describe.each(['before', 'after'] as const)(
  'a queued send whose commit is lost %s the server has it',
  (when) => {
    it('is answered 202 with its id, and is sent once when the database is back', async () => {
      await isQuiet();
      const subject = randomUUID();
      cutter.cutAt(subject, when);
      const response = await service.request('/api/send', {
        json: { to: 'ann@example.org', subject, text_body: 'once' },
        headers: { prefer: 'respond-async' },
      });
      expect(cutter.hits).toBe(1);
      expect(response.status).toBe(202);
      const { id } = (await response.json()) as { id: string };
      cutter.heal();
      await waitUntil('it is sent', async () => {
        const email = await service.request(`/api/emails/${id}`);
        return email.ok && ((await email.json()) as { state: string }).state === 'sent';
      });
      expect(copies(subject)).toBe(1);
      expect(await sql('select id from emails where subject = $1', [subject])).toEqual([{ id }]);
    });

    it('survives a kill of the service before the database is back', async () => {
      await isQuiet();
      const subject = randomUUID();
      cutter.cutAt(subject, when);
      const response = await service.request('/api/send', {
        json: { to: 'ann@example.org', subject, text_body: 'once' },
        headers: { prefer: 'respond-async' },
      });
      const { id } = (await response.json()) as { id: string };
      await service.kill();
      cutter.heal();
      const { dataDir } = service;
      service = await startServiceProcess({
        dataDir,
        env: {
          DATABASE_URL: database.connectionString,
          SMTP_URL: sink.url,
          MAIL_FROM: 'Sales <sales@example.com>',
        },
      });
      await waitUntil('it is sent', async () => {
        const [row] = await sql('select state from emails where id = $1', [id]);
        return row?.['state'] === 'sent';
      });
      expect(copies(subject)).toBe(1);
    });
  },
);

describe.each(['before', 'after'] as const)(
  'what else is made, when its commit is lost %s the server has it,',
  (when) => {
    it.each([
      ['/api/drafts', (mark: string) => ({ message: { subject: mark } }), 'drafts'],
      ['/api/templates', (mark: string) => ({ name: 'a', subject: mark, text_body: 'b' }), 'templates'],
    ])(
      '%s is answered with a code of its own, without Retry-After, and with the id',
      async (path, json, table) => {
        await isQuiet();
        const mark = randomUUID();
        cutter.cutAt(mark, when);
        const response = await service.request(path, { json: json(mark) });
        expect({ status: response.status, hits: cutter.hits }).toEqual({ status: 500, hits: 1 });
        expect(response.headers.get('retry-after')).toBeNull();
        const answer = (await response.json()) as { code: string; id?: string };
        expect(answer.code).toBe('commit_unknown');
        cutter.heal();
        const rows = await sql(`select from ${table} where id = $1`, [answer.id]);
        expect(rows).toHaveLength(when === 'after' ? 1 : 0);
      },
    );
  },
);

describe('a request that the database never got', () => {
  it('is answered 503 with Retry-After when only its entry in the audit log is lost', async () => {
    await isQuiet();
    const mark = randomUUID();
    cutter.cutAt(mark, 'after');
    const response = await service.request('/api/keys', {
      json: { name: mark, rights: ['read'], account_ids: '*' },
    });
    expect({ status: response.status, hits: cutter.hits }).toEqual({ status: 503, hits: 1 });
    expect(response.headers.get('retry-after')).not.toBeNull();
    expect(await sql('select from api_keys where name = $1', [mark])).toEqual([]);
  });

  it('is answered 503 with Retry-After, as nothing happened', async () => {
    await isQuiet();
    await cutter.stop();
    const response = await service.request('/api/drafts', { json: { message: { subject: 'never' } } });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).not.toBeNull();
    expect(((await response.json()) as { code: string }).code).toBe('database_unavailable');
  });
});
