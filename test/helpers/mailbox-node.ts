/**
 * One process that reads mailboxes, in everything but being a process: real database, files and use cases. Several of them on one database
 * are several nodes.
 */
import type { CaptureRules } from '../../src/core/mailbox/capture.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { createBlobStore } from '../../src/connectors/blob/create.ts';
import { createSpool } from '../../src/connectors/journal/spool.ts';
import { createReportStore } from '../../src/areas/receive/delivery-reports.ts';
import { createMailboxRecords } from '../../src/areas/mailboxes/mailbox-records.ts';
import { createInboundStore } from '../../src/areas/receive/record-inbound.ts';
import { createVariantStore } from '../../src/areas/emails/variants.ts';
import type { ReceiveRequest, ReceiveResult } from '../../src/areas/receive/use-cases.ts';
import type { MailboxSource } from '../../src/areas/mailboxes/mailbox-ports.ts';
import type { MailboxRecords } from '../../src/areas/mailboxes/mailbox-record-ports.ts';
import type { BlobStore } from '../../src/platform/files/file-ports.ts';
import type { MessageReader } from '../../src/platform/reading/reading-ports.ts';
import { receiveMessage } from '../../src/areas/receive/receive-message.ts';
import { UnreadableMail } from '../../src/platform/reading/unreadable-mail.ts';
import { startMailboxReader } from '../../src/areas/mailboxes/mailbox-reader.ts';
import { directReader } from './direct-reader.ts';
import { silentLogger } from './silent-logger.ts';
import { makeTempFolder } from './temp-folder.ts';
import { createTestPool } from './test-pool.ts';

type Receive = (request: ReceiveRequest) => Promise<ReceiveResult>;

export interface MailboxNodeOptions {
  readonly database: string;
  readonly source: MailboxSource;
  readonly owner?: string;
  /** Default 1000. */
  readonly leaseMs?: number;
  /** Default 100. */
  readonly pollMs?: number;
  /** Default: 1970, so everything is read. */
  readonly since?: Date | null;
  /** Local part of each account's address at example.com. Default: the account's id. */
  readonly localParts?: Readonly<Record<string, string>>;
  /** Default: everything is recorded. */
  readonly capture?: CaptureRules | null;
  /** Default 1 MiB. */
  readonly maxBytes?: number;
  /** Default: a reader without a process. */
  readonly reader?: MessageReader;
  /** Wraps the use case, to inject faults. */
  readonly receive?: (receive: Receive, request: ReceiveRequest) => Promise<ReceiveResult>;
  /** Wraps the database, to inject faults. */
  readonly records?: (records: MailboxRecords) => MailboxRecords;
}

export interface MailboxNode {
  readonly owner: string;
  readonly records: MailboxRecords;
  /** Has the same effect as the watch of a service when accounts are free. */
  look(): void;
  /** Ends everything in order. */
  stop(): Promise<void>;
}

export async function startMailboxNode(options: MailboxNodeOptions): Promise<MailboxNode> {
  const { source, owner = randomUUID(), leaseMs = 1000, pollMs = 100 } = options;
  const folder = await makeTempFolder();
  const pool = createTestPool({ connectionString: options.database }, 8);
  const blobs: BlobStore = await createBlobStore({
    url: null,
    folder: join(folder.path, 'files'),
    credentials: null,
  });
  const spool = createSpool(join(folder.path, 'spool'));
  const accounts = source.accountIds.map((id) => ({
    id,
    from: { name: '', localPart: options.localParts?.[id] ?? id, domain: 'example.com' },
  }));
  const receivePorts = {
    unsubscribe: null,
    requireStorage: () => Promise.resolve(),
    store: createInboundStore(pool),
    reports: createReportStore(pool),
    variants: createVariantStore(pool),
    onApplied: async () => {},
    blobs,
    journal: { keys: () => [], read: () => null },
    accounts: new Map(accounts.map((account) => [account.id, account])),
    defaultAccountId: accounts[0]?.id ?? 'default',
    openFile: (path: string) => createReadStream(path) as AsyncIterable<Buffer>,
    settleUnknown: async () => {},
    clock: () => new Date(),
    ids: { uuid: () => uuidv7(), randomBytes },
    reader: options.reader ?? directReader,
    unreadable: new UnreadableMail(),
    spool,
    logger: silentLogger,
  };
  const records = options.records?.(createMailboxRecords(pool)) ?? createMailboxRecords(pool);
  const since = options.since === undefined ? new Date(0) : options.since;
  const reader = startMailboxReader(
    {
      source,
      records,
      receive(request, spoolFolder) {
        const receive: Receive = (one) => receiveMessage(receivePorts, one, spoolFolder);
        return options.receive?.(receive, request) ?? receive(request);
      },
      reader: options.reader ?? directReader,
      spool,
      mayStoreFiles: () => true,
      clock: () => new Date(),
      logger: silentLogger,
      maxBytes: options.maxBytes ?? 1024 * 1024,
      random: () => 0,
    },
    {
      owner,
      leaseMs,
      pollMs,
      accounts: accounts.map(({ id }) => ({
        id,
        since,
        isOwn: (address: string) => address === `${options.localParts?.[id] ?? id}@example.com`,
        capture: options.capture ?? null,
      })),
    },
  );
  return {
    owner,
    records,
    look: reader.look,
    async stop() {
      await reader.stop();
      await pool.end();
      await folder.remove();
    },
  };
}
