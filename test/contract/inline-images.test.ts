/** Images that the HTML shows, and the text alternative beside HTML, as independent programs read them. */
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../helpers/inbound-mail.ts';
import { readWithPython, skipWithoutPython, type PythonPart } from '../helpers/python-mail.ts';
import { getJson, sendJson, startServiceWithSink } from '../helpers/running-service.ts';

let running: Awaited<ReturnType<typeof startServiceWithSink>>;
beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const image = (content_id: string, filename = `${content_id}.png`) => ({
  filename,
  content: PNG.toString('base64'),
  content_type: 'image/png',
  content_id,
});
const PDF = {
  filename: 'Angebot.pdf',
  content: Buffer.from('%PDF-').toString('base64'),
  content_type: 'application/pdf',
};
const MAIL = {
  to: 'ada@example.org',
  subject: 'Angebot',
  html_body:
    '<p>Guten Tag, <b>Ada</b></p><img src="cid:logo@example.com"><img src=\'cid:zwei\'><img src="cid:fehlt">',
};

const rawOf = (messageId: string) => running.sink.byMessageId(messageId)[0]!.raw;
const detail = (id: string) =>
  getJson<{
    text_body: string;
    variants: unknown[];
    email_attachments: { filename: string; inline: boolean; content_id: string | null }[];
  }>(running.service, `/api/emails/${id}`);

const outline = (part: PythonPart): unknown =>
  part.parts.length === 0
    ? [part.type, part.disposition, part.contentId].filter((value) => value !== null)
    : { [part.type]: part.parts.map(outline) };

describe('a send with images that its HTML shows', () => {
  const FILES = [PDF, image('logo@example.com'), image('<zwei>', 'zwei.png'), image('unbenutzt')];

  it.skipIf(skipWithoutPython())(
    'is related parts within alternatives within mixed ones, for Python',
    async () => {
      const { messageId } = await sendJson(running.service, { ...MAIL, attachments: FILES });
      const mail = readWithPython(rawOf(messageId));
      expect(mail.defects).toEqual([]);
      expect(outline(mail.root)).toEqual({
        'multipart/mixed': [
          {
            'multipart/alternative': [
              ['text/plain'],
              {
                'multipart/related': [
                  ['text/html'],
                  ['image/png', 'inline', '<logo@example.com>'],
                  ['image/png', 'inline', '<zwei>'],
                ],
              },
            ],
          },
          ['application/pdf', 'attachment'],
          ['image/png', 'attachment', '<unbenutzt>'],
        ],
      });
      expect(mail.root.parts[0]!.parts[1]!.relatedType).toBe('text/html');
      expect(mail.root.parts[0]!.parts[1]!.parts[1]!.content).toBe(PNG.toString('base64'));
      expect(mail.plain).toContain('Guten Tag, Ada');
      expect(mail.html?.trim()).toBe(MAIL.html_body);
    },
  );

  it('shows them in mailparser and postal-mime', async () => {
    const { messageId } = await sendJson(running.service, { ...MAIL, attachments: FILES });
    const raw = rawOf(messageId);
    const parsed = await simpleParser(raw);
    const source = `data:image/png;base64,${PNG.toString('base64')}`;
    expect(parsed.html).toContain(`<img src="${source}"><img src='${source}'><img src="cid:fehlt">`);
    expect(parsed.text).toContain('Guten Tag, Ada');
    const postal = await PostalMime.parse(raw);
    expect(
      postal.attachments.map(({ contentId, related, disposition }) => [
        contentId,
        related ?? false,
        disposition,
      ]),
    ).toEqual([
      ['<logo@example.com>', true, 'inline'],
      ['<zwei>', true, 'inline'],
      [undefined, false, 'attachment'],
      ['<unbenutzt>', false, 'attachment'],
    ]);
    expect(postal.text).toContain('Guten Tag, Ada');
  });

  it('records which of its files are shown', async () => {
    const { id } = await sendJson(running.service, { ...MAIL, attachments: FILES });
    const { email_attachments } = await detail(id);
    expect(
      email_attachments.map(({ filename, inline, content_id }) => [filename, inline, content_id]),
    ).toEqual([
      ['Angebot.pdf', false, null],
      ['logo@example.com.png', true, 'logo@example.com'],
      ['zwei.png', true, 'zwei'],
      ['unbenutzt.png', false, 'unbenutzt'],
    ]);
  });

  it('is the same email when it comes back in the Sent mailbox, also under another Message-ID', async () => {
    const { id, messageId } = await sendJson(running.service, { ...MAIL, attachments: FILES });
    const raw = rawOf(messageId).toString('latin1');
    const copy = await post(running.service, Buffer.from(raw, 'latin1'), '?sent=true');
    expect(await copy.json()).toMatchObject({ status: 'duplicate', id });
    const rewritten = await sendJson(running.service, { ...MAIL, subject: 'Anders', attachments: FILES });
    const renamed = rawOf(rewritten.messageId)
      .toString('latin1')
      .replace(rewritten.messageId, '<renamed@relay.example>');
    const other = await post(running.service, Buffer.from(renamed, 'latin1'), '?sent=true');
    expect(await other.json()).toMatchObject({ status: 'duplicate', id: rewritten.id });
    for (const one of [id, rewritten.id]) expect((await detail(one)).variants).toEqual([]);
  });

  it('sends images as files where there is no HTML', async () => {
    const { id, messageId } = await sendJson(running.service, {
      to: MAIL.to,
      subject: 'Nur Text',
      text_body: 'cid:logo@example.com',
      attachments: [image('logo@example.com')],
    });
    const { attachments, html } = await simpleParser(rawOf(messageId));
    expect([html, attachments.map(({ contentDisposition }) => contentDisposition)]).toEqual([
      false,
      ['attachment'],
    ]);
    expect((await detail(id)).email_attachments[0]!.inline).toBe(false);
  });

  it.each(['', 'a b', 'a"b', '<a', 'a>b', 'a\r\nBcc: x', 'größe', 'x'.repeat(201), '%41'])(
    'refuses %j as a Content-ID',
    async (content_id) => {
      const response = await running.service.request('/api/send', {
        json: { ...MAIL, attachments: [{ ...image('x'), content_id }] },
      });
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_content_id' }]);
    },
  );

  it('refuses a Content-ID that stands twice', async () => {
    const response = await running.service.request('/api/send', {
      json: { ...MAIL, attachments: [image('a', '1.png'), image('<a>', '2.png')] },
    });
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_request' }]);
  });
});

describe('a send of HTML alone', () => {
  it('says the same in plain text', async () => {
    const { id, messageId } = await sendJson(running.service, {
      ...MAIL,
      html_body: '<h1>Hallo</h1><p>Siehe <a href="https://example.com/">hier</a>.&#0;</p>',
    });
    const { text } = await simpleParser(rawOf(messageId));
    expect(text).toContain('Siehe hier');
    expect(text?.trim()).toBe((await detail(id)).text_body.trim());
  });

  it.each(['<img src="https://example.com/a.png">', '<p> </p>'])(
    'stays alone where %s says nothing',
    async (html_body) => {
      const { messageId } = await sendJson(running.service, { ...MAIL, html_body });
      expect(rawOf(messageId).toString('latin1')).toMatch(/^Content-Type: text\/html/m);
    },
  );

  it('keeps a text that the caller gave', async () => {
    const { messageId } = await sendJson(running.service, { ...MAIL, text_body: 'Etwas anderes' });
    expect((await simpleParser(rawOf(messageId))).text?.trim()).toBe('Etwas anderes');
  });
});
