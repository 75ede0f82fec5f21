/**
 * Builds the HTTP edge; it never listens. A request is checked in this order: shutdown and the form of the request, then the secret, then
 * its parameters, then its body.
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { OPERATIONS, type OperationDeps } from './operations.ts';
import type { OperationRunner } from '../platform/operation/run-operation.ts';
import { registerOperation } from '../platform/http/operations/register-operation.ts';
import type { Application } from './application.ts';
import type { Clock, Logger } from '../platform/base/basics.ts';
import { FOLLOWING_IS_CHEAP } from '../platform/base/request-scope.ts';
import type { CertificateSource } from '../platform/base/tls.ts';
import type { Spool } from '../platform/files/file-ports.ts';
import type { SecurityLog } from '../platform/base/security-log.ts';
import type { AccessLog } from '../platform/access/access-log.ts';
import type { KeyRing } from '../platform/access/key-ring.ts';
import type { SessionUseCases } from '../platform/access/session-use-cases.ts';
import { readRequestId } from '../core/edge/request-id.ts';
import { ServiceError } from '../core/errors.ts';
import { actorOf, callerOf, createAuthenticator, requireRight } from '../platform/http/connections/auth.ts';
import { CallerShares, leavePlace } from '../platform/http/connections/caller-shares.ts';
import { createClientErrorHandler } from '../platform/http/answers/client-error.ts';
import { ClosedOperations } from './closed-operations.ts';
import { ConnectionSlots } from '../platform/http/connections/connection-slots.ts';
import type { HttpContext, HttpServer } from '../platform/http/answers/context.ts';
import { createEmailsResponse } from '../platform/http/answers/emails-response.ts';
import { createErrorHandler } from '../platform/http/answers/error-handler.ts';
import { createMistakeFinder } from '../platform/http/answers/other-mistakes.ts';
import { createServer } from '../platform/http/connections/create-server.ts';
import { createRequestWatch, type RequestObserver } from '../platform/http/connections/answered-request.ts';
import { Framing } from '../platform/http/connections/framing-fault.ts';
import { createHostCheck, type HostCheck } from '../platform/http/connections/known-host.ts';
import { findHeaderFault } from '../platform/http/connections/header-fault.ts';
import { Handshakes } from '../platform/http/connections/handshakes.ts';
import { createHttpLimits, type HttpLimits } from '../platform/http/connections/limits.ts';
import { LingeringClose } from '../platform/http/connections/lingering-close.ts';
import { LoginFailures } from '../platform/http/connections/login-failures.ts';
import { requireDeclaredRight } from '../platform/http/connections/rights.ts';
import { Shutdown } from '../platform/http/connections/shutdown.ts';
import { registerDocumentRoutes } from './document/document.ts';
import { RouteTable } from './document/route-table.ts';
import { orRemove } from '../platform/http/body/or-remove.ts';
import { expectContinue } from '../platform/http/body/request-body.ts';
import type { AccountConsents } from '../areas/accounts/account-consents.ts';
import { registerConsentPage } from '../areas/accounts/consent-page.ts';
import { registerAttachmentRoutes } from '../areas/emails/attachment-route.ts';
import { registerAmbiguousEmailsRoute } from '../areas/customers/ambiguous-emails-route.ts';
import { registerCustomerEmailsRoute } from '../areas/customers/customer-emails-route.ts';
import { registerEventRoutes } from '../areas/events/event-route.ts';
import { registerEmailRoutes } from '../areas/emails/email-routes.ts';
import { registerMcpRoutes, type McpHandler } from './mcp/mcp-routes.ts';
import { registerSafeHtmlRoutes } from '../areas/emails/safe-html-route.ts';
import { registerSignedImageRoutes } from '../areas/emails/signed-image-route.ts';
import { ownSenders, type OwnSenders } from '../core/address/sender-warnings.ts';
import { registerHealthRoutes } from './health/health-routes.ts';
import {
  NO_SESSIONS,
  registerOpenSessionRoute,
  registerSessionRoutes,
} from '../areas/sessions/session-routes.ts';
import { registerPage } from './page/page.ts';
import { registerInboundRoutes } from '../areas/receive/receive-route.ts';
import { registerPlacementRoutes } from '../areas/threads/placement-route.ts';
import { registerRefusedMergeRoutes } from '../areas/threads/refused-merges-route.ts';
import { registerDraftRoutes } from '../areas/drafts/draft-routes.ts';
import { registerReplyRoutes } from '../areas/reply/reply-routes.ts';
import { createSendInput } from '../areas/send/send-input.ts';
import { registerSendRoutes } from '../areas/send/send-route.ts';
import { registerSendBatchRoutes } from '../areas/send/send-batch-route.ts';
import { describeUnknownOutcome } from '../platform/schemas/unknown-outcome.ts';
import { registerErasureRoutes } from '../areas/erase/erasure-routes.ts';
import { registerChangeSendRoute } from '../areas/send/change-send-route.ts';
import { registerEmailListRoute } from '../areas/send/email-list-route.ts';
import { registerThreadListRoutes } from '../areas/threads/thread-list-routes.ts';
import { registerThreadRecordRoutes } from '../areas/threads/thread-record-routes.ts';
import { registerThreadRoutes } from '../areas/threads/thread-route.ts';
import { registerUploadRoutes } from '../areas/uploads/upload-route.ts';
import { requireHttps, setAnswerHeaders } from '../platform/http/connections/security-headers.ts';
import { registerUnsubscribePage } from '../areas/unsubscribes/unsubscribe-page.ts';
import { buildValidator } from '../platform/http/body/lazy-validation.ts';
import { toValidationError } from '../platform/http/body/validation.ts';
import { refuseUnstorable } from '../platform/http/body/refuse-unstorable.ts';

type OpenUseCases = Pick<
  Application,
  | 'checkReadiness'
  | 'inlineTypeOf'
  | 'openAttachment'
  | 'readSignedImage'
  | 'readRemoteImage'
  | 'readUnsubscribeToken'
  | 'unsubscribe'
>;

export interface HttpAppOptions {
  /** For routes that need no secret. */
  readonly application: OpenUseCases;
  /** Guards and runs the operations of all other routes. */
  readonly runner: OperationRunner<OperationDeps>;
  /** Takes the consents of mailboxes' owners; default: none can be given. */
  readonly consents?: Pick<AccountConsents, 'answer'>;
  /** Accepted besides the secrets; default: none. */
  readonly keys?: Pick<KeyRing, 'find' | 'refresh' | 'whyRefused'>;
  /** Sessions of browsers; default: none can be opened. */
  readonly sessions?: SessionUseCases;
  /** The folder of the built page; default: no page. */
  readonly page?: string | null;
  /** The folder of the guide, whose pages stand below /api/docs; default: no guide. */
  readonly guide?: string | null;
  /** Failed log-ins, and what callers ask for, also at other doors; default: those here alone. */
  readonly failures?: LoginFailures;
  readonly shares?: CallerShares;
  /** Receives log-ins, in addition to the security log; default: nothing does. */
  readonly access?: AccessLog;
  /** True: all log lines that a request causes contain its ID, not only those of this edge. Default: where that is cheap. */
  readonly followsRequests?: boolean;
  /** Called for each request when it is over; they must not throw. Default: none. */
  readonly observers?: readonly RequestObserver[];
  readonly spool: Spool;
  /** Bearer secrets; any of them is accepted. At least one, none empty. */
  readonly secrets: readonly string[];
  /** Overrides of the defaults in limits.ts. */
  readonly limits?: Partial<HttpLimits>;
  readonly logger: Logger;
  readonly security: SecurityLog;
  /** Addresses and networks whose X-Forwarded-For is trusted to name the client; default: none. */
  readonly trustedProxies?: readonly string[];
  readonly clock: Clock;
  /** Names and addresses of the accounts, which others may imitate; default: none. */
  readonly ownSenders?: OwnSenders;
  /** Names of hosts under which browsers reach the service, beside those of this machine; default: any. */
  readonly hosts?: readonly string[];
  /** Default: HTTP without TLS. */
  readonly tls?: CertificateSource | null;
  /** How long browsers are told to use only https, in days; default: 0, they are not told. */
  readonly hstsDays?: number;
  /** Serves language models at /mcp; default: none. */
  readonly mcp?: McpHandler;
}

