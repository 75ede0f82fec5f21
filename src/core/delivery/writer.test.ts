import { describe, expect, it } from 'vitest';
import { parseMessage } from '../mime/parse/parse.ts';
import { classifyAutomatic, sentAutomatic } from './automatic.ts';
import { judgeWriter, needsFacts, type WriterFacts } from './writer.ts';

const STRANGER: WriterFacts = { answeredSubjects: [], isKnownSender: false };
const KNOWN: WriterFacts = { answeredSubjects: [], isKnownSender: true };
const ANSWER: WriterFacts = { answeredSubjects: ['Angebot 4711'], isKnownSender: false };

const FROM = 'From: Ada <ada@customer.test>';

function writerOf(fields: readonly string[], facts: WriterFacts, body = 'Guten Tag') {
  const header = fields.some((field) => field.startsWith('From:')) ? fields : [FROM, ...fields];
  const message = parseMessage(Buffer.from([...header, '', body].join('\r\n')));
  return judgeWriter(classifyAutomatic(message), facts);
}

/** As Google Groups writes them. */
const GOOGLE_GROUP = [
  'Precedence: list',
  'Mailing-list: list verkauf@shop.test; contact verkauf+owners@shop.test',
  'List-ID: <verkauf.shop.test>',
  'X-Google-Group-Id: 105839',
  'List-Post: <https://groups.google.com/a/shop.test/group/verkauf/post>, <mailto:verkauf@shop.test>',
  'List-Help: <https://support.google.com/a/shop.test/bin/topic.py?topic=25838>, <mailto:verkauf+help@shop.test>',
  'List-Unsubscribe: <mailto:googlegroups-manage+105839+unsubscribe@googlegroups.com>',
];

describe('a stranger is a person', () => {
  it.each([
    ['whose provider is Fastmail', ['Feedback-ID: i56a14606:Fastmail']],
    ['whose provider is Amazon SES', ['Feedback-ID: 1.eu-central-1.abc=:AmazonSES']],
    ['of an Exchange server that wants no answers', ['X-Auto-Response-Suppress: DR, OOF, AutoReply']],
    ['of Outlook that wants no receipts', ['X-Auto-Response-Suppress: RN, NRN']],
    ['with all of them suppressed', ['X-Auto-Response-Suppress: All']],
    ['whose mail procmail forwarded', ['X-Loop: ada@customer.test']],
    ['who states it', ['Auto-Submitted: no']],
    ['who states it with a comment', ['Auto-Submitted: no (written by hand)']],
    ['whose field of old programs is off', ['X-Autoreply: no', 'X-Vacation: no']],
    ['with a priority', ['Precedence: first-class']],
    ['of a mailbox like any other', ['Precedence: special-delivery']],
    ['who answers one of our automatic answers', ['Subject: Re: Automatische Antwort: Angebot']],
    ['who forwards an absence', ['Subject: WG: Abwesenheitsnotiz: Angebot']],
    ['who orders cars', ['Subject: Autos für unsere Flotte']],
    ['who writes about an office', ['Subject: Unser Büro zieht um, neue Lieferadresse']],
    ['whose address has a similar name', ['From: Nora Eply <nora.eply@customer.test>']],
    ['whose company is called Bounce', ['From: Jump <info@bounce.test>']],
    ['whose program adds fields of a campaign', ['X-Mailer: PHPMailer 6.9', 'X-Campaign-Id: 12']],
    ['with the return path of a person', ['Return-Path: <ada@customer.test>']],
    ['who asks for a receipt', ['Disposition-Notification-To: ada@customer.test']],
  ] as const)('%s', (_, fields) => {
    expect(writerOf(fields, STRANGER)).toBe('person');
  });
});

it.each([
  'X-Autorespond:',
  'X-Failed-Recipients: ',
  'X-Mail-Autoreply: no',
  'Auto-Submitted: "no"',
  'Auto-Submitted: =?utf-8?q?no?=',
  'Auto-Submitted: none',
  'X-Auto-Reply: false',
  'Delivered-To: autoresponder@kunde.test',
])('a field that denies a mark, or has none, is no mark: %s', (field) => {
  expect(writerOf([field], STRANGER)).toBe('person');
});

