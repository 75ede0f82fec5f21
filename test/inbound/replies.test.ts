/** Replies and forwards made by the service, as another program reads them from the wire. */
import { randomUUID } from 'node:crypto';
import { simpleParser, type ParsedMail } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, newId, receive } from '../helpers/inbound-mail.ts';
import type { TestDatabase } from '../helpers/postgres.ts';
import { query } from '../helpers/query.ts';
import {
  getJson as getJsonOf,
  sendJson,
  startServiceWithSink,
  type SentResult,
} from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

let database: TestDatabase;
let sink: SmtpSink;
let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ database, sink, service, end } = await startServiceWithSink());
});
afterAll(() => end());

type Kind = 'reply' | 'reply-all' | 'forward';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: SentResult & { readonly code?: string; readonly status?: string };
}

async function answer(
  kind: Kind,
  id: string,
  json: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await service.request(`/api/emails/${id}/${kind}`, { json, headers });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Answer['json'],
  };
}

/** The sent message, parsed by another library. */
async function sent({ status, json }: Answer): Promise<ParsedMail & { readonly rcptTo: readonly string[] }> {
  expect([status, json.code]).toEqual([200, undefined]);
  const [message] = sink.byMessageId(json.messageId);
  return { ...(await simpleParser(message!.raw)), rcptTo: message!.rcptTo };
}

const addresses = (field: ParsedMail['to']) =>
  [field ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address));
const detailOf = (id: string) => getJsonOf<Record<string, unknown>>(service, `/api/emails/${id}`);

