/**
 * Messages that the service composes, in every shape it sends, as read by mailparser, postal-mime and Python's `email`: all read the same.
 */
import { createHash } from 'node:crypto';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { readWithPython, skipWithoutPython, type PythonPart } from '../helpers/python-mail.ts';
import { startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink({ PUBLIC_URL: 'https://mail.example.com' });
});
afterAll(() => running.end());

/** The findings of a reader, in one form for all readers. */
interface Found {
  readonly subject: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly text: string;
  readonly html: string;
  /** Name, type and SHA-256 of each file, including those that the HTML shows. */
  readonly files: readonly string[];
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const plain = (text: string | null | undefined) => (text ?? '').replaceAll('\r\n', '\n').trim();
const fileOf = (name: string | null | undefined, type: string, bytes: Uint8Array) =>
  `${name ?? ''} ${type} ${sha256(bytes)}`;
/** Addresses in the text of a header field. Input: at most some hundred characters. */
const addressesIn = (field: string | undefined) => field?.match(/[^\s<>,"]+@[^\s<>,"]+/g) ?? [];

async function byMailparser(raw: Buffer): Promise<Found> {
  const parsed = await simpleParser(raw, { keepCidLinks: true });
  const addresses = (field: typeof parsed.to) =>
    [field ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address ?? ''));
  return {
    subject: parsed.subject ?? '',
    from: addresses(parsed.from),
    to: addresses(parsed.to),
    text: plain(parsed.text),
    html: plain(parsed.html === false ? '' : parsed.html),
    files: parsed.attachments
      .map(({ filename, contentType, content }) => fileOf(filename, contentType, content))
      .sort(),
  };
}

async function byPostalMime(raw: Buffer): Promise<Found> {
  const parsed = await PostalMime.parse(raw, { attachmentEncoding: 'arraybuffer' });
  return {
    subject: parsed.subject ?? '',
    from: [parsed.from?.address ?? ''],
    to: (parsed.to ?? []).map(({ address }) => address ?? ''),
    text: plain(parsed.text),
    html: plain(parsed.html),
    files: parsed.attachments
      .map(({ filename, mimeType, content }) =>
        fileOf(filename, mimeType, new Uint8Array(content as ArrayBuffer)),
      )
      .sort(),
  };
}

function byPython(raw: Buffer): Found {
  const { headers, defects, root, plain: text, html } = readWithPython(raw);
  expect(defects).toEqual([]);
  const leaves = (part: PythonPart): readonly PythonPart[] =>
    part.content === null ? part.parts.flatMap(leaves) : [part];
  return {
    subject: headers['subject'] ?? '',
    from: addressesIn(headers['from']),
    to: addressesIn(headers['to']),
    text: plain(text),
    html: plain(html),
    files: leaves(root)
      .filter(({ filename }) => filename !== null)
      .map(({ filename, type, content }) => fileOf(filename, type, Buffer.from(content ?? '', 'base64')))
      .sort(),
  };
}

