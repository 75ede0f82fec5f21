import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildValidator } from './lazy-validation.ts';

let app: FastifyInstance;
beforeEach(() => {
  app = Fastify({ schemaController: { compilersFactory: { buildValidator } } });
});
afterEach(() => app.close());

describe('schemas that are compiled at the first request', () => {
  const schema = {
    params: { type: 'object', properties: { id: { type: 'string', maxLength: 3 } } },
    querystring: { type: 'object', properties: { limit: { type: 'integer', maximum: 9 } } },
    headers: {
      type: 'object',
      properties: { 'X-Count': { type: 'integer' } },
      required: ['X-Count'],
    },
  };
  const get = (url: string, headers = {}) => app.inject({ url, headers });
  const messageOf = async (url: string, headers = {}) =>
    (await get(url, headers)).json<{ message: string }>().message;

  beforeEach(() => {
    app.get('/things/:id', { schema }, ({ params, query, headers }) => ({
      params,
      query,
      count: headers['x-count'],
    }));
  });

  it('convert what they let pass, each time', async () => {
    for (let time = 0; time < 2; time += 1) {
      const answer = await get('/things/abc?limit=3', { 'x-count': '7' });
      expect(answer.json()).toEqual({ params: { id: 'abc' }, query: { limit: 3 }, count: 7 });
    }
  });

  it('say what is wrong with each part, each time', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect(await messageOf('/things/abcd', { 'x-count': '7' })).toMatch(/^params\/id must NOT have more/);
      expect(await messageOf('/things/abc?limit=10', { 'x-count': '7' })).toBe(
        'querystring/limit must be <= 9',
      );
      expect(await messageOf('/things/abc', { 'x-count': 'x' })).toBe('headers/x-count must be integer');
      expect(await messageOf('/things/abc')).toBe("headers must have required property 'x-count'");
    }
  });

  it('that mean nothing fail the request, and no other', async () => {
    app.get('/faulty', { schema: { querystring: { type: 'nothing' } } }, () => 'never');
    expect((await get('/faulty')).statusCode).toBe(500);
    expect((await get('/things/abc', { 'x-count': '7' })).statusCode).toBe(200);
  });
});
