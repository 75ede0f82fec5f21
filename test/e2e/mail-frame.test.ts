/** The page and the frame in which it shows mail, in a real browser, logged in by a link: whatever a mail contains, it does nothing. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE_HTML } from '../fixtures/hostile-html.ts';
import { skipWithoutChromium, startChromium } from '../helpers/chromium.ts';
import { mail, receive } from '../helpers/inbound-mail.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts';
import { some } from '../helpers/runs.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from '../helpers/service-process.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const SANDBOX = 'allow-same-origin allow-popups allow-popups-to-escape-sandbox';
/** Hostile mails that are shown at the same time. What one of them does counts against all, and the failure lists them. */
const AT_ONCE = 8;
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=';

let database: TestDatabase;
let service: ServiceProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startServiceProcess({ env: { DATABASE_URL: database.connectionString } });
});
afterAll(async () => {
  await disposeService(service);
  await database.drop();
});

const inGroups = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );

async function receiveHtml(html: string): Promise<string> {
  const headers = [
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
  ];
  return (await receive(service, mail({ headers, body: html }))).id;
}

const documentOf = async (id: string, query = '', headers: Readonly<Record<string, string>> = {}) => {
  const response = await service.request(`/api/emails/${id}/html${query}`, {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
  });
  return { status: response.status, headers: response.headers, html: await response.text() };
};

describe('an email as a document', () => {
  it('is one to browsers and JSON to programs', async () => {
    const id = await receiveHtml('<p>Guten Tag<script>alert(1)</script>');
    const { status, headers, html } = await documentOf(id);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('vary')).toBe('accept, sec-fetch-dest');
    expect(html).toContain('<p>Guten Tag</p>');
    expect(html).not.toContain('script');
    for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
      expect((await documentOf(id, '', { accept })).headers.get('content-type')).toContain(
        'application/json',
      );
    }
    const { status: missing, headers: ofMissing } = await documentOf('0190b2a0-0000-7000-8000-000000000003');
    expect([missing, ofMissing.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
  });

  it('has a policy without scripts, and no origin when it is opened by itself', async () => {
    const id = await receiveHtml('<p>a');
    const policy = async (query: string, dest: string) =>
      (await documentOf(id, query, { 'sec-fetch-dest': dest })).headers.get('content-security-policy') ?? '';
    expect(await policy('', 'iframe')).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox allow-same-origin; default-src 'none'; img-src 'self' data:; " +
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    );
    expect(await policy('', 'document')).toContain('sandbox allow-popups allow-popups-to-escape-sandbox;');
    // The service loads remote images.
    expect(await policy('?remote=allow', 'iframe')).toBe(await policy('', 'iframe'));
  });

  it('is light where it sets colours, else as its reader likes it', async () => {
    const plain = await receiveHtml('<p>a');
    const coloured = await receiveHtml('<p style="color:#222">a');
    const scheme = async (id: string, query: string) =>
      /color-scheme: ([^;]+);/.exec((await documentOf(id, query)).html)?.[1];
    expect(await scheme(plain, '')).toBe('light dark');
    expect(await scheme(plain, '?theme=dark')).toBe('dark');
    expect(await scheme(plain, '?theme=light')).toBe('light');
    expect(await scheme(coloured, '?theme=dark')).toBe('light');
    // The margin has the colour of the mail.
    const dark = await receiveHtml('<body bgcolor="#112233" text="#fff">a');
    expect((await documentOf(dark, '?theme=dark')).html).toContain(':root { background: #112233 }');
    expect((await documentOf(dark, '?theme=light')).html).not.toContain('{ background: #112233 }');
    expect((await documentOf(plain, '?theme=blue')).status).toBe(400);
  });
});

