/** The protocol around the tools: what is no message, no request, or no version that the service knows. */
import { describe, expect, it } from 'vitest';
import { createMcpEndpoint, type McpAnswer } from './endpoint.ts';

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const endpoint = createMcpEndpoint('1.2.3');

async function send(message: unknown, headers: Readonly<Record<string, string>> = {}) {
  const answer: McpAnswer = await endpoint({
    headers: { ...HEADERS, ...headers },
    message,
    mayUse: (right) => right === 'read',
    caller: 'a test',
    call: () => Promise.reject(new Error('nothing answers')),
  });
  return { status: answer.status, json: answer.body === '' ? null : (JSON.parse(answer.body) as unknown) };
}

const request = (method: string, params?: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params && { params }),
});

describe('a client that connects', () => {
  it.each([
    ['2025-06-18', '2025-06-18'],
    ['1999-01-01', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('and speaks %s is answered in %s', async (protocolVersion, answered) => {
    expect(await send(request('initialize', { protocolVersion }))).toMatchObject({
      status: 200,
      json: {
        id: 1,
        result: {
          protocolVersion: answered,
          capabilities: { tools: {} },
          serverInfo: { name: 'email-worker', version: '1.2.3' },
        },
      },
    });
  });

  it('gets an answer to a ping, and none to a notification or an answer', async () => {
    expect(await send(request('ping'))).toEqual({ status: 200, json: { jsonrpc: '2.0', id: 1, result: {} } });
    expect(await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({
      status: 202,
      json: null,
    });
    expect(await send({ jsonrpc: '2.0', id: 1, result: {} })).toEqual({ status: 202, json: null });
  });

  it('may send several messages at once, and gets the answers in their order', async () => {
    const second = { ...request('tools/run'), id: 'two' };
    expect(
      await send([request('ping'), { jsonrpc: '2.0', method: 'notifications/cancelled' }, second]),
    ).toEqual({
      status: 200,
      json: [
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: 'two', error: { code: -32_601, message: 'Method not found' } },
      ],
    });
  });
});

describe('a request is refused', () => {
  it.each([
    ['that is no object', 'ping'],
    ['of another version of JSON-RPC', { ...request('ping'), jsonrpc: '1.0' }],
    ['whose id is null', { ...request('ping'), id: null }],
    ['whose id is a fraction', { ...request('ping'), id: 1.5 }],
    ['whose parameters are a list', { ...request('ping'), params: [] }],
    ['without anything', []],
    ['beyond the hundredth', Array.from({ length: 101 }, () => request('ping'))],
    ['that connects, among others', [request('ping'), request('initialize')]],
  ])('%s', async (_title, message) => {
    expect(await send(message)).toMatchObject({ status: 400, json: { id: null, error: { code: -32_600 } } });
  });

  it.each([
    [406, { accept: 'application/json' }],
    [415, { 'content-type': 'text/plain' }],
    [400, { 'mcp-protocol-version': '1999-01-01' }],
  ])('with %s for %j', async (status, headers) => {
    expect(await send(request('ping'), headers)).toMatchObject({
      status,
      json: { error: { code: -32_000 } },
    });
  });

  it('of a tool without a name, and one that fails is an error of this request', async () => {
    expect(await send(request('tools/call', {}))).toMatchObject({ json: { error: { code: -32_602 } } });
    expect(await send(request('tools/call', { name: 'search_emails', arguments: { q: 'x' } }))).toMatchObject(
      { status: 200, json: { id: 1, error: { code: -32_603, message: 'nothing answers' } } },
    );
  });
});
