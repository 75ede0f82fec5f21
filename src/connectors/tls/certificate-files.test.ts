/** Certificates in real files, replaced as common programs do it. */
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCertificate, type TestCertificate } from '../../../test/helpers/certificate.ts';
import { makeTempFolder } from '../../../test/helpers/temp-folder.ts';
import { CertificateFiles } from './certificate-files.ts';
import { CertificateFault, checkCertificate } from './certificate.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
const lastingYear = () => createCertificate({ notAfter: inDays(300) });

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let files: CertificateFiles | null;
let now: Date;
let log: { readonly level: string; readonly text: string; readonly fields: Record<string, unknown> }[];
/** The certificates that listeners received. */
let told: string[];

beforeEach(async () => {
  folder = await makeTempFolder();
  files = null;
  now = new Date();
  log = [];
  told = [];
});
afterEach(async () => {
  await files?.stop();
  await folder.remove();
});

const at = (name: string) => path.join(folder.path, name);
const write = (name: string, text: string) => writeFile(at(name), text);

async function writePair({ cert, key }: TestCertificate): Promise<void> {
  await write('cert.pem', cert);
  await write('key.pem', key);
}

/** Checks the files only when the test calls `look`. */
function follow(first: TestCertificate, certFile = at('cert.pem'), keyFile = at('key.pem')) {
  const note = (level: string) => (fields: object, text: string) => {
    log.push({ level, text, fields: fields as Record<string, unknown> });
  };
  files = new CertificateFiles({
    certFile,
    keyFile,
    first: checkCertificate(first),
    clock: () => now,
    logger: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    lookMs: DAY_MS,
  });
  files.follow(({ cert }) => told.push(cert));
  return files;
}

describe('files of a certificate', () => {
  it('that stay as they are change nothing', async () => {
    const pair = lastingYear();
    await writePair(pair);
    const followed = follow(pair);
    await followed.look();
    await followed.look();
    expect(told).toEqual([]);
    expect(log).toEqual([]);
  });

  it('that are written anew, one after the other, are taken once both are there', async () => {
    const [old, renewed] = [lastingYear(), lastingYear()];
    await writePair(old);
    const followed = follow(old);
    await write('cert.pem', renewed.cert);
    await followed.look();
    expect(followed.current.cert).toBe(old.cert);
    // A check may fall between the two writes.
    expect(log).toEqual([]);
    await write('key.pem', renewed.key);
    await followed.look();
    expect(followed.current).toMatchObject(renewed);
    expect(told).toEqual([renewed.cert]);
    expect(log.map(({ level, text }) => [level, text])).toEqual([
      ['info', 'a new TLS certificate is in use'],
    ]);
  });

  it('that are links to links, turned to other files, are followed', async () => {
    const [old, renewed] = [lastingYear(), lastingYear()];
    for (const [number, pair] of [old, renewed].entries()) {
      await mkdir(at(`archive-${number}`));
      await write(`archive-${number}/cert.pem`, pair.cert);
      await write(`archive-${number}/key.pem`, pair.key);
    }
    // As Kubernetes mounts secrets: files are links into a folder that is itself a link.
    await symlink('archive-0', at('data'));
    await symlink('data/cert.pem', at('cert.pem'));
    await symlink('data/key.pem', at('key.pem'));
    const followed = follow(old);
    await followed.look();
    expect(told).toEqual([]);
    await symlink('archive-1', at('data-new'));
    await rename(at('data-new'), at('data'));
    await followed.look();
    expect(followed.current).toMatchObject(renewed);
  });

  it.each<[string, () => Promise<void>]>([
    ['the key of another certificate', () => write('key.pem', lastingYear().key)],
    ['half a certificate', async () => write('cert.pem', lastingYear().cert.slice(0, 200))],
    ['nothing in the file', () => write('key.pem', '')],
    ['no file', () => rename(at('cert.pem'), at('away.pem'))],
    ['an expired certificate', () => writePair(createCertificate({ notAfter: inDays(-1) }))],
    [
      'a certificate that is not valid yet',
      () => writePair(createCertificate({ notBefore: inDays(1), notAfter: inDays(2) })),
    ],
  ])('with %s leave the one before in use, which the log says once', async (_, damage) => {
    const old = lastingYear();
    await writePair(old);
    const followed = follow(old);
    await damage();
    for (let look = 0; look < 4; look += 1) await followed.look();
    expect(followed.current).toMatchObject(old);
    expect(told).toEqual([]);
    expect(log.map(({ level, text }) => [level, text])).toEqual([
      ['error', 'the TLS certificate in these files cannot be used; the previous one stays'],
    ]);
    expect(JSON.stringify(log)).not.toContain('PRIVATE KEY');
    const renewed = lastingYear();
    await writePair(renewed);
    await followed.look();
    expect(told).toEqual([renewed.cert]);
  });

  it('with an expired certificate are taken when the one in use has expired as well', async () => {
    const old = createCertificate({ notAfter: inDays(-3) });
    await writePair(old);
    const followed = follow(old);
    const other = createCertificate({ notAfter: inDays(-1) });
    await writePair(other);
    await followed.look();
    expect(told).toEqual([other.cert]);
  });

  it('are followed by themselves', async () => {
    const [old, renewed] = [lastingYear(), lastingYear()];
    await writePair(old);
    files = new CertificateFiles({
      certFile: at('cert.pem'),
      keyFile: at('key.pem'),
      first: checkCertificate(old),
      clock: () => now,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      lookMs: 20,
    });
    await writePair(renewed);
    await expect.poll(() => files?.current.cert).toBe(renewed.cert);
  });
});

