/**
 * Fills a running service with the mail of an invented company, for screenshots and for a look at the page:
 * `node page/build/demo.mjs <url> <secret>`. Everything goes in by the public API.
 */
import { pathToFileURL } from 'node:url';

const OWN = 'Nordlicht Vertrieb <vertrieb@nordlicht.example>';
const HOUR_MS = 3_600_000;
/** A drawing of a plan, so that there is a preview. */
const PLAN_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAVElEQVR42mP4//8/AymAiYFEMKphVMOohlENoxpGNYxqGNUwqmFUw6iGUQ2jGkY1jGoY1TCqYVTDqIZRDaMaRjWMahjVMKphVMOohlENoxoAAN2yBD2Z3l8PAAAAAElFTkSuQmCC';

const CUSTOMERS = {
  hansen: {
    id: '6f1c2a9e-3b47-4d58-8e0a-5c7d9b1f2e34',
    name: 'Katrin Hansen',
    address: 'k.hansen@hansen-bau.example',
  },
  weber: {
    id: '7a2d3b0f-4c58-4e69-9f1b-6d8e0c2a3f45',
    name: 'Tobias Weber',
    address: 'tobias.weber@weberundsohn.example',
  },
  clarke: {
    id: '8b3e4c1a-5d69-4f7a-8a2c-7e9f1d3b4a56',
    name: 'Eleanor Clarke',
    address: 'eleanor@clarke-interiors.example',
  },
};

/** `ago` in hours; `quote` answers the email before it, as mail programs do. */
const CONVERSATIONS = [
  {
    customer: 'hansen',
    subject: 'Angebot für die Dachfenster im Neubau Seestraße',
    labels: ['Angebot', 'Neubau'],
    assignee: 'Jana Petersen',
    emails: [
      [
        'in',
        50,
        'Guten Tag,\n\nwir bauen in der Seestraße 14 ein Mehrfamilienhaus und brauchen 18 Dachfenster (78 × 118 cm, dreifach verglast).\n\nKönnen Sie uns bis Ende der Woche ein Angebot mit Liefertermin schicken? Den Plan habe ich angehängt.\n\nViele Grüße\nKatrin Hansen\nHansen Bau GmbH',
        ['Plan-Seestrasse-14.png', 'Fensterliste.csv'],
      ],
      [
        'out',
        44,
        'Guten Tag Frau Hansen,\n\nvielen Dank für Ihre Anfrage. Anbei unser Angebot; der Liefertermin wäre die Kalenderwoche 49.\n\nBei Fragen rufen Sie mich gern an.\n\nMit freundlichen Grüßen\nJana Petersen',
        ['Angebot-2026-1184.pdf'],
      ],
      [
        'in',
        1.2,
        'Guten Tag Frau Petersen,\n\ndas sieht gut aus. Zwei Fragen noch:\n\n1. Gilt der Preis auch, wenn wir die Lieferung in zwei Teilen bekommen?\n2. Sind die Eindeckrahmen dabei? Auf https://hansen-bau.example/seestrasse sehen Sie, welche Pfannen wir verlegen.\n\nViele Grüße\nKatrin Hansen',
        [],
        true,
      ],
    ],
  },
  {
    customer: 'clarke',
    subject: 'Delivery address has changed',
    labels: [],
    emails: [
      [
        'in',
        3,
        'Hello,\n\nwe have moved: please send order NL-20931 to 27 Harbour Lane, Bristol BS1 4RN instead. Nothing else changes.\n\nThanks a lot,\nEleanor',
      ],
    ],
  },
  {
    customer: 'weber',
    subject: 'Reklamation: ein Fenster schließt nicht richtig',
    labels: ['Reklamation'],
    assignee: 'Jana Petersen',
    emails: [
      [
        'in',
        30,
        'Guten Morgen,\n\nbei dem Fenster im Bad (Auftrag 20877) bleibt unten ein Spalt von etwa 3 mm. Ein Foto ist dabei. Wann kann jemand kommen?\n\nGruß, T. Weber',
        ['IMG_2031.png'],
      ],
      [
        'out',
        28,
        'Guten Tag Herr Weber,\n\ndas tut uns leid. Unser Monteur kann am Donnerstag zwischen 8 und 10 Uhr bei Ihnen sein. Passt das?\n\nMit freundlichen Grüßen\nJana Petersen',
      ],
      ['in', 26, 'Donnerstag passt gut, danke!', [], true],
      ['out', 25.5, 'Sehr schön, dann ist es so eingetragen.\n\nMit freundlichen Grüßen\nJana Petersen'],
    ],
  },
  {
    from: { name: 'Spedition Krüger', address: 'dispo@krueger-logistik.example' },
    subject: 'Lieferavis 4 Paletten, Dienstag 7:30 Uhr',
    emails: [
      [
        'in',
        5,
        'Moin,\n\nwir liefern am Dienstag um 7:30 Uhr vier Paletten an Tor 2. Bitte Stapler bereithalten.\n\nDisposition Krüger',
      ],
    ],
  },
  {
    from: { name: 'Miguel Ortega', address: 'miguel.ortega@tejados-sur.example' },
    subject: 'Catalogue and price list 2027',
    labels: ['Angebot'],
    emails: [
      [
        'in',
        7,
        'Dear Sir or Madam,\n\ncould you send us your catalogue and the price list for 2027? We equip about forty roofs a year in Andalusia.\n\nBest regards,\nMiguel Ortega',
      ],
    ],
  },
  {
    customer: 'hansen',
    subject: 'Rechnung 2026-3312: Skonto',
    labels: ['Buchhaltung'],
    emails: [
      [
        'in',
        75,
        'Guten Tag,\n\nauf der Rechnung fehlen die vereinbarten 2 % Skonto. Bitte um Korrektur.\n\nKatrin Hansen',
      ],
      [
        'out',
        73,
        'Guten Tag Frau Hansen,\n\nSie haben recht. Die berichtigte Rechnung ist angehängt.\n\nMit freundlichen Grüßen\nJana Petersen',
        ['Rechnung-2026-3312-korrigiert.pdf'],
      ],
    ],
    status: 'done',
  },
  {
    from: { name: 'Sabine Vogt', address: 'sabine.vogt@vogt-architektur.example' },
    subject: 'Muster für den Showroom',
    emails: [
      [
        'in',
        22,
        'Liebes Team,\n\nkönnten wir zwei Muster (weiß und anthrazit) für unseren Showroom bekommen? Wir holen sie auch ab.\n\nHerzliche Grüße\nSabine Vogt',
      ],
    ],
  },
  {
    from: { name: '', address: 'noreply@messe-bau.example' },
    subject: 'Ihre Ausstellerunterlagen',
    emails: [['in', 96, 'Ihre Unterlagen für die Messe Bau liegen im Portal bereit.']],
    headers: { 'Auto-Submitted': 'auto-generated' },
  },
  {
    customer: 'clarke',
    subject: 'Samples arrived – thank you',
    emails: [
      [
        'in',
        120,
        'The samples arrived today and look wonderful. We will come back with quantities in January.\n\nEleanor',
      ],
    ],
    status: 'done',
  },
];

