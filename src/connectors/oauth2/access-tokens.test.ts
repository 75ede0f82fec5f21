import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/helpers/postgres.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { startTokenServer, type TokenServer } from '../../../test/helpers/token-server.ts';
import { waitUntil } from '../../../test/helpers/wait-until.ts';
import type { TokenError, TokenStore } from '../../areas/accounts/token-ports.ts';
import { ServiceError } from '../../core/errors.ts';
import { createTokenStore } from '../../areas/accounts/oauth2-tokens.ts';
import { createAccessTokens, type OAuth2Tokens } from './access-tokens.ts';
import type { OAuth2Account } from './account-tokens.ts';
import { createTestPool } from '../../../test/helpers/test-pool.ts';

let database: TestDatabase;
let pool: ReturnType<typeof createTestPool>;
let store: TokenStore;
let server: TokenServer;
let account: OAuth2Account;
let next = 0;
/** How far clocks were moved. */
let movedMs = 0;
const processes: OAuth2Tokens[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createTestPool(database, 10);
  store = createTokenStore(pool);
});
beforeEach(async () => {
  await begin();
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(processes.splice(0).map((tokens) => tokens.close()));
  await server.close();
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function begin(strict = false): Promise<void> {
  server = await startTokenServer({ strict });
  next += 1;
  account = {
    id: `account-${next}`,
    tokenUrl: server.url,
    clientId: 'the-client',
    clientSecret: 'the-client-secret',
    refreshToken: 'first-refresh-token',
    scope: null,
    ownGrant: null,
  };
}

/** The tokens of another process, or of the next one. */
function start(others: Partial<OAuth2Account> = {}, otherStore = store): OAuth2Tokens {
  const tokens = createAccessTokens(
    [{ ...account, ...others }],
    silentLogger,
    () => performance.now() + movedMs,
  );
  tokens.keepIn(otherStore);
  processes.push(tokens);
  return tokens;
}

const get = (tokens: OAuth2Tokens) => tokens.get(account.id);
const failureOf = (tokens: OAuth2Tokens) =>
  get(tokens).then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as TokenError,
  );

/** Moves the clocks of the processes and of what the database has: timers keep running. */
async function moveClock(seconds: number): Promise<void> {
  movedMs += seconds * 1000;
  await pool.query('update oauth2_tokens set updated_at = updated_at - make_interval(secs => $1)', [seconds]);
}

describe('an access token', () => {
  it('is asked for once, by any number of callers, and handed out while it is young', async () => {
    const tokens = start({ scope: 'a b' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => get(tokens)));
    expect(new Set(answers)).toEqual(new Set([server.given[0]]));
    await moveClock(1700);
    expect(await get(tokens)).toBe(server.given[0]);
    expect(server.requests.map((form) => Object.fromEntries(form))).toEqual([
      {
        grant_type: 'refresh_token',
        refresh_token: 'first-refresh-token',
        client_id: 'the-client',
        client_secret: 'the-client-secret',
        scope: 'a b',
      },
    ]);
    expect(tokens.warningOf(account.id)).toBeNull();
  });

  it('is renewed at half of its life, and no caller waits for that', async () => {
    const tokens = start();
    await get(tokens);
    await moveClock(1801);
    expect(await get(tokens)).toBe(server.given[0]);
    await waitUntil('the renewal is there', async () => (await get(tokens)) === server.given[1]);
    expect(server.requests).toHaveLength(2);
  });

  it('is renewed without being asked for', async () => {
    server.lifetimeS = 1;
    await get(start());
    await waitUntil('it was renewed', () => server.given.length >= 3);
    expect(server.requests.length).toBeGreaterThanOrEqual(3);
  });

  it('is not handed out when it is about to end', async () => {
    const tokens = start();
    await get(tokens);
    await moveClock(3590);
    expect(await get(tokens)).toBe(server.given[1]);
  });

  it('is renewed by its age, whatever the clock of the machine shows', async () => {
    const tokens = start();
    const first = await get(tokens);
    for (const hours of [5, -10]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      expect(await get(tokens)).toBe(first);
      expect(await get(start())).toBe(first);
    }
    expect(server.requests).toHaveLength(1);
  });

  it('is replaced when a server does not take it, unless it is new', async () => {
    const tokens = start();
    const first = await get(tokens);
    tokens.reject(account.id, first);
    expect(await get(tokens)).toBe(first);
    await moveClock(40);
    tokens.reject(account.id, first);
    expect(await get(tokens)).toBe(server.given[1]);
    // Another process has no record of that, and gets the new token.
    expect(await get(start())).toBe(server.given[1]);
  });
});

describe('a stored token', () => {
  it('is used by the next process, and by others at the same time', async () => {
    const first = await get(start());
    expect(await get(start())).toBe(first);
    await moveClock(1801);
    const later = start();
    await get(later);
    expect(server.requests.map((form) => form.get('refresh_token'))).toEqual([
      'first-refresh-token',
      expect.stringMatching(/^refresh-/),
    ]);
  });

  it('cannot be read in the database', async () => {
    const token = await get(start());
    const { rows } = await pool.query<{ row: string; sealed: Buffer }>(
      'select t::text as row, sealed from oauth2_tokens t where account_id = $1',
      [account.id],
    );
    expect(rows).toHaveLength(1);
    const everything = `${rows[0]!.row}${rows[0]!.sealed.toString('latin1')}`;
    for (const secret of [token, 'first-refresh-token', 'the-client-secret', ...server.good]) {
      expect(everything).not.toContain(secret);
    }
  });

  it('is void once another refresh token is configured', async () => {
    await get(start());
    server.good.add('second-refresh-token');
    await get(start({ refreshToken: 'second-refresh-token' }));
    expect(server.requests[1]!.get('refresh_token')).toBe('second-refresh-token');
    // Processes that still have the old configuration continue with their tokens.
    expect(await get(start())).toBe(server.given[0]);
  });

  it('is void when it was moved or changed in the database', async () => {
    await get(start());
    const other = { ...account, id: `${account.id}-moved` };
    await pool.query(
      `insert into oauth2_tokens (account_id, key_id, sealed) select $2, key_id, sealed from oauth2_tokens where account_id = $1`,
      [account.id, other.id],
    );
    await pool.query(
      `update oauth2_tokens set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where account_id = $1`,
      [account.id],
    );
    const tokens = createAccessTokens([other], silentLogger);
    tokens.keepIn(store);
    processes.push(tokens);
    await tokens.get(other.id);
    await get(start());
    expect(server.requests.map((form) => form.get('refresh_token'))).toEqual(
      Array.from({ length: 3 }, () => 'first-refresh-token'),
    );
  });

  it('gives way to the configured token when it is not taken any more', async () => {
    await get(start());
    for (const token of server.good) if (token !== 'first-refresh-token') server.good.delete(token);
    await moveClock(1801);
    const tokens = start();
    await get(tokens);
    expect(tokens.warningOf(account.id)).toBeNull();
    expect(server.requests.at(-1)!.get('refresh_token')).toBe('first-refresh-token');
  });
});

describe('several processes', () => {
  it('never use a refresh token twice, nor lose one', async () => {
    await server.close();
    await begin(true);
    server.delayMs = 20;
    const four = [start(), start(), start(), start()];
    for (let round = 1; round <= 5; round += 1) {
      const answers = await Promise.all(four.map(get));
      expect(new Set(answers)).toEqual(new Set([server.given[round - 1]]));
      await moveClock(3600);
    }
    const used = server.requests.map((form) => form.get('refresh_token'));
    expect(new Set(used).size).toBe(used.length);
    expect(server.requests).toHaveLength(5);
    expect(four.map((tokens) => tokens.warningOf(account.id))).toEqual([null, null, null, null]);
  });

  it('find the token that another process stored after a pause longer than its lease', async () => {
    await server.close();
    await begin(true);
    const paused = start();
    let tokenOfPaused: string | null = null;
    const late: TokenStore = {
      ...store,
      lease: async (name, owner, leaseMs) => {
        const row = await store.lease(name, owner, leaseMs);
        // The lease of the paused process has ended unnoticed.
        await pool.query('update oauth2_tokens set lease_until = now() where account_id = $1', [account.id]);
        tokenOfPaused = await get(paused);
        return row;
      },
    };
    const tokens = start({}, late);
    expect(await get(tokens)).toBe(tokenOfPaused);
    expect(tokens.warningOf(account.id)).toBeNull();
    expect(server.given).toHaveLength(1);
  });

  it('go on when the process that renews dies', async () => {
    const { keyId } = await nameOf();
    await store.lease({ accountId: account.id, keyId }, 'dead', 300);
    expect(await get(start())).toBe(server.given[0]);
  });

  async function nameOf() {
    const { createSealer } = await import('./sealed-tokens.ts');
    return createSealer(account.id, account);
  }
});

describe('a renewal that fails', () => {
  const html = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
  const body = (status: number, json: unknown) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };

  it.each<readonly [string, boolean, (response: ServerResponse) => void]>([
    ['with invalid_grant', true, body(400, { error: 'invalid_grant', error_description: 'revoked' })],
    ['with invalid_client', true, body(401, { error: 'invalid_client' })],
    ['with consent_required', true, body(400, { error: 'consent_required' })],
    ['with slow_down', false, body(429, { error: 'invalid_request' })],
    ['with an error of its own', false, body(400, { error: 'temporarily_unavailable' })],
    ['with 503', false, (response) => response.writeHead(503).end()],
    ['with a redirect', false, (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
    ['with a page', false, html],
    ['with nothing', false, (response) => response.socket?.destroy()],
    ['with too much', false, (response) => response.writeHead(200).end('x'.repeat(1_000_000))],
    [
      'with a token that has ended',
      false,
      body(200, { access_token: 'a', token_type: 'bearer', expires_in: 0 }),
    ],
    ['with another kind of token', false, body(200, { access_token: 'a', token_type: 'mac' })],
  ])('%s: an operator must act: %j', async (_, permanent, misbehave) => {
    server.misbehave = misbehave;
    const tokens = start();
    const error = await failureOf(tokens);
    expect(error).toMatchObject({ name: 'TokenError', permanent });
    expect(error.message).not.toContain('first-refresh-token');
    expect(error.message).not.toContain('the-client-secret');
    expect(tokens.warningOf(account.id)).toMatch(/can not be renewed since .*, mail has stopped: /);
    // The server is not asked again at once.
    const count = server.requests.length;
    expect(await failureOf(tokens)).toMatchObject({ permanent });
    expect(server.requests).toHaveLength(count);
  });

  it('hides what the server quotes', async () => {
    server.good.clear();
    expect((await failureOf(start())).message).toMatch(/invalid_grant: bad \*\*\*$/);
  });

  it('warns while the old token still works, and all is well once it works again', async () => {
    const tokens = start();
    const first = await get(tokens);
    server.misbehave = (response) => response.writeHead(503).end();
    await moveClock(1801);
    expect(await get(tokens)).toBe(first);
    await waitUntil('the failure is known', () => tokens.warningOf(account.id) !== null);
    expect(tokens.warningOf(account.id)).toMatch(/, mail stops at \d{4}-.*HTTP 503/);
    expect(await get(tokens)).toBe(first);
    server.misbehave = null;
    await moveClock(2);
    await waitUntil('it is renewed', async () => (await get(tokens)) === server.given[1]);
    expect(tokens.warningOf(account.id)).toBeNull();
  });
});

describe('without the database', () => {
  it('tokens are renewed, and stored as soon as it is back', async () => {
    await server.close();
    await begin(true);
    let away = true;
    const reject = () => Promise.reject(new ServiceError('database_unavailable'));
    const shaky: TokenStore = {
      load: (name) => (away ? reject() : store.load(name)),
      lease: (...parameters) => (away ? reject() : store.lease(...parameters)),
      save: (...parameters) => (away ? reject() : store.save(...parameters)),
      release: (...parameters) => (away ? reject() : store.release(...parameters)),
    };
    const tokens = start({}, shaky);
    const first = await get(tokens);
    away = false;
    await tokens.close();
    expect(await get(start())).toBe(first);
    expect(server.requests).toHaveLength(1);
  });
});
