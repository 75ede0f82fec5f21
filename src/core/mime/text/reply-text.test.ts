import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../../test/readers/cpu-time.ts';
import { newText as newTextOf } from './reply-text.ts';

/** The new text of a mail that answers another one. */
function newText(text: string, html: string | null = null, isForward = false): string {
  return newTextOf(text, html, { isReply: true, isForward });
}

interface Sample {
  readonly name: string;
  readonly text: string;
  readonly expected: string;
}

const FILE = new URL('../../../../test/fixtures/replies/samples.json', import.meta.url);
const SAMPLES = JSON.parse(readFileSync(FILE, 'utf8')) as readonly Sample[];

/** `## name`, the text, a line `=>`, the new text. */
const PROGRAMS = readFileSync(new URL('programs.txt', FILE), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((part) => {
    const [name = '', ...lines] = part.trimEnd().split('\n');
    const arrow = lines.indexOf('=>');
    return [name, lines.slice(0, arrow).join('\n'), lines.slice(arrow + 1).join('\n')] as const;
  });

/** As above; all of the text is new where there is no line `=>`. */
const NEW = readFileSync(new URL('new-text.txt', FILE), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((part) => {
    const [name = '', ...lines] = part.trimEnd().split('\n');
    const arrow = lines.indexOf('=>');
    const text = (arrow === -1 ? lines : lines.slice(0, arrow)).join('\n');
    return [name, text, arrow === -1 ? text.trim() : lines.slice(arrow + 1).join('\n')] as const;
  });

describe('newText', () => {
  it.each(NEW)('loses nothing of %s', (_, text, expected) => {
    expect(newTextOf(text, null, { isReply: true, isForward: false })).toBe(expected);
    expect(newTextOf(text, null, { isReply: false, isForward: false })).toBe(expected);
  });

  it('finds no quote without an address in a mail that answers nothing', () => {
    const first = (text: string, html: string | null = null): string =>
      newTextOf(text, html, { isReply: false, isForward: false });
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

  it('keeps answers between the quotes that only the HTML of Gmail marks', () => {
    const html =
      '<div class="gmail_quote"><div class="gmail_attr">On Monday Eva said:</div>' +
      '<blockquote class="gmail_quote">Passt Montag?</blockquote><div>Ja.</div>' +
      '<blockquote class="gmail_quote">Und der Preis?</blockquote><div>5 Euro.</div></div>';
    const text = 'On Monday Eva said:\nPasst Montag?\nJa.\nUnd der Preis?\n5 Euro.';
    const kept = newText(text, html);
    expect(kept).toContain('Ja.');
    expect(kept).toContain('5 Euro.');
    expect(kept).not.toContain('Passt Montag?');
  });

  it.each(PROGRAMS)('reads %s', (name, text, expected) => {
    expect(newText(text, null, name.endsWith('(subject of a forward)'))).toBe(expected);
  });

  it('keeps what is passed on in HTML, too', () => {
    const html =
      '<div>Bitte ansehen.</div><div class="gmail_quote">---------- Forwarded message ---------<br>Von: Eva<br><br>Passt Montag?</div>';
    const text = 'Bitte ansehen.\n\n---------- Forwarded message ---------\nVon: Eva\n\nPasst Montag?';
    expect(newText(text, html)).toBe(text);
    const outlook =
      '<p>Bitte ansehen.</p><hr><div id="divRplyFwdMsg"><b>Von:</b> Eva</div><div>Passt Montag?</div>';
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

  it.each([
    [
      'Gmail',
      '<div>Yes.</div><br><div class="gmail_quote gmail_quote_container"><div>On Monday Eva said:</div><blockquote>Hi</blockquote></div>',
    ],
    [
      'Outlook on the web',
      '<div>Yes.</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>X:</b> Eva</div><div>Hi</div>',
    ],
    [
      'Outlook',
      '<p>Yes.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p>Eva</p></div><p>Hi</p>',
    ],
    [
      'Apple Mail',
      '<div>Yes.</div><blockquote type="cite"><div>Hi <blockquote type="cite">older</blockquote></div></blockquote>',
    ],
    [
      'Thunderbird',
      '<p>Yes.</p><div class="moz-cite-prefix">Eva:</div><blockquote type="cite" cite="mid:x">Hi</blockquote>',
    ],
    ['Yahoo', '<div>Yes.</div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>Hi</div></div>'],
  ])('finds a quote that only the HTML of %s marks', (_, html) => {
    expect(newText('Yes.\n\nHi', html)).toBe('Yes.');
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
    expectCpuBelow(1500, () => newText(unit.repeat(Math.floor(500_000 / unit.length))));
  });

  it.each([
    '<',
    '<div class="',
    '<div class=gmail_quote',
    '<div class=gmail_quote>',
    '<blockquote type=cite></blockquote>',
  ])('needs linear time for HTML of many %j', (unit) => {
    expectCpuBelow(1500, () => newText('Hi', unit.repeat(Math.ceil(1_000_000 / unit.length))));
  });
});
