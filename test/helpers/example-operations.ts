/** Runs declared operations by answering with their examples, for tests of the HTTP edge alone. */
import { exampleOf } from '../../src/adapters/http/document/examples.ts';
import type { OperationDeps } from '../../src/app/operations.ts';
import type { RunOperation } from '../../src/platform/operation/run-operation.ts';
import { fromJson, type Properties } from '../../src/platform/operation/values.ts';

export const answerWithExample: RunOperation<OperationDeps> = async ({ id, output }) =>
  fromJson(output.properties ?? {})(exampleOf(output as object, id, 'application/json') as Properties);
