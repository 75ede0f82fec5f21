/** An endpoint for webhooks: checks every signature with the library of Standard Webhooks, and answers as the test wants. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';

export interface ReceivedEvent {
  /** The value of `webhook-id`. */
  readonly id: string;
  readonly json: Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedEvent[];
  /** Faults of signatures. */
  readonly faults: readonly string[];
  /** The secret to check signatures with from now on; null: they are not checked. */
  secret: string | null;
  /** If false, the time of a signature does not count. Default: true. */
  checksTime: boolean;
  /** Answers the request. Default: 204. */
  respond: (response: ServerResponse, event: ReceivedEvent, request: IncomingMessage) => void;
  ids(): readonly string[];
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedEvent[] = [];
  const faults: string[] = [];
  const server = createServer((request, response) => {
    void take(request, response);
  });
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString();
    const headers = request.headers as Record<string, string>;
    if (receiver.secret !== null) {
      try {
        const webhook = new Webhook(receiver.secret);
        if (receiver.checksTime) webhook.verify(body, headers);
        else if (!headers['webhook-signature']?.split(' ').includes(resign(webhook, headers, body)))
          throw new Error('wrong signature');
      } catch (error) {
        faults.push(String(error));
      }
    }
    const json = JSON.parse(body) as ReceivedEvent['json'];
    const event = { id: headers['webhook-id'] ?? '', json, headers, path: request.url ?? '' };
    if (event.id !== json.id) faults.push(`webhook-id ${event.id} of ${json.id}`);
    received.push(event);
    receiver.respond(response, event, request);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    faults,
    secret: null,
    checksTime: true,
    respond: (response) => void response.writeHead(204).end(),
    ids: () => received.map(({ id }) => id),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}

const resign = (webhook: Webhook, headers: Readonly<Record<string, string>>, body: string): string =>
  webhook.sign(headers['webhook-id'] ?? '', new Date(Number(headers['webhook-timestamp']) * 1000), body);
