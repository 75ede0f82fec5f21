/** Keys without the right `read`: no operation shows them the contents of an email. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { query } from '../helpers/query.ts';
import { codeOf, later, sendBody, useKeyService, type Expected, type Json } from '../helpers/key-service.ts';

const keys = useKeyService();
const { ask, makeKey, operations } = keys;

describe('a key that may not read', () => {
  const SECRET_TEXT = 'verborgen';
  /** A received email with a file, and a queued one, with the secret text in every place where an email can have it. */
  async function plant(accountId = 'billing') {
    const raw = [
      `From: ${SECRET_TEXT} <ada@${SECRET_TEXT}.test>`,
      'To: billing@example.com',
      `Subject: ${SECRET_TEXT}`,
      `Message-ID: <${randomUUID()}@customer.test>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b\r\n',
      `${SECRET_TEXT}\r\n--b`,
      `Content-Type: text/plain; name=${SECRET_TEXT}.txt`,
      'Content-Disposition: attachment\r\n',
      `${SECRET_TEXT}\r\n--b--\r\n`,
    ].join('\r\n');
    const received = await receive(keys.service, raw, `?account_id=${accountId}`);
    const detail = (await ask(null, `/api/emails/${received.id}`)).json;
    const queued = await ask(null, '/api/send', {
      json: sendBody({
        account_id: accountId,
        subject: SECRET_TEXT,
        text_body: SECRET_TEXT,
        attachments: [{ filename: `${SECRET_TEXT}.txt`, content: 'dmVyYm9yZ2Vu' }],
        send_at: later(),
      }),
    });
    return {
      thread: received.threadId,
      email: received.id,
      messageId: received.messageId,
      attachment: (detail['email_attachments'] as { id: string }[])[0]!.id,
      queued: queued.json['id'] as string,
    };
  }
  const FORBIDDEN: Expected = [403, 'forbidden_right'];
  const ATTACHMENT: Expected = [404, 'attachment_not_found'];
  const sentFrom = async (accountId: string) =>
    (await ask(null, `/api/emails?account_id=${accountId}&direction=outbound&limit=200`)).json['emails'];

  it.each([
    ['of a send', '/api/send', {}],
    ['of a queued send', '/api/send', { headers: { prefer: 'respond-async' } }],
    ['of a send at a time', '/api/send', { more: { send_at: later() } }],
    ['of a send with a key of its own', '/api/send', { headers: { 'idempotency-key': 'a-file' } }],
    ['of a draft', '/api/drafts', {}],
    ['of a reply', 'reply', {}],
    ['of a forward', 'forward', {}],
  ])(
    'is refused a file of an email in the body %s, whether there is one or not',
    async (_, path, options) => {
      const { email, attachment } = await plant();
      const { headers = {}, more = {} } = options as { headers?: Record<string, string>; more?: Json };
      const target = path.startsWith('/') ? path : `/api/emails/${email}/${path}`;
      const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
      const before = await sentFrom('billing');
      for (const id of [attachment, attachment.toUpperCase(), randomUUID()]) {
        const attachments = [{ filename: 'a', content: '' }, { attachment_id: id }];
        const { subject, ...answer } = sendBody({ attachments, ...more });
        const json =
          path === '/api/drafts'
            ? { message: { account_id: 'billing', subject }, attachments }
            : path.startsWith('/')
              ? { ...answer, subject, account_id: 'billing' }
              : answer;
        expect(await codeOf(ask(secret, target, { json, headers }))).toEqual(FORBIDDEN);
      }
      expect(await sentFrom('billing')).toEqual(before);
    },
  );

  it('is refused only those emails of a batch that name a file of an email', async () => {
    const { attachment } = await plant();
    const { secret } = await makeKey({ rights: ['send'] });
    const upload = await ask(secret, '/api/uploads?filename=a&account_id=billing', {
      method: 'POST',
      body: 'a',
      headers: { 'content-type': 'application/octet-stream' },
    });
    const email = (attachments: readonly object[]) => sendBody({ account_id: 'billing', attachments });
    const answer = await ask(secret, '/api/send/batch', {
      json: {
        emails: [
          email([{ attachment_id: attachment }]),
          email([{ upload_id: upload.json['id'] }]),
          email([{ attachment_id: randomUUID() }]),
        ],
      },
    });
    const results = answer.json['results'] as Json[];
    expect(results.map(({ http_status: status, code }) => [status, code])).toEqual([
      FORBIDDEN,
      [200, undefined],
      FORBIDDEN,
    ]);
  });

  it('gets no earlier answer to a send with a file of an email', async () => {
    const { attachment } = await plant();
    const headers = { 'idempotency-key': randomUUID() };
    const json = sendBody({ account_id: 'billing', attachments: [{ attachment_id: attachment }] });
    const reader = await makeKey({ rights: ['read', 'send'] });
    const sender = await makeKey({ rights: ['send'] });
    expect((await ask(reader.secret, '/api/send', { json, headers })).status).toBe(200);
    expect(await codeOf(ask(sender.secret, '/api/send', { json, headers }))).toEqual(FORBIDDEN);
  });

  it('may send a file of an email once it may read, and those of its accounts alone', async () => {
    const [own, other] = [await plant('billing'), await plant('support')];
    const { secret } = await makeKey({ rights: ['read', 'send'], account_ids: ['billing', 'sales'] });
    const send = (attachment: string, accountId: string) =>
      codeOf(
        ask(secret, '/api/send', {
          json: sendBody({ account_id: accountId, attachments: [{ attachment_id: attachment }] }),
        }),
      );
    expect(await send(own.attachment, 'billing')).toEqual([200, undefined]);
    expect(await send(other.attachment, 'billing')).toEqual(ATTACHMENT);
    // Both accounts are the key's, but the file does not belong to the sending one.
    expect(await send(own.attachment, 'sales')).toEqual(ATTACHMENT);
  });

  it('may not keep the files of a send that waits, nor have it sent to itself', async () => {
    const { queued } = await plant();
    const before = await ask(null, `/api/emails/${queued}`);
    const [{ id: file } = { id: '' }] = before.json['email_attachments'] as { id: string }[];
    const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
    for (const json of [{}, { to: 'eve@else.test' }, { attachments: [{ attachment_id: file }] }]) {
      const change = ask(secret, `/api/emails/${queued}`, {
        method: 'PATCH',
        json,
        headers: { 'if-match': '"1"' },
      });
      expect(await codeOf(change)).toEqual(FORBIDDEN);
    }
    expect((await ask(null, `/api/emails/${queued}`)).json).toEqual(before.json);
  });

  it('is told nothing of an email by any operation that it may use', async () => {
    const { thread, email, messageId, queued, attachment } = await plant();
    const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
    const sendMore = sendBody({ account_id: 'billing', thread_id: thread, in_reply_to: messageId });
    const bodies: Readonly<Record<string, RequestInit & { json?: unknown }>> = {
      sendEmail: { json: sendMore },
      sendBatch: { json: { emails: [sendMore] } },
      createDraft: {
        json: { answers: { email_id: email, kind: 'forward' }, message: { to: 'eve@else.test' } },
      },
      splitThread: { json: { email_ids: [email] } },
      mergeThreads: { json: { thread_id: thread } },
      moveEmails: { json: { email_ids: [email] } },
      resolveSend: { json: { outcome: 'sent' } },
      receiveEmail: {
        body: mail({ inReplyTo: messageId }),
        headers: { 'content-type': 'message/rfc822' },
      },
      createUpload: { body: 'a', headers: { 'content-type': 'application/octet-stream' } },
    };
    // Operations that delete come last.
    const all = [...(await operations())].sort(
      (a, b) => Number(a.id.startsWith('delete')) - Number(b.id.startsWith('delete')),
    );
    const answered: string[] = [];
    for (const { id, call } of all) {
      // Drafts are for keys that write, and the document names every right.
      if (/draft/i.test(id) && id !== 'createDraft') continue;
      if (id === 'getOpenApiDocument' || id === 'endSessions') continue;
      const [method = '', path = ''] = call.split(' ');
      for (const target of path === '/api/emails/{id}/cancel' ? [queued] : [email, queued]) {
        const url = path
          .replace('{threadId}', thread)
          .replace('/api/attachments/{id}', `/api/attachments/${attachment}`)
          .replace('/api/threads/{id}', `/api/threads/${thread}`)
          .replace('{id}', target)
          .replaceAll(/\{\w+\}/g, randomUUID());
        const init = method === 'GET' ? {} : { method, json: {}, ...bodies[id] };
        if ('body' in init) delete (init as { json?: unknown }).json;
        const { status, text } = await ask(secret, url, init);
        expect([id, text]).toEqual([id, expect.not.stringContaining(SECRET_TEXT)]);
        if (status >= 200 && status < 300) answered.push(id);
      }
    }
    expect(answered).toEqual(
      expect.arrayContaining(['sendEmail', 'createDraft', 'cancelSend', 'retrySend', 'deleteEmail']),
    );
  });

  it('is shown nothing that was stored by operations that change it', async () => {
    const template = await ask(null, '/api/templates', {
      json: { name: SECRET_TEXT, subject: SECRET_TEXT, text_body: SECRET_TEXT },
    });
    const address = `${randomUUID()}@customer.test`;
    const [left] = await query(
      keys.database.connectionString,
      `insert into unsubscribes (id, account_id, list, address, email_id)
      values (gen_random_uuid(), 'billing', '${SECRET_TEXT}', '${address}', gen_random_uuid()) returning id`,
    );
    const customer = `/api/customer/${randomUUID()}/addresses`;
    const rules = { addresses: [], domains: [] };
    await ask(null, customer, { method: 'PUT', json: { ...rules, name: SECRET_TEXT } });
    const suppression = `/api/suppressions/${address}`;
    await ask(null, suppression, { method: 'PUT', json: { note: SECRET_TEXT } });
    const { secret } = await makeKey({ rights: ['draft', 'send', 'receive', 'operate'] });
    const id = template.json['id'] as string;
    const changes: readonly (readonly [string, string, Json, Record<string, string>?])[] = [
      ['PATCH', `/api/templates/${id}`, { name: 'x' }, { 'if-match': '"1"' }],
      ['PATCH', `/api/templates/${id}`, { name: 'x' }, { 'if-match': '"7"' }],
      ['PUT', suppression, {}],
      ['PUT', customer, rules],
      ['DELETE', `/api/unsubscribes/${String(left?.['id'])}`, {}],
    ];
    for (const [method, target, json, headers = {}] of changes) {
      const { status, text } = await ask(secret, target, { method, json, headers });
      expect([target, status, text]).toEqual([target, 403, expect.not.stringContaining(SECRET_TEXT)]);
    }
  });

  it('sends nothing of a thread that it answers in', async () => {
    const { thread, messageId } = await plant();
    const { secret } = await makeKey({ rights: ['send'] });
    const json = sendBody({ account_id: 'billing', thread_id: thread, in_reply_to: messageId });
    const { id, threadId } = (await ask(secret, '/api/send', { json })).json;
    expect(threadId).toBe(thread);
    const raw = await ask(null, `/api/emails/${String(id)}/raw`);
    expect([raw.status, raw.text]).toEqual([200, expect.not.stringContaining(SECRET_TEXT)]);
  });
});
