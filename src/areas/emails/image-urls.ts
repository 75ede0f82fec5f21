/**
 * Addresses of images of an email, which a browser fetches without credentials: signed (HMAC-SHA256, RFC 2104) for one file, or one remote
 * image of the email, and a short time, so that the holder of an address sees that image for an hour and nothing else.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { signProxied, type ProxyKey } from '../../core/html/proxied-images.ts';
import type { Clock } from '../../platform/base/basics.ts';

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

/** An image that the service fetches; see ProxiedImages, which makes its address. */
export interface SignedRemoteImage {
  /** UUID, lower-case. */
  readonly emailId: string;
  /** The remote address. */
  readonly address: string;
  /** Stands for the caller that asked for the email. */
  readonly by: string;
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
  /** Signs remote images of an email. @param asker see askerOf */
  proxyKey(emailId: string, asker: string): ProxyKey;
  /** True when a `proxyKey` signed it and it is still valid. */
  isValidRemote(image: SignedRemoteImage): boolean;
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
  const digestOf = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  // No id of a file begins like the second: what is signed for one kind of image is not valid for the other.
  const signatureOf = (key: Buffer, attachmentId: string, expires: number): Buffer =>
    digestOf(key, `${attachmentId} ${expires}`);
  const keyOfEmail = (key: Buffer, { emailId, by, expires }: RemoteImages): Buffer =>
    digestOf(key, `remote ${emailId} ${by} ${expires}`);
  const expiresAt = () => new Date(Math.ceil(clock().getTime() / STEP_MS) * STEP_MS + LIFETIME_MS);

  function isSigned(given: string, expires: number, sign: (key: Buffer) => Buffer): boolean {
    const bytes = Buffer.from(given, 'base64url');
    // Compare with all keys, whichever fits: the time taken reveals nothing.
    const fits = keys.map((key) => {
      const expected = sign(key);
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
    return fits.includes(true) && expires * 1000 > clock().getTime();
  }

  return {
    expiresAt,
    sign(attachmentId) {
      const expires = expiresAt().getTime() / 1000;
      const signature = signatureOf(newest, attachmentId, expires).toString('base64url');
      return `/api/images/${attachmentId}?expires=${expires}&signature=${signature}`;
    },
    isValid: ({ attachmentId, expires, signature }) =>
      isSigned(signature, expires, (key) => signatureOf(key, attachmentId, expires)),
    proxyKey(emailId, asker) {
      const expires = expiresAt().getTime() / 1000;
      const by = digestOf(newest, `asker ${asker}`).toString('base64url').slice(0, ASKER_CHARS);
      const key = keyOfEmail(newest, { emailId, by, expires }).toString('base64url');
      return { path: `/api/images/${emailId}`, expires, by, key };
    },
    isValidRemote: ({ address, signature, ...images }) =>
      isSigned(signature, images.expires, (key) => signProxied(keyOfEmail(key, images), address)),
  };
}

type RemoteImages = Pick<SignedRemoteImage, 'emailId' | 'by' | 'expires'>;
/** Enough to tell askers apart; the id of a key stays unknown to the holder of an address. */
const ASKER_CHARS = 12;
