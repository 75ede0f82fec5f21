/**
 * Reads one received message: our reader against mailparser and postal-mime, in turns within one run. Three questions: the CPU cost of a
 * message, which reader differs where the other two agree, and the cost of hostile mail. Needs a build.
 *
 *   node bench/mime.mjs [folder of messages, one in each file or mbox] [rounds]
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
import { parseMessage } from '../dist/core/mime/parse/parse.js';
import { createMboxSplitter, isMboxStart } from '../dist/core/mbox/split-mbox.js';
import { mails } from './mail-archive.mjs';
import { median } from './results.mjs';

/** Each reader returns the same view of a message, so that views can be compared. */
const READERS = {
  ours: async (raw) => {
    const mail = parseMessage(raw);
    return {
      subject: mail.subject ?? '',
      from: mail.from.map(({ localPart, domain }) => `${localPart}@${domain}`).join(),
      to: mail.to.map(({ localPart, domain }) => `${localPart}@${domain}`).join(),
      date: mail.date?.toISOString() ?? '',
      text: mail.text ?? '',
      files: mail.attachments.map(({ filename }) => filename ?? '').join(),
    };
  },
  mailparser: async (raw) => {
    // Converting HTML to text and back is work that the other readers don't do.
    const mail = await simpleParser(raw, {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipImageLinks: true,
    });
    const addresses = (list) => [list ?? []].flat().flatMap(({ value }) => value.flatMap(flatten));
    const flatten = (one) => (one.group ? one.group.flatMap(flatten) : one.address ? [one.address] : []);
    return {
      subject: mail.subject ?? '',
      from: addresses(mail.from).join(),
      to: addresses(mail.to).join(),
      date: mail.date?.toISOString() ?? '',
      text: mail.text ?? '',
      files: mail.attachments.map(({ filename }) => filename ?? '').join(),
    };
  },
  'postal-mime': async (raw) => {
    const mail = await PostalMime.parse(raw);
    const flatten = (one) => (one?.group ? one.group.flatMap(flatten) : one?.address ? [one.address] : []);
    const date = mail.date === undefined ? NaN : Date.parse(mail.date);
    return {
      subject: mail.subject ?? '',
      from: flatten(mail.from).join(),
      to: (mail.to ?? []).flatMap(flatten).join(),
      date: Number.isNaN(date) ? '' : new Date(date).toISOString(),
      text: mail.text ?? '',
      files: mail.attachments.map(({ filename }) => filename ?? '').join(),
    };
  },
};

