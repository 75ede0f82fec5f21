import { expect, it } from 'vitest';
import { splitFields } from '../areas/accounts/account-fields.ts';
import type { AccountSealer, AccountStore, StoredAccount } from '../areas/accounts/account-ports.ts';
import { createSeal } from '../platform/base/sealing.ts';
import { loadConfig } from '../config/config.ts';
import { AccountRegistry } from './account-registry.ts';

const SEAL = createSeal('a-key-of-16-characters', 'accounts');
const OTHER = createSeal('another-16-characters-key', 'accounts');

function row(id: string, fields: object = {}, seal = SEAL): StoredAccount {
  const { open, secrets } = splitFields({
    from: `${id}@example.com`,
    smtp_url: 'smtp://u:p@x.test',
    ...fields,
  });
  const [createdAt, updatedAt] = [new Date(), new Date()];
  const sealed = seal.seal(JSON.stringify(secrets), id);
  return { id, open, sealed, keyId: seal.keyId, version: 1, pausedAt: null, createdAt, updatedAt };
}

async function open(rows: StoredAccount[]) {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { debug: note, info: note, warn: note, error: note };
  const registry = new AccountRegistry(loadConfig({ MAIL_FROM: 'info@example.com' }, '/'), logger);
  let version = 0;
  const store = { readVersion: async () => version, list: async () => rows } as unknown as AccountStore;
  const keys = [SEAL];
  const file = [SEAL];
  const sealer = {
    keyIds: () => keys.map(({ keyId }) => keyId),
    reread: async () => void keys.splice(0, keys.length, ...file),
    open: (id: string, sealed: Buffer) =>
      keys.map((one) => one.open(sealed, id)).find((text) => text !== null) ?? null,
  } as unknown as AccountSealer;
  await registry.openStored(store, sealer);
  const change = async (next: StoredAccount[]) => {
    rows.splice(0, rows.length, ...next);
    version += 1;
    await registry.refresh();
  };
  return { registry, lines, change, file };
}

it('has declared accounts first, and the same map for ever', async () => {
  const { registry, change } = await open([row('sales')]);
  const { accounts } = registry;
  expect([...accounts.keys()]).toEqual(['default', 'sales']);
  await change([row('help'), row('sales')]);
  expect([...accounts.keys()]).toEqual(['default', 'help', 'sales']);
  expect(registry.isDeclared('default')).toBe(true);
  expect(registry.isDeclared('sales')).toBe(false);
});

it('keeps the settings of an account that stays the same, whatever its version and its seal', async () => {
  const { registry, change } = await open([row('sales'), row('help')]);
  const before = registry.known.get('sales')?.config;
  await change([{ ...row('sales'), version: 2, pausedAt: new Date() }, row('help', { rate_per_day: 5 })]);
  expect(registry.known.get('sales')?.config).toBe(before);
  expect(registry.accounts.get('sales')?.halt).toBe('paused');
  expect(registry.working.map(({ id }) => id)).toEqual(['default', 'help']);
  expect(registry.known.get('help')?.config?.rate.perDay).toBe(5);
});

it('prefers the configuration to a stored account of the same id, and says so', async () => {
  const { registry, lines } = await open([row('default')]);
  expect(registry.known.get('default')).toMatchObject({
    isDeclared: true,
    open: { from: 'info@example.com' },
  });
  expect(lines.join()).toContain('the configuration has the same ids {"accountIds":["default"]}');
});

it('does not use what it can not open, or an account whose row was given to another', async () => {
  const moved = { ...row('moved'), sealed: row('sales').sealed };
  const { registry, lines, change } = await open([row('sales', {}, OTHER), moved]);
  for (const id of ['sales', 'moved'])
    expect(registry.accounts.get(id)).toMatchObject({ halt: 'unavailable' });
  expect(registry.settings.map(({ id }) => id)).toEqual(['default']);
  expect(() => registry.requireUsable()).toThrow("the account sales, and 1 more can't be used here");
  const logged = lines.length;
  await change([row('sales', {}, OTHER), row('moved')]);
  expect(lines).toHaveLength(logged);
  expect(registry.accounts.get('moved')?.halt).toBeUndefined();
});

it('uses an account again when its key is in the file again', async () => {
  const { registry, file } = await open([row('sales', {}, OTHER)]);
  await registry.refresh();
  expect(registry.accounts.get('sales')?.halt).toBe('unavailable');
  file.push(OTHER);
  await registry.refresh();
  expect(registry.accounts.get('sales')?.halt).toBeUndefined();
});

it('makes what follows from accounts anew after a change alone', async () => {
  const { registry, change } = await open([row('sales')]);
  let made = 0;
  const count = registry.derived(() => {
    made += 1;
    return registry.accounts.size;
  });
  expect([count(), count(), made]).toEqual([2, 2, 1]);
  await registry.refresh();
  expect([count(), made]).toEqual([2, 1]);
  await change([]);
  expect([count(), made]).toEqual([1, 2]);
});

it('does without an account whose row can not be read at all, and keeps all others', async () => {
  const { registry, change } = await open([row('sales')]);
  const unreadable = row('broken', {}, OTHER);
  await change([
    { ...unreadable, open: { ...unreadable.open, from: 'nobody <' } },
    row('sales'),
    row('help'),
  ]);
  expect([...registry.accounts.keys()]).toEqual(['default', 'sales', 'help']);
  expect(registry.known.get('broken')?.problem).toContain('SECRETS_KEY');
});

it('asks for no consent again where the mailboxes are read by a password, or without a person', async () => {
  const imap = 'imaps://ada@imap.example.com';
  const issuer = {
    issuer: 'https://login.example.com',
    token_url: 'https://login.example.com/token',
    client_id: 'c',
  };
  const given = { ...issuer, refresh_token: 'r' };
  const { registry } = await open([
    row('given', { imap_url: imap, oauth2: given }),
    row('password', {
      imap_url: 'imaps://ada:p@imap.example.com',
      smtp_url: 'smtps://ada@smtp.example.com',
      oauth2: given,
    }),
    row('elsewhere', { imap_url: imap, oauth2: { ...given, issuer: undefined } }),
    row('program', {
      imap_url: imap,
      oauth2: { ...issuer, grant: 'client_credentials', client_secret: 's' },
    }),
    row('waiting', { imap_url: imap, oauth2: issuer }),
  ]);
  const facts = [...registry.known].map(([id, one]) => [id, one.readsByConsent, one.awaitsConsent]);
  expect(facts).toEqual([
    ['default', false, false],
    ['given', true, false],
    ['password', false, false],
    ['elsewhere', false, false],
    ['program', false, false],
    ['waiting', false, true],
  ]);
});
