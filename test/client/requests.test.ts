/** How the TypeScript client makes requests: repeats, time-outs, errors, the secret. A double of `fetch` injects the faults. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient, EmailWorkerError, type ClientOptions } from '../../clients/typescript/src/index.ts';
import { ERRORS } from '../../src/core/error-registry.ts';

const SECRET = 'secret-of-32-visible-characters!';
const ID = '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47';
const SENT = { status: 'sent', id: ID, messageId: '<a@example.com>', threadId: ID };
const MESSAGE = { to: 'ada@example.com', subject: 'Hello', text_body: 'Good morning!' };

type Step = Response | Error | ((request: Request) => Promise<Response>);

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const failure = (code: keyof typeof ERRORS, headers: Record<string, string> = {}) =>
  answer(ERRORS[code].status, { error: ERRORS[code].text.de, message: ERRORS[code].text.en, code }, headers);
const brokenConnection = () => new TypeError('fetch failed', { cause: new Error('ECONNRESET') });

/** A client whose requests get `steps` in turn, and the requests as they were made, with their bodies. */
function clientWith(steps: Step[], options: Partial<ClientOptions> = {}) {
  const requests: { request: Request; body: string }[] = [];
  const client = createClient({
    url: 'https://mail.test/company/',
    secret: SECRET,
    fetch: async (request) => {
      requests.push({ request, body: await request.clone().text() });
      const step = steps[requests.length - 1];
      if (step === undefined) throw new Error('one request too many');
      if (step instanceof Error) throw step;
      return step instanceof Response ? step : step(request);
    },
    ...options,
  });
  return { client, requests };
}

async function errorOf(promise: Promise<unknown>): Promise<EmailWorkerError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EmailWorkerError);
  return error as EmailWorkerError;
}

/** Runs `work` with the clock jumping to each next timer. Returns how long it took by that clock. */
async function withJumpingClock<T>(work: () => Promise<T>): Promise<{ result: T; elapsedMs: number }> {
  const started = Date.now();
  const state = { isDone: false };
  const running = work().finally(() => (state.isDone = true));
  running.catch(() => {});
  while (!state.isDone) await vi.advanceTimersByTimeAsync(50);
  return { result: await running, elapsedMs: Date.now() - started };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a request', () => {
  it('goes below the path of the URL, with the secret and no cookies, and follows no redirect', async () => {
    const { client, requests } = clientWith([answer(200, { emails: [] })]);
    await client.threads.get(ID);
    const { request } = requests[0]!;
    expect(request.url).toBe(`https://mail.test/company/api/thread/${ID}`);
    expect(request.headers.get('authorization')).toBe(`Bearer ${SECRET}`);
    expect(request.credentials).toBe('omit');
    expect(request.redirect).toBe('manual');
  });

  it('leaves out filters that are undefined, and encodes the others', async () => {
    const { client, requests } = clientWith([answer(200, { threads: [], next_cursor: null })]);
    await client.threads.list({ q: '"a b"&c', unread: true, customer_id: undefined }).page();
    expect(requests[0]!.request.url).toBe(
      'https://mail.test/company/api/threads?q=%22a%20b%22%26c&unread=true',
    );
  });

  it('takes moments as Date', async () => {
    const { client, requests } = clientWith([
      answer(200, { emails: [], next_cursor: null }),
      answer(200, SENT),
    ]);
    const moment = new Date('2026-01-31T12:00:00Z');
    await client.customers.emails(ID, { since: moment }).page();
    await client.send({ ...MESSAGE, send_at: moment });
    expect(new URL(requests[0]!.request.url).searchParams.get('since')).toBe('2026-01-31T12:00:00.000Z');
    expect(requests[1]!.body).toContain('"send_at":"2026-01-31T12:00:00.000Z"');
  });

  it.each(['', '.', '..'])('is not made for an id that leads to another operation: "%s"', async (id) => {
    const { client, requests } = clientWith([]);
    await expect(client.suppressions.lift(id)).rejects.toThrow(TypeError);
    await expect(client.emails.raw(id)).rejects.toThrow(TypeError);
    await expect(client.threads.markRead(id)).rejects.toThrow(TypeError);
    expect(() => client.customers.emails(id)).toThrow(TypeError);
    expect(requests).toEqual([]);
  });

  it('keeps an id with a slash in its place', async () => {
    const { client, requests } = clientWith([failure('invalid_uuid')]);
    await errorOf(client.emails.get('../threads?x#y'));
    expect(requests[0]!.request.url).toBe('https://mail.test/company/api/emails/..%2Fthreads%3Fx%23y');
  });

  it('asks health without the secret', async () => {
    const { client, requests } = clientWith([answer(200, {}), answer(200, { status: 'ready', checks: {} })]);
    await client.health.live();
    await client.health.ready();
    expect(requests.map(({ request }) => request.headers.get('authorization'))).toEqual([null, null]);
  });
});

