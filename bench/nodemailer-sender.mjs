/**
 * The baseline of sending: nodemailer alone, pooled. Reads a number of seconds from its input, sends for that long, and prints the number
 * of messages.
 */
import { createInterface } from 'node:readline';
import nodemailer from 'nodemailer';
import { CONCURRENCY, mail } from './workload.mjs';

const [port] = process.argv.slice(2).map(Number);
const transport = nodemailer.createTransport({
  pool: true,
  host: '127.0.0.1',
  port,
  ignoreTLS: true,
  maxConnections: 10,
  maxMessages: Infinity,
});
let count = 0;

async function sendUntil(end) {
  while (performance.now() < end) {
    await transport.sendMail({
      from: 'Bench <bench@example.com>',
      to: mail.to,
      subject: mail.subject,
      text: mail.text_body,
    });
    count += 1;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  count = 0;
  const end = performance.now() + Number(line) * 1000;
  await Promise.all(Array.from({ length: CONCURRENCY }, () => sendUntil(end)));
  console.log(count);
}
transport.close();
