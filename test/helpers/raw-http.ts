/** The HTTP app behind a real socket, for clients that write bytes that no HTTP library would. */
import { expect } from 'vitest';
import type { HttpLimits } from '../../src/platform/http/connections/limits.ts';
import type { Application } from '../../src/api/application.ts';
import { createTestHttpApp, SECRET, type TestHttpApp } from './http-app.ts';
import { connectRaw, type RawClient } from './raw-client.ts';
import { createRecordingApplication, type RecordingApplication } from './recording-application.ts';

export interface RawHttp {
  readonly app: TestHttpApp;
  readonly application: RecordingApplication;
  readonly port: number;
  client(): Promise<RawClient>;
  /** Cuts the connections that clients left open, and closes the app. */
  close(): Promise<void>;
}

export async function startRawHttp(
  limits: Partial<HttpLimits> = {},
  overrides: Partial<Application> = {},
): Promise<RawHttp> {
  const application = createRecordingApplication(overrides);
  const app = await createTestHttpApp({ application, limits });
  const port = await app.listen();
  const clients: RawClient[] = [];
  return {
    app,
    application,
    port,
    async client() {
      const made = await connectRaw(port);
      clients.push(made);
      return made;
    },
    async close() {
      for (const { socket } of clients) socket.destroy();
      await app.close();
    },
  };
}

/** The head of a request with the valid secret. */
export const rawRequest = (method: string, path: string, headers: readonly string[] = []): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${SECRET}`, ...headers, '', ''].join(
    '\r\n',
  );

export const rawSend = (...headers: readonly string[]): string =>
  rawRequest('POST', '/api/send', ['Content-Type: application/json', ...headers]);

/** The body of a send without attachments. */
export const SMALL_SEND = JSON.stringify({ to: 'a@example.com', subject: 's', text_body: 't' });

/** The one error in a raw answer. */
export function parseRawError(raw: string): {
  readonly status: number;
  readonly head: string;
  readonly code: unknown;
} {
  const [head = '', body = ''] = raw.split('\r\n\r\n', 2);
  const json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Record<string, unknown>;
  expect(json['error']).toEqual(expect.stringMatching(/\S/));
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), code: json['code'] };
}
