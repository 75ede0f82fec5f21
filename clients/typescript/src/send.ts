/** Sending: the request, its idempotency key, and the result. */
import { encodeAttachment } from './base64.ts';
import { EmailWorkerError, readError } from './errors.ts';
import { refuseUnknownOptions, type CheckOptions, type SendOptions } from './options.ts';
import type { Attempt, Transport } from './transport.ts';
import type {
  BatchElementResult,
  BatchResult,
  CheckedElement,
  CheckedSend,
  Schemas,
  SendMessage,
  SendResult,
} from './types.ts';

const KEY_BYTES = 16;

/** Calls an operation that answers as `POST /api/send` does. */
export type PostSend = (
  init: Attempt & {
    readonly params: {
      readonly header: Readonly<Record<string, string>>;
      readonly query: { readonly dry_run?: boolean };
    };
    readonly body: object;
    readonly bodySerializer: () => string;
  },
) => Promise<{ data?: SendAnswer; response: Response }>;

const postSend =
  (transport: Transport): PostSend =>
  (init) =>
    transport.api.POST('/api/send', init as never);

export async function sendMessage(
  transport: Transport,
  message: object & Pick<SendMessage, 'attachments'>,
  options: SendOptions,
  post: PostSend = postSend(transport),
): Promise<SendResult> {
  const idempotencyKey = readIdempotencyKey(options);
  const body = JSON.stringify(await withEncodedFiles(message));
  const call = { ...options, repeatable: idempotencyKey !== null, idempotencyKey };
  const { data, response } = await transport.answer(call, (attempt) =>
    post({ ...attempt, ...toInit(message, body, idempotencyKey, options) }),
  );
  return readResult(data, response, idempotencyKey);
}

/** Same as `EmailWorkerClient.checkSend`. */
export async function checkMessage(
  transport: Transport,
  message: object & Pick<SendMessage, 'attachments'>,
  options: CheckOptions,
  post: PostSend = postSend(transport),
): Promise<CheckedSend> {
  refuseUnknownOptions(options, ['queue']);
  const body = JSON.stringify(await withEncodedFiles(message));
  const { data, response } = await transport.answer({ ...options, repeatable: true }, (attempt) =>
    post({ ...attempt, ...toInit(message, body, null, options, { dry_run: true }) }),
  );
  if (data?.status !== 'checked') throw new EmailWorkerError(readError(undefined, response), null);
  return data;
}

/** Same as `EmailWorkerClient.checkBatch`. */
export async function checkBatch(
  transport: Transport,
  messages: readonly SendMessage[],
  options: CheckOptions,
): Promise<readonly CheckedElement[]> {
  refuseUnknownOptions(options, ['queue']);
  const body = JSON.stringify({ emails: await Promise.all(messages.map(withEncodedFiles)) });
  const { data, response } = await transport.answer({ ...options, repeatable: true }, (attempt) =>
    transport.api.POST('/api/send/batch', {
      ...attempt,
      ...toInit({ emails: [] }, body, null, options, { dry_run: true }),
    }),
  );
  if (data?.results?.length !== messages.length)
    throw new EmailWorkerError(readError(undefined, response), null);
  return data.results as CheckedElement[];
}

/** Same as `EmailWorkerClient.sendBatch`. */
export async function sendBatch(
  transport: Transport,
  messages: readonly SendMessage[],
  options: SendOptions,
): Promise<BatchResult> {
  const idempotencyKey = readIdempotencyKey(options);
  const body = JSON.stringify({ emails: await Promise.all(messages.map(withEncodedFiles)) });
  const call = { ...options, repeatable: idempotencyKey !== null, idempotencyKey };
  const { data, response } = await transport.answer(call, (attempt) =>
    transport.api.POST('/api/send/batch', {
      ...attempt,
      ...toInit({ emails: [] }, body, idempotencyKey, options),
    }),
  );
  // Another answer, such as the log-in page of a proxy, must not pass for results.
  if (data?.results?.length !== messages.length)
    throw new EmailWorkerError(readError(undefined, response), idempotencyKey);
  const replayed = response.headers.get('idempotency-replayed') === 'true';
  return { results: data.results as BatchElementResult[], replayed, idempotencyKey };
}

/** Checks the names of all options. */
function readIdempotencyKey(options: SendOptions): string | null {
  refuseUnknownOptions(options, ['idempotencyKey', 'queue']);
  const { idempotencyKey } = options;
  return idempotencyKey === undefined ? makeKey() : readKey(idempotencyKey);
}

async function withEncodedFiles(message: object & Pick<SendMessage, 'attachments'>): Promise<object> {
  const { attachments = null, ...fields } = message;
  return attachments === null
    ? fields
    : { ...fields, attachments: await Promise.all(attachments.map(encodeAttachment)) };
}

/** @param body built once: with one key it must stay the same, whatever the caller changes meanwhile */
function toInit<Body extends object>(
  message: Body,
  body: string,
  idempotencyKey: string | null,
  { queue }: CheckOptions,
  query: { readonly dry_run?: boolean } = {},
) {
  return {
    params: {
      query,
      header: {
        ...(idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...(queue === true ? { Prefer: 'respond-async' } : {}),
      },
    },
    body: message,
    bodySerializer: () => body,
  };
}

type SendAnswer = Schemas['Sent'] | Schemas['Queued'] | Schemas['Partial'] | Schemas['CheckedSend'];

/** Throws EmailWorkerError for an answer that is not from the service. */
export function readResult(
  data: SendAnswer | undefined,
  response: Response,
  idempotencyKey: string | null,
): SendResult {
  // Another answer, such as the log-in page of a proxy, must not pass for a sent email.
  if (data?.status !== 'sent' && data?.status !== 'queued' && data?.status !== 'partial')
    throw new EmailWorkerError(readError(undefined, response), idempotencyKey);
  return { ...data, replayed: response.headers.get('idempotency-replayed') === 'true', idempotencyKey };
}

/** Random. `crypto.randomUUID` is not used, because browsers offer it on https pages only. */
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
