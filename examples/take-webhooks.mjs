/**
 * Receives webhooks and stores their events. The same event can arrive more than once, for example after a lost answer; it is handled
 * once.
 *
 *   npm run build -w clients/typescript
 *   WEBHOOK_SECRET=whsec_… CRM_DATABASE_URL=postgres://… PORT=4000 node examples/take-webhooks.mjs
 */
import { createServer } from 'node:http';
import { verifyWebhook } from 'email-worker-client/webhooks';
import pg from 'pg';

const { WEBHOOK_SECRET = '', CRM_DATABASE_URL, PORT = '4000', HOST = '127.0.0.1' } = process.env;
/** Events contain no bodies of emails. */
const MAX_BODY_BYTES = 1_000_000;
const pool = new pg.Pool({ connectionString: CRM_DATABASE_URL });

await pool.query(
  'create table if not exists crm_events (event_id text primary key, type text not null, email_id uuid)',
);

const server = createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    (error) => {
      console.error(error);
      // The service tries again.
      response.writeHead(500).end();
    },
  );
});
server.listen(Number(PORT), HOST, () => console.log(`listening on port ${server.address().port}`));

async function take(request) {
  const body = await readBody(request);
  if (body === null) return 413;
  let event;
  try {
    event = verifyWebhook(body, request.headers, WEBHOOK_SECRET);
  } catch (error) {
    console.error(error.message);
    return 400;
  }
  // Everything that the event causes belongs in the same transaction.
  const { rowCount } = await pool.query(
    'insert into crm_events (event_id, type, email_id) values ($1, $2, $3) on conflict do nothing',
    [event.id, event.type, event.email_id],
  );
  console.log(rowCount === 1 ? `${event.type} ${event.email_id ?? ''}` : `again: ${event.id}`);
  return 204;
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
