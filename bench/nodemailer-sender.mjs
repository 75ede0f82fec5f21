/** The baseline of sending: nodemailer alone, pooled. Prints messages per second. */
import nodemailer from 'nodemailer';
import { CONCURRENCY, mail } from './workload.mjs';

const [port, seconds] = process.argv.slice(2).map(Number);
const transport = nodemailer.createTransport({
  pool: true,
  host: '127.0.0.1',
  port,
  ignoreTLS: true,
  maxConnections: 10,
  maxMessages: Infinity,
});
let count = 0;
const run = async (ms) => {
  const end = performance.now() + ms;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (performance.now() < end) {
        await transport.sendMail({
          from: 'Bench <bench@example.com>',
          to: mail.to,
          subject: mail.subject,
          text: mail.text_body,
        });
        count += 1;
      }
    }),
  );
};
await run(1000);
count = 0;
const started = performance.now();
await run(seconds * 1000);
console.log(`rate ${count / ((performance.now() - started) / 1000)}`);
transport.close();
