/** The HTTP edge over an Application that the test supplies, with a real spool below a temporary folder. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '../../src/api/app.ts';
import type { HttpLimits } from '../../src/platform/http/connections/limits.ts';
import { createSpool } from '../../src/connectors/journal/spool.ts';
import type { Application } from '../../src/api/application.ts';
import type { OperationDeps } from '../../src/api/operations.ts';
import type { RunOperation } from '../../src/platform/operation/run-operation.ts';
import type { Logger } from '../../src/platform/base/basics.ts';
import type { SessionUseCases } from '../../src/platform/access/session-use-cases.ts';
import { answerWithExample, createRunner } from './example-operations.ts';
import { makeTempFolder } from './temp-folder.ts';

export const SECRET = 'test-secret';
export const AUTHORIZED = { authorization: `Bearer ${SECRET}` } as const;

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface TestHttpApp extends HttpApp {
  readonly logs: readonly LogLine[];
  /** Events of the security log. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** Listens on a free port of the loopback interface. */
  listen(): Promise<number>;
  /** Names of everything in the spool. */
  spooled(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface TestHttpAppOptions {
  readonly application: Application;
  readonly limits?: Partial<HttpLimits>;
  readonly secrets?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly clock?: () => Date;
  readonly sessions?: SessionUseCases;
  readonly keys?: HttpAppOptions['keys'];
  readonly observers?: HttpAppOptions['observers'];
  /** Default: declared operations answer with their examples. */
  readonly runOperation?: RunOperation<OperationDeps>;
  /** Default: true. */
  readonly followsRequests?: boolean;
  readonly tls?: HttpAppOptions['tls'];
  readonly hstsDays?: number;
  /** The folder of a built page. */
  readonly page?: string;
  /** The folder of the guide. */
  readonly guide?: string;
}

export async function createTestHttpApp(options: TestHttpAppOptions): Promise<TestHttpApp> {
  const temp = await makeTempFolder();
  const root = join(temp.path, 'spool');
  const logs: LogLine[] = [];
  const events: Record<string, unknown>[] = [];
  const log = (level: keyof Logger) => (fields: object, message: string) => {
    logs.push({ level, fields: fields as LogLine['fields'], message });
  };
  const app = createHttpApp({
    application: options.application,
    runner: { ...createRunner(options.application), run: options.runOperation ?? answerWithExample },
    spool: createSpool(root),
    secrets: options.secrets ?? [SECRET],
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    security: { note: (event, fields) => events.push({ event, ...fields }) },
    ...(options.trustedProxies === undefined ? {} : { trustedProxies: options.trustedProxies }),
    ...(options.sessions === undefined ? {} : { sessions: options.sessions }),
    ...(options.keys === undefined ? {} : { keys: options.keys }),
    observers: options.observers ?? [],
    followsRequests: options.followsRequests ?? true,
    page: options.page ?? null,
    guide: options.guide ?? null,
    tls: options.tls ?? null,
    hstsDays: options.hstsDays ?? 0,
    clock: options.clock ?? (() => new Date()),
  });
  return {
    ...app,
    logs,
    events,
    async listen() {
      await app.fastify.listen({ port: 0, host: '127.0.0.1' });
      return (app.fastify.server.address() as AddressInfo).port;
    },
    spooled: () => readdir(root).catch(() => []),
    async close() {
      await app.fastify.close();
      await temp.remove();
    },
  };
}
