/** An mbox file of made-up conversations, always the same for a given number of mails: for measuring the speed of an import. */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const WORDS =
  'angebot rechnung lieferung termin vertrag menge preis muster adresse frage antwort projekt'.split(' ');

/** Numbers from 0 to 1 that look random (mulberry32). */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Two thirds of the mails have an HTML part, and one in twenty has a file of 30 kB; conversations of 1 to 8 mails, mixed. */
export function* mails(count) {
  const random = createRandom(1);
  const pick = (values) => values[Math.floor(random() * values.length)];
  const text = (words) =>
    Array.from({ length: words }, () => pick(WORDS))
      .join(' ')
      .replace(/(.{60,75}) /g, '$1\r\n');
  const open = [];
  for (let index = 0; index < count; index += 1) {
    let thread = random() < 0.65 && open.length > 0 ? pick(open) : null;
    if (thread === null) {
      thread = { subject: `${pick(WORDS)} ${index}`, person: Math.floor(random() * 2000), ids: [] };
      open.push(thread);
      if (open.length > 200) open.shift();
    }
    const id = `<m${index}.${Math.floor(random() * 1e9)}@firma${thread.person % 400}.example>`;
    const isReply = thread.ids.length > 0;
    const plain = text(60 + Math.floor(random() * 200));
    const quoted = isReply ? `\r\n\r\nAm 3. Mai schrieb Anna Berger:\r\n${plain.replace(/^/gm, '> ')}` : '';
    const date = new Date(Date.UTC(2024, 0, 1) + index * 61_000).toUTCString().replace('GMT', '+0000');
    const parts = [
      `Content-Type: text/plain; charset=utf-8\r\n\r\nGrüß Gott,\r\n${plain}${quoted}\r\n`,
      ...(random() < 0.66
        ? [
            `Content-Type: text/html; charset=utf-8\r\n\r\n<html><body><p>Grüß Gott,<br>${plain}</p></body></html>\r\n`,
          ]
        : []),
    ];
    const body = `Content-Type: multipart/alternative; boundary="alt"\r\n\r\n${parts.map((part) => `--alt\r\n${part}`).join('')}--alt--\r\n`;
    const file = Buffer.alloc(30_000, `file of mail ${index} `)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n');
    const content =
      random() < 0.05
        ? `Content-Type: multipart/mixed; boundary="mix"\r\n\r\n--mix\r\n${body}--mix\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n${file}\r\n--mix--\r\n`
        : body;
    yield [
      `From: "Person ${thread.person}" <person${thread.person}@firma${thread.person % 400}.example>`,
      'To: Verkauf <verkauf@example.com>',
      `Subject: ${isReply ? 'Re: ' : ''}${thread.subject}`,
      `Date: ${date}`,
      `Message-ID: ${id}`,
      ...(isReply
        ? [`In-Reply-To: ${thread.ids.at(-1)}`, `References: ${thread.ids.slice(-10).join('\r\n ')}`]
        : []),
      `Received: from mx.firma${thread.person % 400}.example by mail.example.com; ${date}`,
      'MIME-Version: 1.0',
      content,
    ].join('\r\n');
    thread.ids.push(id);
    if (thread.ids.length === 8) open.splice(open.indexOf(thread), 1);
  }
}

export async function writeMbox(file, count) {
  const out = createWriteStream(file);
  for (const mail of mails(count)) {
    const text = mail.replaceAll('\r\n', '\n').replace(/^(>*From )/gm, '>$1');
    if (!out.write(`From MAILER-DAEMON Mon Jan  1 00:00:00 2024\n${text}\n`)) {
      await new Promise((resolve) => out.once('drain', resolve));
    }
  }
  out.end();
  await finished(out);
}
