/**
 * The page: files that were built beforehand, with a hash of their content in their names, and `index.html` for every address of the page.
 * Copies compressed at build time are sent as they are. A file stays in memory from its first request on; all of them are some 3 MB.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { hash } from 'node:crypto';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../core/errors.ts';
import type { HttpServer } from '../../platform/http/answers/context.ts';
import { isUnchanged } from '../../platform/http/answers/entity-tag.ts';

/** The bundler's folder for files that are named after their content. */
const ASSETS = 'assets';
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

/** By the ending of a file. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Paths that never belong to the page, whatever the request. */
const NOT_THE_PAGE = /^\/(?:api|mcp|unsubscribe|assets)(?:\/|$)/;

export interface Page {
  /** True when the page's own script decides what to show: a browser navigates to an address without a route. */
  has(request: FastifyRequest): boolean;
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Serves the files of `folder`, as they are when first asked for. */
export function registerPage(app: HttpServer, folder: string): Page {
  const index = once(() => readFileOfPage(folder, 'index.html'));
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    schema: { hide: true },
    handler: async (request, reply) => sendFile(request, reply, await index(), ASK_FIRST),
  });
  app.register(async (files) => {
    const names = (await readdir(folder)).filter(
      (name) => !isCompressed(name) && !/^(?:index\.html|assets)$/.test(name),
    );
    for (const name of names) {
      const file = once(() => readFileOfPage(folder, name));
      files.route({
        method: ['GET', 'HEAD'],
        url: `/${name}`,
        schema: { hide: true },
        handler: async (request, reply) => sendFile(request, reply, await file(), ASK_FIRST),
      });
    }
    const inAssets = await readdir(path.join(folder, ASSETS));
    // No path of a file is ever built from the requested address.
    const assets = new Map(
      inAssets
        .filter((name) => !isCompressed(name))
        .map((name) => [name, once(() => readFileOfPage(folder, path.join(ASSETS, name)))]),
    );
    files.route<{ Params: { name: string } }>({
      method: ['GET', 'HEAD'],
      url: `/${ASSETS}/:name`,
      schema: { hide: true },
      handler: async (request, reply) => {
        const asset = assets.get(request.params.name);
        if (asset === undefined) throw new ServiceError('not_found');
        return sendFile(request, reply, await asset(), FOR_EVER);
      },
    });
  });

  return {
    has: ({ method, url, headers }) =>
      (method === 'GET' || method === 'HEAD') &&
      headers.accept?.includes('text/html') === true &&
      !NOT_THE_PAGE.test(url),
    send: async (request, reply) => sendFile(request, reply, await index(), ASK_FIRST),
  };
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, variants }: FileOfPage,
  cacheControl: string,
): FastifyReply {
  const wanted = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip']);
  const variant = variants.get(wanted ?? '') ?? variants.get('');
  if (variant === undefined) throw new Error('a file of the page is only there compressed');
  reply.headers({ ...PAGE_HEADERS, 'cache-control': cacheControl, etag: variant.entityTag });
  const known = request.headers['if-none-match'];
  if (known !== undefined && isUnchanged(known, variant.entityTag)) return reply.code(304).send();
  if (variant.encoding !== null) reply.header('content-encoding', variant.encoding);
  return reply.type(mediaType).send(variant.content);
}

interface FileOfPage {
  readonly mediaType: string;
  /** By encoding; `''` is the file without compression. */
  readonly variants: ReadonlyMap<string, Variant>;
}

interface Variant {
  readonly encoding: 'br' | 'gzip' | null;
  readonly content: Buffer;
  /** Computed from the content, not from the file: files of different builds may have the same time and size. */
  readonly entityTag: string;
}

const isCompressed = (name: string): boolean => /\.(?:br|gz)$/.test(name);

async function readFileOfPage(folder: string, name: string): Promise<FileOfPage> {
  const mediaType = MEDIA_TYPES[path.extname(name)];
  if (mediaType === undefined) throw new Error(`the page has a file of an unknown type: ${name}`);
  const variants = new Map<string, Variant>();
  for (const [ending, encoding] of [
    ['', null],
    ['.br', 'br'],
    ['.gz', 'gzip'],
  ] as const) {
    const content = await readFile(path.join(folder, name + ending)).catch((error: unknown) => {
      if (ending !== '' && error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (content === null) continue;
    const entityTag = `"${hash('sha256', content, 'base64url').slice(0, 27)}"`;
    variants.set(encoding ?? '', { encoding, content, entityTag });
  }
  return { mediaType, variants };
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
