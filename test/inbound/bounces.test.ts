/** What comes back about sent mail, and the addresses it suppresses: the built service with a real database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { complaint, deliveryReport } from '../helpers/bounce-mail.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { startSmtpSink, type SmtpSink } from '../helpers/smtp-sink.ts';

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let other: ServiceProcess;

const start = (env: Readonly<Record<string, string>> = {}) =>
  startServiceProcess({
    env: {
      DATABASE_URL: database.connectionString,
      SMTP_URL: sink.url,
      MAIL_FROM: 'Sales <sales@example.com>',
      SEND_RETRY_DELAYS_S: '1',
      ...env,
    },
  });

beforeAll(async () => {
  [database, sink] = await Promise.all([createTestDatabase(), startSmtpSink()]);
  [service, other] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([disposeService(service), disposeService(other)]);
  await sink.stop();
  await database.drop();
});

interface Report {
  readonly outcome: string;
  readonly enhanced_status: string | null;
  readonly diagnostic: string;
  readonly email_id: string;
}

interface Detail {
  readonly state: string;
  readonly state_detail: string | null;
  readonly next_attempt_at: string | null;
  readonly recipients: readonly { address: string; state: string; report: Report | null }[];
  readonly bounce: { readonly email_id: string | null } | null;
  readonly attempts: readonly { readonly detail: string }[];
}

interface Sent {
  readonly id: string;
  readonly messageId: string;
}

let count = 0;
/** One that no other test knows. */
const freshAddress = (domain = 'customer.test') => `someone-${(count += 1)}@${domain}`;

const trySend = (json: object, by = service) =>
  by.request('/api/send', { json: { subject: 'Angebot', text_body: 'Text', ...json } });

async function send(json: object): Promise<Sent> {
  const response = await trySend(json);
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as Sent;
}

