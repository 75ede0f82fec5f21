/**
 * One instance of the service below HTTP: real database, journal, files and mail connection, with a queue that has short times. Several of
 * them on one database are several processes in everything but being processes.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { alwaysCertain } from './always-certain.ts';
import { createBlobStore } from '../../src/connectors/blob/create.ts';
import { LmdbJournal } from '../../src/connectors/journal/lmdb-journal.ts';
import { createSpool } from '../../src/connectors/journal/spool.ts';
import { createExchangeStore } from '../../src/areas/send/automatic-exchanges.ts';
import { createMessageStore } from './mail-stores.ts';
import { createSendOperations } from '../../src/areas/send/send-operations.ts';
import { createSendQueue } from '../../src/areas/send/send-queue-store.ts';
import { createUploadStore } from '../../src/areas/uploads/upload-store.ts';
import { createWaitingSends } from '../../src/areas/send/waiting-sends.ts';
import { createTemplateStore } from '../../src/areas/templates/template-store.ts';
import { createSmtpTransport } from '../../src/connectors/smtp-out/smtp-transport.ts';
import { parseSmtpUrl } from '../../src/connectors/smtp-out/smtp-url.ts';
import type { CertainUntil } from '../../src/platform/base/clock-guard.ts';
import type { Timers } from '../../src/platform/base/timers.ts';
import type { Application } from '../../src/api/application.ts';
import type { SendChange, SendRequest, SendResult } from '../../src/areas/send/use-cases.ts';
import { createSendChanges } from '../../src/areas/send/change-send.ts';
import type { EmailState } from '../../src/core/delivery/states.ts';
import { withEverything } from '../../src/core/keys/caller.ts';
import { createSendActs } from '../../src/areas/send/operate-sends.ts';
import { createActiveSends } from '../../src/areas/send/active-sends.ts';
import { createHeldClaims } from '../../src/areas/send/held-claims.ts';
import { createSettling } from '../../src/areas/send/settling.ts';
import type { EmailDetail } from '../../src/areas/emails/email-ports.ts';
import type { Transport } from '../../src/areas/send/transport-ports.ts';
import { createFillTemplate } from '../../src/areas/templates/fill-template.ts';
import { createReads } from '../../src/areas/emails/read-emails.ts';
import { sendMessage } from '../../src/areas/send/send-message.ts';
import type { RateLimit } from '../../src/core/delivery/rate-window.ts';
import { startSendQueue, type SendQueueLoop } from '../../src/areas/send/send-queue-loop.ts';
import { directReader } from './direct-reader.ts';
import { SAMPLE_SEND } from './sample-send.ts';
import { silentLogger } from './silent-logger.ts';
import { makeTempFolder, type TempFolder } from './temp-folder.ts';
import { createTestPool } from './test-pool.ts';

export interface QueueNodeOptions {
  readonly database: string;
  readonly smtpUrl: string;
  /** Default: no limit. */
  readonly rate?: RateLimit;
  /** Default 4. */
  readonly slots?: number;
  /** Default [100]. */
  readonly delaysMs?: readonly [number, ...number[]];
  /** Default: an hour. */
  readonly giveUpAfterMs?: number;
  /** Default 2000. */
  readonly leaseMs?: number;
  /** Takes over the folder, and so the identity, of an earlier node. */
  readonly successorOf?: QueueNode;
  /** Wraps the transport, to inject faults. */
  readonly wrap?: (transport: Transport) => Transport;
  /** Default true. */
  readonly work?: boolean;
  /** Default: the clocks are right. */
  readonly certainUntil?: CertainUntil;
  /** Default: those of the system. */
  readonly timers?: Timers;
}

export interface QueueNode extends Pick<Application, 'listEmails'> {
  cancelSend(id: string): Promise<EmailState>;
  retrySend(id: string): Promise<EmailState>;
  resolveSend(id: string, outcome: 'sent' | 'failed'): Promise<EmailState>;
  readonly owner: string;
  readonly folder: TempFolder;
  readonly queue: ReturnType<typeof createSendQueue>;
  readonly journal: LmdbJournal;
  send(request?: Partial<SendRequest>): Promise<SendResult>;
  /** Puts a `send` into the queue; returns the email's id. */
  enqueue(request?: Partial<SendRequest>): Promise<string>;
  read(id: string): Promise<EmailDetail>;
  /** Default version: the email's current one. */
  change(
    id: string,
    change: SendChange,
    version?: number | null,
    keyId?: string | null,
  ): Promise<EmailDetail>;
  /** Starts the loop, for a node made with `work: false`. */
  start(): void;
  /** Ends everything; the folder remains. */
  stop(): Promise<void>;
}

const OPERATOR = withEverything({ kind: 'secret', number: 1 });

