/** Spans, as a collector receives them. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startOtlpReceiver, type OtlpReceiver } from '../../../test/helpers/otlp-receiver.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import {
  beginSpan,
  isTracing,
  partOf,
  setTracer,
  traced,
  type RemoteSpan,
} from '../../platform/base/tracing.ts';
import { createTracing, type Tracing } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

let collector: OtlpReceiver;
let tracing: Tracing;
let warnings: unknown[];

function start(headers: Readonly<Record<string, string>> = {}): void {
  const warn = (fields: object) => void warnings.push(fields);
  tracing = createTracing({ version: '1.2.3', headers, logger: { ...silentLogger, warn } });
  setTracer(tracing);
}

beforeEach(async () => {
  collector = await startOtlpReceiver();
  warnings = [];
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
});
afterEach(async () => {
  setTracer(null);
  await tracing.close();
  await collector.close();
  vi.unstubAllEnvs();
});

const request = (caller: RemoteSpan | null = null) =>
  beginSpan(() => ({ start: { name: 'GET /x', kind: 'server' }, caller }))!;

it('has the work of a request below it, and each its own', async () => {
  start({ authorization: 'Bearer of the collector' });
  const [one, two] = [request(), request()];
  const work = (name: string) => async () => {
    await wait(1);
    await partOf({ name: `${name} statement`, kind: 'client' }, wait(1));
    await traced({ name, kind: 'client', attributes: { 'email_worker.account': 'sales' } }, async () => {
      await partOf({ name: `${name} below`, kind: 'client' }, Promise.resolve());
    });
  };
  await Promise.all([one.run(work('first')), two.run(work('second'))]);
  expect(isTracing()).toBe(false);
  one.end();
  two.end({ attributes: { 'http.response.status_code': 200 } });
  await expect.poll(() => collector.spans).toHaveLength(8);
  const of = (name: string) => collector.spans.find((span) => span.name === name)!;
  for (const name of ['first', 'second']) {
    const parent = collector.spans.find(({ spanId }) => spanId === of(name).parentId)!;
    expect(parent).toMatchObject({ name: 'GET /x', kind: 'server', parentId: '', isError: false });
    expect(of(`${name} statement`)).toMatchObject({ traceId: parent.traceId, parentId: parent.spanId });
    expect(of(`${name} below`)).toMatchObject({ traceId: parent.traceId, parentId: of(name).spanId });
    expect(of(name).attributes).toEqual({ 'email_worker.account': 'sales' });
  }
  expect(of('first').traceId).not.toBe(of('second').traceId);
  expect(of('first').resource).toMatchObject({
    'service.name': 'email-worker',
    'service.version': '1.2.3',
  });
  expect(collector.requests[0]).toMatchObject({
    path: '/v1/traces',
    headers: { authorization: 'Bearer of the collector', 'content-type': 'application/x-protobuf' },
  });
});

it.each([
  ['goes on with the trace of its caller', `00-${TRACE}-${PARENT}-01`, { traceId: TRACE, parentId: PARENT }],
  ['begins a trace when the caller’s is nonsense', `00-${'0'.repeat(32)}-${PARENT}-01`, { parentId: '' }],
  [
    'begins a trace when the caller says two',
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    { parentId: '' },
  ],
])('%s', async (_, traceparent, expected) => {
  start();
  request({ traceparent }).end();
  await expect.poll(() => collector.spans).toHaveLength(1);
  expect(collector.spans[0]).toMatchObject(expected);
});

it('tells nothing of what its caller does not want to be traced', async () => {
  start();
  const unwanted = request({ traceparent: `00-${TRACE}-${PARENT}-00` });
  unwanted.run(() => expect(isTracing()).toBe(false));
  unwanted.end();
  request().end();
  await expect.poll(() => collector.spans).toHaveLength(1);
  expect(collector.spans[0]?.traceId).not.toBe(TRACE);
});

it('says how work failed by a code, and not by its message', async () => {
  start();
  const failure = Object.assign(new Error('duplicate key (ada@example.org)'), { code: '23505' });
  const failed = traced({ name: 'write', kind: 'client' }, () => Promise.reject(failure));
  await expect(failed).rejects.toBe(failure);
  await expect.poll(() => collector.spans).toHaveLength(1);
  expect(collector.spans[0]).toMatchObject({ isError: true, attributes: { 'error.type': '23505' } });
  expect(collector.text()).not.toContain('ada@example');
});

it('takes name, attributes and sampler from the standard variables', async () => {
  vi.stubEnv('OTEL_SERVICE_NAME', 'mail of ours');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_always_off');
  start();
  request().end();
  request({ traceparent: `00-${TRACE}-${PARENT}-01` }).end();
  await expect.poll(() => collector.spans).toHaveLength(1);
  expect(collector.spans[0]).toMatchObject({
    traceId: TRACE,
    resource: { 'service.name': 'mail of ours', 'deployment.environment.name': 'test' },
  });
});

it('does the work, holds few spans and says it once while the collector is away', async () => {
  vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '20');
  vi.stubEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '10');
  collector.status = 400;
  start();
  let done = 0;
  for (let round = 0; round < 500; round += 1) {
    await traced({ name: 'work', kind: 'client' }, async () => {
      done += 1;
    });
  }
  expect(done).toBe(500);
  await expect.poll(() => warnings).toHaveLength(1);
  await traced({ name: 'more work', kind: 'client' }, async () => {});
  collector.status = 200;
  await expect
    .poll(async () => {
      await traced({ name: 'after', kind: 'client' }, async () => {});
      return collector.spans.some(({ name }) => name === 'after');
    })
    .toBe(true);
  expect(collector.spans.filter(({ name }) => name === 'work').length).toBeLessThan(40);
  expect(warnings).toHaveLength(1);
});

it('ends although the collector never answers', { tags: ['long'] }, async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:2');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '3600000');
  vi.stubEnv('OTEL_BSP_EXPORT_TIMEOUT', '3600000');
  start();
  request().end();
  await tracing.close();
  expect(collector.requests).toEqual([]);
});
