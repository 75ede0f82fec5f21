import { describe, expect, it } from 'vitest';
import {
  MAX_PROXIED_CHARS,
  MAX_PROXIED_IMAGES,
  ProxiedImages,
  toProxied,
  type ProxyKey,
} from './proxied-images.ts';
import { sanitizeHtml, type SanitizeOptions } from './sanitize-html.ts';

const ID = '0190b2a0-0000-7000-8000-000000000003';
const KEY: ProxyKey = {
  path: `/api/images/${ID}`,
  expires: 1_769_864_400,
  by: 'abcdefghijkl',
  key: Buffer.alloc(32, 7).toString('base64url'),
};
const OTHER: ProxyKey = { ...KEY, key: Buffer.alloc(32, 8).toString('base64url') };
const REMOTE = 'https://images.example/a.png?for=ann%40example.com';
const images = new ProxiedImages(KEY);
const own = images.toOwn(REMOTE) ?? '';
const make = (html: string, more: Partial<SanitizeOptions> = {}) =>
  sanitizeHtml(html, { allowRemote: true, proxy: KEY, images: new Map(), ...more });
const attributeText = (text: string) => text.replaceAll('&', '&#x26;');

describe('the address of this service for a remote image', () => {
  it('contains the remote one, and a signature that nothing but the key makes', () => {
    const url = new URL(own, 'https://mail.example');
    expect(url.pathname).toBe(`/api/images/${ID}`);
    expect(Buffer.from(url.searchParams.get('address') ?? '', 'base64url').toString()).toBe(REMOTE);
    expect(images.isOwn(own)).toBe(true);
    expect(new ProxiedImages(OTHER).isOwn(own)).toBe(false);
    for (const changed of [
      own.replace('address=', 'address=A'),
      own.replace('expires=17', 'expires=18'),
      `${own.slice(0, -1)}${own.endsWith('A') ? 'B' : 'A'}`,
      `${own}&a=b`,
      own.split('&')[0] ?? '',
    ])
      expect(images.isOwn(changed), changed).toBe(false);
  });

  it.each([
    ['https://images.example/a.png#part', 'https://images.example/a.png'],
    ['http://2130706433/a.png', 'http://127.0.0.1/a.png'],
    ['https://user@images.example/a.png', null],
    ['https://user:secret@images.example/a.png', null],
    ['ftp://images.example/a.png', null],
    ['file:///etc/passwd', null],
    ['data:image/png;base64,AAAA', null],
    ['/a.png', null],
    [`https://images.example/${'a'.repeat(MAX_PROXIED_CHARS)}`, null],
  ])('is for web addresses without a user: %s', (address, expected) => {
    expect(toProxied(address)).toBe(expected);
  });

  it('fits into a URL that the service takes, however long the remote one is', () => {
    const longest = `https://images.example/${'a'.repeat(MAX_PROXIED_CHARS - 23)}`;
    expect(longest).toHaveLength(MAX_PROXIED_CHARS);
    expect(images.toOwn(longest)?.length).toBeLessThan(4096);
  });
});

describe('safe HTML with the proxy', () => {
  /** Every way to write a remote image. */
  const WAYS: readonly (readonly [name: string, html: string])[] = [
    ['an image', `<img src="${REMOTE}" alt="a">`],
    ['an image without a scheme', `<img src="${REMOTE.slice('https:'.length)}" alt="a">`],
    [
      'a relative image',
      '<base href="https://images.example/"><img src="a.png?for=ann%40example.com" alt="a">',
    ],
    ['an old background', `<table background="${REMOTE}"><tr><td>a</td></tr></table>`],
    ['a style', `<p style="background-image:url('${REMOTE}')">a</p>`],
    ['a shorthand', `<p style="background:#fff url(${REMOTE}) no-repeat">a</p>`],
    ['a style sheet', `<style>.a{background-image:url(${REMOTE})}</style><p class="a">a</p>`],
    ['a body', `<body background="${REMOTE}">a</body>`],
  ];

  it.each(WAYS)('points %s at the service, and stays the same when it is made again', (_, html) => {
    for (const document of [null, { scheme: 'light' }] as const) {
      const safe = make(html, { document });
      const all = `${safe.html}${safe.sheet}`;
      expect(all.includes(own) || all.includes(attributeText(own)), all).toBe(true);
      expect(all).not.toContain('images.example');
      expect(safe.removed.remote_images).toBe(0);
      const again = make(document === null ? safe.html : `<style>${safe.sheet}</style>${safe.html}`, {
        document,
      });
      expect(again.html).toBe(safe.html);
    }
  });

  it.each([
    ['srcset', `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" srcset="${REMOTE} 2x">`],
    ['a picture', `<picture><source srcset="${REMOTE}"><img alt="a"></picture>`],
    ['a list mark', `<ul style="list-style-image:url(${REMOTE})"><li>a</ul>`],
    ['a cursor', `<p style="cursor:url(${REMOTE}),auto">a`],
    ['a font', `<style>@font-face{font-family:a;src:url(${REMOTE})}</style><p>a`],
    ['an import', `<style>@import url(${REMOTE});</style><p>a`],
    ['an image set', `<p style="background-image:image-set('${REMOTE}' 1x)">a`],
    ['content', `<style>p::before{content:url(${REMOTE})}</style><p>a`],
    ['a user', '<img src="https://user:secret@images.example/a.png" alt="a">'],
    ['a long address', `<img src="https://images.example/${'a'.repeat(3000)}" alt="a">`],
    ['a video', `<video poster="${REMOTE}"></video>`],
    ['an SVG', `<svg><image href="${REMOTE}"/></svg>`],
  ])('leaves out %s: no remote address comes out', (_, html) => {
    for (const document of [null, { scheme: 'light' }] as const) {
      const safe = make(html, { document });
      expect(`${safe.html}${safe.sheet}`).not.toMatch(/images\.example|address=/);
    }
  });

  it('counts an address that is too long as a remote image that was left out', () => {
    const { html, removed } = make(`<img src="https://images.example/${'a'.repeat(3000)}" alt="logo">`);
    expect(html).toContain('alt="logo"');
    expect(removed.remote_images).toBe(1);
  });

  it('signs a bounded number of images, and leaves out and counts the others', () => {
    const html = Array.from(
      { length: MAX_PROXIED_IMAGES + 7 },
      (_, count) => `<img src="${REMOTE}-${count}"><p style="background:url('${REMOTE}-${count}')">a</p>`,
    ).join('');
    for (const document of [null, { scheme: 'light' }] as const) {
      const safe = make(html, { document });
      expect(new Set(safe.html.match(/address=\w+/g)).size).toBe(MAX_PROXIED_IMAGES);
      expect(safe.html.match(/address=/g)).toHaveLength(2 * MAX_PROXIED_IMAGES);
      expect(safe.removed.remote_images).toBe(2 * 7);
      expect(make(safe.html, { document }).html).toBe(safe.html);
    }
  });

  it('takes no address that the email wrote for one of its own', () => {
    const foreign = new ProxiedImages(OTHER).toOwn('http://169.254.169.254/') ?? '';
    const { html, removed } = make(`<img src="${attributeText(foreign)}" alt="a">`);
    expect(html).not.toContain('/api/images');
    expect(removed.images).toBe(1);
  });

  it('signs nothing while remote images are blocked', () => {
    const { html, removed } = make(`<img src="${REMOTE}" alt="a">`, { allowRemote: false });
    expect(html).not.toContain('src=');
    expect(removed.remote_images).toBe(1);
  });
});
