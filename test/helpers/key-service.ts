/** A service with three accounts, and keys of its API. */
import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './postgres.ts';
import { disposeService, startServiceProcess, type ServiceProcess } from './service-process.ts';
import { writeAccounts } from './thread-decisions.ts';

export type Json = Record<string, unknown>;

export interface MadeKey {
  readonly id: string;
  readonly secret: string;
}

export interface Operation {
  readonly id: string;
  /** Those that are all needed, or those of `any`; undefined: any caller may. */
  readonly rights: readonly string[] | undefined;
  /** One of these is enough. */
  readonly any: readonly string[];
  /** Method and path. */
  readonly call: string;
}

/** Every right but `admin`, which includes them. */
export const SINGLE_RIGHTS = ['read', 'draft', 'send', 'receive', 'handle', 'operate'] as const;

/** `operate` includes `handle`; of these rights, no other includes another. */
const includes = (given: string, right: string): boolean =>
  given === right || (given === 'operate' && right === 'handle');

/** True when a key with this right alone may not carry out the operation, by what the operation declares. */
export const isLacking = ({ rights = [], any }: Operation, given: string): boolean =>
  any.length > 0
    ? !any.some((right) => includes(given, right))
    : !rights.every((right) => includes(given, right));

/** The expected answer. */
export type Expected = readonly [status: number, code: string];

/** For one test file, from its beginning to its end. */
export function useKeyService() {
  let database: TestDatabase;
  let service: ServiceProcess;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    database = await createTestDatabase();
    env = {
      DATABASE_URL: database.connectionString,
      ACCOUNTS_FILE: await writeAccounts('sales', 'support', 'billing'),
      WEBHOOK_ALLOW: '127.0.0.0/8',
    };
    service = await startServiceProcess({ env });
  });
  afterAll(async () => {
    await disposeService(service);
    await database.drop();
  });

  /** @param secret null: the value of `API_SECRET` */
  async function ask(
    secret: string | null,
    target: string,
    init: RequestInit & { json?: unknown } = {},
  ): Promise<{ readonly status: number; readonly text: string; readonly json: Json }> {
    const headers = { ...init.headers, ...(secret === null ? {} : { authorization: `Bearer ${secret}` }) };
    const response = await service.request(target, { ...init, headers });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as Json) : {} };
  }

  async function makeKey(fields: Json, by: string | null = null): Promise<MadeKey> {
    const { status, json, text } = await ask(by, '/api/keys', {
      json: { name: 'a key', account_ids: '*', ...fields },
    });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return { id: (json['key'] as { id: string }).id, secret: json['secret'] as string };
  }

  async function operations(): Promise<readonly Operation[]> {
    const { json } = await ask(null, '/api/openapi.json');
    const paths = json['paths'] as Record<
      string,
      Record<string, { operationId: string; 'x-rights'?: string[]; 'x-any-right'?: string[] }>
    >;
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, 'x-rights': all, 'x-any-right': any }]) => ({
        id: operationId,
        rights: all ?? any,
        any: any ?? [],
        call: `${method.toUpperCase()} ${path}`,
      })),
    );
  }

  return {
    ask,
    makeKey,
    operations,
    get database() {
      return database;
    },
    get service() {
      return service;
    },
    get env() {
      return env;
    },
  };
}

export const codeOf = async (answer: Promise<{ readonly status: number; readonly json: Json }>) => {
  const { status, json } = await answer;
  return [status, json['code']];
};

export const sendBody = (fields: Json = {}) => ({
  to: 'ada@customer.test',
  subject: 'Hi',
  text_body: 'Hi',
  ...fields,
});

/** Not sent while the test runs. */
export const later = () => new Date(Date.now() + 86_400_000).toISOString();
