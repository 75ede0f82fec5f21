/** The context that every route receives, and the typed Fastify instance that routes are registered on. */
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
import type { OwnSenders } from '../../../core/address/sender-warnings.ts';
import type { Right } from '../../../core/keys/rights.ts';
import type { EmailsResponse } from './emails-response.ts';
import type { HttpLimits } from '../connections/limits.ts';
import type { LingeringClose } from '../connections/lingering-close.ts';

export interface HttpContext extends EmailsResponse {
  /**
   * The application as the caller of a secured request may use it: objects of others are hidden from a limited key. Routes have no other
   * way to the use cases.
   */
  readonly applicationFor: (request: FastifyRequest) => Application;
  /** Checks a right that only some requests of an operation need. Throws `forbidden_right`. */
  readonly requireRight: (request: FastifyRequest, right: Right) => void;
  /** For long requests, which must check that their key is still valid. */
  readonly keys: Pick<KeyRing, 'refresh'>;
  readonly checkReadiness: Application['checkReadiness'];
  /** The operations that signed addresses allow, for any holder. */
  readonly signedImages: Pick<Application, 'readSignedImage' | 'openAttachment'>;
  /** For recipients, who have a token and no key. */
  readonly unsubscribing: Pick<Application, 'readUnsubscribeToken' | 'unsubscribe'>;
  /** The operations of operators, attributed to the author of the request. */
  readonly operationsFor: (request: FastifyRequest) => Operations;
  readonly spool: Spool;
  readonly limits: HttpLimits;
  readonly lingering: LingeringClose;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The senders of this service, which others may imitate. */
  readonly ownSenders: OwnSenders;
  /** True once load balancers should send no more requests. */
  readonly isDraining: () => boolean;
  /** Aborted when the service begins to stop: requests that wait for events are then answered. */
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
