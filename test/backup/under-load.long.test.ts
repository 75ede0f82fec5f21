/** A backup that is taken while mail goes in and out, and restored elsewhere after the service was killed. */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { runCommand } from '../helpers/command-process.ts';
import { mail, post } from '../helpers/inbound-mail.ts';
import { createEmptyDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { getJson } from '../helpers/running-service.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** An answer that a client got. */
interface Told {
  readonly kind: 'sent' | 'queued' | 'received';
  readonly token: string;
  readonly id: string;
  readonly threadId: string;
  /** SHA-256 of its attachment; null if it has none. */
  readonly sha256: string | null;
  readonly key: string | null;
  readonly body: object | null;
  /** In ms since 1970. */
  readonly at: number;
}

const CLIENTS = 6;
/** Far longer than the test takes. */
const TIMEOUT_MS = 600_000;
const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Sends one email after the other, until it is told to stop or the service is gone. */
async function beClient(
  service: ServiceProcess,
  name: string,
  told: Told[],
  isOver: () => boolean,
): Promise<void> {
  let last: Told | null = null;
  for (let number = 1; !isOver(); number += 1) {
    // No token is the beginning of another, since a search finds beginnings of words.
    const token = `tok${name}x${number}e`;
    const kind = (['sent', 'received', 'queued'] as const)[number % 3] ?? 'sent';
    const file = number % 4 === 0 ? randomBytes(number % 8 === 0 ? 120_000 : 300) : null;
    const key = kind === 'received' ? null : `key-${token}`;
    const body: Readonly<Record<string, unknown>> = {
      to: `${token}@customer.test`,
      subject: `About ${token}`,
      text_body: `Text of ${token}`,
      ...(last !== null && number % 5 === 0 ? { thread_id: last.threadId } : {}),
      ...(file === null
        ? {}
        : {
            attachments: [
              {
                filename: 'a.bin',
                content: file.toString('base64'),
                content_type: 'application/octet-stream',
              },
            ],
          }),
    };
    try {
      const response =
        kind === 'received'
          ? await post(service, mail({ subject: `About ${token}`, body: `Text of ${token}` }))
          : await service.request('/api/send', {
              json: body,
              headers: {
                'idempotency-key': key ?? '',
                ...(kind === 'queued' ? { prefer: 'respond-async' } : {}),
              },
            });
      const answer = (await response.json()) as { id: string; threadId: string };
      if (response.status !== 200 && response.status !== 202) continue;
      const sha256 = kind === 'received' || file === null ? null : hashOf(file);
      last = { kind, token, id: answer.id, threadId: answer.threadId, sha256, key, body, at: Date.now() };
      told.push(last);
    } catch {
      // The service was killed.
      if (!isOver()) await wait(20);
    }
  }
}

async function readManifest(place: string, id: string) {
  const text = await readFile(path.join(place, 'backups', id, 'manifest.json'), 'utf8');
  return JSON.parse(text) as { takenAt: string; files: { count: number } };
}

/** Tokens that the mail server took, each as often as it was taken. */
const takenBy = (sink: SmtpSink) =>
  sink.messages.map(({ raw }) => /Subject: About (tok\w+)/.exec(raw.toString('latin1'))?.[1] ?? '');

it(
  'has every email that was acknowledged before, once, with files, threads, events and search; none is sent again',
  async () => {
    const folder: TempFolder = await makeTempFolder();
    cleanups.push(() => folder.remove());
    const sink = await startSmtpSink();
    cleanups.push(() => sink.stop());
    const env = { SMTP_URL: sink.url, MAIL_FROM: 'Sales <sales@example.com>' };
    // With the embedded server.
    const source = await startServiceProcess({ env });
    cleanups.push(() => disposeService(source));
    const place = path.join(folder.path, 'place');

    const told: Told[] = [];
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      beClient(source, String(index), told, () => isOver),
    );
    const backUp = async () => {
      const made = await runCommand(['backup', place, '--keep', '5'], { dataDir: source.dataDir, env });
      expect(made.stderr).toBe('');
      expect(made.exitCode).toBe(0);
      return made.stdout.split(':', 1)[0] ?? '';
    };
    await waitUntil('there is mail', () => told.length >= 60);
    await backUp();
    const known = told.length;
    await waitUntil('there is more mail', () => told.length >= known + 60);
    const id = await backUp();
    const then = told.length;
    await waitUntil('there is mail after the backup', () => told.length >= then + 40);
    // The machine is lost in the middle of the work.
    await source.kill();
    isOver = true;
    await Promise.all(clients);
    const { takenAt } = await readManifest(place, id);
    const before = told.filter(({ at }) => at < Date.parse(takenAt));
    expect(before.length).toBeGreaterThanOrEqual(known);

    const database: TestDatabase = await createEmptyDatabase();
    cleanups.push(() => database.drop());
    const dataDir = path.join(folder.path, 'data');
    const restoredEnv = { ...env, DATABASE_URL: database.connectionString };
    const verified = await runCommand(['verify', place], { dataDir: folder.path, env: {} });
    expect(verified).toMatchObject({ exitCode: 0, stderr: '' });
    const command = await runCommand(['restore', place], {
      dataDir: folder.path,
      env: { ...restoredEnv, DATA_DIR: dataDir },
    });
    expect(command).toMatchObject({ exitCode: 0, stderr: '' });
    const taken = takenBy(sink);

    const restored = await startServiceProcess({ env: restoredEnv, dataDir });
    cleanups.push(() => disposeService(restored));
    const checked = await runCommand(['verify'], {
      dataDir: folder.path,
      env: { ...restoredEnv, DATA_DIR: dataDir },
    });
    expect(checked.stdout).toMatch(/ 0 faults/);

    for (const one of before) await expectThere(restored, one);
    // A repeated request gets its answer, and sends nothing.
    for (const { key, body, id: emailId, kind } of before.filter((one) => one.key !== null).slice(-20)) {
      const headers = {
        'idempotency-key': key ?? '',
        ...(kind === 'queued' ? { prefer: 'respond-async' } : {}),
      };
      const response = await restored.request('/api/send', { json: body, headers });
      expect(await response.json()).toMatchObject({ id: emailId });
    }
    await expectEvents(restored, before);
    await expectFound(restored, before);

    // An email sent now goes out, so the queue has had its turn; none of the earlier emails went out.
    const fresh = await restored.request('/api/send', {
      json: { to: 'new@customer.test', subject: 'About tokfresh', text_body: 'x' },
      headers: { prefer: 'respond-async' },
    });
    expect(fresh.status).toBe(202);
    await waitUntil('the queue was gone through', () => takenBy(sink).includes('tokfresh'));
    const count = new Map<string, number>();
    for (const token of takenBy(sink)) count.set(token, (count.get(token) ?? 0) + 1);
    expect([...count].filter(([, times]) => times > 1)).toEqual([]);
    expect(takenBy(sink).filter((token) => token !== 'tokfresh')).toEqual(taken);
  },
  TIMEOUT_MS,
);

