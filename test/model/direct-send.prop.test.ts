/**
 * Sends for which the caller waits, and sends that go into the queue, with and without an `Idempotency-Key`: the real use case, replay of
 * the journal and settling of keys, over a model of the database, the journal and the mail server. Callers repeat their requests at any
 * time and at either of two processes.
 */
import type fc from 'fast-check';
import { it } from 'vitest';
import type { SendOutcome, SendRequest } from '../../src/areas/send/use-cases.ts';
import { type KeyHold, createKeyWork } from '../../src/areas/send/idempotency.ts';
import { createActiveSends } from '../../src/areas/send/active-sends.ts';
import { createHeldClaims } from '../../src/areas/send/held-claims.ts';
import { createSettling } from '../../src/areas/send/settling.ts';
import type { BlobStore, Content, SpoolFolder } from '../../src/platform/files/file-ports.ts';
import type { EmailDetail } from '../../src/areas/emails/email-ports.ts';
import type { JournalEntry } from '../../src/areas/send/journal-ports.ts';
import type { OutboundRecord } from '../../src/areas/send/outbound-ports.ts';
import type { MessageStore } from '../helpers/mail-stores.ts';
import type { Transport, TransportResult } from '../../src/areas/send/transport-ports.ts';
import { sendMessage, type SendMessagePorts } from '../../src/areas/send/send-message.ts';
import { sendOnce } from '../../src/areas/send/send-once.ts';
import { createKeySettlement } from '../../src/areas/send/settle-keys.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { startJournalSettler } from '../../src/areas/send/journal-settler.ts';
import { startKeySettler } from '../../src/areas/send/key-settler.ts';
import { createMemoryJournal, type Disk } from '../helpers/memory-journal.ts';
import { directReader } from '../helpers/direct-reader.ts';
import { SAMPLE_SEND } from '../helpers/sample-send.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { createDisks, Nodes, resultOf, expectModel } from './expect-model.ts';
import { World, type Process } from './world.ts';
import { runs } from '../helpers/runs.ts';

const RUNS = runs(500);
const STEPS = 350;
const MAX_HEALING_STEPS = 4_000;
/** How long the database continues with a statement whose client fell silent. */
const STATEMENT_TIMEOUT_MS = 500;

/** A caller that repeats one request until an answer settles it. */
interface Caller {
  readonly subject: string;
  readonly key: string | null;
  readonly respondAsync: boolean;
  /** Kinds of outcomes, and codes of failures. */
  readonly answers: string[];
  isDone: boolean;
}

interface Key {
  readonly hold: KeyHold;
  readonly owner: string;
  readonly fingerprint: Buffer;
  outcome: SendOutcome | null;
}

interface Node {
  readonly process: Process;
  send(caller: Caller): Promise<SendOutcome>;
}

const FOLDER: SpoolFolder = {
  write: () => Promise.reject(new Error('unused')),
  adopt: () => Promise.reject(new Error('unused')),
  remove: async () => {},
};

class SendWorld {
  readonly world: World;
  readonly nodes: Nodes<Node>;
  readonly emails = new Map<string, OutboundRecord>();
  readonly keys = new Map<string, Key>();
  readonly callers: readonly Caller[];
  /** Subjects in the order in which the mail server accepted them, or the queue got them. */
  readonly sent: string[] = [];
  readonly #disks = createDisks<JournalEntry>();
  /** Records can't be written for a while, though keys can: because of a lock, or unavailable file storage. */
  #cannotRecord = false;
  #ids = 0;

  constructor(scheduler: fc.Scheduler, seed: number) {
    this.world = new World(scheduler, seed, STATEMENT_TIMEOUT_MS);
    this.callers = Array.from({ length: 6 }, (_, index) => ({
      subject: `subject-${index}`,
      key: index < 4 ? `key-${index}` : null,
      respondAsync: index % 2 === 1,
      answers: [],
      isDone: false,
    }));
    this.nodes = new Nodes(this.world, (process, name) =>
      this.#launch(process, name, this.#disks.get(name)!),
    );
  }