const HTML_LETTER = `<div style="background:#f4f1ea;padding:24px;font-family:Georgia,serif"><table width="560" align="center" style="background:#ffffff;border-radius:8px"><tr><td style="padding:28px;color:#333">
<h1 style="color:#8a4b2a;font-size:26px;margin:0 0 12px">Holzfenster, neu gedacht</h1><p>Unsere neue Serie ist da: schmale Rahmen, dreifach verglast, aus heimischer Lärche.</p>
<p><a href="https://holzwerk.example/serie" style="background:#8a4b2a;color:#fff;padding:10px 18px;border-radius:4px;text-decoration:none">Serie ansehen</a></p><img src="https://holzwerk.example/zaehler.gif" width="1" height="1" alt=""></td></tr></table></div>`;

/** Puts everything in. Returns the thread of each conversation by its subject. */
export async function fillWithDemo(url, secret) {
  const call = async (path, { method = 'POST', type = 'application/json', body } = {}) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { Authorization: `Bearer ${secret}`, ...(body === undefined ? {} : { 'Content-Type': type }) },
      ...(body === undefined ? {} : { body: type === 'application/json' ? JSON.stringify(body) : body }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  for (const { id, name, address } of Object.values(CUSTOMERS))
    await call(`/api/customer/${id}/addresses`, {
      method: 'PUT',
      body: { name, addresses: [address], domains: [] },
    });
  const threads = {};
  for (const [name, rights] of Object.entries({
    'Jana Petersen': ['read', 'draft', 'send', 'handle'],
    Rechnungslauf: ['send'],
  }))
    await call('/api/keys', { body: { name, rights, account_ids: '*' } });
  for (const conversation of CONVERSATIONS) threads[conversation.subject] = await tell(conversation, call);
  await call('/api/inbound', {
    type: 'message/rfc822',
    body: toMessage({
      from: { name: 'Holzwerk Altmühl', address: 'post@holzwerk.example' },
      subject: 'Neu: Holzfenster aus Lärche',
      id: 'news-1@holzwerk.example',
      at: new Date(Date.now() - 10 * HOUR_MS),
      html: HTML_LETTER,
      text: 'Unsere neue Serie ist da.',
      headers: { 'List-Id': '<news.holzwerk.example>', Precedence: 'list' },
    }),
  });
  await call('/api/send', {
    body: {
      to: 'Sabine Vogt <sabine.vogt@vogt-architektur.example>',
      subject: 'Termin im Showroom',
      text_body: 'Guten Tag Frau Vogt,\n\ndie Muster liegen ab Montag bereit.',
      send_at: new Date(Date.now() + 20 * HOUR_MS).toISOString(),
    },
  });
  await call('/api/suppressions/frueher%40ausgezogen.example', {
    method: 'PUT',
    body: { note: 'Firma umgezogen, Adresse gibt es nicht mehr' },
  });
  await call('/api/webhooks', {
    body: { url: 'https://crm.nordlicht.example/mail', description: 'CRM', types: ['email.received'] },
  });
  await call('/api/drafts', {
    body: {
      author: 'API_SECRET',
      message: { to: CUSTOMERS.weber.address, subject: 'Ersatzteil', text_body: 'Guten Tag Herr Weber,' },
    },
  });
  return threads;
}

/** The emails of a conversation, each an answer to the one before. */
async function tell(
  { customer, from = CUSTOMERS[customer], subject, emails, labels, assignee, status, headers = {} },
  call,
) {
  const earlier = [];
  let threadId;
  for (const [index, [direction, ago, text, files = [], quote = false]] of emails.entries()) {
    const at = new Date(Date.now() - ago * HOUR_MS);
    const last = earlier.at(-1);
    const whole =
      quote && last !== undefined
        ? `${text}\n\nAm ${at.toLocaleDateString('de')} schrieb Nordlicht:\n\n${last.text.replace(/^/gm, '> ')}`
        : text;
    const message = toMessage({
      from: direction === 'in' ? from : { name: 'Nordlicht Vertrieb', address: 'vertrieb@nordlicht.example' },
      to: direction === 'in' ? OWN : `${from.name} <${from.address}>`,
      subject: index === 0 ? subject : `Re: ${subject}`,
      id: `${index}-${subject.replace(/\W+/g, '')}@demo.example`,
      references: earlier.map(({ id }) => id),
      at,
      text: whole,
      files,
      headers,
    });
    const query = direction === 'out' ? '?sent=true' : ago > 6 ? '?read=true' : '';
    const received = await call(`/api/inbound${query}`, { type: 'message/rfc822', body: message });
    threadId = received.thread_id ?? received.threadId;
    earlier.push({ id: `${index}-${subject.replace(/\W+/g, '')}@demo.example`, text });
  }
  const { assignees } = await call('/api/assignees', { method: 'GET' });
  const change = {
    ...(labels === undefined ? {} : { labels }),
    ...(assignee === undefined ? {} : { assignee: assignees.find(({ name }) => name === assignee).id }),
    ...(status === undefined ? {} : { status }),
  };
  if (Object.keys(change).length > 0)
    await call(`/api/threads/${threadId}`, { method: 'PATCH', body: change });
  return threadId;
}

const encoded = (text) =>
  /^[ -~]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
const person = ({ name, address }) => (name === '' ? address : `${encoded(name)} <${address}>`);
const base64 = (content) => Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n');

function toMessage({
  from,
  to = OWN,
  subject,
  id,
  references = [],
  at,
  text,
  html,
  files = [],
  headers = {},
}) {
  const parts = [
    html === undefined
      ? part('text/plain; charset=utf-8', base64(text))
      : part(
          'multipart/alternative; boundary="inner"',
          `--inner\r\n${part('text/plain; charset=utf-8', base64(text))}\r\n--inner\r\n${part('text/html; charset=utf-8', base64(html))}\r\n--inner--`,
          null,
        ),
    ...files.map((name) =>
      part(
        typeOf(name),
        name.endsWith('.png') ? PLAN_PNG : base64(`${name}\r\n`.repeat(2000)),
        'base64',
        name,
      ),
    ),
  ];
  return [
    `From: ${person(from)}`,
    `To: ${to.replace(/^[^<]*[^ -~][^<]*/, (name) => `${encoded(name.trim())} `)}`,
    `Subject: ${encoded(subject)}`,
    `Date: ${at.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}>`,
    ...(references.length === 0
      ? []
      : [
          `In-Reply-To: <${references.at(-1)}>`,
          `References: ${references.map((one) => `<${one}>`).join(' ')}`,
        ]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    ...parts.map((content) => `--outer\r\n${content}`),
    '--outer--',
    '',
  ].join('\r\n');
}

function part(type, content, encoding = 'base64', name = null) {
  const lines = [`Content-Type: ${type}`];
  if (encoding !== null) lines.push(`Content-Transfer-Encoding: ${encoding}`);
  if (name !== null) lines.push(`Content-Disposition: attachment; filename="${name}"`);
  return `${lines.join('\r\n')}\r\n\r\n${content}`;
}

const typeOf = (name) =>
  ({ png: 'image/png', pdf: 'application/pdf', csv: 'text/csv' })[name.split('.').at(-1)] ??
  'application/octet-stream';

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , url, secret] = process.argv;
  if (url === undefined || secret === undefined)
    throw new Error('usage: node page/build/demo.mjs <url> <secret>');
  await fillWithDemo(url, secret);
}
