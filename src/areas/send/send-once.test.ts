/** Faults during a send with a key. Sends without faults are in test/e2e/idempotency.test.ts. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createMemoryKeys, type MemoryKeys } from '../../../test/helpers/memory-keys.ts';
import { sampleDetail } from '../../../test/helpers/sample-emails.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import type { EmailState } from '../../core/delivery/states.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SendRequest, SendResult } from './use-cases.ts';
import { createKeyWork, type KeyWork } from './idempotency.ts';
import type { SpoolFolder } from '../../platform/files/file-ports.ts';
import { sendOnce, type SendOncePorts } from './send-once.ts';
import { createKeySettlement } from './settle-keys.ts';

const STATEMENT_TIMEOUT_MS = 10_000;

let keys: MemoryKeys;
let work: KeyWork;
/** Ids in the journal. */
let journal: Set<string>;
/** States of the recorded emails, by id. */
let record: Map<string, EmailState>;
/** Emails in the queue whose process fell silent. */
let lost: Set<string>;
let now: number;
let sends: string[];
let foldersRemoved: number;
/** The result of sending it. */
let send: (emailId: string) => Promise<SendResult>;
let settle: () => Promise<void>;

beforeEach(() => {
  keys = createMemoryKeys();
  work = createKeyWork();
  work.takeSettlingRequest();
  journal = new Set();
  record = new Map();
  lost = new Set();
  now = 0;
  sends = [];
  foldersRemoved = 0;
  send = async (emailId) => sentAs(emailId);
  settle = createKeySettlement({
    ...ports(),
    timers: { now: () => now },
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
});

const sentAs = (id: string): SendResult => ({
  kind: 'sent',
  id,
  messageId: sampleDetail.messageId,
  threadId: sampleDetail.threadId,
});

const ports = (): SendOncePorts => ({
  keys,
  work,
  logger: silentLogger,
  journal: { has: ({ emailId }) => journal.has(emailId) },
  emails: {
    async readEmail(id) {
      const state = record.get(id);
      return state === undefined
        ? null
        : { ...sampleDetail, id, state, stateDetail: 'why', claimLost: lost.has(id) };
    },
  },
  ids: { uuid: () => `email-${now}-${sends.length}`, randomBytes: (length) => Buffer.alloc(length) },
  openFile: () => {
    throw new Error('there are no files');
  },
  send: (_request, _folder, emailId) => {
    sends.push(emailId);
    return send(emailId);
  },
});

const folder: SpoolFolder = {
  write: () => Promise.reject(new Error('not used')),
  adopt: () => Promise.reject(new Error('not used')),
  remove: async () => void (foldersRemoved += 1),
};

const once = () =>
  sendOnce(
    ports(),
    'key',
    { subject: 's', attachments: [], respondAsync: false, sendAt: null } as unknown as SendRequest,
    folder,
  );
const openKeys = () => keys.listOpen();
const away = () => Promise.reject(new ServiceError('database_unavailable'));

describe('a send with a key', () => {
  test('is not sent when the key cannot be claimed; a claim that was stored all the same is undone later', async () => {
    const { claim } = keys;
    keys.claim = async (...args) => {
      await claim(...args);
      return away();
    };
    await expect(once()).rejects.toThrow('database_unavailable');
    expect([sends, foldersRemoved]).toEqual([[], 1]);
    expect(work.takeSettlingRequest()).toBe(true);

    keys.claim = claim;
    await expect(once()).rejects.toThrow('idempotency_in_progress');
    await settle();
    now += STATEMENT_TIMEOUT_MS;
    await settle();
    expect(await once()).toMatchObject({ replayed: false });
  });

  test('has its answer although that cannot be stored; a repeat has it once it is', async () => {
    const { complete } = keys;
    keys.complete = away;
    const first = await once();
    expect(first).toMatchObject({ outcome: { kind: 'sent' }, replayed: false });
    await expect(settle()).rejects.toThrow('database_unavailable');
    keys.complete = complete;
    await settle();
    expect(await once()).toEqual({ ...first, replayed: true });
    expect(sends).toHaveLength(1);
    expect(work.kept()).toEqual([]);
  });

  test('keeps its key when an error of ours comes after the hand-over', async () => {
    send = async (emailId) => {
      journal.add(emailId);
      throw new Error('a mistake');
    };
    await expect(once()).rejects.toThrow('a mistake');
    now += 10 * STATEMENT_TIMEOUT_MS;
    await settle();
    await settle();
    await expect(once()).rejects.toThrow('idempotency_in_progress');
    expect(work.takeSettlingRequest()).toBe(true);
    expect(sends).toHaveLength(1);
  });

  test('gives its key back at once for an error that says that nothing was tried', async () => {
    send = () => Promise.reject(new ServiceError('disk_full'));
    await expect(once()).rejects.toThrow('disk_full');
    expect(await openKeys()).toEqual([]);
  });

  test('keeps its key while the database may still record the email', async () => {
    send = away;
    await expect(once()).rejects.toThrow('database_unavailable');
    await settle();
    const [emailId] = sends;
    record.set(emailId!, 'queued');
    now += STATEMENT_TIMEOUT_MS;
    await settle();
    expect(await once()).toMatchObject({ outcome: { kind: 'queued', id: emailId }, replayed: true });
  });

  test('is left alone by the settling while it runs', async () => {
    let finish = () => {};
    send = (emailId) => new Promise((resolve) => (finish = () => resolve(sentAs(emailId))));
    const first = once();
    await expect.poll(() => sends).toHaveLength(1);
    await settle();
    now += 10 * STATEMENT_TIMEOUT_MS;
    await settle();
    expect(await openKeys()).toHaveLength(1);
    let idle = false;
    const stopped = work.idle().then(() => (idle = true));
    expect(idle).toBe(false);
    finish();
    await Promise.all([first, stopped]);
    expect(await openKeys()).toEqual([]);
  });
});

test.each<[EmailState, object]>([
  ['sent', { kind: 'sent' }],
  ['queued', { kind: 'queued' }],
  ['sending', { kind: 'queued' }],
  // The sample has an accepted recipient.
  ['deferred', { kind: 'sent' }],
  ['cancelled', { kind: 'queued' }],
  ['failed', { kind: 'failed', code: 'send_failed', details: 'why' }],
  ['unknown', { kind: 'failed', code: 'send_unknown', details: 'why' }],
])('the answer of a request that was cut off follows from the state %s', async (state, outcome) => {
  const hold = { key: 'key', emailId: 'email', queued: false };
  await keys.claim(hold, Buffer.alloc(32));
  record.set('email', state);
  await settle();
  expect(keys.stored.get('key')?.outcome).toMatchObject(outcome);
});

test.each<EmailState>(['queued', 'sending', 'sent', 'deferred', 'failed', 'unknown', 'cancelled'])(
  'a request for the queue is answered with queued, although its email is %s by now',
  async (state) => {
    await keys.claim({ key: 'key', emailId: 'email', queued: true }, Buffer.alloc(32));
    record.set('email', state);
    await settle();
    expect(keys.stored.get('key')?.outcome).toMatchObject({ kind: 'queued', id: 'email' });
  },
);

test('a request whose queued email is lost for now is answered as it was, and not as an unknown send', async () => {
  await keys.claim({ key: 'key', emailId: 'email', queued: false }, Buffer.alloc(32));
  record.set('email', 'unknown');
  lost.add('email');
  await settle();
  expect(keys.stored.get('key')?.outcome).toMatchObject({ kind: 'sent', id: 'email' });
});
