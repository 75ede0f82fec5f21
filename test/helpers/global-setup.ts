/** Vitest's global set-up: provides the PostgreSQL server of the run; see test-server.ts. */
import type { TestProject } from 'vitest/node';
import { offerTestServer } from './test-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the socket to ask for the server. */
    testServerPath: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const offer = await offerTestServer();
  project.provide('testServerPath', offer.path);
  return () => offer.stop();
}
