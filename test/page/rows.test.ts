/** What a line of the list shows of a thread. */
import type { ThreadSummary } from 'email-worker-client';
import { expect, it } from 'vitest';
import { toThreadRow } from '../../page/src/features/threads/rows.ts';

const OWN = { name: 'Sales', address: 'sales@company.test' };
const ANN = { name: 'Ann', address: 'ann@customer.test' };
const DAEMON = { name: 'Mail Delivery System', address: 'MAILER-DAEMON@mx.test' };

const row = (fields: object, newest: object) =>
  toThreadRow({
    id: 't',
    subject: 's',
    participants: [OWN, ANN],
    labels: [],
    ...fields,
    newest_email: {
      direction: 'inbound',
      from_address: ANN,
      to_addresses: [OWN],
      automatic: null,
      sender_warnings: [],
      snippet: '',
      ...newest,
    },
  } as unknown as ThreadSummary);

it('a thread whose newest email is a bounce shows the customer whom the email did not reach', () => {
  expect(
    row(
      { participants: [DAEMON, OWN, ANN] },
      { from_address: DAEMON, to_addresses: [OWN], automatic: 'bounce' },
    ),
  ).toMatchObject({ people: [ANN], isOutgoing: true });
});

it('a bounce without an email that it is about shows who wrote it', () => {
  expect(row({ participants: [DAEMON, OWN] }, { from_address: DAEMON, automatic: 'bounce' })).toMatchObject({
    people: [DAEMON],
    isOutgoing: false,
  });
});

it('other threads show who wrote last, or to whom we wrote', () => {
  expect(row({}, {})).toMatchObject({ people: [ANN], isOutgoing: false });
  expect(row({}, { direction: 'outbound', from_address: OWN, to_addresses: [ANN] })).toMatchObject({
    people: [ANN],
    isOutgoing: true,
  });
});
