/**
 * POST /mcp: the tools of the service for language models (Model Context Protocol, streamable HTTP without sessions). Each tool makes
 * requests to the API on behalf of the caller.
 */
import type { FastifyReply, FastifyRequest, preValidationAsyncHookHandler } from 'fastify';
import { ServiceError } from '../../core/errors.ts';
import { allows, type Right } from '../../core/keys/rights.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { freeJsonBody } from '../../platform/http/body/json-body.ts';
import { callerOf } from '../../platform/http/connections/auth.ts';
import { requireOwnOrigin } from '../../platform/http/connections/own-page.ts';
import { leavePlace } from '../../platform/http/connections/caller-shares.ts';

/** A request of a tool; see api/mcp/api-call.ts. */
interface ToolRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
  readonly ifMatch?: string | undefined;
  readonly range?: string | undefined;
}
interface ToolAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly contentRange: string | null;
  readonly replayed: string | null;
  readonly body: Uint8Array;
}

/** Handles the request of a model, with the rights of its key; see api/mcp/endpoint.ts. */
export type McpHandler = (request: {
  readonly headers: Readonly<Record<string, string>>;
  readonly message: unknown;
  readonly mayUse: (right: Right) => boolean;
  readonly caller: string;
  readonly call: (request: ToolRequest, target: string) => Promise<ToolAnswer>;
}) => Promise<{
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}>;

/** Enough for an email that a model wrote, with each character escaped. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

export function registerMcpRoutes(app: HttpServer, { limits }: HttpContext, handle: McpHandler): void {
  app.post(
    '/mcp',
    {
      // The protocol describes this route; the API's document does not. A key has the tools that its rights allow.
      schema: { hide: true, anyRight: ['read', 'draft', 'send'] },
      // Before the body is read, as the protocol asks for (Streamable HTTP, security warning).
      preValidation: [checkOrigin, freeJsonBody(limits, MAX_MESSAGE_BYTES)],
      errorHandler: answerParseError,
    },
    async (request, reply) => {
      // The requests of its tools take places of their own, and must not wait for this one's.
      leavePlace(request);
      const { rights, author } = callerOf(request);
      const headers = Object.entries(request.headers).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      const answer = await handle({
        headers: Object.fromEntries(headers),
        message: request.body,
        mayUse: (right) => allows(rights, right),
        caller: author.kind === 'key' ? author.id : author.kind,
        call: (toolRequest, target) => inject(app, request, toolRequest, target),
      });
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    },
  );
}

/** JSON-RPC 2.0 §5.1. */
const PARSE_ERROR = -32_700;

/** A body that is no JSON is answered in the terms of JSON-RPC, which its clients read; other errors are those of the API. */
function answerParseError(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof ServiceError) || (error.code !== 'invalid_json' && error.code !== 'duplicate_field'))
    throw error;
  const { code, message } = error;
  const answer = { jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message, data: { code } } };
  void reply.code(400).send(answer);
}

const checkOrigin: preValidationAsyncHookHandler = async (request) => {
  requireOwnOrigin(request);
};

/** An ordinary request of this caller: rights, accounts, limits and logs are those of the operation. */
async function inject(
  app: HttpServer,
  { headers, id, ip }: FastifyRequest,
  { method, body, idempotencyKey, ifMatch, range }: ToolRequest,
  target: string,
): Promise<ToolAnswer> {
  const answer = await app.inject({
    method,
    url: target,
    remoteAddress: ip,
    headers: {
      authorization: headers.authorization,
      host: headers.host,
      'x-request-id': id,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(range === undefined ? {} : { range }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return {
    status: answer.statusCode,
    contentType: textOf(answer.headers['content-type']),
    contentRange: textOf(answer.headers['content-range']),
    replayed: textOf(answer.headers['idempotency-replayed']),
    body: answer.rawPayload,
  };
}

const textOf = (field: unknown): string | null => (typeof field === 'string' ? field : null);