  #launch(process: Process, name: string, disk: Disk): Node {
    const journal = createMemoryJournal(name, disk, (label, effect) => process.write(label, effect));
    const store = this.#store(process);
    const keys = this.#keys(process, name);
    const work = createKeyWork();
    const ids = {
      uuid: () => this.#uuid(),
      randomBytes: (size: number) => Buffer.alloc(size, (this.#ids += 1)),
    };
    const shared = {
      store,
      emails: store,
      journal,
      requireStorage: () => Promise.resolve(),
      active: createActiveSends().sends,
      held: createHeldClaims(),
      settling: createSettling(),
      ids,
      keys,
      work,
      clock: () => new Date(process.timers.now()),
      timers: process.timers,
      logger: silentLogger,
      blobs: {} as BlobStore,
      openFile: () => {
        throw new Error('unused');
      },
      retry: { schedule: { delaysMs: [20] as const, giveUpAfterMs: 100_000 }, random: () => 0.5 },
      settleUnknown: async () => {},
      compareCopies: async () => {},
    };
    const sendPorts: SendMessagePorts = {
      ...shared,
      accounts: new Map([
        ['default', { id: 'default', from: { name: '', localPart: 'a', domain: 'example.com' } }],
      ]),
      defaultAccountId: 'default',
      transportOf: () => this.#transport(process),
      fillTemplate: () => Promise.reject(new Error('unused')),
      rateOf: () => null,
      queue: { takeRoom: async () => 0, settle: () => Promise.reject(new Error('unused')) },
      wakeQueue: () => {},
      maxRecipients: 10,
      files: { findFiles: async () => [] },
      loopLimit: null,
      exchanges: { nthNewest: async () => null },
      suppressions: { refuseSuppressed: () => null },
      unsubscribing: {
        linksOf: async () => ({ url: 'https://mail.example.com/unsubscribe/x', mailto: null }),
      },
      reader: directReader,
    };
    startJournalSettler(sendPorts, () => {}, process.timers);
    startKeySettler(
      work,
      createKeySettlement({ ...shared, statementTimeoutMs: STATEMENT_TIMEOUT_MS }),
      silentLogger,
      process.timers,
    );
    const send = (request: SendRequest, folder: SpoolFolder, emailId?: string) =>
      sendMessage(sendPorts, request, folder, emailId);
    return {
      process,
      send: async (caller) => {
        const request = { ...SAMPLE_SEND, subject: caller.subject, respondAsync: caller.respondAsync };
        if (caller.key === null) return send(request, FOLDER);
        return (await sendOnce({ ...shared, send }, caller.key, request, FOLDER)).outcome;
      },
    };
  }

  disturb(): void {
    const { world, nodes } = this;
    const name = nodes.pick();
    const disturbances: readonly (() => void)[] = [
      ...nodes.disturbances(name, STATEMENT_TIMEOUT_MS * 2),
      () => {
        this.#cannotRecord = !this.#cannotRecord;
      },
      ...Array.from({ length: 6 }, () => () => this.ask(world.pick(this.callers), nodes.get(name))),
    ];
    world.pick(disturbances)();
  }

  /** Makes one more request of the caller, whatever became of those before it; without a key there is only one. */
  ask(caller: Caller, node: Node | undefined): void {
    if (node === undefined || caller.isDone) return;
    if (caller.key === null) caller.isDone = true;
    node.send(caller).then(
      (outcome) => {
        caller.answers.push(outcome.kind === 'failed' ? outcome.code : outcome.kind);
        caller.isDone = true;
      },
      (error: unknown) => {
        // Any other error is a fault of the test itself.
        if (!(error instanceof ServiceError) || error.code === 'internal_error') throw error;
        caller.answers.push(error.code);
      },
    );
  }

  unfinished(): string | null {
    for (const [name, disk] of this.#disks) if (disk.size > 0) return `the journal of ${name} is not empty`;
    for (const { hold, outcome } of this.keys.values()) if (outcome === null) return `${hold.key} stays open`;
    return null;
  }

  faults(): readonly string[] {
    return this.callers.flatMap(({ subject, answers }) => {
      const times = this.sent.filter((sent) => sent === subject).length;
      const records = [...this.emails.values()].filter((email) => email.subject === subject);
      const faults: string[] = [];
      if (times > 1) faults.push(`${subject} was sent ${times} times`);
      const failed = answers.includes('send_failed') || answers.includes('send_deferred');
      if (failed && times > 0) faults.push(`${subject} failed and was sent`);
      if (answers.includes('sent') && times === 0) faults.push(`${subject} was answered and not sent`);
      for (const { state } of records) {
        if ((state === 'sent') !== times > 0 && (state === 'sent' || state === 'failed')) {
          faults.push(`${subject} is ${state} and was sent ${times} times`);
        }
      }
      return faults;
    });
  }

  /** Losses found at the end. */
  losses(): readonly string[] {
    const states = new Map([...this.emails.values()].map(({ subject, state }) => [subject, state]));
    return this.callers.flatMap(({ subject, answers }) => {
      const state = states.get(subject);
      if (state === undefined && this.sent.includes(subject))
        return [`${subject} was sent and is not recorded`];
      const expected = answers.includes('sent') ? 'sent' : state;
      return state === expected ? [] : [`${subject} is ${state}, and its caller was told that it is sent`];
    });
  }

  #uuid(): string {
    this.#ids += 1;
    return `00000000-0000-7000-8000-${this.#ids.toString(16).padStart(12, '0')}`;
  }

  #store(process: Process): MessageStore {
    const { emails, sent } = this;
    const store: Pick<MessageStore, 'recordOutbound' | 'readEmail'> = {
      recordOutbound: (record) =>
        process.call('record', () => {
          if (this.#cannotRecord && this.world.faulty) throw new ServiceError('database_unavailable');
          if (!emails.has(record.id)) {
            emails.set(record.id, record);
            if (record.state === 'queued') sent.push(record.subject);
          }
          return { cameBack: false, orphans: [] };
        }),
      readEmail: (id) =>
        process.call('read', () => {
          const email = emails.get(id);
          return email === undefined ? null : (email as unknown as EmailDetail);
        }),
    };
    return store as MessageStore;
  }

  #keys(process: Process, owner: string) {
    const { keys, emails } = this;
    const isOpen = ({ key, emailId }: KeyHold) => {
      const stored = keys.get(key);
      return stored?.hold.emailId === emailId && stored.outcome === null ? stored : null;
    };
    return {
      claim: (hold: KeyHold, fingerprint: Buffer) =>
        process.call('key', () => {
          const stored = keys.get(hold.key);
          if (stored !== undefined) {
            return { kind: 'taken' as const, fingerprint: stored.fingerprint, outcome: stored.outcome };
          }
          keys.set(hold.key, { hold, owner, fingerprint, outcome: null });
          return { kind: 'claimed' as const };
        }),
      complete: (hold: KeyHold, outcome: SendOutcome) =>
        process.call('outcome of a key', () => {
          const stored = isOpen(hold);
          if (stored !== null) stored.outcome = outcome;
        }),
      release: (hold: KeyHold) =>
        process.call('release of a key', () => {
          if (isOpen(hold) !== null && !emails.has(hold.emailId)) keys.delete(hold.key);
        }),
      listOpen: () =>
        process.call('open keys', () =>
          [...keys.values()]
            .filter((key) => key.owner === owner && key.outcome === null)
            .map(({ hold }) => hold),
        ),
      deleteExpired: async () => 0,
    };
  }

  #transport(process: Process): Transport {
    return {
      send: (_envelope, raw) => process.whileAlive(this.#handOver(raw)),
      verify: async () => {},
      close: async () => {},
    };
  }

  async #handOver(raw: Content): Promise<TransportResult> {
    const { world } = this;
    const text = raw.kind === 'bytes' ? raw.bytes.toString('latin1') : '';
    const subject = /^Subject: (.*)\r$/m.exec(text)![1]!;
    const draw = world.faulty ? world.random() : 0;
    await world.step(`${subject}: the message is under way`);
    if (draw > 0.9) return resultOf('refused', true);
    if (draw > 0.8) return resultOf('refused', false);
    if (draw > 0.75) return resultOf('unknown', false);
    this.sent.push(subject);
    await world.step(`${subject}: the reply is under way`);
    return draw > 0.65 ? resultOf('unknown', false) : resultOf('accepted', false);
  }
}

it(
  'sends what is asked for once, however often and wherever a keyed request is repeated',
  () =>
    expectModel((scheduler, seed) => new SendWorld(scheduler, seed), {
      runs: RUNS,
      steps: STEPS,
      disturbed: 0.12,
      healingSteps: [100, MAX_HEALING_STEPS],
    }),
  60_000 + RUNS * 200,
);
