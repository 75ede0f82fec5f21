/**
 * What every route gets, and the typed Fastify instance they are registered on.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify';
import type { XStatic } from 'typebox/schema';
import type { Application } from '../../../app/application.ts';
import type { Operations } from '../../../app/audit-operations.ts';
import type { Clock, Logger } from '../../../app/base/basics.ts';
import type { Spool } from '../../../app/files/file-ports.ts';
import type { KeyRing } from '../../../app/keys/key-ring.ts';
import type { Right } from '../../../core/keys/rights.ts';
import type { EmailsResponse } from './emails-response.ts';
import type { HttpLimits } from '../connections/limits.ts';
import type { LingeringClose } from '../connections/lingering-close.ts';

export interface HttpContext extends EmailsResponse {
  /**
   * The application as the caller of a secured request may use it: all that is another's is hidden from a limited key. The one way
   * from a route to the use cases.
   */
  readonly applicationFor: (request: FastifyRequest) => Application;
  /** For a right that only some requests of an operation need. Throws `forbidden_right`. */
  readonly requireRight: (request: FastifyRequest, right: Right) => void;
  /** For requests that last: whether their key still opens. */
  readonly keys: Pick<KeyRing, 'refresh'>;
  readonly checkReadiness: Application['checkReadiness'];
  /** What signed addresses open, for any holder. */
  readonly signedImages: Pick<Application, 'readSignedImage' | 'openAttachment'>;
  /** For recipients, who have a token and no key. */
  readonly unsubscribing: Pick<Application, 'readUnsubscribeToken' | 'unsubscribe'>;
  /** What operators do, as acts of the one whose request it is. */
  readonly operationsFor: (request: FastifyRequest) => Operations;
  readonly spool: Spool;
  readonly limits: HttpLimits;
  readonly lingering: LingeringClose;
  readonly logger: Logger;
  readonly clock: Clock;
  /** True from the moment on that load balancers are to send no more. */
  readonly isDraining: () => boolean;
  /** Aborted when the service begins to stop: requests that wait for events are answered then. */
  readonly stopping: AbortSignal;
}

/**
 * Derives the types of parameters and queries from their JSON schemas. Only the types of TypeBox are used: building
 * the schemas with it at run time costs 195 ms and 20 MB at each start.
 */
export interface SchemaTypes extends FastifyTypeProvider {
  validator: XStatic<this['schema']>;
  serializer: unknown;
}

export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  SchemaTypes
>;
