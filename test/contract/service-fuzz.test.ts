/** The fuzz run of the OpenAPI document against the whole service: real database, files and mail server. */
import { randomUUID } from 'node:crypto';
import { createTestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, TEST_SECRET } from '../helpers/service-process.ts';
import { startSmtpSink } from '../helpers/smtp-sink.ts';
import { describeHttpFuzz } from './http-fuzz.contract.ts';

const SOMEDAY = new Date(Date.now() + 86_400_000).toISOString();

describeHttpFuzz(
  'the whole service',
  async () => {
    const [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
    const service = await startServiceProcess({
      env: { DATABASE_URL: database.connectionString, SMTP_URL: sink.url },
    });
    const customer = randomUUID();
    const response = await service.request('/api/send', {
      json: { to: 'ada@example.org', subject: 'Hallo', text_body: 'Guten Tag', customer_id: customer },
    });
    const { id, threadId, messageId } = (await response.json()) as Record<
      'id' | 'threadId' | 'messageId',
      string
    >;
    // Emails that can be cancelled, and then retried.
    const scheduled = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const fields = { to: 'ada@example.org', subject: 'Später', text_body: 'x', send_at: SOMEDAY };
        const answer = await service.request('/api/send', { json: fields });
        return ((await answer.json()) as { id: string }).id;
      }),
    );
    return {
      authorization: `Bearer ${TEST_SECRET}`,
      samples: {
        threadId: [threadId],
        thread_id: [threadId],
        id: [id, ...scheduled],
        customerId: [customer],
        in_reply_to: [messageId],
        to: ['ada@example.org', 'later@later.test', 'refused@refused.test'],
      },
      // An unknown outcome requires a broken connection; see test/crash.
      unreachable: ['/api/emails/{id}/resolve'],
      expectedFailures: ['send_failed', 'send_deferred'],
      async send({ method, url, headers, body }) {
        const answer = await fetch(service.url + url, {
          method,
          headers,
          ...(body === null ? {} : { body }),
        });
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: await answer.text(),
        };
      },
      async close() {
        await disposeService(service);
        await sink.stop();
        await database.drop();
      },
    };
  },
  // See docs/decisions/0062-cost-of-tests.md.
  100,
);
