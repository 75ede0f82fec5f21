/** What of the fields that a person writes becomes a draft. */
import { describe, expect, it } from 'vitest';
import { takenBack, toMessage, type WriterFields } from '../../page/src/features/write/writer-fields.ts';

const FIELDS: WriterFields = {
  to: 'ann@customer.test',
  cc: '',
  bcc: '',
  subject: 'Offer',
  text_body: 'Ten euros.',
  html_body: null,
  from: null,
  from_name: null,
  signature: true,
};

describe('the fields of a message', () => {
  it('have no unfinished sender, nor the one that was chosen before it', () => {
    expect(toMessage({ from: '@shop.test', account_id: 'shop' })).toEqual({ from: null, account_id: 'shop' });
    expect(toMessage({ from: 'a@shop.test' })).toEqual({ from: 'a@shop.test' });
    expect(toMessage({ subject: 'Offer' })).toEqual({ subject: 'Offer' });
  });

  it('of a send that was undone are with what a program gave its draft, but for the time', () => {
    const before = {
      from_name: 'Robot',
      subject: 'Old',
      thread_id: 't',
      reply_to: 'crm@company.test',
      tags: ['offer'],
      send_at: '2026-11-28T10:00:00Z',
    };
    expect(takenBack(before, { ...FIELDS, from_name: 'Robot' })).toMatchObject({
      from_name: 'Robot',
      subject: 'Offer',
      thread_id: 't',
      reply_to: 'crm@company.test',
      tags: ['offer'],
      send_at: null,
    });
    // Another sender was chosen.
    expect(takenBack(before, FIELDS).from_name).toBeNull();
  });
});
