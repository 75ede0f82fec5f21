import { describe, expect, it } from 'vitest';
import { createImageUrls, type ImageUrls, type SignedImage } from './image-urls.ts';

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