describe('a stranger may be a person', () => {
  it.each([
    ['who writes to our Google Group', GOOGLE_GROUP],
    ['who writes to a Mailman list', ['List-Id: <liste.shop.test>', 'List-Post: <mailto:liste@shop.test>']],
    ['through a list', ['Precedence: list']],
    ['through a list with a name alone', ['List-Id: Verkauf <verkauf.shop.test>']],
    [
      'through a list that can be left',
      ['List-Unsubscribe: <mailto:x@y.test>', 'Mailing-List: list v@shop.test'],
    ],
    [
      'who writes to a group of Microsoft 365',
      ['List-Unsubscribe: <https://outlook.office365.com/owa/shop.test/groupsubscription.ashx?x=1>'],
    ],
    [
      'who writes to a list of LISTSERV or Sympa',
      [
        'List-Id: <sales.shop.test>',
        'Precedence: list',
        'List-Unsubscribe: <mailto:x@y.test>',
        'List-Owner: <mailto:o@y.test>',
      ],
    ],
    ['through a list that only X-Precedence names', ['X-Precedence: list']],
    [
      'whose CRM writes the mark of a newsletter',
      ['List-Unsubscribe: <mailto:x@y.test>', 'Subject: Re: Termin'],
    ],
    ['who answers through a list', ['List-Unsubscribe: <mailto:x@y.test>', 'In-Reply-To: <a@b.test>']],
    ['who answers through a ticket system', ['Precedence: bulk', 'References: <a@b.test>']],
    ['who sells a car', ['Subject: Auto: VW Golf Angebot']],
    ['who will be away', ['Subject: Abwesend vom 1. bis 5. Mai, bitte Lieferung verschieben']],
    ['whose sensor is broken', ['Subject: Automatic reply sensor broken']],
    ['who is on vacation', ['Subject: Vacation: please stop the deliveries']],
    ['who is away from the desk', ['Subject: Away from my desk until Friday, call me']],
    ['who is out of office supplies', ['Subject: Out of office supplies, please send more']],
    ['who is not at home', ['Subject: Nicht im Haus am Dienstag, Paket bitte zum Nachbarn']],
    ['whose answer comes late', ['Subject: Out of office: bitte an Herrn Maier liefern']],
    ['in France', ["Subject: Absence du bureau le 3 mai, livraison à l'accueil"]],
    ['in Poland', ['Subject: Nieobecność 3 maja, proszę o inny termin']],
    ['who fills in a web form', ['From: Kontaktformular <noreply@shop.test>', 'Reply-To: ada@customer.test']],
    ['who fills in a web form without an address', ['From: no-reply@shop.test', 'Subject: Rückruf erbeten']],
    ['whose mail a rule of Exchange forwards', ['X-MS-Exchange-Inbox-Rules-Loop: info@shop.test']],
    [
      'whose mail a rule of Exchange forwards as generated',
      ['Auto-Submitted: auto-generated', 'X-MS-Exchange-Inbox-Rules-Loop: info@shop.test'],
    ],
    [
      'whose mail a rule forwards with a prefix',
      ['Auto-Submitted: auto-generated', 'Subject: FW: Bestellung'],
    ],
    ['whose mail CommuniGate forwards', ['X-Autogenerated: Forward']],
    ['who looks after mail', ['From: postmaster@customer.test', 'Subject: Undelivered mail']],
  ] as const)('%s', (_, fields) => {
    expect(writerOf(fields, STRANGER)).toBe('unsure');
  });
});

