import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestHttpApp, type TestHttpApp } from '../../../../test/helpers/http-app.ts';
import { skipWithoutNginx, startNginx, type Nginx } from '../../../../test/helpers/nginx.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import { IDS } from '../../../../test/helpers/sample-emails.ts';
import { createAccessLines } from './access-lines.ts';

/** The client's address, as nginx sees it; nginx itself is 127.0.0.1. */
const CLIENT = '127.0.0.5';
const CLAIMED = '203.0.113.9';

let app: TestHttpApp;
let nginx: Nginx;
const lines: Record<string, unknown>[] = [];

async function start(trustedProxies: readonly string[]): Promise<void> {
  lines.length = 0;
  const logger = { info: (fields: object) => void lines.push({ ...fields }) };
  app = await createTestHttpApp({
    application: createRecordingApplication(),
    trustedProxies,
    observers: [createAccessLines(logger, 'routes')],
  });
  nginx = await startNginx(await app.listen());
}

afterEach(async () => {
  await nginx.stop();
  await app.close();
});

/** Sends a wrong secret from the client's address, and claims another one. */
async function failToLogIn(): Promise<IncomingMessage> {
  const asked = request({
    host: '127.0.0.1',
    port: nginx.port,
    localAddress: CLIENT,
    path: `/api/thread/${IDS.thread}`,
    headers: { authorization: 'Bearer wrong', 'x-forwarded-for': CLAIMED },
  });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer;
}

describe.skipIf(skipWithoutNginx())('behind nginx', () => {
  it.each([
    ['its address', ['127.0.0.1'], CLIENT],
    ['its network', ['127.0.0.0/30'], CLIENT],
    ['its network, which is the client’s as well', ['127.0.0.0/8'], CLAIMED],
    ['none', [], '127.0.0.1'],
    ['another address', ['192.0.2.1'], '127.0.0.1'],
  ])(
    'with %s trusted, log-ins and requests are those of the right client',
    async (_name, proxies, address) => {
      await start(proxies);
      const answer = await failToLogIn();
      expect(answer.statusCode).toBe(401);
      await expect.poll(() => lines).toHaveLength(1);
      // nginx has set the request ID.
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
      expect(lines).toMatchObject([{ address, status: 401, requestId: answer.headers['x-request-id'] }]);
      expect(app.events).toMatchObject([{ event: 'login.failed', address, reason: 'wrong' }]);
    },
  );
});
