import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectCpuGrowthBelow } from '../../../../test/readers/cpu-time.ts';
import { flattenHtml } from './flatten-html.ts';
import { htmlToText } from './html-to-text.ts';
import { newText as newTextOf } from './reply-text.ts';

/** The new text of a mail that answers another one. */
function newText(text: string, html: string | null = null, isForward = false): string {
  return newTextOf(text, html, { isReply: true, isForward, sender: null });
}

interface Sample {
  readonly name: string;
  readonly text: string;
  readonly expected: string;
}

const FILE = new URL('../../../../test/fixtures/replies/samples.json', import.meta.url);
const SAMPLES = JSON.parse(readFileSync(FILE, 'utf8')) as readonly Sample[];

/** `## name`, the text, a line `=>`, the new text; all of the text is new where there is no line `=>`. */
const samplesOf = (name: string): readonly (readonly [string, string, string])[] =>
  readFileSync(new URL(name, FILE), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.trimEnd().split('\n');
      const arrow = lines.indexOf('=>');
      const text = (arrow === -1 ? lines : lines.slice(0, arrow)).join('\n');
      return [title, text, arrow === -1 ? text.trim() : lines.slice(arrow + 1).join('\n')] as const;
    });

const SENDER = 'Eva Beispiel eva';

/** The lines without marks and empty ones. */
const linesOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => line.replace(/^[>\s]+/, '').trim() || []);

/** Four times the text takes about four times as long; with the square of its length it would be sixteen times. */
const expectLinear = (work: (chars: number) => void, chars: number): void =>
  expectCpuGrowthBelow(8, work, chars, 4 * chars, 20);

