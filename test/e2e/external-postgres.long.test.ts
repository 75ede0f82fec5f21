/** DATABASE_URL: an external server of the oldest supported version, and the behaviour when it is unavailable. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createExternalPostgres,
  skipWithoutExternalPostgres,
  type ExternalPostgres,
} from '../helpers/external-postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const NOTES = { tags: ['partial'], metadata: { order: 17 } };
const MAIL = { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag' };

describe.skipIf(skipWithoutExternalPostgres())('with an external PostgreSQL', () => {
  let postgres: ExternalPostgres;
  let sink: SmtpSink;
  const running: ServiceProcess[] = [];

  beforeEach(async () => {
    [postgres, sink] = await Promise.all([createExternalPostgres(), startSmtpSink()]);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(disposeService));
    await sink.stop();
    await postgres.dispose();
  });

  async function start(dataDir?: string, log: string[] = []): Promise<ServiceProcess> {
    const service = await startServiceProcess({
      log,
      ...(dataDir === undefined ? {} : { dataDir }),
      env: { DATABASE_URL: postgres.url, SMTP_URL: sink.url },
    });
    running.push(service);
    return service;
  }

  it('lets several instances that start at the same moment migrate an empty database once, and share it', async () => {
    const services = await Promise.all([start(), start(), start()]);
    const { threadId } = (await (await services[0]!.request('/api/send', { json: MAIL })).json()) as {
      threadId: string;
    };
    for (const service of services) {
      const response = await service.request(`/api/thread/${threadId}`);
      expect(((await response.json()) as { emails: unknown[] }).emails).toHaveLength(1);
    }
  });

  it('answers 207 with exactly the specified fields while it is unavailable, and stores the email when it is back', async () => {
    const service = await start();
    const before = (await (await service.request('/api/send', { json: MAIL })).json()) as {
      threadId: string;
    };
    await postgres.stop();

    const attachment = {
      filename: 'a.bin',
      content: Buffer.alloc(300_000, 7).toString('base64'),
      content_type: 'a/b',
    };
    const response = await service.request('/api/send', {
      json: { ...MAIL, ...NOTES, attachments: [attachment] },
    });
    expect(response.status).toBe(207);
    const partial = (await response.json()) as Record<string, string>;
    expect(Object.keys(partial).sort()).toEqual(['error', 'message', 'messageId', 'status']);
    expect(partial.status).toBe('partial');
    expect(sink.byMessageId(partial.messageId!)).toHaveLength(1);

    // An explicit thread can't be checked now, so nothing is sent.
    const refused = await service.request('/api/send', { json: { ...MAIL, thread_id: before.threadId } });
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      503,
      'database_unavailable',
    ]);
    expect((await service.request(`/api/thread/${before.threadId}`)).status).toBe(503);
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
    const ready = await fetch(`${service.url}/api/health/ready`);
    expect([
      ready.status,
      ((await ready.json()) as { checks: { database: string } }).checks.database,
    ]).toEqual([503, 'away']);

    await postgres.start();
    // The answer names the email by its Message-ID: a reply to it joins its thread once the email is stored.
    await waitUntil('the email is stored', async () => {
      const listed = await service.request('/api/emails?state=sent');
      const { emails } = (await listed.json()) as { emails: { message_id: string }[] };
      return emails.some((email) => email.message_id === partial.messageId);
    });
    const tagged = await service.request('/api/emails?tag=partial');
    expect(await tagged.json()).toMatchObject({ emails: [{ message_id: partial.messageId, ...NOTES }] });
    expect(sink.byMessageId(partial.messageId!)).toHaveLength(1);
  });

  it('stores what was sent while it was away after a kill -9 and a restart as well', async () => {
    const service = await start();
    await postgres.stop();
    const sent: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const response = await service.request('/api/send', { json: MAIL });
      expect(response.status).toBe(207);
      sent.push(((await response.json()) as { messageId: string }).messageId);
    }
    await service.kill();
    await postgres.start();
    const again = await start(service.dataDir);
    await waitUntil('the emails are stored', async () => {
      const listed = await again.request('/api/emails?state=sent');
      const { emails } = (await listed.json()) as { emails: { message_id: string }[] };
      return sent.every((messageId) => emails.filter((email) => email.message_id === messageId).length === 1);
    });
    expect(sink.messages).toHaveLength(3);
  });

  it('waits at the start until it is there', async () => {
    await postgres.stop();
    const log: string[] = [];
    const starting = start(undefined, log);
    await waitUntil('the service has missed it', () =>
      log.join('').includes('the database is not there yet'),
    );
    await postgres.start();
    expect((await fetch(`${(await starting).url}/api/health/ready`)).status).toBe(200);
  });
});
