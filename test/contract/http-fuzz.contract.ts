/** The suite behind http-fuzz.test.ts; it can be pointed at anything that answers HTTP requests. */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arbitraryRequest, expectLawful, readOperations, type FuzzTarget } from '../helpers/http-fuzz.ts';
import { runs } from '../helpers/runs.ts';

/** Requests at a time, of an operation that none got through to yet. */
const MORE_RUNS = 30;

export interface OpenFuzzTarget extends FuzzTarget {
  close(): Promise<void>;
}

/** Declares the tests. `open` is called once; `longRuns` is the number of requests per operation in the long form. */
export function describeHttpFuzz(title: string, open: () => Promise<OpenFuzzTarget>, longRuns: number): void {
  const file = new URL('../../docs/openapi.json', import.meta.url);
  const operations = readOperations(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);

  describe(`${title} and its OpenAPI document`, () => {
    let target: OpenFuzzTarget;
    beforeAll(async () => {
      target = await open();
    });
    afterAll(() => target.close());

    it.each(operations)('keeps its promises for $method $path', async (operation) => {
      const statuses = new Set<number>();
      const requests = fc.asyncProperty(arbitraryRequest(operation, target), async (request) => {
        const response = await target.send(request);
        expectLawful(operation, target, request, response);
        statuses.add(response.status);
      });
      const isThrough = () =>
        [...statuses].some((status) => status >= 200 && status < 300) ||
        target.unreachable.includes(operation.path);
      await fc.assert(requests, { numRuns: runs(longRuns) });
      // A generator that never gets through is useless; some operations take more luck than others: other cases than before.
      for (let more = 2; more < 52 && !isThrough(); more += 1)
        await fc.assert(requests, { numRuns: MORE_RUNS, seed: more });
      expect(isThrough()).toBe(true);
    });
  });
}
