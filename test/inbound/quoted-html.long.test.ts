/** HTML quoted by replies and forwards, as another program reads it from the wire. */
import { randomBytes } from 'node:crypto';
import { simpleParser, type ParsedMail } from 'mailparser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { getJson, startServiceWithSink, type RunningService } from '../helpers/running-service.ts';
import type { SmtpSink } from '../helpers/smtp-sink.ts';

let running: RunningService & { readonly sink: SmtpSink };

beforeAll(async () => {
  running = await startServiceWithSink();
});
afterAll(() => running.end());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MIB = 1024 * 1024;

interface File {
  readonly name: string;
  readonly type?: string;
  readonly id?: string;
  readonly content: Buffer;
}

/** A mail whose HTML comes with files; files with an id stand beside it. */
function htmlMail(html: string, files: readonly File[] = []): string {
  const parts = files.map(({ name, type = 'image/png', id, content }) =>
    [
      `--b\r\nContent-Type: ${type}; name="${name}"`,
      `Content-Disposition: ${id === undefined ? 'attachment' : 'inline'}; filename="${name}"`,
      ...(id === undefined ? [] : [`Content-ID: <${id}>`]),
      `Content-Transfer-Encoding: base64\r\n\r\n${content.toString('base64').replace(/.{76}/g, '$&\r\n')}`,
    ].join('\r\n'),
  );
  return mail({
    headers: ['Content-Type: multipart/related; boundary=b'],
    body: [`--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}`, ...parts, '--b--'].join('\r\n'),
  });
}

interface Sent {
  readonly html: string;
  readonly text: string;
  /** Names of the files that the HTML shows; `files` has the others. */
  readonly shown: readonly string[];
  readonly files: readonly string[];
  readonly message: ParsedMail;
}

async function answer(kind: 'reply' | 'forward', raw: string, json: object): Promise<Sent> {
  const { id } = await receive(running.service, raw);
  const to = kind === 'forward' ? { to: 'x@partner.test' } : {};
  const response = await running.service.request(`/api/emails/${id}/${kind}`, { json: { ...to, ...json } });
  const body = (await response.json()) as { messageId: string };
  expect([response.status, body]).toMatchObject([200, { status: 'sent' }]);
  const message = await simpleParser(running.sink.byMessageId(body.messageId)[0]?.raw ?? Buffer.alloc(0), {
    skipImageLinks: true,
  });
  const html = message.html || '';
  const isShown = ({ cid, related }: { cid?: string; related?: boolean }) =>
    related === true && html.includes(`src="cid:${cid}"`);
  const names = (list: ParsedMail['attachments']) => list.map(({ filename }) => filename ?? '');
  return {
    html,
    text: message.text ?? '',
    shown: names(message.attachments.filter(isShown)),
    files: names(message.attachments.filter((file) => !isShown(file))),
    message,
  };
}

const LOGO = { name: 'logo.png', id: 'logo@x.test', content: PNG };
const DOCUMENT = { name: 'a.pdf', type: 'application/pdf', content: Buffer.from('%PDF') };
const HTML = '<p style="color:red">Hallo <b>Welt</b> <img src="cid:logo@x.test" alt="Firma"></p>';