export interface HttpApp {
  /** Call `listen` or `inject` on it, and `close` when done, which waits for the requests under way. */
  readonly fastify: FastifyInstance;
  /** Stops taking requests, in steps. */
  readonly shutdown: Pick<Shutdown, 'beginDrain' | 'turnAway' | 'taken' | 'end'>;
}

/** Accepts no key. */
const NO_KEYS: Pick<KeyRing, 'find' | 'refresh' | 'whyRefused'> = {
  find: () => null,
  whyRefused: () => null,
  refresh: () => Promise.resolve(),
};

const NO_ACCESS_LOG: AccessLog = {
  noteLogin: () => undefined,
  noteRight: () => undefined,
  noteSession: () => Promise.resolve(),
};

/** Builds the application. Throws TypeError for bad limits or secrets. */
export function createHttpApp(options: HttpAppOptions): HttpApp {
  const limits = createHttpLimits(options.limits);
  const { application, spool, logger, clock } = options;
  const lingering = new LingeringClose(limits);
  const emailsResponse = createEmailsResponse(limits, logger);
  const { keys = NO_KEYS, sessions = NO_SESSIONS } = options;
  const shutdown = new Shutdown();
  const access = options.access ?? NO_ACCESS_LOG;
  const context: HttpContext<OperationDeps> = {
    perform(request, operation, input, work, folder) {
      const caller = callerOf(request);
      const call = { caller, actor: actorOf(request), input };
      const { perform } = options.runner;
      if (folder === undefined) return perform(operation, call, (own, deps) => work(own, deps, caller));
      return orRemove(folder, (begin) =>
        perform(operation, call, (own, deps) => begin(() => work(own, deps, caller))),
      );
    },
    requireRight: (request, right) => requireRight(request, right, access),
    // Refreshes the copies of keys and of sessions.
    keys: { refresh: () => Promise.all([keys.refresh(), sessions.refresh()]).then(() => undefined) },
    files: application,
    spool,
    limits,
    lingering,
    logger,
    clock,
    ownSenders: options.ownSenders ?? ownSenders([]),
    isDraining: () => shutdown.isDraining,
    stopping: shutdown.stopping,
    ...emailsResponse,
  };
  const now = () => performance.now();
  const { security, trustedProxies = [], followsRequests = FOLLOWING_IS_CHEAP } = options;
  const { tls = null, hstsDays = 0 } = options;
  const handshakes = new Handshakes();
  const slots = new ConnectionSlots({ max: limits.maxConnections, security, now, handshakes });
  const {
    failures = new LoginFailures(security, now),
    shares = new CallerShares({ ratePerMinute: limits.ratePerMinute, atOnce: limits.maxAtOnce }, now),
  } = options;
  const authenticate = createAuthenticator(options.secrets, {
    failures,
    slots,
    shares,
    keys,
    sessions,
    access,
  });
  const closed = new ClosedOperations();
  const handleError = createErrorHandler(limits, lingering, logger, createMistakeFinder(closed, logger));
  const framing = new Framing(limits.maxHeaders);
  const checkHost = options.hosts === undefined ? () => undefined : createHostCheck(options.hosts);

  const app: HttpServer = Fastify({
    // Our own logger writes the important events; a line for each request would be most of the log.
    logger: false,
    genReqId: createRequestId,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // Our hook answers instead, in our format.
    return503OnClosing: false,
    // A starved process takes longer than the default of 10 s to load its own plugins, and would end instead of starting.
    pluginTimeout: 0,
    forceCloseConnections: 'idle',
    // Called for each address that is listened on.
    serverFactory: (handler) => {
      const server = createServer(limits, tls, handler);
      if (tls !== null) handshakes.attach(server);
      slots.attach(server);
      shutdown.attach(server);
      answerExpectations(server);
      return server;
    },
    // A parameter that is too long is invalid, not an unknown path; the length of the URL is bounded anyway.
    routerOptions: { maxParamLength: limits.maxUrlLength },
    clientErrorHandler: createClientErrorHandler(lingering, handshakes),
    // The guard does not see these requests: Fastify can't look for a route.
    frameworkErrors: (error, request, reply) => {
      const unclear = framing.faultOf(request.raw);
      if (unclear !== null) reply.header('connection', 'close');
      handleError(unclear ?? error, request, reply);
    },
    schemaErrorFormatter: toValidationError,
    // Unlisted fields are reported, not removed; errors include the schema, which lists the names that may be meant.
    ajv: { customOptions: { removeAdditional: false, verbose: true } },
    schemaController: { compilersFactory: { buildValidator } },
  });

  // Answers are built field by field, so the schemas have nothing to filter; see email-view.ts.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setErrorHandler(handleError);
  app.removeAllContentTypeParsers();
  // Only the routes that need a body read it.
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.addHook('onSend', (request, reply, _payload, done) => {
    leavePlace(request);
    if (shutdown.isDraining) reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', (done) => {
    shutdown.end();
    lingering.destroyAll();
    handshakes.destroyAll();
    slots.endUnused();
    done();
  });
  app.addHook('onRequest', createRequestWatch(options.observers ?? [], followsRequests));
  app.addHook('onRequest', createGuard({ limits, shutdown, slots, framing, hstsDays, checkHost }));
  app.addHook('preHandler', refuseUnstorable);

  const routes = new RouteTable();
  app.addHook('onRoute', (route) => routes.add(route));
  app.addHook('onRoute', (route) => closed.close(route));
  const page = options.page === undefined || options.page === null ? null : registerPage(app, options.page);
  app.setNotFoundHandler((request, reply) =>
    page?.has(request) === true ? page.send(request, reply) : routes.answerUnrouted(request, reply),
  );
  const log = { sessions, failures, security, access, checkHost };
  registerRoutes(app, context, authenticate, routes, options);
  registerOpenSessionRoute(app, context, log);
  registerSessionRoutes(app, context, authenticate, log);

  return { fastify: app as unknown as FastifyInstance, shutdown };
}

