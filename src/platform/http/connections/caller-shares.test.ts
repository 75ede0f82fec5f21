import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import { IDS } from '../../../../test/helpers/sample-emails.ts';
import { sampleEvent, sampleEventId } from '../../../../test/helpers/sample-records.ts';
import type { Application } from '../../../api/application.ts';
import type { ShownKey } from '../../access/key-ring.ts';

/** Keys by their tokens; `slow` may ask once a minute, the others as often as the configuration says. */
const RATES: Readonly<Record<string, number | null>> = { a: null, b: null, slow: 1 };
const keys = {
  find: (token: string): ShownKey | null =>
    token in RATES
      ? {
          caller: {
            author: { kind: 'key', id: token, name: token },
            rights: ['read'],
            accounts: null,
            expiresAt: null,
            rateLimit: RATES[token] ?? null,
          },
          isValid: () => true,
        }
      : null,
  whyRefused: () => null,
  refresh: () => Promise.resolve(),
};

let app: TestHttpApp;
afterEach(() => app.close());

async function start(limits: object, changed: Partial<Application> = {}): Promise<void> {
  app = await createTestHttpApp({
    application: { ...createRecordingApplication(), ...changed },
    keys,
    limits,
  });
}

const THREAD = `/api/threads/${IDS.thread}`;

async function ask(token: string | null, url = THREAD, headers: object = {}) {
  const authorization = token === null ? AUTHORIZED : { authorization: `Bearer ${token}` };
  const response = await app.fastify.inject({
    method: 'GET',
    url,
    headers: { ...authorization, ...headers },
  });
  const { code = null } = response.statusCode < 400 ? {} : response.json<{ code?: string }>();
  return {
    status: response.statusCode,
    code,
    policy: response.headers['ratelimit-policy'],
    left: response.headers['ratelimit'],
    retryAfter: response.headers['retry-after'],
  };
}

describe('the rate of a key', () => {
  beforeEach(() => start({ ratePerMinute: 3, maxAtOnce: 3 }));

  it('is shown in every answer to a caller who is known, whatever the answer', async () => {
    const policy = '"rate";q=3;w=60, "at-once";q=3;qu="concurrent-requests"';
    const left = expect.stringMatching(/^"rate";r=\d;t=\d+, "at-once";r=2$/) as string;
    expect(await ask('a')).toMatchObject({ status: 200, policy, left });
    expect(await ask('a', '/api/threads/no-uuid')).toMatchObject({ status: 400, policy, left });
    expect(await ask('a', '/api/keys')).toMatchObject({ status: 403, code: 'forbidden_right', policy, left });
    expect(await ask('unknown')).toMatchObject({ status: 401, policy: undefined, left: undefined });
    expect(await ask(null, '/api/health')).toMatchObject({ status: 200, policy: undefined });
  });

  // A whole minute for a single request: however busy the machine is, no further one is possible meanwhile.
  it('may be the own one of the key, and refuses what is beyond it, and no other caller', async () => {
    expect(await ask('slow')).toMatchObject({
      status: 200,
      policy: expect.stringContaining('"rate";q=1;w=60') as string,
    });
    const refused = {
      status: 429,
      code: 'rate_limited',
      left: expect.stringContaining('"rate";r=0;') as string,
    };
    const { retryAfter, ...answer } = await ask('slow');
    expect(answer).toMatchObject(refused);
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
    expect(Number(retryAfter)).toBeLessThanOrEqual(60);
    // Also a request that would be refused for another reason: it costs as much.
    expect(await ask('slow', '/api/keys')).toMatchObject(refused);
    expect(await ask('b')).toMatchObject({ status: 200 });
    expect(await ask(null)).toMatchObject({
      status: 200,
      policy: expect.stringContaining('q=300;') as string,
    });
  });
});

describe('what a key has under way', () => {
  it('is bounded, and another key is not refused for it', async () => {
    const waiting: (() => void)[] = [];
    const recording = createRecordingApplication();
    await start(
      { maxAtOnce: 2 },
      {
        async readThreadPage(...given: Parameters<Application['readThreadPage']>) {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return recording.readThreadPage(...given);
        },
      },
    );
    const first = [ask('a'), ask('a')];
    await expect.poll(() => waiting.length).toBe(2);
    expect(await ask('a')).toMatchObject({ status: 429, code: 'rate_limited', retryAfter: '1' });
    const other = ask('b');
    await expect.poll(() => waiting.length).toBe(3);
    for (const go of waiting.splice(0)) go();
    expect((await Promise.all([...first, other])).map(({ status }) => status)).toEqual([200, 200, 200]);
    const next = ask('a');
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.();
    expect(await next).toMatchObject({ status: 200 });
  });

  it('does not include waits for events, of which it may have half', async () => {
    const waiting: (() => void)[] = [];
    await start(
      { maxAtOnce: 1, maxEventReaders: 6 },
      {
        async listEvents() {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { events: [sampleEvent], next: sampleEventId };
        },
      },
    );
    const waits = Array.from({ length: 3 }, () => ask('a', '/api/events?wait=20'));
    await expect.poll(() => waiting.length).toBe(3);
    expect(await ask('a')).toMatchObject({ status: 200 });
    expect(await ask('a', '/api/events?wait=20')).toMatchObject({ status: 429, code: 'rate_limited' });
    const others = Array.from({ length: 3 }, () => ask('b', '/api/events?wait=20'));
    await expect.poll(() => waiting.length).toBe(6);
    expect(await ask(null, '/api/events?wait=20')).toMatchObject({ status: 503, code: 'busy' });
    for (const go of waiting) go();
    const answers = await Promise.all([...waits, ...others]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