async function post(path: string, json: object): Promise<Record<string, unknown>> {
  const response = await running.service.request(path, { json });
  const answer = (await response.json()) as Record<string, unknown>;
  expect([path, response.ok, answer['code']]).toEqual([path, true, undefined]);
  return answer;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const file = (filename: string, bytes: Buffer, contentType: string, contentId?: string) => ({
  filename,
  content: bytes.toString('base64'),
  content_type: contentType,
  ...(contentId === undefined ? {} : { content_id: contentId }),
});
const SUBJECT = 'Größe: ein Angebot für Frau Müller-Lüdenscheidt, mit einem Betreff, der gefaltet wird ✓';
const TEXT = 'Guten Tag, \n\n.\n..\nFrom hier\n\tGrüße 你好 ✓\n-- \nVertrieb';
const HTML = '<p>Grüße &amp; <b>mehr</b></p>';
const BASE = { to: ['Jörg <joerg@example.org>', 'ada@example.org'], subject: SUBJECT };

/** An email with HTML, an image that the HTML shows, and a file, to be answered. */
async function receiveRich(): Promise<string> {
  const raw = mail({
    subject: 'Frage nach Größen',
    headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=m'],
    body: [
      '--m\r\nContent-Type: multipart/related; boundary=r\r\n',
      '--r\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n',
      '<p>Größe? <img src="cid:logo@customer.test" alt="Logo"></p>',
      '--r\r\nContent-Type: image/png; name="logo.png"\r\nContent-ID: <logo@customer.test>',
      `Content-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\n${PNG.toString('base64')}`,
      '--r--',
      '--m\r\nContent-Type: application/pdf; name="plan.pdf"\r\nContent-Disposition: attachment; filename="plan.pdf"',
      `Content-Transfer-Encoding: base64\r\n\r\n${Buffer.from('%PDF-1.7').toString('base64')}`,
      '--m--',
    ].join('\r\n'),
  });
  return (await receive(running.service, Buffer.from(raw))).id;
}

const SHAPES: readonly (readonly [name: string, send: () => Promise<Record<string, unknown>>])[] = [
  ['a text', () => post('/api/send', { ...BASE, text_body: TEXT })],
  ['HTML alone', () => post('/api/send', { ...BASE, html_body: HTML })],
  ['both', () => post('/api/send', { ...BASE, text_body: TEXT, html_body: HTML })],
  [
    'images that the HTML shows, and files with names of all kinds',
    () =>
      post('/api/send', {
        ...BASE,
        text_body: TEXT,
        html_body: `${HTML}<img src="cid:bild@example.com">`,
        attachments: [
          file('bild.png', PNG, 'image/png', 'bild@example.com'),
          file('Größenübersicht 2026 (ganz neu, und mit einem langen Namen) – ✓.pdf', PNG, 'application/pdf'),
          file('quo"te\\.txt', Buffer.from('a\r\n.\r\nb'), 'text/plain'),
          file('leer.bin', Buffer.alloc(0), 'application/octet-stream'),
        ],
      }),
  ],
  [
    'header fields, tags and a list that can be left',
    () =>
      post('/api/send', {
        to: 'ada@example.org',
        subject: SUBJECT,
        text_body: TEXT,
        reply_to: 'Büro <buero@example.com>',
        from_name: 'Jörg "Vertrieb"',
        headers: { 'X-Ticket': `T-${'4'.repeat(200)}`, Organization: 'Müller & Söhne' },
        tags: ['angebot'],
        unsubscribe: { list: 'news' },
      }),
  ],
  [
    'a template',
    async () => {
      const { id } = await post('/api/templates', {
        name: 'Gruß',
        subject: 'Für {{ name }}',
        text_body: 'Liebe {{ name }} ✓',
        html_body: '<p>Liebe {{ name }} ✓</p>',
      });
      return post('/api/send', { to: 'ada@example.org', template_id: id, variables: { name: 'Zoë & Ä' } });
    },
  ],
  [
    'one of a batch',
    async () => {
      const { results } = await post('/api/send/batch', { emails: [{ ...BASE, text_body: TEXT }] });
      return (results as Record<string, unknown>[])[0] ?? {};
    },
  ],
  [
    'a reply with the HTML that it answers',
    async () => post(`/api/emails/${await receiveRich()}/reply`, { html_body: HTML, text_body: TEXT }),
  ],
  [
    'a forward with the files',
    async () => post(`/api/emails/${await receiveRich()}/forward`, { to: 'bo@example.org', html_body: HTML }),
  ],
  [
    'a draft',
    async () => {
      const { id } = await post('/api/drafts', {
        message: { ...BASE, text_body: TEXT, html_body: HTML },
        attachments: [file('Entwurf ü.txt', Buffer.from('Entwurf'), 'text/plain')],
      });
      return post(`/api/drafts/${String(id)}/send`, {});
    },
  ],
];

describe.skipIf(skipWithoutPython())('three programs read the same', () => {
  it.each(SHAPES)('of %s', async (_, send) => {
    const { messageId } = await send();
    const [message] = running.sink.byMessageId(String(messageId));
    const { raw } = message!;
    const found = await byMailparser(raw);
    expect(await byPostalMime(raw)).toEqual(found);
    expect(byPython(raw)).toEqual(found);
    // The readers did find something.
    expect(found.subject.length).toBeGreaterThan(5);
    expect(found.from).toEqual(['sales@example.com']);
    expect(found.to.length).toBeGreaterThan(0);
    expect(found.text.length).toBeGreaterThan(5);
  });
});
