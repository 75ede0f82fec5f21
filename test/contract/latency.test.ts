/** How long sends and received emails took, and what other mail servers report, in `GET /api/statistics`. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { getJson, startServiceWithSink, sendJson, type RunningService } from '../helpers/running-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const MAIL = { to: 'ada@example.org', subject: 'Angebot', text_body: 'Guten Tag' };

interface Latency {
  readonly emails: number;
  readonly mean_ms: number;
  readonly median_ms: number;
  readonly p95_ms: number;
}
interface Statistics {
  readonly points: readonly { readonly sent: number; readonly received: number }[];
  readonly send_latency: Latency | null;
  readonly receive_latency: Latency | null;
  readonly reports: readonly object[];
}

let running: RunningService;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const read = () => getJson<Statistics>(running.service, '/api/statistics?step=hour');

/** Waits until the events of this many emails are counted. */
async function counted(kind: 'sent' | 'received', emails: number): Promise<Statistics> {
  await waitUntil(`${emails} are ${kind}`, async () => {
    const { points } = await read();
    return points.reduce((sum, point) => sum + point[kind], 0) === emails;
  });
  return read();
}

const tookOf = async (id: string): Promise<number | null> => {
  const [row] = await query(running.database.connectionString, 'select took_ms from emails where id = $1', [
    id,
  ]);
  return row?.['took_ms'] as number | null;
};

it('is not told before there was mail', async () => {
  expect(await read()).toMatchObject({ send_latency: null, receive_latency: null });
});

it('is told of sends: from when they are accepted, or due, until the mail server has them', async () => {
  const began = Date.now();
  const direct = await sendJson(running.service, MAIL);
  const directMs = Date.now() - began;
  expect(await tookOf(direct.id)).toBeLessThanOrEqual(directMs);

  const wait = async (body: object) => {
    const response = await running.service.request('/api/send', {
      json: { ...MAIL, ...body },
      headers: { prefer: 'respond-async' },
    });
    expect(response.status).toBe(202);
    return ((await response.json()) as { readonly id: string }).id;
  };
  await wait({});
  const scheduled = await wait({ send_at: new Date(Date.now() + 3_600_000).toISOString() });
  const [row] = await query(
    running.database.connectionString,
    'select timed_from = due_at as is_same from send_queue where email_id = $1',
    [scheduled],
  );
  expect(row?.['is_same']).toBe(true);
  const changed = Date.now();
  const { send_version: version } = await getJson<{ send_version: number }>(
    running.service,
    `/api/emails/${scheduled}`,
  );
  const response = await running.service.request(`/api/emails/${scheduled}`, {
    method: 'PATCH',
    json: { send_at: 'now' },
    headers: { 'if-match': `"${version}"` },
  });
  expect(response.status).toBe(200);
  const { send_latency: latency, receive_latency: received } = await counted('sent', 3);
  expect(received).toBeNull();
  expect(latency?.emails).toBe(3);
  expect(latency?.mean_ms).toBeLessThanOrEqual(Date.now() - began);
  expect(await tookOf(scheduled)).toBeGreaterThan(0);
  expect(await tookOf(scheduled)).toBeLessThanOrEqual(Date.now() - changed);
});

it('is told of received mail, and not of what is refused', async () => {
  const began = Date.now();
  const email = await receive(running.service, mail());
  expect(await tookOf(email.id)).toBeLessThanOrEqual(Date.now() - began);
  const refused = await running.service.request('/api/send', { json: { ...MAIL, to: 'x@refused.test' } });
  expect(refused.status).toBe(500);
  const told = await counted('received', 1);
  expect(told.receive_latency?.emails).toBe(1);
  expect(told.send_latency?.emails).toBe(3);
});

it('beside them are the counts in reports of other mail servers, each report once, which are no work', async () => {
  const xml =
    '<feedback><report_metadata><org_name>receiver.test</org_name><report_id>1</report_id></report_metadata>' +
    '<policy_published><domain>example.com</domain></policy_published><record><row><source_ip>192.0.2.1</source_ip><count>7</count>' +
    '<policy_evaluated><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row></record></feedback>';
  const report = () =>
    mail({
      from: 'reports@receiver.test',
      subject: 'Report Domain: example.com Submitter: receiver.test Report-ID: 1',
      date: new Date().toUTCString(),
      headers: [
        'MIME-Version: 1.0',
        'Content-Type: application/gzip',
        'Content-Disposition: attachment; filename="receiver.test!example.com!1700000000!1700086399.xml.gz"',
        'Content-Transfer-Encoding: base64',
      ],
      body: gzipSync(xml).toString('base64'),
    });
  const { id } = await receive(running.service, report());
  await receive(running.service, report());
  expect(await getJson(running.service, `/api/emails/${id}`)).toMatchObject({
    unread: false,
    automatic: { kind: 'report' },
  });
  expect((await read()).reports).toEqual([
    { kind: 'dmarc', domain: 'example.com', source: '192.0.2.1', result: 'pass', messages: 7 },
  ]);
  const before = await getJson<Statistics>(running.service, '/api/statistics?until=2026-01-02T00:00:00Z');
  expect(before.reports).toEqual([]);
});