async function emailOf(id: string): Promise<Detail> {
  const response = await service.request(`/api/emails/${id}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Detail;
}

const outcomes = async (id: string) =>
  (await emailOf(id)).recipients.map(({ report }) => report?.outcome ?? null);

const listed = async (address: string) => {
  const response = await service.request(`/api/suppressions?address=${encodeURIComponent(address)}`);
  return ((await response.json()) as { suppressions: Record<string, unknown>[] }).suppressions;
};

const lift = (address: string, by = service) =>
  by.request(`/api/suppressions/${encodeURIComponent(address)}`, { method: 'DELETE' });

const suppress = (address: string, json: unknown = {}) =>
  service.request(`/api/suppressions/${encodeURIComponent(address)}`, { method: 'PUT', json });

describe('a delivery report', () => {
  it('is shown with the recipient, and refuses the next send until the address is lifted', async () => {
    const address = freshAddress();
    const sent = await send({ to: `Max <${address}>` });
    const raw = deliveryReport(sent.messageId, [{ address }]);
    const report = await receive(service, raw);

    const detail = await emailOf(sent.id);
    expect(detail.state).toBe('sent');
    expect(detail.recipients).toEqual([
      {
        address,
        state: 'accepted',
        reply: expect.anything() as unknown,
        report: {
          outcome: 'bounced_hard',
          enhanced_status: '5.1.1',
          diagnostic: '550 5.1.1 No such user here',
          reported_at: expect.any(String) as unknown,
          email_id: report.id,
        },
      },
    ]);
    expect(await emailOf(report.id)).toMatchObject({
      bounce: {
        kind: 'report',
        format: 'rfc3464',
        email_id: sent.id,
        recipients: [{ address, action: 'failed', severity: 'hard' }],
      },
    });

    const refused = await trySend({ to: address });
    expect(refused.status).toBe(422);
    const body = (await refused.json()) as { error: string; code: string };
    expect(body.code).toBe('recipient_suppressed');
    const [entry] = await listed(address);
    expect(entry).toMatchObject({
      address,
      reason: 'hard_bounce',
      enhanced_status: '5.1.1',
      email_id: sent.id,
      report_email_id: report.id,
    });
    expect(body.error).toContain(address);
    expect(body.error).toContain(String(entry?.since));
    expect(body.error).toContain('nimmt keine E-Mails an');

    const lifted = await lift(address);
    expect(lifted.status).toBe(200);
    expect(await lifted.json()).toMatchObject({ address });
    expect((await lift(address)).status).toBe(404);
    const again = await send({ to: address });

    // The same report, and another one about what was sent before.
    expect(await receive(service, raw)).toMatchObject({ status: 'duplicate' });
    await receive(service, deliveryReport(sent.messageId, [{ address }], { messageId: newId() }));
    expect(await listed(address)).toEqual([]);
    await receive(service, deliveryReport(again.messageId, [{ address }]));
    expect(await listed(address)).toMatchObject([{ reason: 'hard_bounce', email_id: again.id }]);
  });

  it.each(['to', 'cc', 'bcc'])('suppresses an address in %s, whatever its case', async (field) => {
    const address = freshAddress();
    const sent = await send({ to: address });
    await receive(service, deliveryReport(sent.messageId, [{ address: address.toUpperCase() }]));
    const response = await trySend({ to: freshAddress(), [field]: `"X" <${address.toUpperCase()}>` });
    expect(response.status).toBe(422);
  });

  it('gives the same result in any order', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    const about = (action: string, status: string) =>
      deliveryReport(sent.messageId, [{ address, action, status, diagnostic: `${status} said the server` }]);
    await receive(service, about('delayed', '4.4.1'));
    expect(await outcomes(sent.id)).toEqual(['delayed']);
    expect(await listed(address)).toEqual([]);
    await receive(service, about('failed', '5.1.1'));
    await receive(service, about('delayed', '4.4.1'));
    await receive(service, about('relayed', '2.0.0'));
    expect(await outcomes(sent.id)).toEqual(['bounced_hard']);
  });

  it('tells several recipients apart, and soft from hard and blocked', async () => {
    const [gone, full, spam, fine] = [freshAddress(), freshAddress(), freshAddress(), freshAddress()];
    const sent = await send({ to: [gone, full], cc: spam, bcc: fine });
    await receive(
      service,
      deliveryReport(sent.messageId, [
        { address: gone },
        { address: full, status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' },
        { address: spam, status: '5.7.1', diagnostic: '554 5.7.1 Message rejected as spam' },
        { address: fine, action: 'delivered', status: '2.1.5', diagnostic: '250 2.1.5 ok' },
      ]),
    );
    expect(await outcomes(sent.id)).toEqual(['bounced_hard', 'bounced_soft', 'blocked', 'delivered']);
    expect((await trySend({ to: [full, spam, fine] })).status).toBe(200);
    expect((await trySend({ to: [full, gone] })).status).toBe(422);
  });

  it('counts for the address as it was written, where forwarding changed it', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    await receive(
      service,
      deliveryReport(sent.messageId, [{ address: 'target@elsewhere.test', original: address }]),
    );
    expect(await outcomes(sent.id)).toEqual(['bounced_hard']);
    expect(await listed('target@elsewhere.test')).toEqual([]);
    expect(await listed(address)).toHaveLength(1);
  });

  it('changes nothing when it is forged', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    const victim = freshAddress();
    // A Message-ID that nobody gave out, and one that a recipient may know, about somebody else.
    const guessed = await receive(service, deliveryReport('<guess@example.com>', [{ address }]));
    const foreign = await receive(service, deliveryReport(sent.messageId, [{ address: victim }]));
    expect(await outcomes(sent.id)).toEqual([null]);
    for (const { id } of [guessed, foreign]) {
      expect((await emailOf(id)).bounce).toMatchObject({ email_id: null });
    }
    expect((await trySend({ to: [address, victim] })).status).toBe(200);
  });

  it('changes nothing in free form when it names no email of ours', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    const notice = (messageId: string) =>
      mail({
        from: 'Mail Delivery System <MAILER-DAEMON@customer.test>',
        subject: 'Undelivered Mail Returned to Sender',
        headers: ['Return-Path: <>'],
        body: `<${address}>: 550 5.1.1 User unknown\r\n\r\n--- Below this line is a copy of the message.\r\n\r\nMessage-ID: ${messageId}\r\n`,
      });
    for (const messageId of ['<1@example.com>', newId()]) {
      const { id } = await receive(service, notice(messageId));
      expect((await emailOf(id)).bounce).toMatchObject({ format: 'free_form', email_id: null });
    }
    expect(await outcomes(sent.id)).toEqual([null]);
    expect(await listed(address)).toEqual([]);
    await receive(service, notice(sent.messageId));
    expect(await outcomes(sent.id)).toEqual(['bounced_hard']);
  });

  it('settles no unknown outcome when it names a Message-ID that can be guessed', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    await query(
      database.connectionString,
      "update emails set state = 'unknown', message_id = '4711@example.com' where id = $1",
      [sent.id],
    );
    await receive(service, deliveryReport('<4711@example.com>', [{ address }]));
    expect((await emailOf(sent.id)).state).toBe('unknown');
    expect(await listed(address)).toEqual([]);
  });

  it('is none when a recipient of the email answers by a program, whatever the subject', async () => {
    const address = freshAddress();
    const subject = 'Zustellung nicht möglich';
    const sent = await send({ to: address, subject });
    const subjects = [`Automatische Antwort: ${subject}`, `Out of office: Re: ${subject}`, subject];
    for (const one of subjects) {
      const answer = await receive(
        service,
        mail({
          from: `Max <${address}>`,
          subject: one,
          inReplyTo: sent.messageId,
          headers: ['Return-Path: <>', 'Content-Type: text/plain; charset=utf-8'],
          body: `Die Adresse ${address} existiert nicht mehr. 550 5.1.1 unknown user`,
        }),
      );
      expect((await emailOf(answer.id)).bounce).toBeNull();
    }
    expect(await outcomes(sent.id)).toEqual([null]);
    expect(await listed(address)).toEqual([]);
  });

  it('in free form is nothing from an address that got the email', async () => {
    const address = `postmaster@box-${(count += 1)}.test`;
    const sent = await send({ to: address });
    const raw = mail({
      from: `Postmaster <${address}>`,
      subject: 'Undeliverable: Angebot',
      inReplyTo: sent.messageId,
      headers: ['Return-Path: <>'],
      body: `This address takes no mail: 550 5.1.1 unknown user`,
    });
    const answer = await receive(service, raw);
    expect((await emailOf(answer.id)).bounce).toMatchObject({ format: 'free_form', email_id: null });
    expect(await outcomes(sent.id)).toEqual([null]);
    expect(await listed(address)).toEqual([]);
  });

  it('is read from a notice of Amazon SES, when it names an email of ours', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    const notice = (messageId: string) =>
      mail({
        from: 'AWS Notifications <no-reply@sns.amazonaws.com>',
        subject: 'Amazon SES Email Event Notification',
        body: JSON.stringify({
          notificationType: 'Bounce',
          bounce: {
            bounceType: 'Permanent',
            bounceSubType: 'General',
            bouncedRecipients: [
              { emailAddress: address, status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' },
            ],
          },
          mail: { messageId: '0102-x', headers: [{ name: 'Message-ID', value: messageId }] },
        }),
      });
    await receive(service, notice('<guess@example.com>'));
    expect(await outcomes(sent.id)).toEqual([null]);
    const { id } = await receive(service, notice(sent.messageId));
    expect((await emailOf(id)).bounce).toMatchObject({ format: 'amazon_ses', email_id: sent.id });
    expect(await outcomes(sent.id)).toEqual(['bounced_hard']);
    expect(await listed(address)).toMatchObject([{ reason: 'hard_bounce' }]);
  });

  it('changes nothing in another account', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    await query(
      database.connectionString,
      `with t as (
        insert into email_threads (id, account_id) values (gen_random_uuid(), 'another') returning id
      ) update emails set account_id = 'another', thread_id = t.id from t where emails.id = $1`,
      [sent.id],
    );
    await receive(service, deliveryReport(sent.messageId, [{ address }]));
    expect(await listed(address)).toEqual([]);
  });

  it('is applied once when it comes many times at the same moment', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    const raw = deliveryReport(sent.messageId, [{ address }]);
    await Promise.all([service, other, service, other, service].map((node) => receive(node, raw)));
    await Promise.all(
      [service, other, service].map((node) =>
        receive(node, deliveryReport(sent.messageId, [{ address }], { messageId: newId() })),
      ),
    );
    const rows = await query(
      database.connectionString,
      'select count(*)::int as count from delivery_reports where email_id = $1',
      [sent.id],
    );
    expect(rows).toEqual([{ count: 4 }]);
    expect(await listed(address)).toHaveLength(1);
  });

  it('is applied later when the process is killed right after it is recorded', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    const report = await receive(service, deliveryReport(sent.messageId, [{ address }]));
    // As the transaction that records the report leaves it.
    const undo = [
      'delete from delivery_reports where report_id = $1',
      'delete from suppressions where report_id = $1',
      'update bounce_reports set email_id = null, next_match_at = now() where report_id = $1',
    ];
    for (const statement of undo) await query(database.connectionString, statement, [report.id]);
    await expect.poll(() => outcomes(sent.id), { timeout: 20_000 }).toEqual(['bounced_hard']);
    expect(await listed(address)).toMatchObject([{ report_email_id: report.id }]);
  }, 30_000);

  it('waits for the email it is about when it comes back before that is recorded', async () => {
    const address = freshAddress();
    let reportId = '';
    const fast = await startSmtpSink({
      onData(stream, _session, callback) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const messageId = /^Message-ID: (<\S+>)/m.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? '';
          void receive(service, deliveryReport(messageId, [{ address }])).then(({ id }) => {
            reportId = id;
            callback(null, 'ok');
          });
        });
      },
    });
    const node = await start({ SMTP_URL: fast.url });
    const response = await trySend({ to: address }, node);
    const sent = (await response.json()) as Sent;
    expect((await emailOf(reportId)).bounce).toMatchObject({ email_id: null });
    await expect.poll(() => outcomes(sent.id), { timeout: 20_000 }).toEqual(['bounced_hard']);
    expect(await listed(address)).toHaveLength(1);
    await disposeService(node);
    await fast.stop();
  }, 40_000);
});

describe('a complaint', () => {
  it('suppresses its recipient', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    await receive(service, complaint(sent.messageId, `<${address}>`));
    expect(await outcomes(sent.id)).toEqual(['complained']);
    const refused = await trySend({ to: address });
    expect(refused.status).toBe(422);
    expect(((await refused.json()) as { error: string }).error).toContain('als Spam gemeldet');
  });

  it('is tied to the only recipient when it names none, and to nobody when there were two', async () => {
    const [one, two, three] = [freshAddress(), freshAddress(), freshAddress()];
    const alone = await send({ to: one });
    const both = await send({ to: [two, three] });
    await receive(service, complaint(alone.messageId, null));
    await receive(service, complaint(both.messageId, null));
    expect(await outcomes(alone.id)).toEqual(['complained']);
    expect(await outcomes(both.id)).toEqual([null, null]);
  });

  it('that is made after the address was lifted suppresses it again, an older one does not', async () => {
    const address = freshAddress();
    const sent = await send({ to: address });
    await receive(service, complaint(sent.messageId, address));
    const old = complaint(sent.messageId, address, { date: new Date(Date.now() - 2000).toUTCString() });
    await lift(address);
    await receive(service, old);
    expect(await listed(address)).toEqual([]);
    const later = new Date(Date.now() + 2000);
    await expect.poll(() => Date.now(), { timeout: 5000 }).toBeGreaterThan(later.getTime());
    await receive(service, complaint(sent.messageId, address));
    expect(await listed(address)).toMatchObject([{ reason: 'complaint' }]);
  });
});

describe('soft bounces', () => {
  it('suppress after five emails over a week, unless a delivery is reported between', async () => {
    const [full, recovered] = [freshAddress(), freshAddress()];
    for (let day = 8; day >= 0; day -= 2) {
      const at = new Date(Date.now() - day * 86_400_000);
      for (const address of [full, recovered]) {
        const sent = await send({ to: address });
        await query(database.connectionString, 'update emails set created_at = $2 where id = $1', [
          sent.id,
          at,
        ]);
        await query(
          database.connectionString,
          'update delivery_attempts set started_at = $2 where email_id = $1',
          [sent.id, at],
        );
        const status = { status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' };
        const date = at.toUTCString();
        if (address === recovered && day === 4) {
          await receive(
            service,
            deliveryReport(sent.messageId, [{ address, action: 'delivered' }], { date }),
          );
          continue;
        }
        expect(await listed(address)).toEqual([]);
        await receive(service, deliveryReport(sent.messageId, [{ address, ...status }], { date }));
      }
    }
    expect(await listed(full)).toMatchObject([{ reason: 'repeated_soft_bounces', enhanced_status: '5.2.2' }]);
    expect(await listed(recovered)).toEqual([]);
  });
});

describe('the send queue', () => {
  it('does not try a recipient again that bounced meanwhile', async () => {
    const [reached, late] = [freshAddress(), freshAddress('later.test')];
    const sent = await send({ to: [reached, late] });
    expect((await emailOf(sent.id)).state).toBe('deferred');
    await receive(service, deliveryReport(sent.messageId, [{ address: late, status: '5.4.1' }]));
    await expect.poll(async () => (await emailOf(sent.id)).state).toBe('sent');
    const detail = await emailOf(sent.id);
    expect(detail.recipients.map(({ state }) => state)).toEqual(['accepted', 'rejected']);
    expect(detail.next_attempt_at).toBeNull();
    expect(detail.state_detail).toContain('1 of 2 recipients were not reached');
  });

  it('hands over nothing to an address that was suppressed meanwhile', async () => {
    const [blocked, fine] = [freshAddress(), freshAddress()];
    const sendAt = new Date(Date.now() + 2000).toISOString();
    const both = await send({ to: [blocked, fine], send_at: sendAt });
    const alone = await send({ to: blocked, send_at: sendAt });
    expect((await suppress(blocked, { note: 'auf Wunsch' })).status).toBe(200);
    await expect
      .poll(async () => (await emailOf(both.id)).state, { timeout: 15_000, interval: 100 })
      .toBe('sent');
    await expect.poll(async () => (await emailOf(alone.id)).state).toBe('failed');
    expect((await emailOf(both.id)).recipients.map(({ state }) => state)).toEqual(['rejected', 'accepted']);
    expect((await emailOf(alone.id)).state_detail).toContain('on the suppression list');
    expect(sink.messages.flatMap(({ rcptTo }) => rcptTo)).not.toContain(blocked);
    expect(sink.byMessageId(both.messageId).map(({ rcptTo }) => rcptTo)).toEqual([[fine]]);

    await lift(blocked);
    const retried = await service.request(`/api/emails/${alone.id}/retry`, { method: 'POST' });
    expect(retried.status).toBe(200);
    await expect.poll(async () => (await emailOf(alone.id)).state, { timeout: 15_000 }).toBe('sent');
  }, 40_000);
});

describe('the suppression list', () => {
  it('is known to another process within a second, and lifting at once', async () => {
    const address = freshAddress();
    await suppress(address);
    const since = performance.now();
    await expect
      .poll(async () => (await trySend({ to: address }, other)).status, { timeout: 5000, interval: 20 })
      .toBe(422);
    expect(performance.now() - since).toBeLessThan(2000);
    await lift(address);
    expect((await trySend({ to: address }, other)).status).toBe(200);
  });

  it('is read page by page, by address and by reason', async () => {
    const addresses = Array.from({ length: 5 }, () => freshAddress('pages.test'));
    for (const address of addresses) await suppress(address, { note: `Notiz ${address}` });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const response = await service.request(`/api/suppressions?reason=manual&limit=2${cursor}`);
      const page = (await response.json()) as {
        suppressions: { address: string }[];
        next_cursor: string | null;
      };
      seen.push(...page.suppressions.map(({ address }) => address));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen.slice(0, 5)).toEqual(addresses.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
    const one = await service.request(`/api/suppressions/${encodeURIComponent(addresses[0]!)}`);
    expect(await one.json()).toMatchObject({
      reason: 'manual',
      note: `Notiz ${addresses[0]}`,
      email_id: null,
    });
  });

  it.each([
    ['GET', '/api/suppressions?reason=none', undefined, 400, 'invalid_request'],
    ['GET', '/api/suppressions?cursor=abc', undefined, 400, 'invalid_cursor'],
    ['GET', '/api/suppressions?nonsense=1', undefined, 400, 'unknown_field'],
    ['GET', '/api/suppressions?address=nobody', undefined, 400, 'invalid_address'],
    ['GET', '/api/suppressions/nobody%40customer.test', undefined, 404, 'suppression_not_found'],
    ['PUT', '/api/suppressions/nobody', {}, 400, 'invalid_address'],
    ['PUT', '/api/suppressions/a%40b.test%2C%20c%40d.test', {}, 400, 'invalid_address'],
    ['PUT', '/api/suppressions/a%40b.test%0D%0A', {}, 400, 'header_injection'],
    ['PUT', '/api/suppressions/a%40b.test', { note: 'x\u0000' }, 400, 'invalid_text'],
    ['PUT', '/api/suppressions/a%40b.test', { reason: 'complaint' }, 400, 'unknown_field'],
    ['DELETE', '/api/suppressions/nobody%40customer.test', undefined, 404, 'suppression_not_found'],
  ])('answers %s %s with %j by an error', async (method, path, json, status, code) => {
    const response = await service.request(path, { method, ...(json === undefined ? {} : { json }) });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it('needs the secret', async () => {
    const response = await fetch(`${service.url}/api/suppressions`);
    expect(response.status).toBe(401);
  });

  it('gives an idempotency key back', async () => {
    const address = freshAddress();
    await suppress(address);
    const attempt = () =>
      service.request('/api/send', {
        json: { to: address, subject: 'A', text_body: 'b' },
        headers: { 'idempotency-key': `key-${address}` },
      });
    expect((await attempt()).status).toBe(422);
    await lift(address);
    expect((await attempt()).status).toBe(200);
  });
});
