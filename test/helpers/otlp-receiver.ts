/** An OpenTelemetry collector for tests: takes traces by OTLP over HTTP in protobuf, and decodes the parts of them that tests need. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

type Value = string | number | boolean;

export interface ReceivedSpan {
  /** In hexadecimal, like the ids of spans. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root span of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'client' | 'internal' | 'server';
  readonly attributes: Readonly<Record<string, Value>>;
  readonly isError: boolean;
  readonly durationMs: number;
  /** Attributes of the service. */
  readonly resource: Readonly<Record<string, Value>>;
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** All received bodies as text, to check that something is not in them. */
  text(): string;
  /** Status of its answers from now on; default: 200. */
  status: number;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const sent = await buffer(request);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      requests.push({ path: request.url ?? '', headers: request.headers });
      bodies.push(body);
      if (receiver.status === 200) spans.push(...decodeSpans(body));
      response.writeHead(receiver.status, { 'content-type': 'application/x-protobuf' }).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    status: 200,
    text: () => Buffer.concat(bodies).toString('latin1'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Number of a field → its values: a number, or bytes. */
type Message = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** The wire format of protobuf: https://protobuf.dev/programming-guides/encoding/ */
function decode(bytes: Buffer): Message {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    const value =
      kind === 0
        ? varint()
        : kind === 1
          ? take(8).readBigUInt64LE()
          : kind === 2
            ? take(Number(varint()))
            : BigInt(take(4).readUInt32LE());
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const bytesOf = (message: Message, field: number) =>
  (message.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
const numberOf = (message: Message, field: number) => (message.get(field)?.[0] as bigint | undefined) ?? 0n;
const messagesOf = (message: Message, field: number) =>
  (message.get(field) ?? []).map((value) => decode(value as Buffer));

/** Fields by their numbers in opentelemetry/proto/trace/v1/trace.proto. */
function decodeSpans(body: Buffer): ReceivedSpan[] {
  return messagesOf(decode(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(decode(bytesOf(resourceSpans, 1)), 1);
    return messagesOf(resourceSpans, 2)
      .flatMap((scopeSpans) => messagesOf(scopeSpans, 2))
      .map((span) => ({
        traceId: bytesOf(span, 1).toString('hex'),
        spanId: bytesOf(span, 2).toString('hex'),
        parentId: bytesOf(span, 4).toString('hex'),
        name: bytesOf(span, 5).toString(),
        kind: (['internal', 'internal', 'server', 'client'] as const)[Number(numberOf(span, 6))]!,
        durationMs: Number(numberOf(span, 8) - numberOf(span, 7)) / 1e6,
        attributes: attributesOf(span, 9),
        isError: numberOf(decode(bytesOf(span, 15)), 3) === 2n,
        resource,
      }));
  });
}

function attributesOf(message: Message, field: number): Record<string, Value> {
  return Object.fromEntries(
    messagesOf(message, field).map((pair) => {
      const value = decode(bytesOf(pair, 2));
      const text = value.get(1)?.[0] as Buffer | undefined;
      if (text !== undefined) return [bytesOf(pair, 1).toString(), text.toString()];
      const key = bytesOf(pair, 1).toString();
      return value.has(2) ? [key, numberOf(value, 2) === 1n] : [key, Number(numberOf(value, 3))];
    }),
  );
}
