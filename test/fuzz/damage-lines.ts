/** Damage that follows the structure of a mail: lines of a header, boundaries, charsets, ends. */

const LABELS = [
  'x-none',
  'utf-7',
  'utf-16',
  'iso-2022-jp',
  'c-p-8-5-0',
  '',
  "'".repeat(50),
  'utf-8',
  'base64',
];

/** Changes one line, or the end of the mail. */
export function damageLines(bytes: Buffer, mails: readonly Buffer[], random: () => number): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const at = Math.floor(random() * lines.length);
  const line = lines[at] ?? '';
  const kind = random();
  if (kind < 0.15) lines.splice(at, 1);
  else if (kind < 0.3)
    lines.splice(at, 0, ...Array.from({ length: 1 + Math.floor(random() * 5) }, () => line));
  else if (kind < 0.45) lines.splice(at, 0, lineOf(mails, random));
  else if (kind < 0.55) lines.splice(at, 1, line.slice(0, Math.floor(random() * line.length)));
  else if (kind < 0.65) lines.splice(at, 0, `--${boundaryOf(bytes)}${random() < 0.5 ? '' : '--'}\r`);
  else if (kind < 0.75) return Buffer.from(relabel(lines.join('\n'), random), 'latin1');
  else if (kind < 0.85) lines.length = at + 1;
  else lines.splice(at, 1, flip(line, random));
  return Buffer.from(lines.join('\n'), 'latin1');
}

function lineOf(mails: readonly Buffer[], random: () => number): string {
  const lines = mails[Math.floor(random() * mails.length)]?.toString('latin1').split('\n') ?? [];
  return lines[Math.floor(random() * lines.length)] ?? '';
}

const boundaryOf = (bytes: Buffer): string =>
  /boundary="?([^"\r\n;]+)/i.exec(bytes.subarray(0, 20_000).toString('latin1'))?.[1] ?? 'b';

function relabel(text: string, random: () => number): string {
  const label = () => LABELS[Math.floor(random() * LABELS.length)] ?? '';
  return text
    .replace(/charset="?[\w-]+/gi, () => `charset=${label()}`)
    .replace(/=\?[\w-]+\?/g, () => `=?${label()}?`);
}

function flip(line: string, random: () => number): string {
  const at = Math.floor(random() * line.length);
  return line.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + line.slice(at + 1);
}
