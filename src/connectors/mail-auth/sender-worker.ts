/** The thread that checks senders. It checks many messages at once, since they wait for DNS; hashing keeps only this thread busy. */
import { Resolver } from 'node:dns/promises';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import type { AuthResults } from '../../core/message/authentication.ts';
import { BoundedLookups, type Lookup } from './bounded-lookups.ts';
import { checkMessage } from './check-message.ts';
import type { SenderAnswer, SenderQuestion } from './check-senders.ts';

const { dnsServers } = workerData as { readonly dnsServers: readonly string[] };

/** One try of a server, in ms; as many tries as the system's resolver makes. */
const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;

const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
if (dnsServers.length > 0) resolver.setServers(dnsServers);
const lookups = new BoundedLookups(
  (domain, type) => resolver.resolve(domain, type) as ReturnType<Lookup>,
  () => performance.now(),
);

parentPort?.on('message', (question: SenderQuestion) => {
  const { id } = question;
  check(question, (results) => say({ kind: 'known', id, results })).then(
    (results) => say({ kind: 'checked', id, results }),
    (error: unknown) =>
      say({ kind: 'unread', id, detail: error instanceof Error ? error.message : String(error) }),
  );
});

const say = (answer: SenderAnswer): void => parentPort?.postMessage(answer, []);

async function check(
  { raw, client, mailFrom }: SenderQuestion,
  tell: (known: AuthResults) => void,
): Promise<AuthResults> {
  const message = raw.kind === 'bytes' ? Readable.from([Buffer.from(raw.bytes)]) : createReadStream(raw.path);
  return await checkMessage(message, { client, mailFrom }, () => lookups.ofCheck(), tell);
}
