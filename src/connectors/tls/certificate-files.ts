/**
 * Follows the files of a certificate, so that a renewed one is served without a restart. The files are read at intervals: file watches do
 * not notice links that are pointed at other files, as certbot and Kubernetes do. A pair that can't be used, such as a new certificate
 * whose key is not written yet, changes nothing; if it remains unusable, that is logged.
 */
import { readFile } from 'node:fs/promises';
import type { Clock, Logger } from '../../platform/base/basics.ts';
import type { CertificateSource, Pem } from '../../platform/base/tls.ts';
import { DAY_MS } from '../../core/durations.ts';
import { CertificateFault, checkCertificate, type Certificate } from './certificate.ts';

/** How often the files are read, in ms. Both are a few kilobytes. */
const LOOK_MS = 5000;
/** Renewal is overdue, but there is still time for it, in ms before the end. */
const WARN_MS = 14 * DAY_MS;
/** For a short-lived certificate, this last part of its life. */
const WARN_SHARE = 0.25;

export interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface CertificateFilesOptions extends CertificatePaths {
  /** The certificate that was read at the start. */
  readonly first: Certificate;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: 5 s. */
  readonly lookMs?: number;
}

export class CertificateFiles implements CertificateSource {
  readonly #options: CertificateFilesOptions;
  readonly #listeners = new Set<(certificate: Certificate) => void>();
  readonly #timer: NodeJS.Timeout;
  #current: Certificate;
  /** The last pair that could not be used, or why none could be read; and how often in a row that was found. */
  #refused: { readonly what: string; readonly times: number } | null = null;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#current = options.first;
    this.#warnOfEnd();
    this.#timer = setInterval(() => void this.look(), options.lookMs ?? LOOK_MS);
    this.#timer.unref();
  }

  get current(): Certificate {
    return this.#current;
  }

  /** Calls `listener` with each new certificate. @returns a function that ends this */
  follow(listener: (certificate: Certificate) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Checks the files now. Never throws. */
  look(): Promise<void> {
    // Checks must not pile up on a slow disk.
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#listeners.clear();
    await this.#looking;
  }

  async #look(): Promise<void> {
    this.#warnOfEnd();
    const { certFile, keyFile, clock, logger } = this.#options;
    let found: Pem;
    try {
      const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
      found = { cert, key };
    } catch (error) {
      this.#refuse(error instanceof Error ? error.message : String(error), error);
      return;
    }
    const { cert, key } = this.#current;
    if (found.cert === cert && found.key === key) {
      this.#refused = null;
      return;
    }
    let certificate: Certificate;
    try {
      certificate = checkCertificate(found);
      requireNoWorse(certificate, this.#current, clock());
    } catch (error) {
      this.#refuse(`${found.cert}\n${found.key}`, error);
      return;
    }
    this.#refused = null;
    this.#current = certificate;
    this.#warnedAt = Number.NEGATIVE_INFINITY;
    for (const listener of this.#listeners) listener(certificate);
    logger.info({ certFile, expiresAt: certificate.expiresAt }, 'a new TLS certificate is in use');
    this.#warnOfEnd();
  }

  /** Logged when a second check finds the same: the first one may have fallen between the writes of the two files. */
  #refuse(what: string, err: unknown): void {
    const times = this.#refused?.what === what ? this.#refused.times + 1 : 1;
    this.#refused = { what, times };
    if (times !== 2) return;
    const { certFile, keyFile, logger } = this.#options;
    logger.error(
      { err, certFile, keyFile, expiresAt: this.#current.expiresAt },
      'the TLS certificate in these files cannot be used; the previous one stays',
    );
  }

  /** At most once a day. */
  #warnOfEnd(): void {
    const { clock, logger, certFile } = this.#options;
    const { validFrom, expiresAt } = this.#current;
    const now = clock().getTime();
    const lifeMs = expiresAt.getTime() - validFrom.getTime();
    const leftMs = expiresAt.getTime() - now;
    if (leftMs > Math.min(WARN_MS, lifeMs * WARN_SHARE) || now - this.#warnedAt < DAY_MS) return;
    this.#warnedAt = now;
    if (leftMs > 0) logger.warn({ certFile, expiresAt }, 'the TLS certificate expires soon');
    else logger.error({ certFile, expiresAt }, 'the TLS certificate has expired; clients refuse it');
  }
}

/** An expired pair, such as one from a backup, must not replace a good one. */
function requireNoWorse(found: Certificate, current: Certificate, now: Date): void {
  const isGood = ({ validFrom, expiresAt }: Certificate) => validFrom <= now && now < expiresAt;
  if (isGood(found) || !isGood(current)) return;
  const fault =
    found.expiresAt <= now ? 'has a certificate that has expired' : 'has a certificate that is not valid yet';
  throw new CertificateFault('cert', fault);
}