describe('a reply', () => {
  it('has recipients, subject, references, thread and quote of the email that it answers', async () => {
    const root = newId();
    const older = newId();
    const first = newId();
    const received = await receive(
      service,
      mail({
        messageId: first,
        subject: 'AW: Re: Angebot',
        references: [root, older],
        inReplyTo: older,
        headers: ['Reply-To: Büro <office@customer.test>', 'Cc: boss@customer.test'],
        body: 'Passt das?\r\n> früher',
      }),
    );
    // A newer email of the thread: the reply goes to the one that it names.
    await receive(service, mail({ references: [first], subject: 'Re: Angebot', body: 'Hallo?' }));

    const result = await answer('reply', received.id, { text_body: 'Ja.', time_zone: 'Europe/Berlin' });
    const message = await sent(result);
    expect(result.json.threadId).toBe(received.threadId);
    expect(message.rcptTo).toEqual(['office@customer.test']);
    expect(message.subject).toBe('Re: Angebot');
    expect(message.inReplyTo).toBe(first);
    expect(message.references).toEqual([root, older, first]);
    expect(message.text?.trimEnd()).toBe(
      'Ja.\n\nAm 01.03.2026 um 12:00 (MEZ) schrieb Ada <ada@customer.test>:\n\n> Passt das?\n>> früher',
    );
    expect(await detailOf(result.json.id)).toMatchObject({
      thread_id: received.threadId,
      placement: { rule: 'thread_id' },
    });
  });

  it('to all leaves our own address out, and never names those in Bcc', async () => {
    const received = await receive(
      service,
      mail({
        to: 'sales@example.com, Bob <bob@customer.test>',
        headers: ['Cc: carl@customer.test, SALES@example.com', 'Bcc: secret@customer.test'],
      }),
    );
    const message = await sent(await answer('reply-all', received.id, { text_body: 'An alle' }));
    expect(addresses(message.to)).toEqual(['ada@customer.test']);
    expect(addresses(message.cc)).toEqual(['bob@customer.test', 'carl@customer.test']);
    expect([...message.rcptTo].sort()).toEqual([
      'ada@customer.test',
      'bob@customer.test',
      'carl@customer.test',
    ]);
  });

  it('to what we sent goes to its recipients, and not to those in Bcc', async () => {
    const first = await sendJson(service, {
      to: 'dora@customer.test',
      bcc: 'hidden@customer.test',
      subject: 'Erinnerung',
      text_body: 'Heute',
    });
    const message = await sent(await answer('reply-all', first.id, { text_body: 'Nachtrag' }));
    expect(message.rcptTo).toEqual(['dora@customer.test']);
    expect(message.inReplyTo).toBe(first.messageId);
  });

  it('takes what the caller gives in place of what the email says', async () => {
    const received = await receive(service, mail({ headers: ['Cc: carl@customer.test'] }));
    const message = await sent(
      await answer('reply-all', received.id, {
        to: 'eva@customer.test',
        subject: 'Etwas anderes',
        html_body: '<p>Hallo</p>',
        quote: false,
      }),
    );
    expect(message.rcptTo).toEqual(['eva@customer.test']);
    expect(message.subject).toBe('Etwas anderes');
    expect(message.html).not.toContain('blockquote');
  });

  it('never passes on HTML of the email as it came', async () => {
    const received = await receive(
      service,
      mail({
        headers: ['Content-Type: text/html; charset=utf-8'],
        body: '<p onclick="x()">Hallo <script>alert(1)</script><b>Welt</b></p>',
      }),
    );
    const message = await sent(await answer('reply', received.id, { html_body: '<p>Danke</p>' }));
    expect(message.html).toMatch(/<p>Danke<\/p><br>.*<blockquote type="cite".*Welt.*<\/blockquote>/s);
    expect(message.html).not.toMatch(/<script|onclick/);
  });

  it('quotes nothing that its HTML hides, in text as in HTML', async () => {
    const received = await receive(
      service,
      mail({
        headers: ['Content-Type: text/html; charset=utf-8'],
        body: '<div style="max-height:0;overflow:hidden">Geheim</div><p hidden>Geheim</p><p>Guten Tag</p>',
      }),
    );
    const message = await sent(
      await answer('reply', received.id, { text_body: 'Danke', html_body: '<p>Danke</p>' }),
    );
    expect(message.text).toContain('> Guten Tag');
    expect(message.html).toContain('Guten Tag');
    expect(`${message.text}${String(message.html)}`).not.toContain('Geheim');
    expect((await sent(await answer('reply', received.id, { text_body: 'Danke' }))).text).not.toContain(
      'Geheim',
    );
  });

  it('answers the email that is named where several have one Message-ID', async () => {
    const same = newId();
    const [a, b] = [newId(), newId()];
    await receive(service, mail({ messageId: same, subject: 'Eins', references: [a] }));
    const second = await receive(service, mail({ messageId: same, subject: 'Zwei', references: [b] }));
    const message = await sent(await answer('reply', second.id, { text_body: 'x' }));
    expect(message.references).toEqual([b, same]);
  });

  it('to an email without a Message-ID joins its thread', async () => {
    const received = await receive(service, mail({ messageId: null, subject: randomUUID() }));
    const result = await answer('reply', received.id, { text_body: 'x' });
    expect(result.json.threadId).toBe(received.threadId);
    expect((await sent(result)).inReplyTo).toBeUndefined();
  });

  it('is sent once under a key, also when the email was read anew meanwhile', async () => {
    const received = await receive(service, mail({ body: 'Erste Fassung' }));
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await answer('reply', received.id, { text_body: 'Ja' }, key);
    await query(database, `update emails set text_body = 'Zweite Fassung' where id = $1`, [received.id]);
    const repeat = await answer('reply', received.id, { text_body: 'Ja' }, key);
    expect(repeat.json).toEqual(first.json);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(sink.byMessageId(first.json.messageId)).toHaveLength(1);
    const other = await answer('reply-all', received.id, { text_body: 'Ja' }, key);
    expect([other.status, other.json.code]).toEqual([409, 'idempotency_key_reused']);
  });

  it('gives its key back when there is nothing to answer', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const missing = await answer('reply', randomUUID(), { text_body: 'Ja' }, key);
    expect([missing.status, missing.json.code]).toEqual([404, 'email_not_found']);
    const received = await receive(service, mail());
    expect((await answer('reply', received.id, { text_body: 'Ja' }, key)).status).toBe(200);
  });

  it('can wait in the queue', async () => {
    const received = await receive(service, mail());
    const queued = await answer('reply', received.id, { text_body: 'Ja' }, { Prefer: 'respond-async' });
    expect([queued.status, queued.headers.get('location')]).toEqual([202, `/api/emails/${queued.json.id}`]);
  });

  it.each<[string, Kind, object, string]>([
    ['without a text', 'reply', {}, 'missing_body'],
    ['with a thread', 'reply', { text_body: 'x', thread_id: randomUUID() }, 'unknown_field'],
    ['with an account', 'reply', { text_body: 'x', account_id: 'default' }, 'unknown_field'],
    ['with files of a forward', 'reply', { text_body: 'x', with_files: true }, 'unknown_field'],
    ['in no language', 'reply', { text_body: 'x', language: 'tlh' }, 'invalid_request'],
    ['in no time zone', 'reply', { text_body: 'x', time_zone: 'Mars/Base' }, 'invalid_request'],
    ['with a text as quote', 'reply', { text_body: 'x', quote: 'yes' }, 'invalid_request'],
    ['to a bad address', 'reply', { text_body: 'x', to: 'nobody' }, 'invalid_address'],
    ['to nobody', 'forward', {}, 'missing_recipient_or_subject'],
    ['to a list of nobody', 'forward', { to: [] }, 'missing_recipient_or_subject'],
  ])('is refused %s', async (_title, kind, json, code) => {
    const received = await receive(service, mail());
    const refused = await answer(kind, received.id, json);
    expect([refused.status, refused.json.code]).toEqual([400, code]);
  });

  it('is refused for what is no id', async () => {
    const refused = await answer('reply', 'x', { text_body: 'x' });
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_uuid']);
  });
});

