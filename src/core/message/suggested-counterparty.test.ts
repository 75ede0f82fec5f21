import { describe, expect, it } from 'vitest';
import { parseMessage } from '../mime/parse/parse.ts';
import { forwardedAuthors } from './forwarded-authors.ts';
import { suggestCounterparty } from './suggested-counterparty.ts';

const OWN = { name: '', localPart: 'sales', domain: 'firma.test' };

function suggestion(lines: readonly string[], own = OWN) {
  const message = parseMessage(Buffer.from(lines.join('\r\n')));
  const found = suggestCounterparty(message, forwardedAuthors(message, parseMessage), { from: own });
  return found === null ? null : `${found.reason}: ${found.name} <${found.address}>`;
}

const ADA = 'Ada <ada@kunde.test>';
const mail = (from: string, fields: readonly string[], ...body: readonly string[]) => [
  `From: ${from}`,
  ...fields,
  '',
  ...body,
];
const forward = (...body: readonly string[]) =>
  mail('Eva <eva@firma.test>', ['To: sales@firma.test', 'Subject: WG: Anfrage'], ...body);

describe('the person behind a From of ours', () => {
  it.each([
    [
      'a group that rewrites From',
      mail(`"'Ada' via Sales" <sales@firma.test>`, [`Reply-To: ${ADA}`, `X-Original-From: ${ADA}`]),
      'rewritten',
    ],
    [
      'one that names the author in X-Original-From alone',
      mail('Sales <sales@firma.test>', ['Reply-To: sales@firma.test', `X-Original-From: ${ADA}`]),
      'rewritten',
    ],
    [
      'a list of others',
      mail('Ada via Liste <liste@verein.test>', [
        `Reply-To: ${ADA}`,
        'List-Post: <mailto:liste@verein.test>',
      ]),
      'rewritten',
    ],
    ['a form', mail('Webseite <web@firma.test>', ['To: sales@firma.test', `Reply-To: ${ADA}`]), 'reply_to'],
    [
      'a forward with the header of Outlook',
      forward(
        'Bitte übernehmen.',
        '',
        `Von: ${ADA}`,
        'Gesendet: Montag, 2. März 2026 09:15',
        'An: Eva <eva@firma.test>',
        'Betreff: Anfrage',
        '',
        'Was kostet das?',
      ),
      'forwarded',
    ],
    [
      'a forward of Gmail',
      forward(
        '---------- Forwarded message ---------',
        `From: ${ADA}`,
        'Date: Mon, Mar 2, 2026 at 9:15 AM',
        'Subject: Anfrage',
        'To: <eva@firma.test>',
        '',
        'Was kostet das?',
      ),
      'forwarded',
    ],
    [
      'a forward of Gmail in German, whose other labels are English',
      forward(
        '---------- Forwarded message ---------',
        `Von: ${ADA}`,
        'Date: Mo., 2. März 2026 um 09:15 Uhr',
        'Subject: Anfrage',
        'To: <eva@firma.test>',
        '',
        'Was kostet das?',
      ),
      'forwarded',
    ],
    [
      'a forward of Apple Mail, which is quoted',
      forward(
        '> Anfang der weitergeleiteten Nachricht:',
        '> ',
        `> Von: ${ADA}`,
        '> Betreff: Anfrage',
        '> Datum: 2. März 2026 um 09:15:00 MEZ',
        '> An: eva@firma.test',
        '> ',
        '> Was kostet das?',
      ),
      'forwarded',
    ],
    [
      'a forward as an attachment',
      mail(
        'Eva <eva@firma.test>',
        ['To: sales@firma.test', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
        '--b',
        '',
        'siehe Anhang',
        '--b',
        'Content-Type: message/rfc822',
        '',
        `From: ${ADA}`,
        'Subject: Anfrage',
        '',
        'Was kostet das?',
        '--b--',
      ),
      'forwarded',
    ],
    ['a blind copy to us', mail('Eva <eva@firma.test>', [`To: ${ADA}`]), 'recipient'],
  ])('is named by %s', (_, lines, reason) => {
    expect(suggestion(lines)).toBe(`${reason}: Ada <ada@kunde.test>`);
  });

  it.each([
    [
      'a stranger who claims to write for her',
      mail('x via Sales <x@fremd.test>', [`Reply-To: ${ADA}`, `X-Original-From: ${ADA}`]),
    ],
    [
      'a stranger who forwards her mail',
      mail(
        'x@fremd.test',
        ['Subject: Fwd: Anfrage'],
        `From: ${ADA}`,
        'Date: Mon, Mar 2, 2026 at 9:15 AM',
        'Subject: Anfrage',
        'To: <x@fremd.test>',
      ),
    ],
    [
      'a colleague who writes to us',
      mail(
        'Eva <eva@firma.test>',
        ['To: sales@firma.test', 'Reply-To: eva@firma.test'],
        'Von: Bremen',
        'An: Hamburg',
      ),
    ],
    ['a customer', mail(ADA, ['To: sales@firma.test', 'Reply-To: buero@kunde.test'])],
    ['no author', ['Subject: x', '', '']],
  ])('is not named by %s', (_, lines) => {
    expect(suggestion(lines)).toBeNull();
  });

  it('is no neighbour at a provider, where anyone has an address', () => {
    const lines = mail('Eva <eva@gmx.de>', [`Reply-To: ${ADA}`]);
    expect(suggestion(lines, { name: '', localPart: 'sales', domain: 'gmx.de' })).toBeNull();
  });
});
