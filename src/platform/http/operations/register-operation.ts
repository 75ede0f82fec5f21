/** The route of a declared operation: its schemas, the errors that follow from them, the reading of its input and the JSON of its answer. */
import type { FastifyRequest, preValidationAsyncHookHandler } from 'fastify';
import type { ErrorCode } from '../../../core/error-registry.ts';
import { inputNames, type Operation, type OperationFacts } from '../../operation/declaration.ts';
import type { RunOperation } from '../../operation/run-operation.ts';
import { fromJson, toJson, type Properties, type Schema } from '../../operation/values.ts';
import { errorResponses } from '../../schemas/error-schemas.ts';
import { jsonResponse } from '../../schemas/schemas.ts';
import { ifMatch, requiredVersion, wantedVersion } from '../answers/entity-tag.ts';
import type { HttpContext, HttpServer } from '../answers/context.ts';
import { JSON_BODY_ERRORS, optionalJsonBody, smallJsonBody } from '../body/json-body.ts';
import { RequestSlots } from '../body/request-slots.ts';
import { actorOf, callerOf, keyIdOf } from '../connections/auth.ts';
import type { HttpLimits } from '../connections/limits.ts';
import { schemaOfOperation } from './operation-schema.ts';

const ETAG = {
  ETag: { type: 'string', description: 'The newest version in quotes, for `If-Match`.' },
} as const;

export function registerOperation<Deps>(
  app: HttpServer,
  { limits, stopping }: HttpContext,
  operation: Operation<Deps>,
  run: RunOperation<Deps>,
): void {
  const read = inputReader(operation);
  const write = toJson(operation.output);
  const { atOnce, versionOf } = operation;
  const slots = atOnce === undefined ? null : new RequestSlots(atOnce);
  const preValidation = bodyReader(operation, limits);
  app.route({
    method: operation.method,
    url: operation.path,
    schema: schemaOf(operation),
    ...(preValidation === null ? {} : { preValidation }),
    handler: async (request, reply) => {
      const slot = slots?.reserve(keyIdOf(request));
      slot?.take();
      try {
        const caller = callerOf(request);
        const call = { caller, actor: actorOf(request), input: read(request), signal: stopping };
        const output = await run(operation, call);
        if (versionOf !== undefined) reply.header('etag', `"${versionOf(output as never)}"`);
        if (operation.creates === true) reply.code(201);
        return write(output);
      } finally {
        slot?.release();
      }
    },
  });
}

function schemaOf<Deps>(operation: Operation<Deps>) {
  const { params, query, requiredQuery, body, ifMatch: version } = operation;
  return {
    ...schemaOfOperation(operation),
    ...(params === undefined ? {} : { params: closed(params, Object.keys(params)) }),
    ...(query === undefined ? {} : { querystring: closed(query, requiredQuery) }),
    ...(version === undefined ? {} : { headers: { type: 'object', properties: ifMatch(version.text) } }),
    ...(body === undefined ? {} : { body }),
    response: {
      [operation.creates === true ? 201 : 200]: jsonResponse(
        operation.answer,
        operation.output,
        operation.versionOf === undefined ? undefined : ETAG,
      ),
      ...errorResponses(...errorsOf(operation)),
    },
  };
}

/** No others: a misspelt filter must not return more than was asked for. */
const closed = (properties: Properties, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  ...(required.length === 0 ? {} : { required }),
  properties,
});

/** Those that follow from the declaration, and those that it adds. */
function errorsOf<Deps>(operation: Operation<Deps>): readonly ErrorCode[] {
  const { method, params = {}, query, account, ifMatch: version } = operation;
  const names = inputNames(operation);
  const isUuid = (schema: unknown) => (schema as Schema).format === 'uuid';
  const parameters = Object.values(params);
  return [
    'invalid_credentials',
    'database_unavailable',
    ...(method === 'GET' ? [] : JSON_BODY_ERRORS),
    ...(query !== undefined || !parameters.every(isUuid) ? (['invalid_request'] as const) : []),
    ...([...parameters, ...Object.values(query ?? {})].some(isUuid) ? (['invalid_uuid'] as const) : []),
    ...(names.includes('cursor') ? (['invalid_cursor'] as const) : []),
    ...(names.includes('accountId') ? (['unknown_account'] as const) : []),
    ...(version === undefined ? [] : (['version_required'] as const)),
    ...(account === 'every' ? (['forbidden_account'] as const) : []),
    ...(typeof account === 'object' && 'missing' in account ? [account.missing] : []),
    ...(typeof account === 'object' && 'shared' in account && account.shared === 'refused'
      ? (['forbidden_account'] as const)
      : []),
    ...(operation.errors ?? []),
  ];
}

/** null: a read has no body. */
function bodyReader(operation: OperationFacts, limits: HttpLimits): preValidationAsyncHookHandler | null {
  const { method, body, bodyOptional, maxBodyBytes } = operation;
  if (method === 'GET') return null;
  return body === undefined || bodyOptional === true
    ? optionalJsonBody(limits, maxBodyBytes)
    : smallJsonBody(limits, maxBodyBytes);
}

function inputReader(operation: OperationFacts): (request: FastifyRequest) => object {
  const readParams = fromJson(operation.params ?? {});
  const readQuery = fromJson(operation.query ?? {});
  const readBody = fromJson(operation.body?.properties ?? {});
  const { bodyAs, ifMatch: { need } = {} } = operation;
  return ({ params, query, body, headers }) => {
    const version = need === 'required' ? requiredVersion : wantedVersion;
    return {
      ...readParams(params as Properties),
      ...readQuery(query as Properties),
      ...(bodyAs === undefined
        ? readBody((body ?? {}) as Properties)
        : { [bodyAs]: readBody(body as Properties) }),
      ...(need === undefined ? {} : { version: version(headers['if-match']) }),
    };
  };
}