describe('a forward', () => {
  const boundary = 'frontier';
  const withFiles = (files: readonly (readonly [string, string, string])[]) =>
    mail({
      subject: 'WG: Rechnung',
      headers: [`Content-Type: multipart/mixed; boundary=${boundary}`],
      body: [
        `--${boundary}\r\n\r\nAnbei die Rechnung.`,
        ...files.map(
          ([name, type, content]) =>
            `--${boundary}\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\n${content}`,
        ),
        `--${boundary}--`,
      ].join('\r\n'),
    });

  it('has header block, text and files, and joins the thread', async () => {
    const received = await receive(
      service,
      withFiles([
        ['rechnung.txt', 'text/plain', 'zehn Euro'],
        ['seltsam.bin', 'not a type', 'x'],
      ]),
    );
    const result = await answer('forward', received.id, {
      to: 'steuer@partner.test',
      text_body: 'Bitte buchen.',
    });
    const message = await sent(result);
    expect(message.rcptTo).toEqual(['steuer@partner.test']);
    expect(message.subject).toBe('Fwd: Rechnung');
    expect(result.json.threadId).toBe(received.threadId);
    expect(message.text?.trimEnd()).toBe(
      [
        'Bitte buchen.',
        '',
        '---------- Weitergeleitete Nachricht ----------',
        'Von: Ada <ada@customer.test>',
        'Datum: 01.03.2026 11:00 (UTC)',
        'Betreff: WG: Rechnung',
        'An: <sales@example.com>',
        '',
        'Anbei die Rechnung.',
      ].join('\n'),
    );
    expect(message.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ['rechnung.txt', 'zehn Euro'],
      ['seltsam.bin', 'x'],
    ]);
  });

  it('has the HTML as it was, with what its recipient may fetch, and without what runs', async () => {
    const html =
      '<div style="background:url(https://a.test/b) no-repeat"><img src="https://a.test/x" width="600" alt="Banner">' +
      '<p onclick="x()" style="opacity:0">Hallo</p></div><script>alert(1)</script>';
    const received = await receive(
      service,
      mail({ headers: ['Content-Type: text/html; charset=utf-8'], body: html }),
    );
    const message = await sent(
      await answer('forward', received.id, { to: 'x@partner.test', text_body: 'Zur Info <1>' }),
    );
    expect(message.text).toContain('Zur Info <1>');
    expect(message.html).toContain('<div style="white-space:pre-wrap">Zur Info &lt;1&gt;</div>');
    expect(message.html).toContain(html.replace(' onclick="x()"', ' ').replace(/<script.*/, ''));
    expect(message.html).not.toMatch(/<script|onclick/);
  });

  it('without words sends the HTML, its images and its files byte for byte', async () => {
    const html =
      '<!DOCTYPE html>\r\n<HTML><HEAD><STYLE>@media (max-width:400px){.a td{color:red!important}}</STYLE></HEAD>\r\n' +
      '<BODY bgcolor=#fff ><table class=\'a\' width=600><tr><td>Gr&uuml;&szlig;e<img src="cid:logo@a.test"><img src="CID:Banner@a.test">\r\n' +
      '<!--[if mso]><td width="1"><![endif]--></table></BODY></HTML>';
    const image = Buffer.from('\x89PNG\r\n\x1a\nlogo', 'latin1');
    const part = (headers: string, content: string) => `--r\r\n${headers}\r\n\r\n${content}\r\n`;
    const imagePart = (id: string) =>
      part(
        `Content-Type: image/png; name=${id}.png\r\nContent-ID: <${id}@a.test>\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: inline`,
        image.toString('base64'),
      );
    const received = await receive(
      service,
      mail({
        headers: ['Content-Type: multipart/related; boundary=r'],
        body:
          part('Content-Type: text/html; charset=utf-8', html) +
          imagePart('logo') +
          imagePart('banner') +
          part(
            'Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.pdf"',
            'JVBERi0=',
          ) +
          '--r--',
      }),
    );
    const result = await answer('forward', received.id, { to: 'x@partner.test' });
    const message = await sent(result);
    const [raw] = sink.byMessageId(result.json.messageId);
    const [head = '', body = ''] = html.replaceAll('\r\n', '\n').split('<table', 2);
    const stored = String((await detailOf(received.id))['html_body']).replaceAll('\r\n', '\n');
    expect(stored).toBe(html.replaceAll('\r\n', '\n'));
    const { html: given } = await simpleParser(raw!.raw, { skipImageLinks: true });
    const got = String(given).replaceAll('\r\n', '\n');
    expect([got.startsWith(head), got.trimEnd().endsWith(`<table${body}`)]).toEqual([true, true]);
    expect(
      message.attachments.map(({ cid, contentType, content }) => [
        cid,
        contentType,
        content.toString('latin1'),
      ]),
    ).toEqual([
      ['logo@a.test', 'image/png', image.toString('latin1')],
      ['banner@a.test', 'image/png', image.toString('latin1')],
      [undefined, 'application/pdf', '%PDF-'],
    ]);
  });

  it('needs no words, and leaves the files behind when it is told to', async () => {
    const received = await receive(service, withFiles([['a.txt', 'text/plain', 'x']]));
    const message = await sent(
      await answer('forward', received.id, { to: 'x@partner.test', with_files: false, language: 'en' }),
    );
    expect(message.attachments).toEqual([]);
    expect(message.text).toMatch(/^---------- Forwarded message ----------\nFrom: Ada/);
  });

  it('is refused when its files are too many together', async () => {
    const received = await receive(service, withFiles([['a.txt', 'text/plain', 'x']]));
    await query(
      database,
      `update email_attachments set size_bytes = 25 * 1024 * 1024 + 1 where email_id = $1`,
      [received.id],
    );
    const refused = await answer('forward', received.id, { to: 'x@partner.test' });
    expect([refused.status, refused.json.code]).toEqual([413, 'attachments_too_large']);
  });
});

