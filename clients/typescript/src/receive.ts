/** Hands a received message over to the service. */
import { refuseUnknownOptions, type RequestOptions } from './options.ts';
import { plain, type Transport } from './transport.ts';
import type { QueryOf, ReceiveDetails, Received } from './types.ts';

export async function receiveMessage(
  transport: Transport,
  message: string | Uint8Array | ArrayBuffer | Blob,
  options: RequestOptions & ReceiveDetails,
): Promise<Received> {
  const { account_id, sent, read, ...rest } = options;
  refuseUnknownOptions(rest);
  const query = plain<QueryOf<'receiveEmail'>>({ account_id, sent, read });
  // The service records a message once, however often it is handed over.
  return transport.json({ ...rest, repeatable: true }, (attempt) =>
    transport.api.POST('/api/inbound', {
      ...attempt,
      params: { query },
      headers: { 'Content-Type': 'message/rfc822' },
      body: message as string,
      bodySerializer: (body) => body,
    }),
  );
}
