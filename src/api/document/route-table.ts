/** The existing paths and methods: for the OpenAPI document, for OPTIONS, and to distinguish a wrong method from a wrong path. */
import type { FastifyReply, FastifyRequest, FastifySchema, RouteOptions } from 'fastify';
import { ServiceError } from '../../core/errors.ts';

/** A route as the OpenAPI document needs it. */
export interface DocumentedRoute {
  readonly method: string;
  /** With `:name` parameters. */
  readonly url: string;
  readonly schema: FastifySchema;
}

export class RouteTable {
  readonly #methods = new Map<string, { readonly path: RegExp; readonly methods: Set<string> }>();
  readonly #documented: DocumentedRoute[] = [];

  /** Fastify's `onRoute` hook. */
  add({ method, url, schema }: RouteOptions): void {
    const entry = this.#methods.get(url) ?? { path: toPathPattern(url), methods: new Set(['OPTIONS']) };
    this.#methods.set(url, entry);
    for (const name of [method].flat()) {
      entry.methods.add(name);
      // HEAD follows from GET and is not described by itself. Hidden routes are described elsewhere.
      if (schema !== undefined && schema.hide !== true && name !== 'HEAD')
        this.#documented.push({ method: name, url, schema });
    }
  }

  documented(): readonly DocumentedRoute[] {
    return this.#documented;
  }

  /** Answers requests that no route took: 204 to OPTIONS, 405 to another wrong method, else 404. */
  answerUnrouted(request: FastifyRequest, reply: FastifyReply): void {
    const path = request.url.replace(/[?#].*$/s, '');
    const methods = [...this.#methods.values()].find((route) => route.path.test(path))?.methods;
    if (methods === undefined) throw new ServiceError('not_found');
    reply.header('allow', [...methods].sort().join(', '));
    if (request.method !== 'OPTIONS') throw new ServiceError('method_not_allowed');
    reply.code(204).send();
  }
}

/** A parameter is one segment, `*` at the end is any rest. Parameter names are plain, so nothing needs escaping. */
function toPathPattern(url: string): RegExp {
  // Input: at most 16,384 characters, Node.js's bound of a request's header.
  return new RegExp(`^${url.replace(/:\w+/g, '[^/]+').replace(/\*$/, '.*')}$`);
}
