/** The requests of the load: all shapes of a send, each identified by a token in its subject. */
import { createHash } from 'node:crypto';
import type { Random } from './random.ts';

export interface LoadRequest {
  /** Unique; part of the subject, and so of the message and of the record. */
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments: readonly { readonly filename: string; readonly sha256: string }[];
  /** The mail server's answer, when the message gets that far. */
  readonly fate: 'accept' | 'refuse' | 'defer';
  /** Answered with 202 and sent by the queue. */
  readonly asynchronous: boolean;
  /** The client cancels it once it has its 202. */
  readonly cancelled: boolean;
  /** The client goes away after this time, in ms; null if it waits. */
  readonly patienceMs: number | null;
}

/** Threads and messages from earlier answers, to be answered. */
export interface Known {
  readonly threadId: string;
  readonly messageId: string;
}

/** @param asynchronousShare of the requests, from 0 to 1 */
export function makeRequest(
  random: Random,
  token: string,
  known: readonly Known[],
  asynchronousShare: number,
): LoadRequest {
  const fate = random.chance(0.1) ? random.pick(['refuse', 'defer', 'defer'] as const) : 'accept';
  const late = random.chance(0.5);
  const suffix = fate === 'accept' || !late ? '' : ` [${fate}]`;
  const domain = fate === 'accept' || late ? 'example.com' : DOMAINS[fate];
  const attachments = makeAttachments(random);
  const parent = known.length > 0 && random.chance(0.3) ? random.pick(known) : null;
  const asynchronous = random.chance(asynchronousShare);
  return {
    token,
    fate,
    asynchronous,
    cancelled: asynchronous && random.chance(0.15),
    patienceMs: random.chance(0.05) ? random.integer(0, 60) : null,
    attachments: attachments.map(({ filename, bytes }) => ({ filename, sha256: sha256(bytes) })),
    headers: {
      ...(random.chance(0.35) ? { 'idempotency-key': token } : {}),
      ...(asynchronous ? { prefer: 'respond-async' } : {}),
    },
    body: {
      to: `Kundin <kundin-${random.integer(1, 50)}@${domain}>`,
      // Not beside a refused recipient: if one of several recipients is accepted, so is the message.
      ...(fate === 'accept' && random.chance(0.2) ? { cc: 'cc@example.org', bcc: 'bcc@example.org' } : {}),
      subject: `${token}${suffix}`,
      ...(asynchronous && random.chance(0.3)
        ? { send_at: new Date(Date.now() + random.integer(300, 2_000)).toISOString() }
        : {}),
      ...makeBodies(random),
      ...(parent === null
        ? {}
        : random.chance(0.5)
          ? { thread_id: parent.threadId }
          : { in_reply_to: parent.messageId }),
      ...(attachments.length === 0
        ? {}
        : {
            attachments: attachments.map(({ filename, bytes }) => ({
              filename,
              content: bytes.toString('base64'),
              content_type: 'application/octet-stream',
            })),
          }),
    },
  };
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const DOMAINS = { refuse: 'refused.test', defer: 'later.test' } as const;

/** Small attachments stay in memory, large ones go through the spool. */
function makeAttachments(random: Random): readonly { filename: string; bytes: Buffer }[] {
  const kind = random.next();
  if (kind < 0.6) return [];
  const [count, min, max] = kind < 0.85 ? [random.integer(1, 3), 10, 20_000] : [1, 200_000, 900_000];
  return Array.from({ length: count }, (_, index) => ({
    filename: `anlage-${index + 1}.bin`,
    bytes: random.bytes(random.integer(min, max)),
  }));
}

function makeBodies(random: Random): Readonly<Record<string, string>> {
  const text = 'Sehr geehrte Damen und Herren,\r\n.\r\n..\nmit freundlichen Grüßen\n'.repeat(
    random.chance(0.1) ? random.integer(500, 2_000) : random.integer(1, 20),
  );
  const kind = random.next();
  if (kind < 0.6) return { text_body: text };
  if (kind < 0.8) return { html_body: `<p>${text}</p>` };
  return { text_body: text, html_body: `<p>${text}</p>` };
}