function registerRoutes(
  app: HttpServer,
  context: HttpContext<OperationDeps>,
  authenticate: onRequestHookHandler,
  routes: RouteTable,
  { application, consents, mcp, guide = null, runner }: HttpAppOptions,
): void {
  registerHealthRoutes(app, context, () => application.checkReadiness());
  registerDocumentRoutes(app, context, routes, guide);
  registerSignedImageRoutes(app, context, application);
  registerUnsubscribePage(app, context, application);
  if (consents !== undefined) registerConsentPage(app, context, consents);
  app.register(async (secured: HttpServer) => {
    secured.addHook('onRoute', requireDeclaredRight);
    secured.addHook('onRoute', describeUnknownOutcome);
    secured.addHook('onRequest', authenticate);
    registerThreadRoutes(secured, context);
    registerThreadListRoutes(secured, context);
    registerThreadRecordRoutes(secured, context);
    const sendInput = createSendInput(context);
    registerSendRoutes(secured, context, sendInput);
    registerSendBatchRoutes(secured, context, sendInput);
    registerReplyRoutes(secured, context, sendInput);
    registerDraftRoutes(secured, context, sendInput);
    registerEmailListRoute(secured, context);
    registerChangeSendRoute(secured, context, sendInput);
    registerErasureRoutes(secured, context);
    registerUploadRoutes(secured, context);
    registerInboundRoutes(secured, context);
    registerCustomerEmailsRoute(secured, context);
    registerAmbiguousEmailsRoute(secured, context);
    registerEmailRoutes(secured, context);
    registerSafeHtmlRoutes(secured, context);
    registerEventRoutes(secured, context);
    for (const operation of OPERATIONS) registerOperation(secured, context, operation, runner.run);
    registerPlacementRoutes(secured, context);
    registerRefusedMergeRoutes(secured, context);
    registerAttachmentRoutes(secured, context);
    if (mcp !== undefined) registerMcpRoutes(secured, context, mcp);
  });
}

