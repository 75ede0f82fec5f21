/**
 * Bounces of real servers: the service sends through Postfix, Exim and OpenSMTPD to recipients that the next server refuses, and receives
 * the resulting bounces by LMTP.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipWithoutMailServers, startMailServers } from '../helpers/mail-servers.ts';
import {
  skipWithoutOtherMailServers,
  startExim,
  startOpenSmtpd,
  type OtherMailServer,
  type OtherMailServerPlan,
} from '../helpers/other-mail-servers.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';

const BOUNCE_TIMEOUT_MS = 60_000;

/** `…@<name>.test` → the next server's reply to RCPT. */
const REPLIES: Readonly<Record<string, readonly [code: number, text: string]>> = {
  gone: [550, '5.1.1 No such user here'],
  silent: [550, 'Unknown user'],
  full: [552, '5.2.2 Mailbox full'],
  policy: [554, '5.7.1 Blocked by our policy'],
};

async function startPostfix({ lmtpPort, upstreamPort }: OtherMailServerPlan): Promise<OtherMailServer> {
  const { smtpPort, readLog, stop } = await startMailServers(`lmtp:inet:127.0.0.1:${lmtpPort}`, upstreamPort);
  return { url: `smtp://127.0.0.1:${smtpPort}?tls_verify=false`, readLog, stop };
}

const withoutPostfix = skipWithoutMailServers();
const withoutOthers = skipWithoutOtherMailServers();

describe.each([
  ['Postfix', startPostfix, withoutPostfix],
  ['Exim', startExim, withoutOthers],
  ['OpenSMTPD', startOpenSmtpd, withoutOthers],
] as const)('bounces of %s', (_, startServer, isMissing) => {
  describe.skipIf(isMissing)('that come back by LMTP', () => {
    let database: TestDatabase;
    let upstream: SmtpSink;
    let server: OtherMailServer;
    let service: ServiceProcess;

    beforeAll(async () => {
      database = await createTestDatabase();
      upstream = await startSmtpSink({
        onRcptTo({ address }, _session, callback) {
          const [code, text] = REPLIES[address.replace(/^.*@|\.test$/g, '')] ?? [];
          if (code === undefined) callback();
          else callback(Object.assign(new Error(text), { responseCode: code }));
        },
      });
      const lmtpPort = await findFreePort();
      server = await startServer({ lmtpPort, upstreamPort: Number(new URL(upstream.url).port) });
      service = await startServiceProcess({
        env: {
          DATABASE_URL: database.connectionString,
          SMTP_URL: server.url,
          MAIL_FROM: 'Bob <bob@example.test>',
          LMTP_LISTEN: `127.0.0.1:${lmtpPort}`,
        },
      });
    });
    afterAll(async () => {
      await disposeService(service);
      await server.stop();
      await upstream.stop();
      await database.drop();
    });

    interface Detail {
      readonly recipients: readonly {
        readonly report: {
          readonly outcome: string;
          readonly enhanced_status: string | null;
          readonly diagnostic: string;
          readonly email_id: string;
        } | null;
      }[];
      readonly bounce: unknown;
      readonly automatic: unknown;
    }

    const send = (json: object) =>
      service.request('/api/send', { json: { subject: 'Angebot', text_body: 'Text', ...json } });

    async function sendNow(json: object): Promise<string> {
      const response = await send(json);
      expect(response.status, await response.clone().text()).toBe(200);
      return ((await response.json()) as { id: string }).id;
    }

    const emailOf = async (id: string) =>
      (await (await service.request(`/api/emails/${id}`)).json()) as Detail;

    async function reportsOf(id: string, count: number) {
      const reports = async () => (await emailOf(id)).recipients.map(({ report }) => report);
      const deadline = Date.now() + BOUNCE_TIMEOUT_MS;
      while ((await reports()).filter((report) => report !== null).length < count) {
        if (Date.now() > deadline) throw new Error(`no bounce came\n${await server.readLog()}`);
        await sleep(250);
      }
      return reports();
    }

    it('are shown with their recipients and refuse the next send, until the address is lifted', async () => {
      const id = await sendNow({ to: ['someone@gone.test', 'someone@fine.test'] });
      const [report, none] = await reportsOf(id, 1);
      expect(none).toBeNull();
      expect(report).toMatchObject({ outcome: 'bounced_hard', enhanced_status: '5.1.1' });
      expect(report?.diagnostic).toContain('No such user here');
      expect(await emailOf(report?.email_id ?? '')).toMatchObject({
        automatic: { kind: 'bounce', suppress_replies: true },
        bounce: { kind: 'report', email_id: id, recipients: [{ address: 'someone@gone.test' }] },
      });

      const refused = await send({ to: 'someone@gone.test' });
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({ code: 'recipient_suppressed' });
      const lifted = await service.request('/api/suppressions/someone%40gone.test', { method: 'DELETE' });
      expect(lifted.status).toBe(200);
      const again = await sendNow({ to: 'someone@gone.test' });
      await reportsOf(again, 1);
      expect((await send({ to: 'someone@gone.test' })).status).toBe(422);
    });

    it('tell unknown users from full mailboxes and policies, several in one email', async () => {
      const id = await sendNow({
        to: ['a@silent.test', 'b@full.test'],
        cc: 'c@policy.test',
        bcc: ['d@fine.test', 'alice@example.test'],
      });
      const reports = await reportsOf(id, 4);
      // The service itself refuses alice, by LMTP.
      expect(reports.map((report) => report?.outcome ?? null)).toEqual([
        'bounced_hard',
        'bounced_soft',
        'blocked',
        null,
        'bounced_hard',
      ]);
    });
  });
});
