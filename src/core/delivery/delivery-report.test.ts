import { describe, expect, it } from 'vitest';
import type { BounceRecipient } from './bounce-recipient.ts';
import { matchReport, type ReportedDelivery } from './delivery-report.ts';

const recipient = (address: string, fields: Partial<BounceRecipient> = {}): BounceRecipient => ({
  address,
  finalAddress: null,
  action: 'failed',
  severity: 'hard',
  status: '5.1.1',
  diagnostic: '',
  ...fields,
});

const deliveries = (...addresses: readonly string[]): readonly ReportedDelivery[] =>
  addresses.map((address, ordinal) => ({ address, ordinal, state: 'accepted' }));

const match = (
  kind: 'report' | 'complaint',
  recipients: readonly BounceRecipient[],
  ...addresses: readonly string[]
) =>
  matchReport({ kind, format: 'rfc3464', recipients, sentBy: [] }, deliveries(...addresses)).map(
    ({ delivery, outcome }) => `${delivery.address} ${outcome}`,
  );

describe('a report is tied to', () => {
  it('recipients of the email, whatever the case', () => {
    expect(match('report', [recipient('Max@X.test')], 'max@x.test', 'eva@x.test')).toEqual([
      'max@x.test bounced_hard',
    ]);
  });

  it('the recipient that the last server saw, when the other is unknown', () => {
    const forwarded = recipient('list@x.test', { finalAddress: 'max@x.test' });
    expect(match('report', [forwarded], 'max@x.test', 'eva@x.test')).toEqual(['max@x.test bounced_hard']);
  });

  it('the only recipient when it names none', () => {
    expect(match('report', [recipient('')], 'max@x.test')).toEqual(['max@x.test bounced_hard']);
    expect(match('report', [recipient('')], 'max@x.test', 'eva@x.test')).toEqual([]);
  });

  it('the only recipient when a complaint hides the local part', () => {
    expect(match('complaint', [recipient('7c4a8d09@x.test')], 'max@x.test')).toEqual([
      'max@x.test complained',
    ]);
    expect(match('complaint', [recipient('7c4a8d09@y.test')], 'max@x.test')).toEqual([]);
    expect(match('report', [recipient('other@x.test')], 'max@x.test')).toEqual([]);
  });

  it('no email that the sender of the report got, when it is in free form', () => {
    const from = (format: 'free_form' | 'rfc3464', sentBy: string) =>
      matchReport(
        { kind: 'report', format, recipients: [recipient('')], sentBy: [sentBy] },
        deliveries('max@x.test'),
      );
    expect(from('free_form', 'MAX@x.test')).toEqual([]);
    expect(from('free_form', 'postmaster@x.test')).toHaveLength(1);
    expect(from('rfc3464', 'max@x.test')).toHaveLength(1);
  });

  it('no other address', () => {
    expect(match('report', [recipient('eve@x.test')], 'max@x.test', 'eva@x.test')).toEqual([]);
  });
});

it('keeps the most telling of several statements about one recipient', () => {
  const recipients = [
    recipient('max@x.test', { action: 'delayed', severity: 'soft' }),
    recipient('max@x.test', { severity: 'blocked' }),
    recipient('MAX@x.test', { action: 'delivered', severity: null }),
  ];
  expect(match('report', recipients, 'max@x.test')).toEqual(['max@x.test blocked']);
});
