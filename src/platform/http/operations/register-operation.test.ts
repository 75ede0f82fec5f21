/** What the route of a declared operation reads, answers and refuses. */
import { afterEach, expect, it } from 'vitest';
import { answerWithExample } from '../../../../test/helpers/example-operations.ts';
import { AUTHORIZED, createTestHttpApp, type TestHttpApp } from '../../../../test/helpers/http-app.ts';
import { createRecordingApplication } from '../../../../test/helpers/recording-application.ts';
import type { ErrorCode } from '../../../core/error-registry.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { RunOperation } from '../../operation/run-operation.ts';
import type { OperationDeps } from '../../../api/operations.ts';

const ID = 'aaaaaaaa-1111-4111-8111-111111111111';

const opened: TestHttpApp[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

/** The inputs of the calls, beside the app. */
async function start(run: RunOperation<OperationDeps> = answerWithExample) {
  const inputs: object[] = [];
  const app = await createTestHttpApp({
    application: createRecordingApplication(),
    runOperation: (operation, call) => {
      inputs.push(call.input);
      return run(operation, call);
    },
  });
  opened.push(app);
  const ask = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    { body, headers = {} }: { body?: object; headers?: Readonly<Record<string, string>> } = {},
  ) => {
    const response = await app.fastify.inject({
      method,
      url,
      headers: { ...AUTHORIZED, ...headers },
      ...(body === undefined ? {} : { payload: body }),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      json: response.json<{ code?: string }>(),
    };
  };
  return { ask, inputs };
}

it('its input is path, If-Match and body together, with UUIDs in lower case', async () => {
  const { ask, inputs } = await start();
  const { status, headers } = await ask('PATCH', `/api/templates/${ID.toUpperCase()}`, {
    body: { name: 'Offer', text_body: null },
    headers: { 'if-match': '"3"' },
  });
  expect([status, inputs]).toEqual([200, [{ id: ID, version: 3, name: 'Offer', textBody: null }]]);
  expect(headers['etag']).toMatch(/^"\d+"$/);
});

it('a body whose names the path has too is a part of its own', async () => {
  const { ask, inputs } = await start();
  const url = `/api/thread/${ID}/merge?dry_run=true`;
  const { status } = await ask('POST', url, { body: { thread_id: ID.toUpperCase() } });
  expect([status, inputs]).toEqual([200, [{ threadId: ID, dryRun: true, body: { threadId: ID } }]]);
});

it('absent parameters have their defaults, and a write without a body is one with an empty one', async () => {
  const { ask, inputs } = await start();
  expect((await ask('GET', '/api/webhooks')).status).toBe(200);
  expect((await ask('POST', `/api/webhooks/${ID}/rotate-secret`)).status).toBe(200);
  expect(inputs).toEqual([{ limit: 50 }, { id: ID, oldValidHours: 24 }]);
});

it.each([
  ['POST', '/api/emails/x/cancel', {}, 400, 'invalid_uuid'],
  ['GET', '/api/webhooks?limit=0', {}, 400, 'invalid_request'],
  ['GET', '/api/webhooks?dry_run=true', {}, 400, 'unknown_parameter'],
  ['POST', `/api/webhooks/${ID}/pause`, { body: { now: true } }, 400, 'unknown_field'],
  ['PATCH', `/api/templates/${ID}`, { body: { name: 'x' } }, 428, 'version_required'],
  ['DELETE', `/api/unsubscribes/${ID}`, { headers: { 'if-match': '"1"' } }, 400, 'unknown_header'],
  ['POST', `/api/webhooks/${ID}/replay`, { body: { since: '2026-02-30T00:00:00Z' } }, 400, 'invalid_request'],
] as const)('%s %s with %j is refused before it runs', async (method, url, request, status, code) => {
  const { ask, inputs } = await start();
  const answer = await ask(method, url, request);
  expect([answer.status, answer.json.code, inputs]).toEqual([status, code, []]);
});

it.each([
  ['cancel', 'not_cancellable', 409],
  ['retry', 'email_not_found', 404],
] as const)('what refuses to %s is told by its code', async (verb, code, status) => {
  const refusal: ErrorCode = code;
  const { ask } = await start(() => Promise.reject(new ServiceError(refusal)));
  const answer = await ask('POST', `/api/emails/${ID}/${verb}`);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

it('only so many calls run at the same time as the declaration says', async () => {
  const waiting: (() => void)[] = [];
  const { ask } = await start(async (operation, call) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return answerWithExample(operation, call);
  });
  const running = Array.from({ length: 10 }, () => ask('POST', `/api/webhooks/${ID}/test`));
  await expect.poll(() => waiting.length).toBe(10);
  const { status, json } = await ask('POST', `/api/webhooks/${ID}/test`);
  expect([status, json.code]).toEqual([503, 'busy']);
  for (const end of waiting) end();
  for (const answer of await Promise.all(running)) expect(answer.status).toBe(200);
});
