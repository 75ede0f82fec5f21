/** Entries for tests of the journal, also in child processes, hence plain JavaScript. */

/** A UUID of version 7 whose time is `n`, so that UUIDs sort by `n`. */
export function uuid(n) {
  const time = n.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The attempt of a direct send with every kind of value; `raw` is `rawBytes` long. */
export function makeAttempt(n, rawBytes = 2000) {
  const id = uuid(n);
  const address = (name) => ({ name, localPart: name.toLowerCase(), domain: 'example.com' });
  const email = {
    record: {
      id,
      accountId: 'main',
      threadId: uuid(n + 1),
      placement: { rule: 'in_reply_to', matchedMessageId: 'parent@example.com' },
      messageId: `${id}@example.org`,
      inReplyTo: ['parent@example.com'],
      references: ['root@example.com', 'parent@example.com'],
      from: address('Alice'),
      to: [address('Bob'), address('Zoë 😀')],
      cc: [],
      bcc: [],
      subject: 'Grüße 你好',
      textBody: 'Hello\r\n',
      htmlBody: null,
      date: new Date('2026-01-02T03:04:05.678Z'),
      customerId: null,
      companyId: uuid(n + 2),
      attachments: [],
      rawSizeBytes: rawBytes,
    },
    raw: { kind: 'bytes', bytes: Buffer.alloc(rawBytes, n % 256) },
    attachments: [],
    queue: {
      priority: 'normal',
      lane: 'new',
      dueAt: null,
      dueInMs: 0,
      timedFrom: new Date('2026-01-02T03:04:05.006Z'),
      giveUpAfterMs: 345_600_000,
    },
  };
  const envelope = { mailFrom: null, rcptTo: ['bob@example.com'] };
  return {
    emailId: id,
    claimId: id,
    attempt: 1,
    envelope,
    startedAt: new Date('2026-01-02T03:04:06.001Z'),
    email,
  };
}

/** An attempt of the queue, whose email is in the database. */
export function makeQueued(n, attempt = 1) {
  return { ...makeAttempt(n), claimId: uuid(1_000_000 + attempt), attempt, email: null };
}

export const end = (attempt) => ({
  ...attempt,
  endedAt: new Date('2026-01-02T03:04:07.123Z'),
  result: accepted,
});

export const accepted = {
  kind: 'accepted',
  recipients: [
    {
      address: 'bob@example.com',
      state: 'accepted',
      reply: { code: 250, enhancedStatus: '2.0.0', text: 'queued' },
    },
  ],
  reply: { code: 250, enhancedStatus: '2.0.0', text: 'queued' },
  detail: '250 2.0.0 queued',
  relayMessageId: null,
};

export const silentLogger = { debug() {}, info() {}, warn() {}, error() {} };