describe('a program declares itself', () => {
  it.each([
    ['Exchange, English', ['Auto-Submitted: auto-generated', 'Subject: Automatic reply: Angebot 4711']],
    [
      'Exchange, German',
      [
        'X-Auto-Response-Suppress: All',
        'Auto-Submitted: auto-generated',
        'Subject: Automatische Antwort: Angebot 4711',
      ],
    ],
    [
      'Exchange, French',
      ['Auto-Submitted: auto-generated', 'Subject: =?utf-8?Q?R=C3=A9ponse_automatique?= : Offre'],
    ],
    ['Gmail', ['Auto-Submitted: auto-replied', 'Precedence: bulk', 'X-Autoreply: yes']],
    ['Notes', ['Auto-Submitted: auto-generated', 'Subject: Ada Muster ist ausser Haus.']],
    ['Zimbra', ['Auto-Submitted: auto-replied (zimbra; vacation)', 'Precedence: bulk']],
    [
      'Dovecot',
      ['Auto-Submitted: auto-replied (vacation)', 'X-Sieve: Pigeonhole Sieve 0.5', 'Subject: Auto: Angebot'],
    ],
    ['GMX', ['Return-Path: <>', 'Precedence: bulk', 'Subject: Abwesenheitsnotiz']],
    [
      'cPanel',
      ['X-Autorespond: Urlaub', 'X-Precedence: auto_reply', 'X-Loop: x@y.test', 'Precedence: auto_reply'],
    ],
    ['Plesk', ['Precedence: bulk', 'Auto-Submitted: auto-replied', 'X-Autoreply: yes']],
    ['Domain Technologie Control', ['X-AutoReply-From: ada@customer.test', 'X-Mail-Autoreply: yes']],
    ['CommuniGate Pro', ['X-Autogenerated: Reply']],
    ['FirstClass', ['X-FC-MachineGenerated: true']],
    ['Mailtraq', ['X-POST-MessageClass: 9; Autoresponder']],
    ['qmail', ['Delivered-To: Autoresponder']],
    ['vacation(1)', ['X-Vacation: yes']],
    ['OTRS', ['Auto-Submitted: auto-replied', 'X-Powered-By: OTRS', 'Precedence: bulk', 'X-Loop: yes']],
    [
      'Zendesk',
      ['Auto-Submitted: auto-generated', 'X-Mailer: Zendesk Mailer', 'X-Auto-Response-Suppress: All'],
    ],
    [
      'osTicket',
      ['X-Autoreply: yes', 'X-Auto-Response-Suppress: ALL, AutoReply', 'Auto-Submitted: auto-replied'],
    ],
    [
      'a shop',
      ['From: Shop <noreply@shop.test>', 'Auto-Submitted: auto-generated', 'Subject: Ihre Bestellung 12'],
    ],
    ['a parcel service', ['From: paket@dienst.test', 'Return-Path: <>', 'Subject: Ihr Paket kommt heute']],
    ['an appliance', ['Auto-Submitted: auto-notified; owner-email="a@b.test"']],
    ['cron', ['Auto-Submitted: auto-generated', 'X-Cron-Env: <SHELL=/bin/sh>']],
    ['a mail server', ['From: Mail Delivery System <MAILER-DAEMON@mx.test>', 'Subject: Undelivered Mail']],
    ['a mail server in a file of mail', ['Return-Path: <MAILER-DAEMON>', 'Subject: Zugestellt']],
    ['Exim', ['X-Failed-Recipients: eve@customer.test']],
  ] as const)('%s', (_, fields) => {
    for (const facts of [STRANGER, KNOWN, ANSWER]) expect(writerOf(fields, facts)).toBe('machine');
  });
});