interface ThreadEmail {
  readonly id: string;
  readonly subject: string;
  readonly email_attachments: readonly { readonly id: string }[];
}

async function expectThere(
  service: ServiceProcess,
  { id, threadId, kind, token, sha256 }: Told,
): Promise<void> {
  const email = await getJson<{ state: string; thread_id: string }>(service, `/api/emails/${id}`);
  const states = kind === 'received' ? ['received'] : kind === 'sent' ? ['sent'] : ['sent', 'unknown'];
  expect(states, `${token} ${kind}`).toContain(email.state);
  const { emails } = await getJson<{ emails: readonly ThreadEmail[] }>(service, `/api/thread/${threadId}`);
  const found = emails.filter((one) => one.id === id);
  expect(found, token).toHaveLength(1);
  expect(found[0]?.subject).toBe(`About ${token}`);
  const [file] = found[0]?.email_attachments ?? [];
  if (sha256 === null) return;
  const response = await service.request(`/api/attachments/${file?.id}`);
  expect(response.status).toBe(200);
  expect(hashOf(Buffer.from(await response.arrayBuffer()))).toBe(sha256);
}

/** Each email has an event, and positions only grow. */
async function expectEvents(service: ServiceProcess, emails: readonly Told[]): Promise<void> {
  const told = new Map<string, number>();
  let last = '';
  await waitUntil('all events are numbered', async () => {
    const page = await getJson<{
      events: readonly { id: string; type: string; email_id: string | null }[];
      next: string;
    }>(service, `/api/events?limit=500${last === '' ? '' : `&after=${last}`}`);
    for (const event of page.events) {
      expect(event.id > last).toBe(true);
      last = event.id;
      if (event.email_id !== null && /^email\.(?:sent|received|queued)$/.test(event.type))
        told.set(event.email_id, (told.get(event.email_id) ?? 0) + 1);
    }
    last = page.next;
    return page.events.length === 0;
  });
  for (const { id, token, kind } of emails) {
    if (kind === 'queued') continue;
    expect(told.get(id), token).toBe(1);
  }
}

async function expectFound(service: ServiceProcess, emails: readonly Told[]): Promise<void> {
  for (const { id, token } of emails.filter((_, index) => index % 7 === 0)) {
    await waitUntil(`${token} is found`, async () => {
      const found = await getJson<{ emails: readonly { id: string }[] }>(service, `/api/emails?q=${token}`);
      return found.emails.length === 1 && found.emails[0]?.id === id;
    });
  }
}
