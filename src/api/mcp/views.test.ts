import { expect, it } from 'vitest';
import { pieceOf } from './untrusted.ts';
import { EmailLine, toEmailLine, type EmailJson } from './views.ts';

const EMAIL: EmailJson = {
  id: '0199d3a4-5b1e-7c52-9f0e-2f6a1d3b8c47',
  direction: 'inbound',
  from_address: { name: '', address: 'ada@customer.test' },
  to_addresses: [],
  subject: '',
  text_body: '',
  date: '2026-03-01T12:00:00Z',
  state: 'received',
  authentication: null,
  email_attachments: [],
};

it.each([
  ['proven', { authentication: { verdict: 'passed' } }],
  ['forged', { authentication: { verdict: 'failed' } }],
  ['unproven', { authentication: { verdict: 'unknown' } }],
  ['unproven', { authentication: null }],
  ['ours', { direction: 'outbound' }],
] as const)('shows the sender of an email as %s', (sender, fields) => {
  const line = toEmailLine({ ...EMAIL, ...fields });
  expect(line.sender).toBe(sender);
  expect(EmailLine.parse(line)).toEqual(line);
});

it('makes pieces of a text full of unseen characters no longer than twice the limit, and loses none', () => {
  const text = '\u200b'.repeat(10_000);
  let shown = '';
  for (let offset: number | null = 0; offset !== null;) {
    const piece = pieceOf(text, offset, 1000);
    expect(piece.untrusted_text.length).toBeLessThanOrEqual(2000);
    shown += piece.untrusted_text;
    offset = piece.next_offset;
  }
  expect(shown).toBe('<U+200B>'.repeat(10_000));
});
