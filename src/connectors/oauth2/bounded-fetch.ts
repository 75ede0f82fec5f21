/** Requests to OAuth2 servers: bounded in size, and without anything that oauth4webapi does not need. */

/** Access tokens of Microsoft are up to 5 KB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Redirects are not followed: oauth4webapi asks for that. Throws when the answer is too large. */
export async function fetchBounded(url: string, options: RequestOptions): Promise<Response> {
  const { signal, body, ...others } = options;
  const response = await fetch(url, {
    ...others,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early ends the connection.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  const type = response.headers.get('content-type');
  // Fetch standard, "null body status"
  const bodyless = [204, 205, 304].includes(response.status);
  // Only the necessary parts are passed on: a challenge would hide the error in the body.
  return new Response(bodyless ? null : Buffer.concat(chunks), {
    status: response.status,
    headers: type === null ? {} : { 'content-type': type },
  });
}

interface RequestOptions {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly redirect: 'manual';
  readonly body?: URLSearchParams | undefined;
  readonly signal?: AbortSignal | undefined;
}