/** By n, roughly the size in bytes. */
const HOSTILE = {
  'a charset of quotes': (n) => `Content-Type: text/plain; charset="x${"'".repeat(n)}x"\r\n\r\nx`,
  'a file name of quotes': (n) => `Content-Disposition: attachment; filename*=x${'"'.repeat(n)}x''y\r\n\r\nx`,
  'To of words and colons': (n) => `To: ${'x '.repeat(n / 4)}y@z.example${':'.repeat(n / 2)}\r\n\r\nx`,
  'To of open comments': (n) => `To: ${'('.repeat(n)}a@b.example\r\n\r\nx`,
  'a subject of encoded words': (n) => `Subject: ${'=?utf-8?q?x?= '.repeat(n / 14)}\r\n\r\nx`,
  'nested multiparts': (n) => {
    const depth = n / 70;
    return Array.from(
      { length: depth },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
    ).join('');
  },
  'many parts': (n) =>
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(n / 10)}--b--`,
  'near boundaries': (n) =>
    `Content-Type: multipart/mixed; boundary=${'b'.repeat(70)}\r\n\r\n${`--${'b'.repeat(69)}\r\n`.repeat(n / 73)}`,
  'Base64 of one letter and =': (n) => `Content-Transfer-Encoding: base64\r\n\r\n${'A='.repeat(n / 2)}`,
  'HTML of open tags': (n) => `Content-Type: text/html\r\n\r\n${'<div>'.repeat(n / 5)}`,
  'HTML of comments': (n) => `Content-Type: text/html\r\n\r\n${'<!--'.repeat(n / 4)}`,
};
const HOSTILE_BYTES = 400_000;
const HOSTILE_LIMIT_MS = 30_000;

/** Messages read before the measurement, so that code is compiled. */
const WARM_UP = 3_000;

const program = fileURLToPath(import.meta.url);
if (process.argv[2] === '--hostile')
  await readHostile(process.argv[3], process.argv[4], Number(process.argv[5]));
else await compare(process.argv[2] ?? '/var/cache/email-worker-test-mail', Number(process.argv[3] ?? 5));

async function compare(folder, rounds) {
  const real = readFolder(folder);
  const made = [...mails(500)].map((text) => Buffer.from(text));
  const sets = [
    [`${real.length} real messages`, real],
    [`${made.length} made messages`, made],
    ['a message of 10 MB in Base64', [withFile(10_000_000)]],
  ];
  print('CPU per message in ms (median of the rounds), and how many times ours');
  for (const [name, raws] of sets) {
    if (raws.length > 0) print(`  ${name.padEnd(32)} ${await formatCosts(raws, rounds)}`);
  }
  print('\nMessages where one reader stands alone and the other two agree');
  await printLoners([...real, ...made]);
  print(
    `\nCPU in ms for hostile mail of ${HOSTILE_BYTES / 1000} kB, and how many times that of half the size`,
  );
  for (const name of Object.keys(HOSTILE)) {
    const costs = Object.keys(READERS).map((reader) => `${reader} ${formatHostile(reader, name)}`);
    print(`  ${name.padEnd(32)} ${costs.join('   ')}`);
  }
}

async function formatCosts(raws, rounds) {
  const costs = Object.fromEntries(Object.keys(READERS).map((name) => [name, []]));
  for (const read of Object.values(READERS)) {
    for (let done = 0; done < Math.min(WARM_UP, raws.length * 100); done += raws.length) {
      for (const raw of raws) await read(raw);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, read] of Object.entries(READERS)) {
      const before = process.cpuUsage();
      for (const raw of raws) await read(raw);
      const { user, system } = process.cpuUsage(before);
      costs[name].push((user + system) / 1000 / raws.length);
    }
  }
  const medians = Object.entries(costs).map(([name, all]) => [name, median(all)]);
  const [[, ours]] = medians;
  return medians.map(([name, ms]) => `${name} ${ms.toFixed(2)} (${(ms / ours).toFixed(1)})`).join('   ');
}

async function printLoners(raws) {
  const names = Object.keys(READERS);
  const alone = {};
  let messages = 0;
  for (const raw of raws) {
    const views = await Promise.all(names.map((name) => READERS[name](raw).catch(() => null)));
    if (views.includes(null)) continue;
    messages += 1;
    for (const field of Object.keys(views[0])) {
      const values = views.map((view) => normalise(view[field]));
      for (const [index, value] of values.entries()) {
        const [one, other] = values.filter((_, at) => at !== index);
        if (one !== other || value === one) continue;
        alone[field] ??= names.map(() => 0);
        alone[field][index] += 1;
      }
    }
  }
  print(`  of ${messages}: ${names.join(', ')}`);
  for (const [field, counts] of Object.entries(alone)) print(`  ${field.padEnd(32)} ${counts.join(', ')}`);
}

/** Spaces and case are ignored in the comparison. */
function normalise(value) {
  return value.replace(/\s+/g, ' ').trim().toLowerCase();
}

function formatHostile(reader, name) {
  const [half, whole] = [HOSTILE_BYTES / 2, HOSTILE_BYTES].map((bytes) => {
    const { stdout, signal } = spawnSync(
      process.execPath,
      [program, '--hostile', reader, name, String(bytes)],
      { timeout: HOSTILE_LIMIT_MS, killSignal: 'SIGKILL', encoding: 'utf8' },
    );
    return signal === null ? stdout.trim() : null;
  });
  if (whole === null) return `over ${HOSTILE_LIMIT_MS}`;
  if (!Number.isFinite(Number(whole)) || half === null) return whole || 'failed';
  return `${whole} (${(Number(whole) / Math.max(1, Number(half))).toFixed(1)})`;
}

async function readHostile(reader, name, bytes) {
  const raw = Buffer.from(HOSTILE[name](bytes));
  const before = process.cpuUsage();
  let failed = '';
  await READERS[reader](raw).catch((error) => (failed = ` throws ${error.constructor.name}`));
  const { user, system } = process.cpuUsage(before);
  print(`${Math.round((user + system) / 1000)}${failed}`);
}

/** A missing folder has no messages. */
function readFolder(folder) {
  let names;
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    print(`no real messages: ${folder} can't be read; .ci/fetch-mail.sh fetches some`);
    return [];
  }
  return names
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort()
    .flatMap((file) => split(readFileSync(file)))
    .filter((raw) => /^From:/im.test(raw.subarray(0, 20_000).toString('latin1')));
}

/** An mbox file has a message after each separator; any other file is one message. */
function split(bytes) {
  if (!isMboxStart(bytes)) return [bytes];
  const splitter = createMboxSplitter(0);
  const messages = [];
  for (const token of [...splitter.write(bytes), ...splitter.end()]) {
    if (token.kind === 'start') messages.push([]);
    else messages.at(-1)?.push(Buffer.from(token.bytes));
  }
  return messages.map((pieces) => Buffer.concat(pieces));
}

function withFile(sizeBytes) {
  const base64 = Buffer.alloc(sizeBytes, 'binary \u0000 content').toString('base64');
  return Buffer.from(
    'From: a@b.example\r\nTo: c@d.example\r\nSubject: a file\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
      '--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\n' +
      'Content-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
      `${base64.replace(/.{76}/g, '$&\r\n')}\r\n--b--\r\n`,
  );
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