describe.skipIf(skipWithoutChromium())('in Chromium', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const offences: string[] = [];
  /** HTML to serve as the document of an email, by its id, with the headers of the real one. */
  const replaced = new Map<string, { readonly html: string; readonly isOpen?: boolean }>();

  beforeAll(async () => {
    browser = await startChromium();
    context = await browser.newContext();
    page = await context.newPage();
    context.on('page', () => offences.push('opened a window'));
    // Requests that the policy blocks do not get this far.
    await context.route(
      (url) => url.protocol.startsWith('http') && url.origin !== service.url,
      async (route) => {
        offences.push(`fetched ${route.request().url()}`);
        await route.abort();
      },
    );
    page.on('dialog', (dialog) => {
      offences.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
    page.on('framenavigated', (frame) => {
      // Frames that the policy blocks show a page of the browser itself.
      const isOwn = frame.url().startsWith(`${service.url}/`) || /^(?:about|chrome-error):/.test(frame.url());
      if (!isOwn) offences.push(`went to ${frame.url()}`);
    });
    await context.route('**/api/emails/*/html*', async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      const other = replaced.get(/emails\/([^/]+)/.exec(route.request().url())?.[1] ?? '');
      if (other?.isOpen === true) delete headers['content-security-policy'];
      await route.fulfill({ response, headers, ...(other === undefined ? {} : { body: other.html }) });
    });
  });
  afterAll(async () => {
    await context.close();
    await browser.close();
  });

  interface Shown {
    /** Of the content of the first frame. */
    readonly height: number;
    /** A script in one of them did something. */
    readonly ran: boolean;
    /** None covers what is beside it. */
    readonly top: boolean;
  }

  /** Shows emails as the page does, each in a frame at the same place. */
  const show = (ids: readonly string[], sandbox = SANDBOX) =>
    page.evaluate<Shown>(`(async () => {
      for (const old of document.querySelectorAll('iframe')) old.remove();
      delete globalThis.ran;
      const frames = ${JSON.stringify(ids)}.map((id) => {
        const frame = document.createElement('iframe');
        frame.setAttribute('sandbox', ${JSON.stringify(sandbox)});
        frame.style.cssText = 'position:fixed;left:10px;top:10px;width:400px;height:200px;border:0';
        frame.src = '/api/emails/' + id + '/html';
        return frame;
      });
      await Promise.all(
        frames.map((frame) => new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); })),
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
      const beside = document.elementFromPoint(500, 300);
      return {
        height: frames[0].contentDocument.documentElement.scrollHeight,
        ran: globalThis.ran === true || frames.some(({ contentWindow }) => contentWindow.ran === true),
        top: !frames.includes(beside),
      };
    })()`);

  it('the page opens by a link, once, and its own policy stops nothing of it', async () => {
    const link = /"link":"([^"]+)"/.exec(service.log.join('\n'))?.[1] ?? '';
    expect(link).toMatch(/\/#token=[\w-]{43}$/);
    const errors: string[] = [];
    const note = (message: { type(): string; text(): string }) => {
      if (/Content Security Policy/i.test(message.text())) errors.push(message.text());
    };
    page.on('console', note);
    const opened = page.waitForResponse(
      (response) => response.url().endsWith('/api/session') && response.ok(),
    );
    await page.goto(link);
    await opened;
    await waitUntil('the token is out of the address', () => !page.url().includes('token'));
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: 'email_worker_session', httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate('document.cookie')).toBe('');
    page.off('console', note);
    expect(errors).toEqual([]);
    const again = await service.request('/api/session', { json: { token: link.replace(/^.*=/, '') } });
    expect(again.status).toBe(401);
  });

  it('a frame has its height for the page, and its links lead out', async () => {
    const id = await receiveHtml('<p style="height:700px">a</p><a href="https://example.org/">b</a>');
    expect(await show([id])).toMatchObject({ ran: false });
    expect((await show([id])).height).toBeGreaterThan(700);
    const link = await page.frames()[1]?.evaluate(`[document.links[0].target, document.links[0].rel].join()`);
    expect(link).toBe('_blank,noopener noreferrer nofollow');
  });

  it('columns of a newsletter stand beside each other, and below each other in a narrow frame', async () => {
    const column = (id: string) =>
      `<div class="col" id="${id}" style="display:inline-block;width:100%;vertical-align:top;font-size:13px">${id} ${'Text '.repeat(20)}</div>`;
    // As MJML writes it.
    const id = await receiveHtml(
      '<style>@media only screen and (min-width:480px){.col{width:50%!important;max-width:50%}}</style>' +
        `<div style="margin:0 auto;max-width:600px;font-size:0">${column('left')}${column('right')}</div>`,
    );
    const places = (width: number) =>
      page.evaluate<{ left: number; top: number }[]>(`(async () => {
        for (const old of document.querySelectorAll('iframe')) old.remove();
        const frame = document.createElement('iframe');
        frame.style.cssText = 'width:${width}px;height:400px;border:0';
        frame.src = '/api/emails/${id}/html';
        await new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); });
        return ['left', 'right'].map((name) => {
          const { left, top } = frame.contentDocument.getElementById(name).getBoundingClientRect();
          return { left, top };
        });
      })()`);
    const [left, right] = await places(700);
    expect(right).toEqual({ left: left!.left + 300, top: left!.top });
    const [above, below] = await places(360);
    expect(below!.left).toBe(above!.left);
    expect(below!.top).toBeGreaterThan(above!.top);
  });

  it('no mail does anything, whatever is in it', { timeout: 600_000 }, async () => {
    offences.length = 0;
    for (const mails of inGroups(some(HOSTILE_HTML), AT_ONCE)) {
      const { ran, top } = await show(await Promise.all(mails.map(receiveHtml)));
      expect([mails, ran, top, offences]).toEqual([mails, false, true, []]);
    }
  });

  it('the frame alone would hold it, had nothing been made safe', { timeout: 600_000 }, async () => {
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, () => receiveHtml('<p>a')));
    offences.length = 0;
    const own = [
      '<script>parent.ran = true</script>',
      `<img src="${PIXEL}" onload="parent.ran = true">`,
      '<meta http-equiv="refresh" content="0;url=https://fetched.invalid/">',
      '<form action="https://fetched.invalid/"><input autofocus onfocus="parent.ran = true"></form>',
      '<iframe src="https://fetched.invalid/"></iframe><iframe srcdoc="<script>top.ran = true</script>"></iframe>',
      '<style>@import url(https://fetched.invalid/); body { background: url(https://fetched.invalid/x) }</style>',
      '<link rel="stylesheet" href="https://fetched.invalid/"><script src="/assets/x.js"></script>',
      '<img src="https://fetched.invalid/x"><video src="https://fetched.invalid/x" autoplay></video>',
      '<base href="https://fetched.invalid/"><a id="a" href="x" target="_top">a</a>',
    ];
    for (const mails of inGroups([...own, ...some(HOSTILE_HTML)], AT_ONCE)) {
      const shown = ids.slice(0, mails.length);
      for (const [index, id] of shown.entries())
        replaced.set(id, { html: `<!doctype html><body>${mails[index]}` });
      const { ran, top } = await show(shown);
      expect([mails, ran, top, offences]).toEqual([mails, false, true, []]);
    }
    expect(page.url()).toMatch(new RegExp(`^${service.url}/`));
  });

  it.each([
    ['a script', '<script>parent.ran = true</script>'],
    ['a handler', '<img src="data:x" onerror="parent.ran = true">'],
  ])('%s that ran would be seen', async (_, html) => {
    const id = await receiveHtml('<p>a');
    replaced.set(id, { html, isOpen: true });
    expect((await show([id], `${SANDBOX} allow-scripts`)).ran).toBe(true);
  });
});
