/** Results of use cases other than emails, for tests of the HTTP edge: accounts, customers, events, keys. */
import type { Erasure } from '../../src/areas/erase/erasure-ports.ts';
import type { FeedEvent } from '../../src/areas/events/event-ports.ts';
import type { Unsubscribe } from '../../src/areas/unsubscribes/unsubscribe-store.ts';
import { IDS } from './sample-emails.ts';

export const sampleUnsubscribe: Unsubscribe = {
  id: '0198c0de-0000-7000-8000-00000000aaaa',
  accountId: 'default',
  list: 'newsletter',
  address: 'ann@example.com',
  emailId: '0198c0de-0000-7000-8000-00000000aaab',
  unsubscribedAt: new Date('2026-03-01T12:00:00Z'),
};

export const sampleEventId = '0000512c00000001';
export const sampleEvent: FeedEvent = {
  position: Number.parseInt(sampleEventId, 16),
  type: 'thread.created',
  json:
    `{"id":"${sampleEventId}","type":"thread.created","occurred_at":"2026-01-31T12:00:00.000Z","account_id":"main",` +
    `"email_id":null,"thread_id":"${IDS.thread}","customer_id":null,"company_id":null,"historical":false,"author":null,"data":{}}`,
};

export const sampleErasure: Erasure = {
  id: '0197f0a0-0000-7000-8000-000000000077',
  requestedAt: new Date('2026-01-31T12:00:00.000Z'),
  requestedBy: 'secret 1',
  customerId: null,
  accountId: null,
  finishedAt: null,
  isWaiting: false,
  erased: {
    emails: 12,
    files: 4,
    drafts: 1,
    customer_rules: 1,
    suppressions: 0,
    unsubscribes: 0,
    quarantined: 0,
    decisions: 0,
    idempotency_keys: 0,
    events: 31,
    webhook_deliveries: 0,
  },
};