describe('newText', () => {
  it.each(samplesOf('new-text.txt'))('loses nothing of %s', (title, text, expected) => {
    expect(newTextOf(text, null, { isReply: true, isForward: false, sender: SENDER })).toBe(expected);
    if (title.endsWith('(reply)')) return;
    expect(newTextOf(text, null, { isReply: false, isForward: false, sender: null })).toBe(expected);
  });

  it.each(samplesOf('first-mails.txt'))('loses nothing of a first mail with %s', (_, text, expected) => {
    expect(newTextOf(text, null, { isReply: false, isForward: false, sender: SENDER })).toBe(expected);
  });

  it.each(samplesOf('html.txt'))('reads a reply in HTML: %s', (_, html, expected) => {
    const isWhole = html === expected;
    for (const text of [flattenHtml(html), htmlToText(html)]) {
      const found = linesOf(newTextOf(text, html, { isReply: true, isForward: false, sender: SENDER }));
      expect(found).toEqual(linesOf(isWhole ? text : expected));
    }
  });

  it('keeps a quote in HTML in which a person says that answers are', () => {
    const html =
      '<p>Siehe meine Antworten in rot.</p><div class="moz-cite-prefix">Am 04.05.26 um 10:00 schrieb Ann:<br></div>' +
      '<blockquote type="cite" cite="mid:x@example.com"><p>Wie viele?</p><p style="color:red">Drei.</p></blockquote>';
    for (const text of [flattenHtml(html), htmlToText(html)]) expect(newText(text, html)).toContain('Drei.');
  });

  it('finds no quote without an address in a mail that answers nothing', () => {
    const first = (text: string, html: string | null = null): string =>
      newTextOf(text, html, { isReply: false, isForward: false, sender: null });
    for (const text of [
      'Herr Meier schrieb:\n> 100 kg Mehl\n> 50 kg Zucker\n\nPasst das?',
      'Am 02.03.26 um 09:15 schrieb Eva Beispiel:\n> Passt Montag?\n\nWas meint sie?',
      'Was heißt das?\n\n-----Original-Nachricht-----\nPaket 12\n\nDanke',
      '> Passt Montag?\n>\n> Oder Dienstag?\n\nBitte eintragen.',
      'Von: Eva\nGesendet: Montag, 2. März 2026 09:15\nAn: Max\nBetreff: Fracht\n\nBitte bestätigen.',
    ]) {
      expect(first(text)).toBe(text);
    }
    const html = '<p>Zitat:</p><blockquote type="cite">Passt Montag?</blockquote><p>Und nun?</p>';
    expect(first('Zitat:\n\nPasst Montag?\n\nUnd nun?', html)).toBe('Zitat:\n\nPasst Montag?\n\nUnd nun?');
    expect(
      first('Ja.\n\nAm 02.03.26 um 09:15 schrieb Eva <eva@example.org>:\n> Passt Montag?\n>\n> Eva'),
    ).toBe('Ja.');
  });

  it.each(samplesOf('programs.txt'))('reads %s', (name, text, expected) => {
    expect(newText(text, null, name.endsWith('(subject of a forward)'))).toBe(expected);
  });

  it('keeps what is passed on in HTML, too', () => {
    const html =
      '<div>Bitte ansehen.</div><div class="gmail_quote">---------- Forwarded message ---------<br>Von: Eva<br><br>Passt Montag?</div>';
    const text = 'Bitte ansehen.\n\n---------- Forwarded message ---------\nVon: Eva\n\nPasst Montag?';
    expect(newText(text, html)).toBe(text);
    const outlook =
      '<p>Bitte ansehen.</p><hr><div id="divRplyFwdMsg"><b>Von:</b> Eva<br><b>Gesendet:</b> 02.03.2026<br>' +
      '<b>Betreff:</b> Termin</div><div>Passt Montag?</div>';
    expect(newText('Bitte ansehen.\n\nEva\n\nPasst Montag?', outlook, true)).toContain('Passt Montag?');
    expect(newText('Bitte ansehen.\n\nEva\n\nPasst Montag?', outlook)).toBe('Bitte ansehen.');
  });

  it.each(SAMPLES.map(({ name, text, expected }) => [name, text, expected]))(
    'reads %s',
    (_, text, expected) => {
      expect(newText(text)).toBe(expected);
      expect(newText(newText(text))).toBe(newText(text));
    },
  );

  it('keeps what stands around a quote of more than a thousand lines', () => {
    const quote = Array.from({ length: 1200 }, (_, n) => `> Zeile ${n}`).join('\n');
    expect(newText(`Ok.\n\nAm 02.03.26 um 09:15 schrieb Eva:\n${quote}\n\nUnd danach.`)).toBe(
      'Ok.\n\nUnd danach.',
    );
  });

  it('keeps a text of more than a thousand lines', () => {
    const text = Array.from({ length: 1200 }, (_, n) => `Zeile ${n}`).join('\n');
    expect(newText(text)).toBe(text);
  });

  it('keeps the text when the HTML marks everything as quoted, or nothing', () => {
    expect(newText('Hi', '<blockquote type="cite">Hi</blockquote>')).toBe('Hi');
    expect(newText('Hi', '<p>Hi</p>')).toBe('Hi');
    expect(newText('', null)).toBe('');
  });

  it.each([
    '>',
    '> \n\n',
    'On 1 a@b ',
    'On 1 2026 wrote\n',
    'a@b c\n',
    'a@b wrote:x\n',
    '--\n',
    '-- \n',
    'From: \n',
    'Sent from my x\n\n',
    '______________\n',
    ' \n',
    'wrote ',
    '\n',
    '--- On 1 ',
    'x--- On 1 a@b wrote:\n',
    '-----\n',
    'a@b '.repeat(20),
    '---- On 2026 9:15 a@b wrote ----x\n',
  ])('needs linear time for many %j', (unit) => {
    expectLinear((chars) => newText(unit.repeat(Math.floor(chars / unit.length))), 125_000);
  });

  it.each([
    '<',
    '<div class="',
    '<div class=gmail_quote',
    '<div class=gmail_quote>',
    '<blockquote type=cite></blockquote>',
  ])('needs linear time for HTML of many %j', (unit) => {
    expectLinear((chars) => newText('Hi', unit.repeat(Math.ceil(chars / unit.length))), 250_000);
  });
});
