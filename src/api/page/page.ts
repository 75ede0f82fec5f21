/**
 * The page: files that were built beforehand, with a hash of their content in their names, and `index.html` for every address of the page.
 * Copies compressed at build time are sent as they are.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { hash } from 'node:crypto';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from '../../platform/http/answers/context.ts';
import { isUnchanged } from '../../platform/http/answers/entity-tag.ts';

/** The bundler's folder for files that are named after their content. */
const ASSETS = '/assets/';
/** A year: a file with such a name never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';
/** Cached, but revalidated each time: the entity tag shows if it has changed. */
const ASK_FIRST = 'no-cache';

/**
 * Scripts and styles are files of ours, and nothing is inline; frames show mail (see emails/mail-document.ts), images come from mail or are
 * made by the page.
 */
const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-security-policy': PAGE_CSP,
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  vary: 'accept-encoding',
};

/** Paths that never belong to the page, whatever the request. */
const NOT_THE_PAGE = /^\/(?:api|mcp|unsubscribe|assets)(?:\/|$)/;

export interface Page {
  /** True when the page's own script decides what to show: a browser navigates to an address without a route. */
  has(request: FastifyRequest): boolean;
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Serves the files of `folder`, as they are at this moment. */
export function registerPage(app: HttpServer, folder: string): Page {
  const index = once(() => readIndex(folder));

  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const variants = await index();
    const wanted = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip']);
    const variant = variants.get(wanted ?? '') ?? variants.get('');
    if (variant === undefined) throw new Error('the page has no index.html');
    reply.headers({ ...PAGE_HEADERS, 'cache-control': ASK_FIRST, etag: variant.entityTag });
    const known = request.headers['if-none-match'];
    if (known !== undefined && isUnchanged(known, variant.entityTag)) return reply.code(304).send();
    if (variant.encoding !== null) reply.header('content-encoding', variant.encoding);
    return reply.type('text/html; charset=utf-8').send(variant.content);
  };

  app.route({ method: ['GET', 'HEAD'], url: '/', schema: { hide: true }, handler: send });
  app.register(async (files) => {
    files.addHook('onRequest', (request, reply, done) => {
      const isNamedByContent = request.routeOptions.url?.startsWith(ASSETS) === true;
      reply.headers({ ...PAGE_HEADERS, 'cache-control': isNamedByContent ? FOR_EVER : ASK_FIRST });
      done();
    });
    const { default: serveFiles } = await import('@fastify/static');
    await files.register(serveFiles, {
      root: folder,
      // Each file is a route of its own: no file path is ever built from the requested address.
      wildcard: false,
      globIgnore: ['index.html', '**/*.br', '**/*.gz'],
      index: false,
      preCompressed: true,
      // Our header is set above.
      cacheControl: false,
      decorateReply: false,
    });
  });

  return {
    has: ({ method, url, headers }) =>
      (method === 'GET' || method === 'HEAD') &&
      headers.accept?.includes('text/html') === true &&
      !NOT_THE_PAGE.test(url),
    send,
  };
}

interface Variant {
  readonly encoding: 'br' | 'gzip' | null;
  readonly content: Buffer;
  /** Computed from the content, not from the file: files of different builds may have the same time and size. */
  readonly entityTag: string;
}

/** By encoding; `''` is the file without compression. */
async function readIndex(folder: string): Promise<ReadonlyMap<string, Variant>> {
  const variants = new Map<string, Variant>();
  for (const [ending, encoding] of [
    ['', null],
    ['.br', 'br'],
    ['.gz', 'gzip'],
  ] as const) {
    const content = await readFile(path.join(folder, `index.html${ending}`)).catch((error: unknown) => {
      if (ending !== '' && error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (content === null) continue;
    const entityTag = `"${hash('sha256', content, 'base64url').slice(0, 27)}"`;
    variants.set(encoding ?? '', { encoding, content, entityTag });
  }
  return variants;
}

/** Makes the value when it is first asked for, and again after a failure. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
