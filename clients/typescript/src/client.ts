/** The client object that callers make, with its groups of operations. */
import type { CheckOptions, ClientOptions, RequestOptions, SendOptions } from './options.ts';
import { receiveMessage } from './receive.ts';
import { Accounts } from './resources/accounts.ts';
import { Statistics } from './resources/statistics.ts';
import { Audit } from './resources/audit.ts';
import { Attachments } from './resources/attachments.ts';
import { Addresses } from './resources/addresses.ts';
import { Clock } from './resources/clock.ts';
import { Customers } from './resources/customers.ts';
import { Drafts } from './resources/drafts.ts';
import { Emails } from './resources/emails.ts';
import { Events } from './resources/events.ts';
import { Health } from './resources/health.ts';
import { Erasures } from './resources/erasures.ts';
import { Imports } from './resources/imports.ts';
import { Keys } from './resources/keys.ts';
import { Quarantine } from './resources/quarantine.ts';
import { Retention } from './resources/retention.ts';
import { Sessions } from './resources/sessions.ts';
import { Suppressions } from './resources/suppressions.ts';
import { Unsubscribes } from './resources/unsubscribes.ts';
import { BlockedSenders } from './resources/blocked-senders.ts';
import { Rules } from './resources/rules.ts';
import { Templates } from './resources/templates.ts';
import { Threads } from './resources/threads.ts';
import { Webhooks } from './resources/webhooks.ts';
import { Uploads } from './resources/uploads.ts';
import { checkBatch, checkMessage, sendBatch, sendMessage } from './send.ts';
import { Transport } from './transport.ts';
import type {
  BatchResult,
  CheckedElement,
  CheckedSend,
  ReceiveDetails,
  Received,
  SendMessage,
  SendResult,
} from './types.ts';

export class EmailWorkerClient {
  readonly #transport: Transport;
  readonly threads: Threads;
  readonly drafts: Drafts;
  readonly templates: Templates;
  readonly rules: Rules;
  readonly blockedSenders: BlockedSenders;
  readonly emails: Emails;
  readonly attachments: Attachments;
  readonly addresses: Addresses;
  readonly customers: Customers;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly audit: Audit;
  readonly statistics: Statistics;
  readonly imports: Imports;
  readonly suppressions: Suppressions;
  readonly unsubscribes: Unsubscribes;
  readonly accounts: Accounts;
  readonly erasures: Erasures;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly quarantine: Quarantine;
  readonly health: Health;
  readonly uploads: Uploads;

  /** @internal */
  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.threads = new Threads(transport);
    this.drafts = new Drafts(transport);
    this.templates = new Templates(transport);
    this.rules = new Rules(transport);
    this.blockedSenders = new BlockedSenders(transport);
    this.emails = new Emails(transport);
    this.attachments = new Attachments(transport);
    this.addresses = new Addresses(transport);
    this.customers = new Customers(transport);
    this.events = new Events(transport);
    this.webhooks = new Webhooks(transport);
    this.keys = new Keys(transport);
    this.sessions = new Sessions(transport);
    this.audit = new Audit(transport);
    this.statistics = new Statistics(transport);
    this.imports = new Imports(transport);
    this.suppressions = new Suppressions(transport);
    this.unsubscribes = new Unsubscribes(transport);
    this.accounts = new Accounts(transport);
    this.erasures = new Erasures(transport);
    this.retention = new Retention(transport);
    this.clock = new Clock(transport);
    this.quarantine = new Quarantine(transport);
    this.health = new Health(transport);
    this.uploads = new Uploads(transport);
  }

  /**
   * Sends one email. A retry never sends it twice: each call has an idempotency key, its own or the one in the options. Throws
   * EmailWorkerError when nothing was sent, and with `send_unknown` when the outcome is not known.
   */
  send(message: SendMessage, options: SendOptions = {}): Promise<SendResult> {
    return sendMessage(this.#transport, message, options);
  }

  /**
   * Sends up to 500 emails and returns a result for each, in order; a refused email does not stop the others. Call it again with the
   * `idempotencyKey` of the result, and only emails that were not tried are sent.
   */
  sendBatch(messages: readonly SendMessage[], options: SendOptions = {}): Promise<BatchResult> {
    return sendBatch(this.#transport, messages, options);
  }

  /** The email that `send` would send, or the error that it would throw; nothing is sent or recorded. */
  checkSend(message: SendMessage, options: CheckOptions = {}): Promise<CheckedSend> {
    return checkMessage(this.#transport, message, options);
  }

  /** The same for each email of a batch, in order. */
  checkBatch(
    messages: readonly SendMessage[],
    options: CheckOptions = {},
  ): Promise<readonly CheckedElement[]> {
    return checkBatch(this.#transport, messages, options);
  }

  /** Records a received raw message (RFC 5322), or with `sent` one that another program sent. */
  receive(
    message: string | Uint8Array | ArrayBuffer | Blob,
    options: RequestOptions & ReceiveDetails = {},
  ): Promise<Received> {
    return receiveMessage(this.#transport, message, options);
  }
}

/** A client of one service. Throws TypeError when an option is wrong. It keeps no connection and needs no closing. */
export function createClient(options: ClientOptions): EmailWorkerClient {
  return new EmailWorkerClient(options);
}
