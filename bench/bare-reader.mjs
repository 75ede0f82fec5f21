/** The baseline of reading a thread: bare Fastify, `pg`, and one prepared query that gives the same answer. */
import Fastify from 'fastify';
import pg from 'pg';
import { connectionOf } from './connection.mjs';

const pool = new pg.Pool({ ...connectionOf(process.argv[2]), max: 10 });
pool.on('error', () => {}); // the database may stop first
const app = Fastify();
const query = {
  name: 'thread',
  text: `select e.id, '<' || e.message_id || '>' as message_id, e.direction, e.from_address, e.to_addresses, e.subject, e.text_body, e.date,
      exists (select 1 from email_attachments a where a.email_id = e.id) as has_attachments,
      coalesce((select json_agg(json_build_object('id', a.id, 'filename', a.filename, 'content_type', a.content_type,
        'size_bytes', a.size_bytes, 'storage_path', a.storage_path) order by a.ordinal)
        from email_attachments a where a.email_id = e.id), '[]') as email_attachments
    from emails e where e.thread_id = $1 order by e.date, e.id`,
};
app.get('/api/thread/:threadId', async (request) => {
  const { rows } = await pool.query({ ...query, values: [request.params.threadId] });
  return { emails: rows };
});
console.log(`url ${await app.listen({ port: 0, host: '127.0.0.1' })}`);
process.on('SIGTERM', () => process.exit(0));
