import { expect, it } from 'vitest';
import { leftOutBy } from '../core/mailbox/capture.ts';
import { readCapture } from './config-capture.ts';

const MAIL = {
  messageId: null,
  from: ['ann@xn--bcher-kva.test'],
  recipients: ['ann@xn--bcher-kva.test'],
  replyTo: [],
  subject: '',
  sensitivity: null,
  answers: [],
  isReport: false,
};

it.each([
  [{ never_addresses: ['Ann@B\u00fccher.test'] }, 'address'],
  [{ never_addresses: ['*@bu\u0308cher.TEST'] }, 'address'],
  [{ never_addresses: ['*@*.test'] }, 'address'],
  [{ internal_domains: ['B\u00dcCHER.test'] }, 'internal'],
  [{ internal_domains: ['xn--bcher-kva.test'] }, 'internal'],
  [{ internal_domains: ['cher.test'] }, null],
])('reads domains as those of mail are written: %j', (fields, expected) => {
  expect(leftOutBy(readCapture('capture', fields)!, MAIL)).toBe(expected);
});

it.each([
  [{ never_addresses: ['*@a b.test'] }],
  [{ never_addresses: ['ann@bank,other.test'] }],
  [{ never_addresses: ['<ann@bank.test>'] }],
  [{ internal_domains: ['https://example.com'] }],
  [{ internal_domains: ['.example.com'] }],
  [{ only_customer: true }],
  [{ constructor: [] }],
  [{ only_customers: 'yes' }],
  [{ folders: [''] }],
  [['x']],
])('refuses %j', (fields) => {
  expect(() => readCapture('capture', fields)).toThrow(/capture/);
});