const ACCOUNT = {
  id: 'default',
  from: { name: 'Test', localPart: 'test', domain: 'example.com' },
} as const;

const SMTP_LIMITS = {
  maxConnections: 4,
  connectTimeoutMs: 2000,
  greetingTimeoutMs: 2000,
  commandTimeoutMs: 2000,
  dataTimeoutMs: 5000,
};

const NO_LIMIT: RateLimit = { perMinute: null, perDay: null };

export async function startQueueNode(options: QueueNodeOptions): Promise<QueueNode> {
  const folder = options.successorOf?.folder ?? (await makeTempFolder());
  const logger = silentLogger;
  const pool = createTestPool({ connectionString: options.database }, 6);
  const store = createMessageStore(pool);
  const blobs = await createBlobStore({
    url: null,
    folder: join(folder.path, 'files'),
    credentials: null,
  });
  const spool = createSpool(join(folder.path, 'spool'));
  const journal = await LmdbJournal.open({ folder: join(folder.path, 'journal'), spool, logger });
  const smtp = createSmtpTransport({ ...parseSmtpUrl(options.smtpUrl, SMTP_LIMITS), logger });
  const transport = options.wrap?.(smtp) ?? smtp;
  const queue = createSendQueue(pool, options.certainUntil ?? alwaysCertain);
  const active = createActiveSends().sends;
  const clock = () => new Date();
  const rate = options.rate ?? NO_LIMIT;
  const retry = {
    schedule: {
      delaysMs: options.delaysMs ?? ([100] as const),
      giveUpAfterMs: options.giveUpAfterMs ?? 3_600_000,
    },
    random: () => 0.5,
  };
  let loop: SendQueueLoop | null = null;
  const wakeQueue = () => loop?.wake();
  const operations = createSendActs({ operations: createSendOperations(pool), retry, wakeQueue });
  const shared = {
    store,
    settleUnknown: operations.settleUnknown,
    compareCopies: async () => {},
    blobs,
    journal,
    retry,
    clock,
    logger,
    queue,
    requireStorage: () => Promise.resolve(),
    active,
    held: createHeldClaims(),
    settling: createSettling(),
    transportOf: () => transport,
  };
  const sendPorts = {
    ...shared,
    rateOf: () => (rate === NO_LIMIT ? null : rate),
    wakeQueue,
    accounts: new Map([[ACCOUNT.id, ACCOUNT]]),
    defaultAccountId: ACCOUNT.id,
    ids: { uuid: () => uuidv7(), randomBytes },
    reader: directReader,
    openFile: (path: string) => createReadStream(path),
    maxRecipients: 100,
    files: createUploadStore(pool),
    loopLimit: null,
    exchanges: createExchangeStore(pool),
    suppressions: { refuseSuppressed: () => null },
    fillTemplate: createFillTemplate({ templates: createTemplateStore(pool), reader: directReader, logger }),
    unsubscribing: {
      linksOf: async () => ({ url: 'https://mail.example.com/unsubscribe/x', mailto: null }),
    },
  };
  const start = () => {
    loop ??= startSendQueue(
      { ...shared, spool, mayReadFiles: () => true },
      {
        accounts: [{ id: ACCOUNT.id, slots: options.slots ?? 4, rate }],
        leaseMs: options.leaseMs ?? 2000,
        pollMs: 20,
        ...(options.timers === undefined ? {} : { timers: options.timers }),
      },
    );
  };
  if (options.work !== false) start();

  const send = (request: Partial<SendRequest> = {}) =>
    sendMessage(sendPorts, { ...SAMPLE_SEND, ...request }, spool.create());
  const reads = createReads(store, blobs);
  const { changeSend } = createSendChanges({
    ...sendPorts,
    waiting: createWaitingSends(pool),
    readEmail: reads.readEmail,
  });
  return {
    cancelSend: (id) => operations.cancel(OPERATOR, id),
    retrySend: (id) => operations.retry(OPERATOR, id),
    resolveSend: (id, outcome) => operations.resolve(OPERATOR, id, outcome),
    listEmails: reads.listEmails,
    owner: journal.owner,
    folder,
    queue,
    journal,
    send,
    async enqueue(request = {}) {
      const result = await send({ respondAsync: true, ...request });
      if (result.kind !== 'queued') throw new Error(`the send is ${result.kind}`);
      return result.id;
    },
    read: (id) => reads.readEmail(id),
    async change(id, change, version = null, keyId = null) {
      const asked = version ?? (await reads.readEmail(id)).sendVersion ?? 1;
      return changeSend(id, asked, change, spool.create(), keyId);
    },
    start,
    async stop() {
      await loop?.stop();
      await active.idle();
      await transport.close();
      await journal.close();
      await pool.end();
    },
  };
}
