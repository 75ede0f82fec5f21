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
import type { Clock, Logger } from '../../base/basics.ts';
import type { Spool, SpoolFolder } from '../../files/file-ports.ts';
import type { KeyRing } from '../../access/key-ring.ts';
import type { OwnSenders } from '../../../core/address/sender-warnings.ts';
import type { Caller } from '../../../core/keys/caller.ts';
import type { Right } from '../../../core/keys/rights.ts';
import type { Resolved, RoutedOperation } from '../../operation/declaration.ts';
import type { StoredFiles } from '../../files/stored-attachment.ts';
import type { EmailsResponse } from './emails-response.ts';
import type { HttpLimits } from '../connections/limits.ts';
import type { LingeringClose } from '../connections/lingering-close.ts';

/** @template Deps what the operations of the routes stand on */
export interface HttpContext<Deps = object> extends EmailsResponse {
  /**
   * Does the work of a route that is written by hand, once the caller of the request may. Routes have no other way to the use cases.
   *
   * @param folder of the request, which the use case takes over; it is removed when the caller is refused before that
   */
  readonly perform: <Input extends object, Output, Rule, Result extends Output>(
    request: FastifyRequest,
    operation: RoutedOperation<Input, Output, Rule, Deps>,
    input: Input,
    work: (input: Resolved<Rule, Input>, deps: Deps, caller: Caller) => Promise<Result>,
    folder?: SpoolFolder,
  ) => Promise<Result>;
  /** Checks a right that only some requests of an operation need. Throws `forbidden_right`. */
  readonly requireRight: (request: FastifyRequest, right: Right) => void;
  /** For long requests, which must check that their key is still valid. */
  readonly keys: Pick<KeyRing, 'refresh'>;
  readonly files: StoredFiles;
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
