import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from './config.ts';

const pemOf = ({
  privateKey,
}: {
  readonly privateKey: ReturnType<typeof generateKeyPairSync>['privateKey'];
}) => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const RSA = pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const ED25519 = pemOf(generateKeyPairSync('ed25519'));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'config-dkim-'));
  writeFileSync(path.join(folder, 'rsa.pem'), RSA);
  writeFileSync(path.join(folder, 'short.pem'), pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 })));
  writeFileSync(path.join(folder, 'ec.pem'), pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })));
  writeFileSync(path.join(folder, 'text.pem'), 'hello');
});
afterAll(() => rmSync(folder, { recursive: true }));

const load = (env: Record<string, string>) =>
  loadConfig({ MAIL_FROM: 'sales@mail.example.com', ED25519, ...env }, folder);
const ofDefault = (env: Record<string, string>) => load(env).accounts[0].dkim;

function ofFile(dkim: unknown) {
  const file = path.join(folder, 'accounts.json');
  writeFileSync(file, JSON.stringify([{ id: 'sales', from: 'sales@mail.example.com', dkim }]));
  return loadConfig({ ACCOUNTS_FILE: file, ED25519, ED25519_LINE: ED25519.replaceAll('\n', '\\n') }, folder);
}

describe('the keys that sign', () => {
  it('come from files and from variables', () => {
    const config = load({ DKIM_KEYS: 'r=rsa.pem, e=${ED25519}' });
    const { dkim } = config.accounts[0];
    expect(dkim).toMatchObject({ domain: 'mail.example.com', relayReplacesDate: false });
    expect(dkim?.keys.map((key) => [key.selector, key.privateKey.asymmetricKeyType])).toEqual([
      ['r', 'rsa'],
      ['e', 'ed25519'],
    ]);
    expect(config.secretFiles).toContain(path.join(folder, 'rsa.pem'));
  });

  it('come from the accounts file, also in one line', () => {
    const dkim = { domain: 'Example.com', keys: { r: 'rsa.pem', e: '${ED25519_LINE}' } };
    expect(ofFile(dkim).accounts[0].dkim).toMatchObject({
      domain: 'example.com',
      keys: [{ selector: 'r' }, { selector: 'e' }],
    });
  });

  it('are none when nothing is said', () => {
    expect(ofDefault({})).toBeNull();
    expect(ofFile(undefined).accounts[0].dkim).toBeNull();
  });

  it('leave the Date to Amazon SES', () => {
    const SMTP_URL = 'smtp://u:p@email-smtp.eu-central-1.amazonaws.com:587';
    expect(ofDefault({ DKIM_KEYS: 'r=rsa.pem', SMTP_URL })?.relayReplacesDate).toBe(true);
  });

  it.each([
    ['rsa.pem', {}, 'must be selector=file'],
    ['r=', {}, 'must be selector=file'],
    ['R_1=rsa.pem', {}, 'R_1 is not a selector'],
    ['r=rsa.pem,r=${ED25519}', {}, 'names the selector r twice'],
    ['a=rsa.pem,b=rsa.pem,c=rsa.pem,d=rsa.pem,e=rsa.pem', {}, 'must name 1 to 4 keys'],
    ['r=missing.pem', {}, 'the private key of r can not be read: ENOENT'],
    ['r=text.pem', {}, 'the private key of r is no private key in PEM'],
    ['r=short.pem', {}, 'the RSA key of r has 1024 bits: it must have 2048 to 4096'],
    ['r=ec.pem', {}, 'the private key of r is ec: it must be RSA or Ed25519'],
    ['r=${NOTHING}', {}, 'the environment variable NOTHING is not set'],
    ['r=rsa.pem', { DKIM_DOMAIN: 'example.org' }, 'signs for example.org, but From is of mail.example.com'],
    ['r=rsa.pem', { DKIM_DOMAIN: 'exa mple' }, 'exa mple is not a domain'],
    ['', { DKIM_DOMAIN: 'example.com' }, 'has no effect without DKIM_KEYS'],
  ])('%j with %j: %s', (keys, env, message) => {
    expect(() => load({ DKIM_KEYS: keys, ...env })).toThrow(message);
  });

  it.each([
    ['text', 'must be an object'],
    [{ keys: {} }, 'must name 1 to 4 keys'],
    [{ keys: ['rsa.pem'] }, 'keys must be an object'],
    [{ keys: { r: 1 } }, 'the key of r must be text'],
    [{ domain: 1, keys: { r: 'rsa.pem' } }, 'domain must be text'],
    [{ selector: 'r', keys: { r: 'rsa.pem' } }, 'has the unknown field selector'],
  ])('in the accounts file, %j: %s', (dkim, message) => {
    expect(() => ofFile(dkim)).toThrow(message);
  });

  it('never quote a key in an error', () => {
    const broken = ED25519.replace(/\n.{20}/, '\nAAAA');
    const error: unknown = (() => {
      try {
        return load({ DKIM_KEYS: 'e=${BROKEN}', BROKEN: broken });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(String(error)).toContain('is no private key in PEM');
    expect(String(error)).not.toContain(broken.split('\n')[1]);
  });
});