describe('a reply in HTML', () => {
  it('quotes the HTML of the email, made safe, with its small images', async () => {
    const hostile = `${HTML}<script>alert(1)</script><p onclick="x()">Ende</p><form><input></form>`;
    const { html, shown, files, message } = await answer('reply', htmlMail(hostile, [LOGO, DOCUMENT]), {
      html_body: '<p>Danke</p>',
    });
    expect(html).toMatch(/^<p>Danke<\/p><br>.*<blockquote type="cite".*Hallo <b>Welt<\/b>.*Ende/s);
    expect(html).toContain('color:red');
    expect(html).not.toMatch(/<script|onclick|<form|<input/);
    expect([shown, files]).toEqual([['logo.png'], []]);
    expect(message.attachments[0]?.content).toEqual(PNG);
  });

  it('leaves the alternative text of what does not travel along', async () => {
    const html =
      '<p>A <img src="cid:big@x.test" alt="Foto"> B <img src="https://x.test/p.png" alt="Zähler"> C ' +
      '<img src="cid:drawing@x.test" alt="Plan"> D <img src="cid:nobody@x.test" alt="Leer"> E <img src="cid:logo@x.test"></p>';
    const files = [
      { name: 'big.png', id: 'big@x.test', content: Buffer.concat([PNG, randomBytes(1.5 * MIB)]) },
      { name: 'plan.svg', type: 'image/svg+xml', id: 'drawing@x.test', content: Buffer.from('<svg/>') },
      LOGO,
    ];
    const sent = await answer('reply', htmlMail(html, files), { html_body: '<p>Danke</p>' });
    expect(sent.html).toMatch(/A Foto B Zähler C Plan D Leer E <img src="cid:/);
    expect([sent.shown, sent.files]).toEqual([['logo.png'], []]);
  });

  it('takes no image along when it is written as text, without a quote, or when there is no room', async () => {
    const raw = () => htmlMail(HTML, [LOGO]);
    const text = await answer('reply', raw(), { text_body: 'Danke' });
    expect([text.message.attachments, text.html, text.text.includes('> Hallo Welt')]).toEqual([[], '', true]);
    const alone = await answer('reply', raw(), { html_body: '<p>Danke</p>', quote: false });
    expect([alone.message.attachments, alone.html.trim()]).toEqual([[], '<p>Danke</p>']);
    const attachments = Array.from({ length: 200 }, (_, index) => ({
      filename: `${index}.txt`,
      content: 'eA==',
    }));
    const full = await answer('reply', raw(), { html_body: '<p>Danke</p>', attachments });
    expect([full.shown, full.files.length, full.html.includes('Firma')]).toEqual([[], 200, true]);
  });

  it('keeps the images that the person sends along apart from those of the quote', async () => {
    const own = { filename: 'own.png', content_id: 'logo@x.test', content: PNG.toString('base64') };
    const { html, shown } = await answer('reply', htmlMail(HTML, [LOGO]), {
      html_body: '<p>Neu: <img src="cid:logo@x.test"></p>',
      attachments: [own],
    });
    expect([...shown].sort()).toEqual(['logo.png', 'own.png']);
    expect(new Set([...html.matchAll(/src="(cid:[^"]+)"/g)].map(([, id]) => id)).size).toBe(2);
  });

  it.each([
    ['that is too deep', '<div>'.repeat(5000) + 'Tief'],
    ['that is too long', `<p>Lang</p>${'<p>x</p>'.repeat(100_000)}`],
  ])('quotes the text of HTML %s', async (_name, html) => {
    const sent = await answer('reply', htmlMail(html), { html_body: '<p>Danke</p>' });
    expect(sent.html).toMatch(/<blockquote type="cite"[^>]*><div style="white-space:pre-wrap">(?:Tief|Lang)/);
  });

  it('may be answered again and again', async () => {
    let raw = htmlMail(HTML, [LOGO]);
    for (let round = 0; round < 4; round += 1) {
      const { html, shown, message } = await answer('reply', raw, { html_body: `<p>Antwort ${round}</p>` });
      expect(shown).toEqual(['logo.png']);
      expect(html.match(/<blockquote/g)).toHaveLength(round + 1);
      const [image] = message.attachments;
      raw = htmlMail(html, [{ ...LOGO, id: image?.cid ?? '' }]);
    }
  });
});

describe('a forward', () => {
  it('without words is the email as it was: its HTML, the images in it, and its files', async () => {
    const big = { name: 'big.png', id: 'big@x.test', content: Buffer.concat([PNG, randomBytes(1.5 * MIB)]) };
    const html = `${HTML}<img src="cid:big@x.test" alt="Foto">`;
    const sent = await answer('forward', htmlMail(html, [LOGO, DOCUMENT, big]), {});
    expect(sent.html).toMatch(/Weitergeleitete Nachricht.*Hallo <b>Welt<\/b>/s);
    expect(sent.text).toMatch(/^---------- Weitergeleitete Nachricht.*Hallo Welt/s);
    expect([sent.shown, sent.files]).toEqual([['logo.png', 'big.png'], ['a.pdf']]);
    expect(sent.message.attachments.find(({ filename }) => filename === 'big.png')?.content).toEqual(
      big.content,
    );
  });

  it('with words in text is the email as it was, too', async () => {
    const sent = await answer('forward', htmlMail(HTML, [LOGO, DOCUMENT]), { text_body: 'Siehe unten' });
    expect([sent.shown, sent.files]).toEqual([['logo.png'], ['a.pdf']]);
    expect(sent.html).toMatch(/Siehe unten.*Hallo <b>Welt<\/b>/s);
    expect(sent.text).toMatch(/^Siehe unten.*Hallo Welt/s);
  });

  it('without its files has the small images of its HTML', async () => {
    const sent = await answer('forward', htmlMail(HTML, [LOGO, DOCUMENT]), { with_files: false });
    expect([sent.shown, sent.files]).toEqual([['logo.png'], []]);
  });
});

it('the preview has alternative texts in place of images', async () => {
  const { id } = await receive(running.service, htmlMail(HTML, [LOGO]));
  const preview = await getJson<{ quote_html: string }>(running.service, `/api/emails/${id}/reply`);
  expect(preview.quote_html).toMatch(/<p style="color:red">Hallo <b>Welt<\/b> Firma<\/p>/);
  expect(preview.quote_html).not.toContain('cid:');
});
