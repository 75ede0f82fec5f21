import { describe, expect, it } from 'vitest';
import { linkEmails, type LinkedMail } from './link-emails.ts';

const mail = (fields: Partial<LinkedMail> = {}): LinkedMail => ({
  id: 'x',
  namedCustomerId: null,
  namedCompanyId: null,
  isStranger: false,
  match: { kind: 'none' },
  ...fields,
});
const matched = (customerId: string, source: 'address' | 'domain' = 'address') =>
  ({ match: { kind: 'customer', customerId, source } }) as const;

const companies: Record<string, string> = { '1': 'company of 1' };
/** Customer and source, company and source: of the thread, then of each email. */
function link(...mails: readonly LinkedMail[]) {
  const { thread, emails } = linkEmails(mails, (id) => companies[id] ?? null);
  return [thread, ...emails].map(({ customerId, customerSource, companyId, companySource }) =>
    [customerId, customerSource, companyId, companySource].map((part) => part ?? '-').join(' '),
  );
}

describe('linkEmails', () => {
  it('leaves a thread alone that nothing speaks for', () => {
    expect(link(mail(), mail())).toEqual(['- - - -', '- - - -', '- - - -']);
  });

  it('gives the thread the customer of the first email that has one, and the others that of the thread', () => {
    expect(link(mail(), mail(matched('2', 'domain')), mail(matched('3')), mail(matched('2')))).toEqual([
      '2 domain - -',
      '2 thread - -',
      '2 domain - -',
      '2 thread - -',
      '2 address - -',
    ]);
  });

  it('prefers what a send named, however late, and keeps what each send named', () => {
    expect(link(mail(matched('2')), mail({ namedCustomerId: '3' }), mail({ namedCustomerId: '4' }))).toEqual([
      '3 explicit - -',
      '3 thread - -',
      '3 explicit - -',
      '4 explicit - -',
    ]);
  });

  it('never lets a stranger decide for the thread, only for the own email', () => {
    expect(link(mail(), mail({ isStranger: true, ...matched('2') }))).toEqual([
      '- - - -',
      '- - - -',
      '2 address - -',
    ]);
    expect(link(mail({ isStranger: true, ...matched('2') }), mail(matched('3')))).toEqual([
      '3 address - -',
      '2 address - -',
      '3 address - -',
    ]);
  });

  it('gives a stranger neither the customer nor the company of the thread', () => {
    const send = mail({ namedCustomerId: '1', namedCompanyId: 'c' });
    expect(link(send, mail({ isStranger: true }), mail({ isStranger: true, ...matched('2') }))).toEqual([
      '1 explicit c explicit',
      '1 explicit c explicit',
      '- - - -',
      '2 address - -',
    ]);
  });

  it('says of an email without a customer that several claim it', () => {
    const ambiguous = mail({ match: { kind: 'ambiguous' } });
    expect(link(ambiguous)).toEqual(['- - - -', '- ambiguous - -']);
    expect(link(ambiguous, mail(matched('2')))).toEqual(['2 address - -', '2 thread - -', '2 address - -']);
  });

  it('takes the company that a send named, else that of the thread, else that of the customer', () => {
    expect(link(mail(matched('1')))).toEqual([
      '1 address company of 1 registration',
      '1 address company of 1 registration',
    ]);
    expect(link(mail(matched('1')), mail({ namedCompanyId: 'c' }))).toEqual([
      '1 address c explicit',
      '1 address c thread',
      '1 thread c explicit',
    ]);
    expect(link(mail(matched('1')), mail({ namedCustomerId: '2' }))).toEqual([
      '2 explicit - -',
      '2 thread - -',
      '2 explicit - -',
    ]);
  });
});
