import { describe, expect, it } from 'vitest';
import { ProxiedImages } from '../../core/html/proxied-images.ts';
import { createImageUrls, type ImageUrls, type SignedImage, type SignedRemoteImage } from './image-urls.ts';

const ID = '0190b2a0-0000-7000-8000-000000000003';
const OTHER = '0190b2a0-0000-7000-8000-000000000004';
let now = new Date('2026-01-31T12:00:00Z');
const urlsOf = (...secrets: string[]): ImageUrls => createImageUrls(secrets, () => now);

function read(url: string): SignedImage {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  return {
    attachmentId: pathname.split('/').at(-1) ?? '',
    expires: Number(searchParams.get('expires')),
    signature: searchParams.get('signature') ?? '',
  };
}

describe('the address of an image', () => {
  const urls = urlsOf('secret');
  const image = read(urls.sign(ID));

  it('is valid for an hour at least, and not for two', () => {
    now = new Date('2026-01-31T12:00:00Z');
    expect(urls.isValid(image)).toBe(true);
    now = new Date('2026-01-31T12:59:59Z');
    expect(urls.isValid(image)).toBe(true);
    now = new Date('2026-01-31T13:15:01Z');
    expect(urls.isValid(image)).toBe(false);
    now = new Date('2026-01-31T12:00:00Z');
  });

  it('stays the same for a while, so that browsers know the image again', () => {
    now = new Date('2026-01-31T12:01:00Z');
    const first = urls.sign(ID);
    now = new Date('2026-01-31T12:14:59Z');
    expect(urls.sign(ID)).toBe(first);
    expect(urls.expiresAt().toISOString()).toBe('2026-01-31T13:15:00.000Z');
    now = new Date('2026-01-31T12:00:00Z');
  });

  it.each([
    ['another image', { ...image, attachmentId: OTHER }],
    ['a longer time', { ...image, expires: image.expires + 1 }],
    ['no signature', { ...image, signature: '' }],
    ['a shorter signature', { ...image, signature: image.signature.slice(0, 40) }],
    ['another signature', { ...image, signature: read(urls.sign(OTHER)).signature }],
  ])('is not valid for %s', (_, other) => {
    expect(urls.isValid(other)).toBe(false);
  });

  it('survives the change of the secret, until the old one is gone', () => {
    expect(urlsOf('new', 'secret').isValid(image)).toBe(true);
    expect(urlsOf('new').isValid(image)).toBe(false);
  });
});

describe('the address of a remote image', () => {
  const REMOTE = 'https://images.example/a.png';
  const read = (urls: ImageUrls, emailId = ID): SignedRemoteImage => {
    const url = new ProxiedImages(urls.proxyKey(emailId, 'operator')).toOwn(REMOTE) ?? '';
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const get = (name: string) => searchParams.get(name) ?? '';
    return {
      emailId: pathname.split('/').at(-1) ?? '',
      address: Buffer.from(get('address'), 'base64url').toString(),
      by: get('by'),
      expires: Number(get('expires')),
      signature: get('signature'),
    };
  };
  const urls = urlsOf('secret');
  const image = read(urls);

  it('is valid as long as that of a file', () => {
    expect(image).toMatchObject({ emailId: ID, address: REMOTE });
    expect(urls.isValidRemote(image)).toBe(true);
    now = new Date('2026-01-31T13:15:01Z');
    expect(urls.isValidRemote(image)).toBe(false);
    now = new Date('2026-01-31T12:00:00Z');
    expect(urlsOf('new', 'secret').isValidRemote(image)).toBe(true);
    expect(urlsOf('new').isValidRemote(image)).toBe(false);
  });

  it.each([
    ['another email', { ...image, emailId: OTHER }],
    ['another address', { ...image, address: `${REMOTE}?a` }],
    ['another caller', { ...image, by: 'AAAAAAAAAAAA' }],
    ['a longer time', { ...image, expires: image.expires + 1 }],
    ['no signature', { ...image, signature: '' }],
    ['the signature of another email', { ...image, signature: read(urls, OTHER).signature }],
  ])('is not valid for %s', (_, other) => {
    expect(urls.isValidRemote(other)).toBe(false);
  });

  it('differs by caller, and does not contain the id of its key', () => {
    expect(urls.proxyKey(ID, OTHER).by).not.toBe(urls.proxyKey(ID, 'operator').by);
    expect(JSON.stringify(urls.proxyKey(ID, OTHER))).not.toContain(OTHER);
  });

  it('is none of a file, nor the reverse', () => {
    const { expires, signature } = image;
    expect(urls.isValid({ attachmentId: ID, expires, signature })).toBe(false);
    expect(urls.isValid({ attachmentId: `remote ${ID} ${image.by}`, expires, signature })).toBe(false);
  });
});
