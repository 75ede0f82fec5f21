/**
 * Addresses of images within an email, which a browser fetches without credentials: signed (HMAC-SHA256, RFC 2104) for
 * one file and a short time, so that the holder of an address sees that image for an hour and nothing else.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/basics.ts';

/** How long an address works at least, in ms: as long as a page stays open with an email. */
const LIFETIME_MS = 60 * 60_000;
/** Addresses change only once in this many ms, so that a browser finds the image in its cache. */
const STEP_MS = 15 * 60_000;

export interface SignedImage {
  /** UUID, lower-case. */
  readonly attachmentId: string;
  /** Unix time in seconds. */
  readonly expires: number;
  /** Base64url. */
  readonly signature: string;
}

export interface ImageUrls {
  /** Path and query, beginning with `/`. */
  sign(attachmentId: string): string;
  /** True when `sign` made it and it is still valid. */
  isValid(image: SignedImage): boolean;
  /** The time when addresses made now expire. */
  expiresAt(): Date;
}

/** @param secrets the first one signs, each of them is accepted */
export function createImageUrls(secrets: readonly string[], clock: Clock): ImageUrls {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', 'email-worker image urls', 32)),
  );
  const [newest] = keys;
  if (newest === undefined) throw new TypeError('there is no secret to sign with');
  const signatureOf = (key: Buffer, attachmentId: string, expires: number): Buffer =>
    createHmac('sha256', key).update(`${attachmentId} ${expires}`).digest();
  const expiresAt = () => new Date(Math.ceil(clock().getTime() / STEP_MS) * STEP_MS + LIFETIME_MS);

  return {
    expiresAt,
    sign(attachmentId) {
      const expires = expiresAt().getTime() / 1000;
      const signature = signatureOf(newest, attachmentId, expires).toString('base64url');
      return `/api/images/${attachmentId}?expires=${expires}&signature=${signature}`;
    },
    isValid({ attachmentId, expires, signature }) {
      const given = Buffer.from(signature, 'base64url');
      // Compare with all keys, whichever fits: the time taken reveals nothing.
      const fits = keys.map((key) => {
        const expected = signatureOf(key, attachmentId, expires);
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
      return fits.includes(true) && expires * 1000 > clock().getTime();
    },
  };
}
