import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { requireDeclaredRight } from './rights.ts';

describe('a secured route', () => {
  function register(schema: object): void {
    const app = Fastify({ exposeHeadRoutes: false });
    app.addHook('onRoute', requireDeclaredRight);
    app.route({ method: 'GET', url: '/api/x', schema, handler: () => '' });
  }

  it('is refused at the start when it declares no right', () => {
    expect(() => register({ operationId: 'x' })).toThrow('GET /api/x declares no right');
  });

  it('is taken with one', () => {
    expect(() => register({ operationId: 'x', right: 'read' })).not.toThrow();
  });
});