describe('repeats', () => {
  it.each([
    ['a broken connection', brokenConnection()],
    ['503', failure('database_unavailable')],
    ['502 of a proxy', new Response('<h1>Bad gateway</h1>', { status: 502 })],
    ['429', failure('rate_limited')],
  ])('reads again after %s', async (_, step) => {
    const { client, requests } = clientWith([step, answer(200, { emails: [] })]);
    const { result } = await withJumpingClock(() => client.threads.get(ID));
    expect(result).toEqual({ emails: [] });
    expect(requests).toHaveLength(2);
  });

  it('reads again when the answer breaks off in the middle', async () => {
    const cut = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"emails":['));
        controller.error(new TypeError('terminated'));
      },
    });
    const { client } = clientWith([new Response(cut), answer(200, { emails: [] })]);
    expect((await withJumpingClock(() => client.threads.get(ID))).result).toEqual({ emails: [] });
  });

  it('sends again with the same key and the same body, whatever became of the message meanwhile', async () => {
    const message = { ...MESSAGE, to: ['ada@example.com'] };
    const { client, requests } = clientWith([
      async () => {
        message.to.push('eve@example.com');
        throw brokenConnection();
      },
      failure('idempotency_in_progress', { 'retry-after': '1' }),
      answer(200, SENT, { 'idempotency-replayed': 'true' }),
    ]);
    const { result } = await withJumpingClock(() => client.send(message));
    const keys = requests.map(({ request }) => request.headers.get('idempotency-key'));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys).size).toBe(1);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(result).toEqual({ ...SENT, replayed: true, idempotencyKey: keys[0] });
  });

  it('makes another key for each call, and takes the one of the caller', async () => {
    const { client, requests } = clientWith([answer(200, SENT), answer(200, SENT), answer(200, SENT)]);
    await client.send(MESSAGE);
    await client.send(MESSAGE);
    expect((await client.send(MESSAGE, { idempotencyKey: 'invoice-4711' })).idempotencyKey).toBe(
      'invoice-4711',
    );
    const keys = requests.map(({ request }) => request.headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('invoice-4711');
  });

  it.each([brokenConnection(), failure('database_unavailable'), new Response('', { status: 504 })])(
    'never sends again without a key (%#)',
    async (step) => {
      const { client, requests } = clientWith([step]);
      await errorOf(client.send(MESSAGE, { idempotencyKey: null }));
      expect(requests[0]!.request.headers.has('idempotency-key')).toBe(false);
      expect(requests).toHaveLength(1);
    },
  );

  it.each([
    'send_failed',
    'send_deferred',
    'send_unknown',
    'recipient_suppressed',
    'internal_error',
  ] as const)('leaves %s to the caller', async (code) => {
    const { client, requests } = clientWith([failure(code)]);
    expect((await errorOf(client.send(MESSAGE, { idempotencyKey: 'k' }))).idempotencyKey).toBe('k');
    expect(requests).toHaveLength(1);
  });

  it('does not repeat what answers otherwise the second time', async () => {
    const { client, requests } = clientWith([brokenConnection(), brokenConnection(), brokenConnection()]);
    await errorOf(client.emails.cancel(ID));
    await errorOf(client.emails.retry(ID));
    await errorOf(client.suppressions.lift('eve@example.com'));
    expect(requests).toHaveLength(3);
  });

  it('does not guess on with a wrong secret', async () => {
    const { client, requests } = clientWith([failure('too_many_failed_logins', { 'retry-after': '1' })]);
    await errorOf(client.threads.get(ID));
    expect(requests).toHaveLength(1);
  });

  it('waits as long as the service asks', async () => {
    const { client } = clientWith([failure('busy', { 'retry-after': '20' }), answer(200, { emails: [] })]);
    const { elapsedMs } = await withJumpingClock(() => client.threads.get(ID));
    expect(elapsedMs).toBeGreaterThanOrEqual(20_000);
    expect(elapsedMs).toBeLessThan(21_000);
  });

  it('waits for its share of requests as long as the service says, when it is asked to', async () => {
    const refused = () => failure('rate_limited', { 'retry-after': '85' });
    const impatient = clientWith([refused()]);
    const error = await errorOf(impatient.client.threads.get(ID));
    expect([error.code, error.status, error.retryAfterMs]).toEqual(['rate_limited', 429, 85_000]);
    const { client } = clientWith([refused(), answer(200, { emails: [] })], { maxWaitMs: 120_000 });
    const { elapsedMs } = await withJumpingClock(() => client.threads.get(ID));
    expect(elapsedMs).toBeGreaterThanOrEqual(85_000);
    expect(elapsedMs).toBeLessThan(86_000);
    // Also what may not be repeated after other failures: nothing was done.
    const sending = clientWith([refused(), answer(200, SENT)]);
    const sent = await withJumpingClock(() =>
      sending.client.send(MESSAGE, { idempotencyKey: null, maxWaitMs: 90_000 }),
    );
    expect(sent.elapsedMs).toBeGreaterThanOrEqual(85_000);
  });

  it('waits for a moment that a proxy names', async () => {
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
    const { client } = clientWith([
      failure('busy', { 'retry-after': inTenSeconds }),
      answer(200, { emails: [] }),
    ]);
    const { elapsedMs } = await withJumpingClock(() => client.threads.get(ID));
    expect(elapsedMs).toBeGreaterThanOrEqual(9_000);
  });

  it('does not wait for hours', async () => {
    const { client, requests } = clientWith([failure('loop_suspected', { 'retry-after': '7200' })]);
    const error = await errorOf(client.send(MESSAGE));
    expect(error.retryAfterMs).toBe(7_200_000);
    expect(requests).toHaveLength(1);
  });

  it('waits longer each time, and gives up after `retries`', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { client, requests } = clientWith(
      Array.from({ length: 6 }, () => failure('busy')),
      { retries: 5 },
    );
    const { elapsedMs } = await withJumpingClock(async () => {
      expect((await errorOf(client.threads.get(ID))).code).toBe('busy');
    });
    expect(requests).toHaveLength(6);
    // 500, 1000, 2000, 4000, 8000
    expect(elapsedMs).toBeGreaterThanOrEqual(15_500);
    expect(elapsedMs).toBeLessThan(16_000);
  });

  it('takes `retries` for one request', async () => {
    const { client, requests } = clientWith([failure('busy')]);
    await errorOf(client.threads.get(ID, { retries: 0 }));
    expect(requests).toHaveLength(1);
  });
});

