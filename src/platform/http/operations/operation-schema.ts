/** What the schema of a route has from the declaration of its operation. */
import { rightsOfOperation, type OperationBasics } from '../../operation/declaration.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** The declared operation of the route, whose runner guards it. Every secured route has one. */
    readonly operation?: OperationBasics;
  }
}

export function schemaOfOperation(operation: OperationBasics) {
  const { all, any } = rightsOfOperation(operation);
  return {
    operation,
    operationId: operation.id,
    ...(any.length > 0 ? { anyRight: any } : { right: all }),
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
  };
}