describe('marks of mail to many', () => {
  const NEWSLETTERS = [
    ['List-Unsubscribe: <https://shop.test/weg>', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'],
    ['List-Id: <news.shop.test>', 'List-Unsubscribe: <mailto:weg@shop.test>', 'Feedback-ID: 1:2:3:mc'],
    ['Precedence: bulk', 'From: Newsletter <news@shop.test>'],
    ['X-Precedence: junk', 'From: no-reply@shop.test', 'List-Unsubscribe: <mailto:weg@shop.test>'],
    ['Precedence: list', 'List-Unsubscribe: <mailto:weg@shop.test>', 'List-Post: NO'],
  ];

  it.each(NEWSLETTERS)('of a stranger who answers nothing are those of a newsletter: %s %s', (...fields) => {
    expect(writerOf(fields, STRANGER)).toBe('machine');
  });

  it.each([...NEWSLETTERS, GOOGLE_GROUP])(
    'of a customer, of an address that we wrote to, or on an answer to us, are those of a person: %s',
    (...fields) => {
      expect(writerOf(fields, KNOWN)).toBe('person');
      expect(writerOf(fields, ANSWER)).toBe('person');
    },
  );
});

describe('an answer to us', () => {
  it.each([
    ['Automatic reply: Angebot 4711', 'machine'],
    ['Automatische Antwort: Re: Angebot  4711', 'machine'],
    ['Abwesenheitsnotiz: AW: angebot 4711', 'machine'],
    ['[Extern] Out of Office: Angebot 4711', 'machine'],
    ['Auto-Reply: Angebot 4711', 'machine'],
    ['Auto: Angebot 4711', 'unsure'],
    ['Urlaub: Angebot 4711', 'unsure'],
    ['自動返信: Angebot 4711', 'machine'],
    ['Automatic reply: Angebot 4712', 'unsure'],
    ['Automatic reply sensor broken', 'unsure'],
    ['Automatic reply', 'unsure'],
    ['AW: Angebot 4711', 'person'],
  ] as const)('is a program’s only if it repeats our subject: %s', (subject, writer) => {
    const encoded = `Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=`;
    expect(writerOf([encoded, 'In-Reply-To: <ours@shop.test>'], ANSWER)).toBe(writer);
  });
});

const REPORT = (type: string, part: string) =>
  [
    '--b',
    'Content-Type: text/plain',
    '',
    'Ihre E-Mail wurde gelesen.',
    '--b',
    `Content-Type: ${part}`,
    '',
    `Reporting-UA: ${type}`,
    'Disposition: manual-action/MDN-sent-manually; displayed',
    '',
    '--b--',
  ].join('\r\n');

describe('a report is a program’s, and has the kind that its type names', () => {
  it.each([
    ['delivery-status', 'message/delivery-status', 'bounce'],
    ['feedback-report', 'message/feedback-report', 'bounce'],
    ['disposition-notification', 'message/disposition-notification', 'receipt'],
    ['"Disposition-Notification"', 'message/disposition-notification', 'receipt'],
    ['tlsrpt', 'application/tlsrpt+gzip', 'report'],
  ])('%s', (type, part, kind) => {
    const raw = `${FROM}\r\nContent-Type: multipart/report; report-type=${type}; boundary=b\r\n\r\n${REPORT(type, part)}`;
    const marks = classifyAutomatic(parseMessage(Buffer.from(raw)));
    expect(marks?.kind).toBe(kind);
    expect(judgeWriter(marks, KNOWN)).toBe('machine');
  });

  const dmarc = (subject: string, filename: string) =>
    [
      'From: noreply-dmarc-support@google.test',
      `Subject: ${subject}`,
      'Content-Type: application/zip',
      `Content-Disposition: attachment; filename="${filename}"`,
      '',
      'x',
    ].join('\r\n');
  const FILE = 'google.test!shop.test!1700000000!1700086399.zip';

  it.each([
    'Report domain: shop.test Submitter: google.test Report-ID: 123',
    'Report Domain: shop.test; Submitter: mail.test; Report-ID: <1@mail.test>',
    '[Preview] Report Domain: shop.test Submitter: enterprise.protection.outlook.test Report-ID: 1',
    'Dmarc Aggregate Report Domain: {shop.test} Submitter: {web.test}',
  ])('of DMARC: %s', (subject) => {
    expect(classifyAutomatic(parseMessage(Buffer.from(dmarc(subject, FILE))))).toMatchObject({
      kind: 'report',
      sign: 'machine',
    });
  });

  it.each([
    ['Fwd: Report domain: shop.test Submitter: google.test Report-ID: 1', FILE],
    ['AW: Report domain: shop.test Submitter: google.test Report-ID: 1', FILE],
    ['Report domain: shop.test Submitter: google.test Report-ID: 1', 'Frage.zip'],
    ['Was ist das?', FILE],
  ])('but not of a person who sends one on: %s %s', (subject, filename) => {
    const raw = dmarc(subject, filename).replace('noreply-dmarc-support@google.test', 'ada@customer.test');
    expect(judgeWriter(classifyAutomatic(parseMessage(Buffer.from(raw))), STRANGER)).toBe('person');
  });
});

it('facts are asked for only where they decide', () => {
  expect(needsFacts(null)).toBe(false);
  expect(needsFacts(sentAutomatic('auto-replied'))).toBe(false);
  const marks = classifyAutomatic(parseMessage(Buffer.from(`${FROM}\r\nPrecedence: bulk\r\n\r\nx`)));
  expect(needsFacts(marks)).toBe(true);
});