describe('an end by the caller or the clock', () => {
  const hanging = (request: Request) =>
    new Promise<Response>((_, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
    });

  it('is a time-out after `timeoutMs`, for each try', async () => {
    const { client, requests } = clientWith([hanging, hanging], { timeoutMs: 1000, retries: 1 });
    const { elapsedMs } = await withJumpingClock(async () => {
      expect(await errorOf(client.threads.get(ID))).toMatchObject({ code: 'timeout', status: null });
    });
    expect(requests).toHaveLength(2);
    expect(elapsedMs).toBeLessThan(3000);
  });

  it('covers an answer that never ends', async () => {
    const hangingBody = async (request: Request) =>
      new Response(
        new ReadableStream({
          start(controller) {
            request.signal.addEventListener('abort', () => controller.error(request.signal.reason));
          },
        }),
      );
    const { client } = clientWith([hangingBody], { timeoutMs: 1000, retries: 0 });
    await withJumpingClock(async () => {
      expect((await errorOf(client.threads.get(ID))).code).toBe('timeout');
    });
  });

  it('throws the reason of the signal, in a request and in a wait', async () => {
    const reason = new Error('the user left');
    for (const step of [hanging, failure('busy', { 'retry-after': '30' })]) {
      const caller = new AbortController();
      const { client, requests } = clientWith([step]);
      setTimeout(() => caller.abort(reason), 500);
      const { elapsedMs } = await withJumpingClock(() =>
        expect(client.threads.get(ID, { signal: caller.signal })).rejects.toBe(reason),
      );
      expect(requests).toHaveLength(1);
      expect(elapsedMs).toBeLessThan(1000);
    }
  });

  it('asks nothing with a signal that is aborted', async () => {
    const { client, requests } = clientWith([]);
    await expect(client.send(MESSAGE, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
    expect(requests).toEqual([]);
  });

  it('leaves no timer behind', async () => {
    const { client } = clientWith([answer(200, { emails: [] })]);
    await client.threads.get(ID);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an error', () => {
  it('has the code, status, text and details of the answer', async () => {
    const { client } = clientWith([
      answer(
        500,
        { error: 'Nicht gesendet.', code: 'send_failed', details: '550 no' },
        { 'x-request-id': 'r-1' },
      ),
    ]);
    const error = await errorOf(client.send(MESSAGE));
    expect(error).toMatchObject({
      name: 'EmailWorkerError',
      code: 'send_failed',
      status: 500,
      text: 'Nicht gesendet.',
      details: '550 no',
      requestId: 'r-1',
      message: 'send_failed (500): Nicht gesendet. (550 no)',
    });
  });

  it.each([
    ['the page of a proxy', new Response('<h1>Forbidden</h1>', { status: 403 }), 'unexpected_response'],
    ['a log-in page with 200', new Response('<h1>Log in</h1>', { status: 200 }), 'unexpected_response'],
    ['nothing with 200', new Response('', { status: 200 }), 'unexpected_response'],
    ['a redirect', Response.redirect('https://elsewhere.test/', 308), 'unexpected_redirect'],
  ])('says so when the answer is %s', async (_, step, code) => {
    const { client, requests } = clientWith([step, step.clone()]);
    expect((await errorOf(client.threads.get(ID))).code).toBe(code);
    expect((await errorOf(client.send(MESSAGE))).code).toBe(code);
    expect(requests).toHaveLength(2);
  });

  it('takes no other answer for a sent email', async () => {
    const { client } = clientWith([answer(200, { status: 'ok' })]);
    expect((await errorOf(client.send(MESSAGE))).code).toBe('unexpected_response');
  });

  it('never shows the secret', async () => {
    const { client } = clientWith([brokenConnection(), failure('invalid_credentials'), new Response('')], {
      retries: 0,
    });
    const errors = [
      await errorOf(client.threads.get(ID)),
      await errorOf(client.threads.get(ID)),
      await errorOf(client.threads.get(ID)),
    ];
    const shown = [...errors, client].map((one) => inspect(one, { depth: Infinity, showHidden: true }));
    expect(shown.join('\n')).not.toContain(SECRET);
    expect(JSON.stringify([client, ...errors])).not.toContain(SECRET);
  });
});

describe('an option that a call does not have', () => {
  const misspelt = (options: object) => options as never;
  it.each<[string, (client: ReturnType<typeof createClient>) => Promise<unknown>]>([
    ['send', (client) => client.send(MESSAGE, misspelt({ idempotencykey: 'a' }))],
    ['sendBatch', (client) => client.sendBatch([MESSAGE], misspelt({ Queue: true }))],
    ['reply', (client) => client.emails.reply(ID, MESSAGE, misspelt({ dryRun: true }))],
    ['checkSend', (client) => client.checkSend(MESSAGE, misspelt({ idempotencyKey: 'a' }))],
    ['drafts.send', (client) => client.drafts.send(ID, 1, misspelt({ respondAsync: true }))],
    [
      'uploads.create',
      (client) => client.uploads.create(new Uint8Array(1), misspelt({ contentType: 'a/b' })),
    ],
    ['receive', (client) => client.receive('x', misspelt({ isSent: true }))],
  ])('is refused by %s, and nothing is sent', async (_name, act) => {
    const { client, requests } = clientWith([]);
    await expect(act(client)).rejects.toThrow(/^unknown option \w+; known are signal/);
    expect(requests).toEqual([]);
  });

  it('is refused by createClient', () => {
    expect(() => clientWith([], misspelt({ timeout: 5 }))).toThrow('unknown option timeout');
  });
});

describe('createClient', () => {
  const create = (options: object) => () =>
    createClient({ url: 'https://mail.test', secret: SECRET, ...options });

  it.each([
    ['url', 'mail.test'],
    ['url', 'ftp://mail.test'],
    ['url', 'https://user:hidden-password@mail.test'],
    ['url', 'https://mail.test/?key=hidden-password'],
    ['secret', ''],
    ['secret', 'hidden-password\n'],
    ['secret', undefined],
    ['timeoutMs', 0],
    ['timeoutMs', Number.NaN],
    ['timeoutMs', 2 ** 31],
    ['timeoutMs', '1000'],
    ['retries', -1],
    ['retries', 1.5],
    ['retries', 11],
  ])('refuses %s: %j, without repeating it', (name, value) => {
    expect(create({ [name]: value })).toThrow(TypeError);
    expect(create({ [name]: value })).toThrow(name);
    expect(create({ [name]: value })).not.toThrow('hidden-password');
  });

  it('refuses options of a request in the same way', async () => {
    const { client, requests } = clientWith([]);
    await expect(client.threads.get(ID, { timeoutMs: 0 })).rejects.toThrow(TypeError);
    await expect(client.send(MESSAGE, { idempotencyKey: 'two words' })).rejects.toThrow(TypeError);
    await expect(client.attachments.download(ID, { range: { start: 5, end: 5 } })).rejects.toThrow(TypeError);
    await expect(client.threads.list({ q: '\uD800' }).page()).rejects.toThrow(URIError);
    expect(requests).toEqual([]);
  });
});

describe('on a real connection', () => {
  beforeEach(() => {
    vi.useRealTimers();
  });

  async function serve(listener: RequestListener) {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
    };
  }

  it('a redirect leads no secret to another origin', async () => {
    const secrets: unknown[] = [];
    const elsewhere = await serve((request, response) => {
      secrets.push(request.headers.authorization);
      response.end('{}');
    });
    const service = await serve((_, response) => response.writeHead(307, { location: elsewhere.url }).end());
    const client = createClient({ url: service.url, secret: SECRET });
    expect((await errorOf(client.threads.get(ID))).code).toBe('unexpected_redirect');
    expect((await errorOf(client.send(MESSAGE))).code).toBe('unexpected_redirect');
    await service.stop();
    await elsewhere.stop();
    expect(secrets).toEqual([]);
  });

  it('a cut connection is asked again, and a port without a service is told', async () => {
    let count = 0;
    const service = await serve((_, response) => {
      count += 1;
      if (count === 1) response.destroy();
      else response.end('{"emails":[]}');
    });
    const client = createClient({ url: service.url, secret: SECRET, retries: 1 });
    expect(await client.threads.get(ID)).toEqual({ emails: [] });
    await service.stop();
    const error = await errorOf(client.threads.get(ID, { retries: 0 }));
    expect(error.code).toBe('connection_failed');
    expect(inspect(error, { depth: Infinity })).toContain('ECONNREFUSED');
  });

  it('half a download is an error', async () => {
    const service = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      setTimeout(() => response.destroy(), 50);
    });
    const client = createClient({ url: service.url, secret: SECRET });
    const download = await client.emails.raw(ID);
    expect(download.sizeBytes).toBe(10);
    expect((await errorOf(download.bytes())).code).toBe('connection_failed');
    await service.stop();
  });
});
