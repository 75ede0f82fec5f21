/** Retries of the built service with a clock that is wrong, or jumps while it runs: the database's clock decides when they are due. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, skipWithoutFakeClock, type FakeClock } from '../helpers/fake-clock.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Email {
  readonly state: string;
  readonly attempts: readonly unknown[];
  readonly next_attempt_at: string;
  readonly give_up_at: string;
}

describe.skipIf(skipWithoutFakeClock())('a service whose clock is wrong', () => {
  let database: TestDatabase;
  let sink: SmtpSink;
  let clock: FakeClock;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    sink = await startSmtpSink();
    clock = await createFakeClock(-HOUR_MS);
    const env = { ...clock.env, DATABASE_URL: database.connectionString, SMTP_URL: sink.url };
    service = await startServiceProcess({ env });
  }, 180_000);
  afterAll(async () => {
    await service.stop();
    await disposeService(service);
    await clock.remove();
    await sink.stop();
    await database.drop();
  });

  const read = async (id: string) => (await (await service.request(`/api/emails/${id}`)).json()) as Email;

  /** Sends an email that the mail server puts off, and returns its id. */
  async function sendDeferred(fields: object = {}): Promise<string> {
    const response = await service.request('/api/send', {
      method: 'POST',
      headers: { prefer: 'respond-async' },
      json: { to: 'ada@later.test', subject: 'Grau', text_body: 'x', ...fields },
    });
    const { id } = (await response.json()) as { readonly id: string };
    return id;
  }

  const now = async (): Promise<number> => {
    const [row] = await query(database.connectionString, `select to_json(now()) #>> '{}' as now`);
    return Date.parse(String(row?.['now']));
  };

  it.each([
    ['an hour behind', -HOUR_MS],
    ['five hours behind', -5 * HOUR_MS],
    ['40 minutes ahead', 40 * MINUTE_MS],
    ['40 days ahead', 40 * DAY_MS],
  ])('tries a greylisted mail again after five minutes, and for four days: %s', async (_title, offsetMs) => {
    await clock.shift(offsetMs);
    const before = await now();
    const id = await sendDeferred();
    await waitUntil('it is put off', async () => (await read(id)).state === 'deferred');
    const [email, after] = [await read(id), await now()];
    await clock.shift(0);
    const [nextMs, giveUpMs] = [Date.parse(email.next_attempt_at), Date.parse(email.give_up_at)];
    // Five minutes, a fifth more or less.
    expect(nextMs).toBeGreaterThanOrEqual(before + 4 * MINUTE_MS);
    expect(nextMs).toBeLessThanOrEqual(after + 6 * MINUTE_MS);
    expect(giveUpMs).toBeGreaterThanOrEqual(before + 4 * DAY_MS);
    expect(giveUpMs).toBeLessThanOrEqual(after + 4 * DAY_MS);
    expect(email.attempts).toHaveLength(1);
  });

  it('makes one attempt, not one after the other', async () => {
    await clock.shift(-5 * HOUR_MS);
    const id = await sendDeferred();
    await waitUntil('it is put off', async () => (await read(id)).state === 'deferred');
    // A send that is accepted later has passed the queue since.
    const later = await sendDeferred({ to: 'ada@example.org' });
    await waitUntil('another one is sent', async () => (await read(later)).state === 'sent');
    const { attempts } = await read(id);
    await clock.shift(0);
    expect(attempts).toHaveLength(1);
  });
});