describe('the preview', () => {
  it('tells what would be sent, and sends nothing', async () => {
    const received = await receive(service, mail({ headers: ['Cc: carl@customer.test'], body: 'Frage' }));
    const before = sink.messages.length;
    const preview = await getJsonOf<Record<string, unknown>>(
      service,
      `/api/emails/${received.id}/reply?kind=reply_all&language=en&time_zone=Europe/Berlin`,
    );
    expect(preview).toMatchObject({
      email_id: received.id,
      kind: 'reply_all',
      thread_id: received.threadId,
      in_reply_to: received.messageId,
      to: [{ name: 'Ada', address: 'ada@customer.test' }],
      cc: [{ name: '', address: 'carl@customer.test' }],
      subject: 'Re: Hallo',
      quote_text: 'On 01 Mar 2026 at 12:00 (CET), Ada <ada@customer.test> wrote:\n\n> Frage',
      quote_cut: false,
      attachments: [],
    });
    expect(sink.messages).toHaveLength(before);
  });

  it.each([
    ['kind=all', 'invalid_request'],
    ['zone=UTC', 'unknown_parameter'],
    ['time_zone=Nowhere', 'invalid_request'],
  ])('is refused with %s', async (search, code) => {
    const response = await service.request(`/api/emails/${randomUUID()}/reply?${search}`);
    expect([response.status, ((await response.json()) as Answer['json']).code]).toEqual([400, code]);
  });
});
