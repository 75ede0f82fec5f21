/** The HTML of received mail as a page shows it, and files that a browser opens, in the built service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { getJson, startServiceWithSink } from '../helpers/running-service.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';

let service: ServiceProcess;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ service, end } = await startServiceWithSink());
});
afterAll(() => end());

interface SafeHtml {
  readonly html_safe: string;
  readonly made_from: string;
  readonly removed: Readonly<Record<string, number>>;
  readonly images: readonly {
    readonly attachment_id: string;
    readonly content_id: string;
    readonly url: string;
  }[];
  readonly images_expire_at: string;
}

const GIF = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

interface File {
  readonly type: string;
  readonly bytes: Buffer;
  readonly contentId?: string;
}

/** Receives an email with HTML and files; returns its id and the ids of the files. */
async function receiveWith(html: string, files: readonly File[] = []) {
  const parts = files.map(({ type, bytes, contentId }, index) => [
    '--b',
    `Content-Type: ${type}; name="file-${index}"`,
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    'Content-Transfer-Encoding: base64',
    '',
    bytes.toString('base64'),
  ]);
  const body = [
    ...[['--b', 'Content-Type: text/html; charset=utf-8', '', html], ...parts].flat(),
    '--b--',
  ].join('\r\n');
  const headers = ['MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=b'];
  const { id } = await receive(service, mail({ headers, body }));
  const email = await getJson<{ email_attachments: { id: string }[] }>(service, `/api/emails/${id}`);
  return { id, files: email.email_attachments.map((file) => file.id) };
}

const safeHtmlOf = (id: string, query = '') => getJson<SafeHtml>(service, `/api/emails/${id}/html${query}`);
const open = (path: string) => fetch(`${service.url}${path}`);

describe('the HTML of an email', () => {
  it('comes without what runs or is fetched, and tells what was left out', async () => {
    const { id } = await receiveWith(
      '<p onclick="x()">Hallo <b>Ann</b></p><script>x</script><img src="https://a.test/track" width="600" alt="Banner">',
    );
    const shown = await safeHtmlOf(id);
    expect(shown.made_from).toBe('html');
    expect(shown.html_safe).toContain('<p>Hallo <b>Ann</b></p><img width="600" alt="Banner">');
    expect(shown.removed).toMatchObject({ scripts: 1, event_handlers: 1, remote_images: 1, forms: 0 });
    const allowed = await safeHtmlOf(id, '?remote=allow');
    // The service loads it; see test/e2e/image-proxy.test.ts.
    const address = Buffer.from('https://a.test/track').toString('base64url');
    expect(allowed.html_safe).toContain(`src="/api/images/${id}?address=${address}&#x26;`);
    expect(allowed.html_safe).not.toContain('a.test');
    expect(allowed.removed).toMatchObject({ remote_images: 0 });
  });

  it('is the text of an email that has none, and of one whose HTML takes too much', async () => {
    const { id } = await receive(service, mail({ body: 'a < b\r\n\r\n<script>x</script>' }));
    expect(await safeHtmlOf(id)).toMatchObject({
      made_from: 'text',
      html_safe: expect.stringContaining('a &lt; b\n\n&lt;script&gt;x&lt;/script&gt;') as unknown,
    });
    const deep = await receiveWith(`${'<div>'.repeat(5000)}Angebot`);
    const shown = await safeHtmlOf(deep.id);
    expect(shown).toMatchObject({ made_from: 'text' });
    expect(shown.html_safe).toContain('Angebot');
  });

  it('is refused for what is asked wrongly', async () => {
    const { id } = await receiveWith('x');
    expect((await service.request(`/api/emails/${id}/html?remote=yes`)).status).toBe(400);
    expect((await service.request('/api/emails/0190b2a0-0000-7000-8000-000000000003/html')).status).toBe(404);
    expect((await open(`/api/emails/${id}/html`)).status).toBe(401);
  });
});

describe('an image within an email', () => {
  it('is shown by its signed address, without a secret', async () => {
    const { id, files } = await receiveWith('<img src="cid:logo@a.test">', [
      // A wrong type does not matter: the bytes determine the type.
      { type: 'application/octet-stream', bytes: GIF, contentId: 'logo@a.test' },
    ]);
    const { html_safe, images, images_expire_at } = await safeHtmlOf(id);
    expect(images).toMatchObject([{ attachment_id: files[0], content_id: 'logo@a.test' }]);
    const url = images[0]?.url ?? '';
    expect(html_safe).toContain(`<img src="${url.replaceAll('&', '&#x26;')}">`);
    const image = await open(url);
    expect(image.status).toBe(200);
    expect(Buffer.from(await image.arrayBuffer())).toEqual(GIF);
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': 'image/gif',
      'content-disposition': expect.stringMatching(/^inline; filename=/) as unknown,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringMatching(/^private, max-age=\d+, immutable$/) as unknown,
    });
    expect(new Date(images_expire_at).getTime()).toBeGreaterThan(Date.now() + 59 * 60_000);
  });

  it('opens nothing else, and only what is an image', async () => {
    const { id, files } = await receiveWith('<img src="cid:a"><img src="cid:b">', [
      { type: 'image/gif', bytes: GIF, contentId: 'a' },
      { type: 'image/png', bytes: SVG, contentId: 'b' },
    ]);
    const { images } = await safeHtmlOf(id);
    const [first, second] = images.map(({ url }) => url);
    if (first === undefined || second === undefined) throw new Error('an image is missing');
    expect((await open(second)).status).toBe(404);
    const wrong = [
      first.replace(files[0] ?? '', files[1] ?? ''),
      first.replace(/expires=\d+/, (text) => `${text}0`),
      first.replace(/signature=./, 'signature=_'),
      first.replace(/expires=\d+/, 'expires=1'),
    ].filter((url) => url !== first);
    for (const url of wrong) {
      const answer = await open(url);
      expect([url, answer.status]).toEqual([url, 404]);
      expect(await answer.json()).toMatchObject({ code: 'image_not_found' });
    }
    expect((await open(first.replace(/&signature.*/, ''))).status).toBe(400);
    // The signature is not a secret of the API.
    expect((await open(`/api/attachments/${files[0]}`)).status).toBe(401);
  });
});

describe('a file that a browser opens', () => {
  it.each([
    ['a raster image, whatever it is called', 'application/octet-stream', GIF, 'inline', 'image/gif'],
    ['a PDF', 'application/pdf', Buffer.from('%PDF-1.7\n'), 'inline', 'application/pdf'],
    ['plain text', 'text/x-log', Buffer.from('a'), 'attachment', 'text/x-log'],
    ['an SVG', 'image/svg+xml', SVG, 'attachment', 'image/svg+xml'],
    ['an SVG that says PNG', 'image/png', SVG, 'attachment', 'image/png'],
    ['HTML that says PDF', 'application/pdf', Buffer.from('<script>'), 'attachment', 'application/pdf'],
    ['an empty file', 'image/png', Buffer.alloc(0), 'attachment', 'image/png'],
  ])('is shown only when it is harmless: %s', async (_, type, bytes, disposition, shownType) => {
    const { files } = await receiveWith('<p>x</p>', [{ type, bytes }]);
    const file = await service.request(`/api/attachments/${files[0]}?disposition=inline`);
    expect(file.headers.get('content-disposition')).toMatch(new RegExp(`^${disposition}; `));
    expect(file.headers.get('content-type')).toBe(shownType);
    expect(file.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes);
    const plain = await service.request(`/api/attachments/${files[0]}`);
    expect(plain.headers.get('content-disposition')).toMatch(/^attachment; /);
    await plain.body?.cancel();
  });
});
