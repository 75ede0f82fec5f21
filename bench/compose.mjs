/**
 * Composes one message: our composer against nodemailer's MailComposer, alternating within one run. Needs a build.
 *
 *   node bench/compose.mjs [rounds]
 */
import MailComposer from 'nodemailer/lib/mail-composer';
import { composeMessage, composeMessageStream } from '../dist/core/mime/compose/compose.js';

const rounds = Number(process.argv[2] ?? 5);
const ascii = 'The quick brown fox jumps over the lazy dog, and then some more.\n'.repeat(31);
const german = 'Sehr geehrte Frau Müller, die Rechnung über 100 € liegt bei.\n'.repeat(32);
const html = `<html><body>${'<p>Sehr geehrte Frau M&uuml;ller, <a href="https://x.test/?a=b">hier</a> der Link für Sie.</p>'.repeat(50)}</body></html>`;

const base = {
  messageId: 'mm7p6yo0.abababababababababababababababab@example.com',
  date: new Date('2026-03-01T12:00:00Z'),
  from: { name: 'Vertrieb', localPart: 'vertrieb', domain: 'example.com' },
  to: [{ name: 'Jürgen Müller', localPart: 'j.mueller', domain: 'example.org' }],
  cc: [],
  subject: 'Ihre Anfrage über die Lieferung',
  textBody: null,
  htmlBody: null,
  inReplyTo: ['a@example.org'],
  references: ['b@example.org', 'a@example.org'],
  attachments: [],
  boundarySeed: 'abababababababababababababababab',
};
const pdf = (sizeBytes) => ({
  filename: 'Rechnung für Müller.pdf',
  contentType: 'application/pdf',
  content: { kind: 'bytes', bytes: Buffer.alloc(sizeBytes, 'binary \u0000 content') },
});

const cases = [
  ['2 kB ASCII text', 2000, { ...base, textBody: ascii }],
  ['2 kB German text', 2000, { ...base, textBody: german }],
  ['text and 5 kB HTML', 1000, { ...base, textBody: german, htmlBody: html }],
  ['text and 100 kB PDF', 200, { ...base, textBody: german, attachments: [pdf(100_000)] }],
  ['text and 10 MB PDF', 4, { ...base, textBody: german, attachments: [pdf(10_000_000)] }],
];

const toMailer = ({ name, localPart, domain }) => ({ name, address: `${localPart}@${domain}` });
const theirs = (draft) =>
  new MailComposer({
    messageId: `<${draft.messageId}>`,
    date: draft.date,
    from: toMailer(draft.from),
    to: draft.to.map(toMailer),
    subject: draft.subject,
    ...(draft.textBody === null ? {} : { text: draft.textBody }),
    ...(draft.htmlBody === null ? {} : { html: draft.htmlBody }),
    inReplyTo: draft.inReplyTo.map((id) => `<${id}>`).join(' '),
    references: draft.references.map((id) => `<${id}>`).join(' '),
    attachments: draft.attachments.map(({ filename, contentType, content }) => ({
      filename,
      contentType,
      content: content.bytes,
    })),
  })
    .compile()
    .build();
const streamed = async (draft) => {
  for await (const chunk of composeMessageStream(draft, () => [])) void chunk;
};

async function medianMs(count, action) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let index = 0; index < count; index++) await action();
    times.push((performance.now() - start) / count);
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)];
}

for (const [name, count, draft] of cases) {
  await medianMs(Math.ceil(count / 4), () => composeMessage(draft));
  const row = {
    ours: await medianMs(count, () => composeMessage(draft)),
    streamed: await medianMs(count, () => streamed(draft)),
    nodemailer: await medianMs(Math.ceil(count / 4), () => theirs(draft)),
  };
  const figures = Object.entries(row).map(([who, ms]) => `${who} ${ms.toFixed(4)} ms`);
  console.log(`${name}: ${figures.join(', ')} (×${(row.nodemailer / row.ours).toFixed(1)})`);
}
