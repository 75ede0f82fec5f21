/** Sending: the request, its idempotency key, and what came of it. */
import { encodeAttachment } from './base64.ts';
import { EmailWorkerError, readError } from './errors.ts';
import type { SendOptions } from './options.ts';
import type { Attempt, Transport } from './transport.ts';
import type { Schemas, SendMessage, SendResult } from './types.ts';

const KEY_BYTES = 16;

/** Asks an operation that answers as `POST /api/send` does. */
type PostSend = (
  init: Attempt & {
    readonly params: { readonly header: Readonly<Record<string, string>> };
    readonly body: object;
    readonly bodySerializer: () => string;
  },
) => Promise<{ data?: SendAnswer; response: Response }>;

export async function sendMessage(
  transport: Transport,
  message: object & Pick<SendMessage, 'attachments'>,
  options: SendOptions,
  post: PostSend = (init) => transport.api.POST('/api/send', init as never),
): Promise<SendResult> {
  const idempotencyKey = options.idempotencyKey === undefined ? makeKey() : readKey(options.idempotencyKey);
  const { attachments = null, ...fields } = message;
  // Made once: with one key the body has to stay the same, whatever the caller changes meanwhile.
  const body = JSON.stringify({
    ...fields,
    ...(attachments === null ? {} : { attachments: await Promise.all(attachments.map(encodeAttachment)) }),
  });
  const call = { ...options, repeatable: idempotencyKey !== null, idempotencyKey };
  const { data, response } = await transport.answer(call, (attempt) =>
    post({
      ...attempt,
      params: {
        header: {
          ...(idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey }),
          ...(options.queue === true ? { Prefer: 'respond-async' } : {}),
        },
      },
      body: message,
      bodySerializer: () => body,
    }),
  );
  return readResult(data, response, idempotencyKey);
}

type SendAnswer = Schemas['Sent'] | Schemas['Queued'] | Schemas['Partial'];

/** Throws EmailWorkerError for what is no answer of the service. */
export function readResult(
  data: SendAnswer | undefined,
  response: Response,
  idempotencyKey: string | null,
): SendResult {
  // Another answer, such as the log-in page of a proxy, must not pass for an email that was sent.
  const status: unknown = data?.status;
  if (data === undefined || (status !== 'sent' && status !== 'queued' && status !== 'partial'))
    throw new EmailWorkerError(readError(undefined, response), idempotencyKey);
  return { ...data, replayed: response.headers.get('idempotency-replayed') === 'true', idempotencyKey };
}

/** Random. Not by `crypto.randomUUID`, which browsers have on https pages only. */
function makeKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function readKey(key: string | null): string | null {
  if (key !== null && (typeof key !== 'string' || !/^[!-~]{1,256}$/.test(key)))
    throw new TypeError('idempotencyKey must be 1 to 256 visible ASCII characters, or null');
  return key;
}
