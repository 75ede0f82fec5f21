/** Delivery reports about sent mail: the built service with a real database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryReport } from '../helpers/bounce-mail.ts';
import { BounceService, freshAddress, type Sent } from '../helpers/bounce-service.ts';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { disposeService } from '../helpers/service-process.ts';
import { startSmtpSink } from '../helpers/smtp-sink.ts';

let bounces: BounceService;

beforeAll(async () => {
  bounces = await BounceService.start();
});
afterAll(() => bounces.end());

describe('a delivery report', () => {
  it('is shown with the recipient, and refuses the next send until the address is lifted', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: `Max <${address}>` });
    const raw = deliveryReport(sent.messageId, [{ address }]);
    const report = await receive(bounces.service, raw);

    const detail = await bounces.emailOf(sent.id);
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
    expect(await bounces.emailOf(report.id)).toMatchObject({
      bounce: {
        kind: 'report',
        format: 'rfc3464',
        email_id: sent.id,
        recipients: [{ address, action: 'failed', severity: 'hard' }],
      },
    });

    const refused = await bounces.trySend({ to: address });
    expect(refused.status).toBe(422);
    const body = (await refused.json()) as { error: string; code: string };
    expect(body.code).toBe('recipient_suppressed');
    const [entry] = await bounces.listed(address);
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

    const lifted = await bounces.lift(address);
    expect(lifted.status).toBe(200);
    expect(await lifted.json()).toMatchObject({ address });
    expect((await bounces.lift(address)).status).toBe(404);
    const again = await bounces.send({ to: address });

    // The same report, and another one about an earlier email.
    expect(await receive(bounces.service, raw)).toMatchObject({ status: 'duplicate' });
    await receive(bounces.service, deliveryReport(sent.messageId, [{ address }], { messageId: newId() }));
    expect(await bounces.listed(address)).toEqual([]);
    await receive(bounces.service, deliveryReport(again.messageId, [{ address }]));
    expect(await bounces.listed(address)).toMatchObject([{ reason: 'hard_bounce', email_id: again.id }]);
  });

  it.each(['to', 'cc', 'bcc'])('suppresses an address in %s, whatever its case', async (field) => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    await receive(bounces.service, deliveryReport(sent.messageId, [{ address: address.toUpperCase() }]));
    const response = await bounces.trySend({ to: freshAddress(), [field]: `"X" <${address.toUpperCase()}>` });
    expect(response.status).toBe(422);
  });

  it('gives the same result in any order', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    const about = (action: string, status: string) =>
      deliveryReport(sent.messageId, [{ address, action, status, diagnostic: `${status} said the server` }]);
    await receive(bounces.service, about('delayed', '4.4.1'));
    expect(await bounces.outcomes(sent.id)).toEqual(['delayed']);
    expect(await bounces.listed(address)).toEqual([]);
    await receive(bounces.service, about('failed', '5.1.1'));
    await receive(bounces.service, about('delayed', '4.4.1'));
    await receive(bounces.service, about('relayed', '2.0.0'));
    expect(await bounces.outcomes(sent.id)).toEqual(['bounced_hard']);
  });

  it('tells several recipients apart, and soft from hard and blocked', async () => {
    const [gone, full, spam, fine] = [freshAddress(), freshAddress(), freshAddress(), freshAddress()];
    const sent = await bounces.send({ to: [gone, full], cc: spam, bcc: fine });
    await receive(
      bounces.service,
      deliveryReport(sent.messageId, [
        { address: gone },
        { address: full, status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' },
        { address: spam, status: '5.7.1', diagnostic: '554 5.7.1 Message rejected as spam' },
        { address: fine, action: 'delivered', status: '2.1.5', diagnostic: '250 2.1.5 ok' },
      ]),
    );
    expect(await bounces.outcomes(sent.id)).toEqual(['bounced_hard', 'bounced_soft', 'blocked', 'delivered']);
    expect((await bounces.trySend({ to: [full, spam, fine] })).status).toBe(200);
    expect((await bounces.trySend({ to: [full, gone] })).status).toBe(422);
  });

  it('counts for the address as it was written, where forwarding changed it', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    await receive(
      bounces.service,
      deliveryReport(sent.messageId, [{ address: 'target@elsewhere.test', original: address }]),
    );
    expect(await bounces.outcomes(sent.id)).toEqual(['bounced_hard']);
    expect(await bounces.listed('target@elsewhere.test')).toEqual([]);
    expect(await bounces.listed(address)).toHaveLength(1);
  });

  it('changes nothing when it is forged', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    const victim = freshAddress();
    // A Message-ID that was never issued, and one that a recipient may know, in a report about another address.
    const guessed = await receive(bounces.service, deliveryReport('<guess@example.com>', [{ address }]));
    const foreign = await receive(bounces.service, deliveryReport(sent.messageId, [{ address: victim }]));
    expect(await bounces.outcomes(sent.id)).toEqual([null]);
    for (const { id } of [guessed, foreign]) {
      expect((await bounces.emailOf(id)).bounce).toMatchObject({ email_id: null });
    }
    expect((await bounces.trySend({ to: [address, victim] })).status).toBe(200);
  });

  it('changes nothing in free form when it names no email of ours', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    const notice = (messageId: string) =>
      mail({
        from: 'Mail Delivery System <MAILER-DAEMON@customer.test>',
        subject: 'Undelivered Mail Returned to Sender',
        headers: ['Return-Path: <>'],
        body: `<${address}>: 550 5.1.1 User unknown\r\n\r\n--- Below this line is a copy of the message.\r\n\r\nMessage-ID: ${messageId}\r\n`,
      });
    for (const messageId of ['<1@example.com>', newId()]) {
      const { id } = await receive(bounces.service, notice(messageId));
      expect((await bounces.emailOf(id)).bounce).toMatchObject({ format: 'free_form', email_id: null });
    }
    expect(await bounces.outcomes(sent.id)).toEqual([null]);
    expect(await bounces.listed(address)).toEqual([]);
    await receive(bounces.service, notice(sent.messageId));
    expect(await bounces.outcomes(sent.id)).toEqual(['bounced_hard']);
  });

  it('settles no unknown outcome when it names a Message-ID that can be guessed', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    await query(
      bounces.database.connectionString,
      "update emails set state = 'unknown', message_id = '4711@example.com' where id = $1",
      [sent.id],
    );
    await receive(bounces.service, deliveryReport('<4711@example.com>', [{ address }]));
    expect((await bounces.emailOf(sent.id)).state).toBe('unknown');
    expect(await bounces.listed(address)).toEqual([]);
  });

  it('is none when a recipient of the email answers by a program, whatever the subject', async () => {
    const address = freshAddress();
    const subject = 'Zustellung nicht möglich';
    const sent = await bounces.send({ to: address, subject });
    const subjects = [`Automatische Antwort: ${subject}`, `Out of office: Re: ${subject}`, subject];
    for (const one of subjects) {
      const answer = await receive(
        bounces.service,
        mail({
          from: `Max <${address}>`,
          subject: one,
          inReplyTo: sent.messageId,
          headers: ['Return-Path: <>', 'Content-Type: text/plain; charset=utf-8'],
          body: `Die Adresse ${address} existiert nicht mehr. 550 5.1.1 unknown user`,
        }),
      );
      expect((await bounces.emailOf(answer.id)).bounce).toBeNull();
    }
    expect(await bounces.outcomes(sent.id)).toEqual([null]);
    expect(await bounces.listed(address)).toEqual([]);
  });

  it('in free form is nothing from an address that got the email', async () => {
    const address = `postmaster@${freshAddress('box.test').replace('@', '.')}`;
    const sent = await bounces.send({ to: address });
    const raw = mail({
      from: `Postmaster <${address}>`,
      subject: 'Undeliverable: Angebot',
      inReplyTo: sent.messageId,
      headers: ['Return-Path: <>'],
      body: `This address takes no mail: 550 5.1.1 unknown user`,
    });
    const answer = await receive(bounces.service, raw);
    expect((await bounces.emailOf(answer.id)).bounce).toMatchObject({ format: 'free_form', email_id: null });
    expect(await bounces.outcomes(sent.id)).toEqual([null]);
    expect(await bounces.listed(address)).toEqual([]);
  });

  it('is read from a notice of Amazon SES, when it names an email of ours', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
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
    await receive(bounces.service, notice('<guess@example.com>'));
    expect(await bounces.outcomes(sent.id)).toEqual([null]);
    const { id } = await receive(bounces.service, notice(sent.messageId));
    expect((await bounces.emailOf(id)).bounce).toMatchObject({ format: 'amazon_ses', email_id: sent.id });
    expect(await bounces.outcomes(sent.id)).toEqual(['bounced_hard']);
    expect(await bounces.listed(address)).toMatchObject([{ reason: 'hard_bounce' }]);
  });

  it('changes nothing in another account', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    await query(
      bounces.database.connectionString,
      `with t as (
        insert into email_threads (id, account_id) values (gen_random_uuid(), 'another') returning id
      ) update emails set account_id = 'another', thread_id = t.id from t where emails.id = $1`,
      [sent.id],
    );
    await receive(bounces.service, deliveryReport(sent.messageId, [{ address }]));
    expect(await bounces.listed(address)).toEqual([]);
  });

  it('is applied once when it comes many times at the same moment', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    const raw = deliveryReport(sent.messageId, [{ address }]);
    await Promise.all(
      [bounces.service, bounces.other, bounces.service, bounces.other, bounces.service].map((node) =>
        receive(node, raw),
      ),
    );
    await Promise.all(
      [bounces.service, bounces.other, bounces.service].map((node) =>
        receive(node, deliveryReport(sent.messageId, [{ address }], { messageId: newId() })),
      ),
    );
    const rows = await query(
      bounces.database.connectionString,
      'select count(*)::int as count from delivery_reports where email_id = $1',
      [sent.id],
    );
    expect(rows).toEqual([{ count: 4 }]);
    expect(await bounces.listed(address)).toHaveLength(1);
  });

  it('is applied later when the process is killed right after it is recorded', async () => {
    const address = freshAddress();
    const sent = await bounces.send({ to: address });
    const report = await receive(bounces.service, deliveryReport(sent.messageId, [{ address }]));
    // The state left by the transaction that records the report.
    const undo = [
      'delete from delivery_reports where report_id = $1',
      'delete from suppressions where report_id = $1',
      'update bounce_reports set email_id = null, next_match_at = now() where report_id = $1',
    ];
    for (const statement of undo) await query(bounces.database.connectionString, statement, [report.id]);
    await expect.poll(() => bounces.outcomes(sent.id)).toEqual(['bounced_hard']);
    expect(await bounces.listed(address)).toMatchObject([{ report_email_id: report.id }]);
  });

  it(
    'waits for the email it is about when it comes back before that is recorded',
    { tags: ['long'] },
    async () => {
      const address = freshAddress();
      let reportId = '';
      const fast = await startSmtpSink({
        onData(stream, _session, callback) {
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('end', () => {
            const messageId =
              /^Message-ID: (<\S+>)/m.exec(Buffer.concat(chunks).toString('latin1'))?.[1] ?? '';
            void receive(bounces.service, deliveryReport(messageId, [{ address }])).then(({ id }) => {
              reportId = id;
              callback(null, 'ok');
            });
          });
        },
      });
      const node = await bounces.startNode(fast.url);
      const response = await bounces.trySend({ to: address }, node);
      const sent = (await response.json()) as Sent;
      expect((await bounces.emailOf(reportId)).bounce).toMatchObject({ email_id: null });
      await expect.poll(() => bounces.outcomes(sent.id)).toEqual(['bounced_hard']);
      expect(await bounces.listed(address)).toHaveLength(1);
      await disposeService(node);
      await fast.stop();
    },
  );
});
