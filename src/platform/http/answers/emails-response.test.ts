/** Answers that are sent piece by piece, and clients that do not read them properly. */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import {
  AUTHORIZED,
  createTestHttpApp,
  SECRET,
  type TestHttpApp,
} from '../../../../test/helpers/http-app.ts';
import { connectRaw, type RawClient } from '../../../../test/helpers/raw-client.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import { IDS } from '../../../../test/helpers/sample-emails.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { HttpLimits } from '../connections/limits.ts';

/** A busy machine takes its time. */

const PIECE = 'x'.repeat(64 * 1024);

let app: TestHttpApp;
const clients: RawClient[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await app.close();
});

/** The pieces read of a large thread, and whether the reading has ended. */
class Pieces {
  read = 0;
  ended = false;

  readonly give: (index: number) => string | null;

  constructor(give: (index: number) => string | null) {
    this.give = give;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, void> {
    try {
      for (;;) {
        await turn();
        const piece = this.give(this.read);
        if (piece === null) return;
        this.read += 1;
        yield piece;
      }
    } finally {
      this.ended = true;
    }
  }
}

/** Repeats `PIECE` for ever. */
const endless = () => new Pieces(() => PIECE);

async function start(pieces: readonly Pieces[], limits: Partial<HttpLimits> = {}): Promise<number> {
  const left = [...pieces];
  const application = createRecordingApplication({
    readThread: async () => ({ version: '1', emails: { kind: 'pieces', pieces: left.shift()! } }),
  });
  app = await createTestHttpApp({ application, limits });
  return app.listen();
}

/** Requests a thread and reads nothing of the answer. */
async function ask(port: number, method = 'GET'): Promise<RawClient> {
  const client = await connectRaw(port);
  clients.push(client);
  client.socket.pause();
  await client.write(
    `${method} /api/thread/${IDS.thread} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${SECRET}\r\n\r\n`,
  );
  return client;
}

/** Waits until no more pieces are read, and returns their number. */
async function readWhenStill(pieces: Pieces): Promise<number> {
  let before = -1;
  await expect
    .poll(
      () => {
        const isStill = pieces.read > 0 && pieces.read === before;
        before = pieces.read;
        return isStill;
      },
      { interval: 200 },
    )
    .toBe(true);
  return pieces.read;
}

it('pieces make one answer', async () => {
  const pieces = new Pieces((index) => ['{"id":1}', ',{"id"', ':2}'][index] ?? null);
  const port = await start([pieces]);
  const response = await fetch(`http://127.0.0.1:${port}/api/thread/${IDS.thread}`, { headers: AUTHORIZED });
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await response.text()).toBe('{"emails":[{"id":1},{"id":2}]}');
  expect(pieces.ended).toBe(true);
});

it('no pieces make an empty answer', async () => {
  const port = await start([new Pieces(() => null)]);
  const response = await fetch(`http://127.0.0.1:${port}/api/thread/${IDS.thread}`, { headers: AUTHORIZED });
  expect(await response.text()).toBe('{"emails":[]}');
});

it('HEAD reads nothing of a large answer, and says no length', async () => {
  const pieces = endless();
  const port = await start([pieces]);
  const url = `http://127.0.0.1:${port}/api/thread/${IDS.thread}`;
  const response = await fetch(url, { method: 'HEAD', headers: AUTHORIZED });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('content-length')).toBeNull();
  expect(pieces.read).toBe(0);
});

it('for a reader that takes nothing, no more is read than the buffers of the connection hold', async () => {
  const pieces = endless();
  const port = await start([pieces]);
  const { socket } = await ask(port);
  const read = await readWhenStill(pieces);
  // The system's buffers on both sides take some megabytes.
  expect(read * PIECE.length).toBeLessThan(16 * 1024 * 1024);
  expect(pieces.ended).toBe(false);
  socket.resume();
  await expect.poll(() => pieces.read).toBeGreaterThan(read + 10);
});

it('a reader that takes nothing any more is cut off after some time', async () => {
  const pieces = endless();
  const port = await start([pieces], { answerIdleTimeoutMs: 300 });
  const { socket, closed } = await ask(port);
  await expect.poll(() => pieces.ended).toBe(true);
  socket.resume();
  expect(await closed()).not.toMatch(/0\r\n\r\n$/);
});

it('a slow reader is not cut off', { tags: ['long'] }, async () => {
  const pieces = endless();
  const port = await start([pieces], { answerIdleTimeoutMs: 1500 });
  const { socket } = await ask(port);
  let taken = 0;
  socket.on('data', (data: Buffer) => (taken += data.length));
  // The system reports received bytes to the server in steps of a megabyte or so.
  for (let round = 1; round <= 20; round += 1) {
    socket.resume();
    await expect.poll(() => taken, { interval: 5 }).toBeGreaterThan(round * 2 * 1024 * 1024);
    socket.pause();
    await sleep(150);
  }
  expect(pieces.ended).toBe(false);
});

it('a reader that goes away ends the reading', async () => {
  const pieces = endless();
  const port = await start([pieces]);
  const { socket } = await ask(port);
  await readWhenStill(pieces);
  socket.resetAndDestroy();
  await expect.poll(() => pieces.ended).toBe(true);
  expect(app.logs).toEqual([]);
});

it('what fails in the middle cuts the connection and is logged', async () => {
  const pieces = new Pieces((index) => {
    if (index === 2) throw new ServiceError('database_unavailable', { cause: new Error('cut') });
    return PIECE;
  });
  const port = await start([pieces]);
  const { socket, closed } = await ask(port);
  socket.resume();
  const answer = await closed();
  expect(answer).toContain('200 OK');
  // The last chunk is missing, so no client takes this for a complete answer.
  expect(answer).not.toMatch(/0\r\n\r\n$/);
  expect(answer).not.toContain('database_unavailable');
  await expect.poll(() => app.logs).toMatchObject([{ level: 'error', message: 'a response was cut off' }]);
});

it('what fails before the first piece is an error like any other', async () => {
  const port = await start([
    new Pieces(() => {
      throw new ServiceError('database_unavailable', { cause: new Error('cut') });
    }),
  ]);
  const response = await fetch(`http://127.0.0.1:${port}/api/thread/${IDS.thread}`, { headers: AUTHORIZED });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: 'database_unavailable' });
});

it('more large answers at once than there are slots for get 503, until one has ended', async () => {
  const port = await start([endless(), endless(), new Pieces(() => null)], { maxLargeAnswers: 1 });
  const url = `http://127.0.0.1:${port}/api/thread/${IDS.thread}`;
  const { socket } = await ask(port);
  socket.resume();
  await new Promise((resolve) => socket.once('data', resolve));
  const refused = await fetch(url, { headers: AUTHORIZED });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.json()).toMatchObject({ code: 'busy' });
  socket.destroy();
  await expect.poll(async () => (await fetch(url, { headers: AUTHORIZED })).status).toBe(200);
});
