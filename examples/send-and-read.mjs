/**
 * Sends an email with an attachment and reads its thread back.
 *
 *   BASE_URL=http://127.0.0.1:3000 API_SECRET=$(cat data/api-secret) node examples/send-and-read.mjs ada@example.com
 */
const { BASE_URL = 'http://127.0.0.1:3000', API_SECRET = '' } = process.env;
const [to = 'ada@example.com'] = process.argv.slice(2);

async function call(path, body) {
  const response = await fetch(BASE_URL + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${API_SECRET}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  // 207: sent; the service stores it by itself as soon as the database is back.
  if (!response.ok) throw new Error(`${response.status} ${answer.code}: ${answer.error}`);
  return answer;
}

const sent = await call('/api/send', {
  to,
  subject: 'Your offer',
  text_body: 'Here it is.',
  attachments: [
    {
      filename: 'offer.txt',
      content_type: 'text/plain',
      content: Buffer.from('ten euros').toString('base64'),
    },
  ],
});
console.log(`${sent.status}: ${sent.messageId}`);

const { emails } = await call(`/api/thread/${sent.threadId}`);
for (const email of emails) {
  const files = email.email_attachments.map(
    ({ filename, size_bytes }) => `${filename} (${size_bytes} bytes)`,
  );
  console.log(`${email.date} ${email.direction} ${email.subject} [${files.join(', ')}]`);
}
