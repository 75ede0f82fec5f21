/** GET /api/health: the process answers. GET /api/health/ready: the systems it depends on answer, too. */
import type { Readiness } from './check-readiness.ts';
import { ServiceError } from '../../core/errors.ts';
import { toErrorJson } from '../../platform/http/answers/error-json.ts';
import type { HttpContext, HttpServer } from '../../platform/http/answers/context.ts';
import { RETRY_AFTER_SECONDS } from '../../platform/http/answers/error-handler.ts';
import { ErrorBody, errorResponses, RETRY_AFTER } from '../../platform/schemas/error-schemas.ts';
import { jsonResponse, record, Timestamp } from '../../platform/schemas/schemas.ts';

const SERVICE_NAME = 'email-worker-api';

export const HealthResult = record('Health', {
  status: { type: 'string', const: 'ok' },
  service: { type: 'string', const: SERVICE_NAME },
  timestamp: Timestamp,
});

const Checks = {
  title: 'Checks',
  type: 'object',
  description:
    'Each dependency: `ok` or `away`. Details are in the log only. The service is ready even when `replica` or `accounts` is away.',
  additionalProperties: { type: 'string', enum: ['ok', 'away'] },
} as const;

const ReadinessResult = record('Readiness', { status: { type: 'string', const: 'ready' }, checks: Checks });

const NotReady = {
  type: 'object',
  title: 'NotReady',
  additionalProperties: false,
  required: ['error', 'message', 'code', 'request_id', 'doc'],
  properties: {
    error: { type: 'string', minLength: 1 },
    message: ErrorBody.properties.message,
    request_id: ErrorBody.properties.request_id,
    doc: ErrorBody.properties.doc,
    code: { type: 'string', enum: ['not_ready', 'clock_skewed', 'shutting_down'] },
    status: { type: 'string', const: 'not_ready' },
    checks: Checks,
    reasons: {
      title: 'NotReadyReasons',
      type: 'object',
      description:
        'The error code of each dependency that is `away` for a reason with a code, such as `storage_mismatch`: the file storage ' +
        'does not belong to the database.',
      additionalProperties: ErrorBody.properties.code,
    },
  },
} as const;

/** @param probe checks every dependency, each with a deadline */
export function registerHealthRoutes(
  app: HttpServer,
  context: HttpContext,
  probe: () => Promise<Readiness>,
): void {
  app.get(
    '/api/health',
    {
      schema: {
        operationId: 'getHealth',
        tags: ['Health'],
        summary: 'Check that the process is alive',
        description:
          'For uptime monitoring and liveness checks. Does not access the database or the mail server.',
        security: [],
        response: {
          200: jsonResponse('Alive.', HealthResult),
          ...errorResponses('invalid_request'),
        },
      },
    },
    (_request, reply) => {
      reply.send({ status: 'ok', service: SERVICE_NAME, timestamp: context.clock().toISOString() });
    },
  );

  const checkReadiness = createReadinessCheck(context, probe);
  app.get(
    '/api/health/ready',
    {
      schema: {
        operationId: 'getReadiness',
        tags: ['Health'],
        summary: 'Check whether the service is ready',
        description:
          'Checks the database, the file storage and the mail servers, compares the clocks of this process and of the database, ' +
          'and checks that events reach the feed. Needs no secret, so that load balancers can use it; therefore it names only ' +
          'unavailable dependencies and error codes.',
        security: [],
        response: {
          200: jsonResponse('All dependencies are available.', ReadinessResult),
          ...errorResponses('invalid_request'),
          503: jsonResponse(
            "A dependency is unavailable, or the clock of this process differs from the database's by more than a minute. Codes: " +
              '`not_ready`, `clock_skewed`, `shutting_down`.',
            NotReady,
            RETRY_AFTER,
          ),
        },
      },
    },
    async ({ id }, reply) => {
      if (context.isDraining()) throw new ServiceError('shutting_down');
      const { ready, checks } = await checkReadiness();
      const named = Object.fromEntries(checks.map(({ name, ok }) => [name, ok ? 'ok' : 'away']));
      if (ready) return reply.send({ status: 'ready', checks: named });
      const code = checks.some((check) => check.code === 'clock_skewed') ? 'clock_skewed' : 'not_ready';
      reply.code(503).header('retry-after', String(RETRY_AFTER_SECONDS));
      const reasons = Object.fromEntries(
        checks.flatMap(({ name, code }) => (code === null ? [] : [[name, code]])),
      );
      return reply.send({
        ...toErrorJson(new ServiceError(code), { id }),
        status: 'not_ready',
        checks: named,
        reasons,
      });
    },
  );
}

/** Callers at the same moment, and for a short time after, share one answer: any client may ask, and each check costs. */
function createReadinessCheck(
  { clock, limits, logger }: HttpContext,
  probe: () => Promise<Readiness>,
): () => Promise<Readiness> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<Readiness> | undefined;
  return () => {
    const now = clock().getTime();
    if (answer === undefined || now - askedAt >= limits.readinessMaxAgeMs) {
      askedAt = now;
      answer = probe().then((readiness) => {
        const away = readiness.checks.filter(({ ok }) => !ok);
        if (away.length > 0) logger.warn({ away }, 'not ready');
        return readiness;
      });
      answer.catch(() => (answer = undefined));
    }
    return answer;
  };
}
