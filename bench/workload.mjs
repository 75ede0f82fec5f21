/** The workload: both sides of a comparison get exactly the same. */
import autocannon from 'autocannon';
import { SECRET } from './processes.mjs';

export const CONCURRENCY = 50;

/** A mail of 2 kB. */
export const mail = {
  to: 'Ada Lovelace <ada@example.org>',
  subject: 'Ihre Bestellung',
  text_body: 'Guten Tag, vielen Dank für Ihre Bestellung bei uns.\n'.repeat(36),
};

const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };

/** Sends the mail again and again. Returns how often; throws when a send was refused. */
export async function post(url, seconds, more = {}) {
  const result = await autocannon({
    url: `${url}/api/send`,
    method: 'POST',
    body: JSON.stringify(mail),
    connections: CONCURRENCY,
    duration: seconds,
    headers: { ...headers, ...more },
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} broken`);
  return result['2xx'];
}
