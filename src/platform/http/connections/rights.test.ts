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

  it('is refused without a declared operation, whose runner would guard it', () => {
    expect(() => register({ operationId: 'x', right: 'read' })).toThrow(
      'GET /api/x has no declared operation',
    );
  });

  it('is taken with both', () => {
    expect(() => register({ operationId: 'x', right: 'read', operation: {} })).not.toThrow();
  });
});
