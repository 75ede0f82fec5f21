/** The built service with clocks that are wrong, or jump while it runs: nothing is deleted by them, and the feed goes on. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import { createExternalPostgres, skipWithoutExternalPostgres } from '../helpers/external-postgres.ts';
import { createFakeClock, skipWithoutFakeClock, type FakeClock } from '../helpers/fake-clock.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toUTCString();

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Readiness {
  readonly status: number;
  readonly code?: string;
  readonly checks?: Readonly<Record<string, string>>;
}

const ready = async (service: ServiceProcess): Promise<Readiness> => {
  const response = await service.request('/api/health/ready');
  return { ...((await response.json()) as object), status: response.status };
};
const untilReady = (service: ServiceProcess, status: number) =>
  waitUntil(`readiness is ${status}`, async () => (await ready(service)).status === status);

const eventsOf = async (service: ServiceProcess, ...types: readonly string[]): Promise<readonly Event[]> => {
  const named = types.map((type) => `type=${type}`).join('&');
  const response = await service.request(`/api/events?limit=500&${named}`);
  return ((await response.json()) as { events: readonly Event[] }).events;
};
const untilEvent = (service: ServiceProcess, type: string, count = 1) =>
  waitUntil(`there are ${count} of ${type}`, async () => (await eventsOf(service, type)).length === count);

const untilLogged = (service: ServiceProcess, text: RegExp) =>
  waitUntil(`it logs ${text}`, () => service.log.some((line) => text.test(line)));

const partitionsOf = async (url: string) =>
  (
    await query(
      url,
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass`,
    )
  ).map(({ name }) => String(name));
const today = async (url: string) =>
  String(
    (await query(url, `select 'events_' || to_char(now() at time zone 'UTC', 'YYYYMMDD') as name`))[0]?.[
      'name'
    ],
  );

describe.skipIf(skipWithoutFakeClock())('a process with a wrong clock', () => {
  let database: TestDatabase;
  let clock: FakeClock;
  const services: ServiceProcess[] = [];
  const start = async (env: Readonly<Record<string, string>> = {}) => {
    const service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString, ...env } });
    services.push(service);
    return service;
  };
  const emails = async () =>
    Number((await query(database.connectionString, 'select count(*) as n from emails'))[0]?.['n']);

  beforeEach(async () => {
    database = await createTestDatabase();
    clock = await createFakeClock(40 * DAY_MS);
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await disposeService(service);
    await database.drop();
    await clock.remove();
  });

  it('deletes nothing and drops no partition of events while it runs 40 days ahead, and readiness says why', async () => {
    const skewed = await start({ ...clock.env, RETENTION_DAYS: '30', EVENTS_DAYS: '30' });
    await receive(skewed, mail({ date: daysAgo(1) }));
    await receive(skewed, mail({ date: daysAgo(35) }));
    const { status, code, checks } = await ready(skewed);
    expect({ status, code, checks }).toMatchObject({
      status: 503,
      code: 'clock_skewed',
      checks: { clock: 'away' },
    });
    await untilLogged(skewed, /"code":"clock_skewed".*threads that are kept no longer could not be deleted/);
    await untilLogged(skewed, /"processClock":.*"databaseClock":.*differ by more than a minute/);
    await untilEvent(skewed, 'email.received', 2);
    expect((await eventsOf(skewed, 'clock.skewed')).map(({ data }) => data)).toEqual([
      { offset_seconds: 40 * 86_400, instance_id: expect.any(String) as string },
    ]);
    expect(await partitionsOf(database.connectionString)).toContain(await today(database.connectionString));
    const [email] = await query(database.connectionString, 'select id, thread_id from emails limit 1');
    for (const target of [`emails/${String(email?.['id'])}`, `threads/${String(email?.['thread_id'])}`]) {
      const refused = await skewed.request(`/api/${target}`, { method: 'DELETE' });
      expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'clock_skewed' }]);
    }
    expect(await emails()).toBe(2);

    // Another process, whose clock is right, does the work meanwhile.
    const right = await start({ RETENTION_DAYS: '30' });
    await waitUntil('the old thread is gone', async () => (await emails()) === 1);
    expect((await ready(right)).checks).toMatchObject({ clock: 'ok' });

    await untilLogged(skewed, /clock: clock_skewed, .*is not ready yet/);
    expect(skewed.log.some((line) => line.includes('email-worker is ready'))).toBe(false);
    await clock.shift(0);
    await untilReady(skewed, 200);
    await untilLogged(skewed, /email-worker is ready/);
    await untilEvent(skewed, 'clock.corrected');
    await clock.shift(-2 * 3_600_000);
    await untilReady(skewed, 503);
    await untilEvent(skewed, 'clock.skewed', 2);
    expect(await emails()).toBe(1);
  });

  it('shows no time of its own: what it records has the time of the database', async () => {
    const skewed = await start(clock.env);
    await skewed.request('/api/send', { json: { to: 'eve@customer.test', subject: 'Hi', text_body: 'Hi' } });
    const [row] = await query(
      database.connectionString,
      `select date between now() - interval '10 minutes' and now() + interval '1 minute' as is_now from emails`,
    );
    expect(row).toEqual({ is_now: true });
    const health = (await (await skewed.request('/api/health')).json()) as { timestamp: string };
    expect(Math.abs(Date.parse(health.timestamp) - Date.now())).toBeLessThan(DAY_MS);
  });

  it('does not delete by a command either', async () => {
    const right = await start();
    await receive(right, mail({ date: daysAgo(35) }));
    const env = { DATABASE_URL: database.connectionString, RETENTION_DAYS: '30', ...clock.env };
    const { dataDir } = right;
    const retention = await runCommand(['retention', '--confirm', '100'], { dataDir, env });
    expect(retention).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('clock_skewed') as string,
    });
    expect((await runCommand(['clock'], { dataDir, env })).exitCode).toBe(1);
    expect(await emails()).toBe(1);
  });
});

describe('events', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
  });
  afterAll(async () => {
    await disposeService(service);
    await database.drop();
  });

  it('go on by themselves when the partition of the day is missing', async () => {
    await receive(service, mail());
    await untilEvent(service, 'email.received', 1);
    for (const name of await partitionsOf(database.connectionString))
      await query(database.connectionString, `drop table ${name}`);
    await receive(service, mail());
    await untilEvent(service, 'email.received', 1);
    expect(await partitionsOf(database.connectionString)).toContain(await today(database.connectionString));
    await untilReady(service, 200);
  });

  it('are named by readiness while they can not be put into the feed', async () => {
    await query(database.connectionString, 'alter function number_events(int) rename to number_no_events');
    await receive(service, mail());
    await untilReady(service, 503);
    expect(await ready(service)).toMatchObject({
      code: 'not_ready',
      checks: { events: 'away', clock: 'ok' },
    });
    await query(database.connectionString, 'alter function number_no_events(int) rename to number_events');
    await untilReady(service, 200);
    await untilEvent(service, 'email.received', 2);
  });
});

describe.skipIf(skipWithoutFakeClock() || skipWithoutExternalPostgres())(
  'a database whose clock jumps',
  () => {
    it('deletes nothing until an operator confirms the time; sends go on', async () => {
      const clock = await createFakeClock();
      const postgres = await createExternalPostgres({ env: clock.env, settings: ['-c', 'fsync=off'] });
      // The clock of the machine that both run on.
      const env = { DATABASE_URL: postgres.url, RETENTION_DAYS: '30', EVENTS_DAYS: '30', ...clock.env };
      let service = await startServiceProcess({ env });
      const emails = async () =>
        Number((await query(postgres.url, 'select count(*) as n from email_worker.emails'))[0]?.['n']);
      const stateOf = async (id: string) =>
        ((await (await service.request(`/api/emails/${id}`)).json()) as { readonly state: string }).state;
      const schedule = async () => {
        const sendAt = new Date(Date.now() + 2 * HOUR_MS).toISOString();
        const json = { to: 'eve@customer.test', subject: 'Later', text_body: 'Hi', send_at: sendAt };
        return ((await (await service.request('/api/send', { json })).json()) as { readonly id: string }).id;
      };
      try {
        await receive(service, mail({ date: daysAgo(1) }));
        await untilEvent(service, 'email.received');
        const scheduled = await schedule();
        // A step of hours is found by a process that ran meanwhile.
        await clock.shift(5 * HOUR_MS);
        await service.request('/api/clock');
        await untilEvent(service, 'clock.jumped');
        await clock.shift(40 * DAY_MS);
        await service.stop();
        service = await startServiceProcess({ env, dataDir: service.dataDir });
        await untilLogged(
          service,
          /"code":"clock_in_doubt".*threads that are kept no longer could not be deleted/,
        );
        expect((await ready(service)).status).toBe(200);
        const sent = await service.request('/api/send', {
          json: { to: 'eve@customer.test', subject: 'Hi', text_body: 'Hi' },
        });
        expect(sent.status).toBe(200);
        await untilEvent(service, 'email.sent');
        expect(await emails()).toBe(3);
        expect(await eventsOf(service, 'email.received')).toHaveLength(1);
        expect(await eventsOf(service, 'clock.jumped')).toHaveLength(1);

        // Due by the wrong clock only: what is sent now can't be taken back.
        expect(await stateOf(scheduled)).toBe('queued');

        // It goes back: that is no time at which anything is due, and nothing stands still.
        await clock.shift(0);
        await untilEvent(service, 'clock.trusted');
        await receive(service, mail());
        await untilEvent(service, 'email.received', 2);
        await clock.shift(40 * DAY_MS);
        await service.request('/api/clock');
        await untilEvent(service, 'clock.jumped', 2);
        const { dataDir } = service;
        const shown = await runCommand(['clock'], { dataDir, env });
        expect(shown).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('--confirm') as string });
        const confirmed = await runCommand(['clock', '--confirm'], { dataDir, env });
        expect(confirmed).toMatchObject({
          exitCode: 0,
          stdout: expect.stringContaining('confirmed') as string,
        });
        await untilEvent(service, 'clock.trusted', 2);
        await service.request('/api/clock');
        // The scheduled one is due now.
        await untilEvent(service, 'email.sent', 2);
        expect(await runCommand(['retention'], { dataDir, env })).toMatchObject({ exitCode: 0 });
        // The sent one is as young as the new time.
        expect(await emails()).toBe(1);
      } finally {
        await disposeService(service);
        await postgres.dispose();
        await clock.remove();
      }
    });
  },
);
