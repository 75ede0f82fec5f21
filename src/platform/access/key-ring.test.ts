import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { ServiceError } from '../../core/errors.ts';
import { hashSecret } from './hash-secret.ts';
import { KeyRing, watchKey } from './key-ring.ts';
import type { CheckedKey } from './key-ports.ts';

const ID = '0123456789ab';
const SECRET = 's'.repeat(43);
const TOKEN = `ewk_${ID}_${SECRET}`;

function createWorld() {
  const world = {
    now: 0,
    reads: 0,
    uses: [] as string[],
    revision: 1,
    keys: [toKey()],
    isAway: false,
    ring: undefined as unknown as KeyRing,
    change(keys: CheckedKey[]) {
      world.keys = keys;
      world.revision += 1;
    },
  };
  world.ring = new KeyRing({
    store: {
      async readAll(known) {
        world.reads += 1;
        if (world.isAway) throw new ServiceError('database_unavailable');
        const revision = String(world.revision);
        return revision === known ? null : { revision, keys: world.keys };
      },
      async noteUse(ids) {
        world.uses.push(...ids);
      },
    },
    clock: () => new Date(world.now),
    now: () => world.now,
    logger: silentLogger,
  });
  return world;
}

function toKey(fields: Partial<CheckedKey> = {}): CheckedKey {
  return {
    id: ID,
    name: 'CRM',
    rights: ['read'],
    accounts: null,
    rateLimit: null,
    createdAt: new Date(0),
    createdBy: { kind: 'secret', number: 1 },
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    oldSecretUntil: null,
    version: 1,
    hash: hashSecret(SECRET),
    oldHash: null,
    ...fields,
  };
}

describe('a key', () => {
  it('asks the database once in a second, and not for what is no key', async () => {
    const world = createWorld();
    expect(await world.ring.find('a-secret')).toBeNull();
    expect(world.reads).toBe(0);
    for (world.now = 0; world.now < 1000; world.now += 10) {
      expect((await world.ring.find(TOKEN))?.caller.author).toEqual({ kind: 'key', id: ID, name: 'CRM' });
    }
    expect(world.reads).toBe(1);
    await world.ring.find(TOKEN);
    expect(world.reads).toBe(2);
  });

  it('opens nothing a second after it was revoked', async () => {
    const world = createWorld();
    const shown = await world.ring.find(TOKEN);
    world.change([]);
    world.now = 1000;
    expect(await world.ring.find(TOKEN)).toBeNull();
    expect(shown?.isValid()).toBe(false);
  });

  it.each([
    ['it was revoked', { revokedAt: new Date(0) }, TOKEN, 'revoked_key'],
    ['it has expired', { expiresAt: new Date(0) }, TOKEN, 'expired_key'],
    [
      'a newer secret replaced it',
      { hash: hashSecret('x'.repeat(43)), oldHash: hashSecret(SECRET), oldSecretUntil: new Date(0) },
      TOKEN,
      'expired_key',
    ],
    ['another secret is shown', { revokedAt: new Date(0) }, `ewk_${ID}_${'y'.repeat(43)}`, null],
    ['no key is shown', { revokedAt: new Date(0) }, 'a-secret', null],
  ])('tells only who has its secret why it opens nothing: %s', async (_, fields, token, reason) => {
    const world = createWorld();
    world.change([toKey(fields)]);
    expect(await world.ring.find(token)).toBeNull();
    expect(world.ring.whyRefused(token)).toBe(reason);
  });

  it('opens at once when it was made a moment ago, in whichever process', async () => {
    const world = createWorld();
    const keys = world.keys;
    world.change([]);
    expect(await world.ring.find(TOKEN)).toBeNull();
    world.change(keys);
    expect(await world.ring.find(TOKEN)).not.toBeNull();
  });

  it('that is guessed costs so many statements, and no more', async () => {
    const world = createWorld();
    for (let guess = 0; guess < 1000; guess += 1) {
      await world.ring.find(`ewk_${String(guess).padStart(12, '0')}_${SECRET}`);
    }
    expect(world.reads).toBe(21);
    world.now = 1000;
    await world.ring.find(TOKEN);
    expect(world.reads).toBe(22);
  });

  it('opens for a second without the database, which is not asked for each request', async () => {
    const world = createWorld();
    await world.ring.find(TOKEN);
    world.isAway = true;
    world.now = 999;
    expect(await world.ring.find(TOKEN)).not.toBeNull();
    world.now = 1000;
    for (let request = 0; request < 10; request += 1) {
      await expect(world.ring.find(TOKEN)).rejects.toMatchObject({ code: 'database_unavailable' });
    }
    expect(world.reads).toBe(2);
    world.isAway = false;
    world.now = 2000;
    expect(await world.ring.find(TOKEN)).not.toBeNull();
  });

  it('has its old secret until the overlap ends', async () => {
    const world = createWorld();
    const second = `ewk_${ID}_${'t'.repeat(43)}`;
    world.change([
      toKey({ hash: hashSecret('t'.repeat(43)), oldHash: hashSecret(SECRET), oldSecretUntil: new Date(500) }),
    ]);
    expect(await world.ring.find(TOKEN)).not.toBeNull();
    world.now = 500;
    expect(await world.ring.find(TOKEN)).toBeNull();
    expect(await world.ring.find(second)).not.toBeNull();
  });

  it('expires at its time, whatever the copy is', async () => {
    const world = createWorld();
    world.change([toKey({ expiresAt: new Date(500) })]);
    const shown = await world.ring.find(TOKEN);
    world.now = 500;
    expect(shown?.isValid()).toBe(false);
    expect(await world.ring.find(TOKEN)).toBeNull();
  });

  it('has its use noted once in a minute', async () => {
    const world = createWorld();
    for (world.now = 0; world.now < 120_000; world.now += 500) await world.ring.find(TOKEN);
    await world.ring.close();
    expect(world.uses).toEqual([ID, ID]);
  });

  it('ends what waits for it, also while the database is unavailable', async () => {
    const world = createWorld();
    world.change([toKey({ expiresAt: new Date(5000) })]);
    const shown = await world.ring.find(TOKEN);
    if (shown === null) throw new Error('the key does not open');
    const { ended, stop } = watchKey(world.ring, shown, 1);
    world.isAway = true;
    world.now = 5000;
    await expect.poll(() => ended.aborted).toBe(true);
    stop();
  });
});
