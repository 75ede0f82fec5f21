import type { SendRequest } from '../../src/app/send/use-cases.ts';

/** A plain send of the default account, sent at once. */
export const SAMPLE_SEND: SendRequest = {
  to: ['ann@example.org'],
  cc: [],
  bcc: [],
  subject: 'Test',
  textBody: 'Hallo',
  htmlBody: null,
  inReplyTo: null,
  threadId: null,
  customerId: null,
  companyId: null,
  accountId: null,
  attachments: [],
  respondAsync: false,
  sendAt: null,
  priority: null,
  lane: null,
  autoSubmitted: null,
  replyTo: [],
  fromName: null,
  headers: {},
  tags: [],
  metadata: {},
  unsubscribeList: null,
  template: null,
};