describe('the end of a certificate', () => {
  it.each([
    ['a year', -65, 300, 286.5],
    ['90 days', 0, 90, 76.5],
    ['six days', 0, 6, 4.6],
  ])(
    'of %s is warned of when renewal is late, once a day, and no more after it',
    async (_, from, to, late) => {
      const start = Date.now();
      const pair = createCertificate({ notBefore: inDays(from), notAfter: inDays(to) });
      await writePair(pair);
      const followed = follow(pair);
      const lookOn = async (day: number) => {
        now = new Date(start + day * DAY_MS);
        await followed.look();
        return log.map(({ level, text }) => `${level}: ${text}`);
      };
      const soon = 'warn: the TLS certificate expires soon';
      expect(await lookOn(late - 1)).toEqual([]);
      expect(await lookOn(late)).toEqual([soon]);
      expect(await lookOn(late + 0.9)).toEqual([soon]);
      expect(await lookOn(late + 1)).toEqual([soon, soon]);
      const expired = 'error: the TLS certificate has expired; clients refuse it';
      expect(await lookOn(to + 1)).toEqual([soon, soon, expired]);
      const renewed = createCertificate({ notBefore: inDays(to), notAfter: inDays(to + 400) });
      await writePair(renewed);
      expect(await lookOn(to + 1.1)).toEqual([soon, soon, expired, 'info: a new TLS certificate is in use']);
      expect(await lookOn(to + 3)).toHaveLength(4);
    },
  );

  it('is told at the start', async () => {
    follow(createCertificate({ notAfter: inDays(-1) }));
    expect(log.map(({ level }) => level)).toEqual(['error']);
  });
});

describe('a certificate', () => {
  it('has its first name without a wildcard, and its end', () => {
    const notAfter = new Date('2030-01-02T03:04:05Z');
    const names = ['*.example.com', 'mail.example.com', 'example.com'];
    const checked = checkCertificate(createCertificate({ names, notAfter }));
    expect(checked).toMatchObject({ name: 'mail.example.com', expiresAt: notAfter });
    expect(checkCertificate(createCertificate({ names: ['*.example.com'] })).name).toBeNull();
  });

  it.each([
    ['cert', 'has no certificate in PEM', { cert: 'x' }],
    ['key', 'has no private key in PEM, or it is encrypted', { key: 'x' }],
    ['key', 'has another key than the one of the certificate', { key: createCertificate().key }],
  ])('is refused by its %s that %s', (file, message, damage) => {
    const check = () => checkCertificate({ ...createCertificate(), ...damage });
    expect(check).toThrow(CertificateFault);
    expect(check).toThrow(expect.objectContaining({ file, message: expect.stringContaining(message) }));
  });
});
