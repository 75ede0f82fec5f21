/**
 * Measures the time that an event takes: from the answer to the request that caused it, which comes right after the commit, to its arrival
 * in a stream. At rest, through the process that caused it and through another one on the same database. `BENCH_EVENTS` sets the number of
 * events (200).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionOf } from './connection.mjs';
import { SECRET, startService } from './processes.mjs';

const EVENTS = Number(process.env.BENCH_EVENTS ?? 200);
/** The random pause between two events, in ms: no rhythm of the service must help or hinder. */
const PAUSE_MS = [50, 250];
const headers = { authorization: `Bearer ${SECRET}` };

/** The arrivals of a stream, by email; resolves once the stream is open. */
async function follow(url) {
  const response = await fetch(`${url}/api/events?type=email.received`, {
    headers: { ...headers, accept: 'text/event-stream' },
  });
  const arrivals = new Map();
  (async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body) {
      const now = performance.now();
      text += decoder.decode(chunk, { stream: true });
      for (const [, json] of text.matchAll(/^data: (\{.*)\n/gm)) arrivals.set(JSON.parse(json).email_id, now);
      text = text.slice(text.lastIndexOf('\n') + 1);
    }
  })().catch(() => undefined);
  return arrivals;
}

async function receive(url, index) {
  const message = `From: ada@example.org\r\nTo: sales@example.com\r\nSubject: ${index}\r\nMessage-ID: <${index}.${Date.now()}@example.org>\r\n\r\nHello\r\n`;
  const response = await fetch(`${url}/api/inbound`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'message/rfc822' },
    body: message,
  });
  if (!response.ok) throw new Error(`inbound: ${response.status} ${await response.text()}`);
  const { id } = await response.json();
  return { id, at: performance.now() };
}

const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

const first = await startService();
const { host, port, user, database } = connectionOf(first.dataDir);
const second = await startService({
  DATABASE_URL: `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`,
});
try {
  const [own, other] = await Promise.all([follow(first.url), follow(second.url)]);
  const recorded = [];
  for (let index = 0; index < EVENTS; index += 1) {
    recorded.push(await receive(first.url, index));
    await sleep(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]));
  }
  await sleep(1000);
  for (const [name, arrivals] of [
    ['of the process that recorded it', own],
    ['of another process', other],
  ]) {
    const lost = recorded.filter(({ id }) => !arrivals.has(id)).length;
    if (lost > 0) throw new Error(`${lost} of ${EVENTS} events did not come`);
    const delays = recorded.map(({ id, at }) => arrivals.get(id) - at);
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => `${quantile(delays, share).toFixed(0)} ms`);
    console.log(
      `from commit to a stream ${name}: p50 ${p50}, p99 ${p99}, longest ${max} (goal: below 200 ms)`,
    );
  }
} finally {
  await second.stop();
  await first.stop();
}