/** The caller's own ID of the request, or a new one. */
const createRequestId = ({ headers }: Pick<IncomingMessage, 'headers'>): string =>
  readRequestId(headers['x-request-id']) ?? randomUUID();

/** Sends `100 Continue` only when the body is read; other expectations may be ignored (RFC 9110 §10.1.1). */
function answerExpectations(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expectContinue(request);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
}

interface GuardParts {
  readonly limits: HttpLimits;
  readonly shutdown: Shutdown;
  readonly slots: ConnectionSlots;
  readonly framing: Framing;
  readonly hstsDays: number;
  readonly checkHost: HostCheck;
}

/** The checks that every request must pass before its route runs. */
function createGuard({
  limits,
  shutdown,
  slots,
  framing,
  hstsDays,
  checkHost,
}: GuardParts): onRequestHookHandler {
  return (request, reply, done) => {
    setAnswerHeaders(reply);
    if (hstsDays > 0) requireHttps(request, reply, hstsDays);
    const { raw } = request;
    const unclear = framing.faultOf(raw);
    const fault = shutdown.faultOf(request.method);
    if (unclear !== null) {
      reply.header('connection', 'close');
      done(unclear);
    } else if (fault !== null) {
      done(fault);
    } else if (slots.isRefused(raw.socket)) {
      reply.header('connection', 'close');
      done(new ServiceError('busy'));
    } else if ((raw.url ?? '').length > limits.maxUrlLength) {
      done(new ServiceError('uri_too_long'));
    } else {
      done(findHeaderFault(raw) ?? hostFaultOf(request, checkHost));
    }
  };
}

/**
 * A program may use any name: what it shows as a bearer is known to no page of a stranger, and no cookie counts beside it. Names of containers
 * and services so need no setting.
 */
function hostFaultOf(request: FastifyRequest, check: HostCheck): Error | undefined {
  if (request.headers.authorization !== undefined) return undefined;
  try {
    check(request);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
