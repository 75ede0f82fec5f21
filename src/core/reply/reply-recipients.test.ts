import { describe, expect, it } from 'vitest';
import { replyRecipients, type RepliedEmail } from './reply-recipients.ts';

const mailbox = (address: string) => ({ name: address.slice(0, 1).toUpperCase(), address });
const list = (...addresses: readonly string[]) => addresses.map(mailbox);
const own = new Set(['we@our.example', 'sales@our.example']);

function email(fields: Partial<RepliedEmail>): RepliedEmail {
  return {
    direction: 'inbound',
    from: mailbox('ann@a.example'),
    replyTo: [],
    to: list('we@our.example'),
    cc: [],
    ...fields,
  };
}

function recipients(fields: Partial<RepliedEmail>, toAll = false) {
  const { to, cc } = replyRecipients(email(fields), {
    toAll,
    isOwn: (address) => own.has(address.toLowerCase()),
  });
  return [to.map(({ address }) => address).join(' '), cc.map(({ address }) => address).join(' ')];
}

describe('a reply goes', () => {
  it.each<[string, Partial<RepliedEmail>, string]>([
    ['to From', {}, 'ann@a.example'],
    ['to Reply-To before From', { replyTo: list('help@a.example') }, 'help@a.example'],
    [
      'to all of Reply-To',
      { replyTo: list('x@a.example', 'y@a.example', 'X@A.example') },
      'x@a.example y@a.example',
    ],
    ['to the writer where Reply-To is ours', { replyTo: list('sales@our.example') }, 'ann@a.example'],
    [
      'to Reply-To of a form on our own site',
      { from: mailbox('we@our.example'), replyTo: list('cust@c.example') },
      'cust@c.example',
    ],
    [
      'to its recipients when we sent it',
      { direction: 'outbound', from: mailbox('we@our.example'), to: list('c@c.example', 'd@d.example') },
      'c@c.example d@d.example',
    ],
    [
      'to its recipients when it came in from ourselves',
      { from: mailbox('WE@our.example'), to: list('c@c.example') },
      'c@c.example',
    ],
    [
      'to ourselves when there is no other recipient',
      { from: mailbox('we@our.example'), to: list('sales@our.example') },
      'sales@our.example',
    ],
  ])('%s', (_title, fields, to) => {
    expect(recipients(fields)).toEqual([to, '']);
  });

  it('to a colleague, and not to the address that the colleague wrote to', () => {
    const fields = { from: mailbox('colleague@our.example'), to: list('we@our.example') };
    expect(
      replyRecipients(email(fields), {
        toAll: true,
        isOwn: (address) => address.endsWith('@our.example'),
        isSelf: (address) => address === 'we@our.example',
      }),
    ).toEqual({ to: list('colleague@our.example'), cc: [] });
  });

  it('nowhere when no address is named', () => {
    expect(recipients({ from: { name: '', address: '' }, to: [] })).toEqual(['', '']);
  });
});

describe('a reply to all goes', () => {
  it('to To and Cc as well, without ours, each once', () => {
    expect(
      recipients(
        {
          to: list('we@our.example', 'bob@b.example', 'ANN@a.example'),
          cc: list('Bob@b.example', 'carl@c.example', 'Sales@our.example'),
        },
        true,
      ),
    ).toEqual(['ann@a.example', 'bob@b.example carl@c.example']);
  });

  it('to the same people again when we sent it', () => {
    expect(
      recipients(
        {
          direction: 'outbound',
          from: mailbox('we@our.example'),
          to: list('c@c.example'),
          cc: list('d@d.example', 'sales@our.example'),
        },
        true,
      ),
    ).toEqual(['c@c.example', 'd@d.example']);
  });
});
