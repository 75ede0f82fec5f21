import { describe, expect, it } from 'vitest';
import { parseMessage } from '../mime/parse/parse.ts';
import { isSameEmail, toContents } from './same-email.ts';

const HEAD = 'From: form@shop.test\r\nSubject: Ihre Sendung\r\nMessage-ID: <contact@shop.test>\r\n';
const TEXT = 'Ihre Sendung kommt heute zwischen zehn und zwölf Uhr.';

const contentsOf = (body: string, headers = '') =>
  toContents(parseMessage(Buffer.from(`${HEAD}${headers}\r\n${body}\r\n`)));

/** Whichever comes first. */
function isSame(a: Parameters<typeof contentsOf>, b: Parameters<typeof contentsOf>): boolean {
  const [one, other] = [contentsOf(...a), contentsOf(...b)];
  expect(isSameEmail(other, one)).toBe(isSameEmail(one, other));
  return isSameEmail(one, other);
}

const HTML = 'Content-Type: text/html; charset=utf-8\r\n';
const MIXED = 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n';
const LIST = 'List-Id: <kunden.shop.test>\r\n';
const parts = (...bodies: readonly string[]) => `--b\r\n${bodies.join('\r\n--b\r\n')}\r\n--b--`;
const plain = (text: string) => `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`;
const file = (text: string, name = 'scan.pdf') =>
  `Content-Type: application/pdf; name=${name}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text).toString('base64')}`;
const mailman = (name: string) =>
  `${TEXT}\r\n_______________________________________________\r\n${name} mailing list`;

describe('one email with a mark that was added on its way', () => {
  it.each<[string, Parameters<typeof contentsOf>, Parameters<typeof contentsOf>]>([
    ['the footer of a list', [TEXT], [mailman('Kunden'), LIST]],
    ['a footer in a part of its own', [TEXT], [parts(plain(TEXT), plain('-- \r\nKunden')), MIXED]],
    ['the footers of two lists', [mailman('Kunden'), LIST], [mailman('Presse'), LIST]],
    ['Reply-To of a list', [TEXT, 'Reply-To: eva@shop.test\r\n'], [TEXT, `${LIST}Reply-To: l@shop.test\r\n`]],
    ['the banner of a scanner', [TEXT], [`EXTERN: Diese Nachricht kommt von außen.\r\n\r\n${TEXT}`]],
    ['lines that a relay wraps', [TEXT], [TEXT.replace('heute ', 'heute\r\n')]],
    ['plain text made of its HTML', [`<p>${TEXT}</p>`, HTML], [TEXT]],
    ['a banner in its HTML', [`<p>${TEXT}</p>`, HTML], [`<p>Extern</p><p>${TEXT}</p>`, HTML]],
    [
      'a file that a scanner added',
      [parts(plain(TEXT), file('a')), MIXED],
      [parts(plain(TEXT), file('a'), file('b')), MIXED],
    ],
  ])('%s', (_, one, other) => {
    expect(isSame(one, other)).toBe(true);
  });
});

describe('two emails', () => {
  it.each<[string, Parameters<typeof contentsOf>, Parameters<typeof contentsOf>]>([
    ['another text', [TEXT], ['Ihre Sendung liegt in der Filiale am Markt bereit.']],
    ['another value in the same form', [`Name: Eva\r\n${TEXT}`], [`Name: Max\r\n${TEXT}`]],
    ['another value at the end of a form', [`${TEXT}\r\nNr. 1`], [`${TEXT}\r\nNr. 2`]],
    ['a short text within another', ['Rückruf'], ['Rückruf bitte unter 0123']],
    ['a text and none', [TEXT], ['']],
    [
      'the same text for another person',
      [TEXT, 'Reply-To: eva@kunde.test\r\n'],
      [TEXT, 'Reply-To: max@kunde.test\r\n'],
    ],
    [
      'the same text to another email',
      [TEXT, 'In-Reply-To: <a@kunde.test>\r\n'],
      [TEXT, 'In-Reply-To: <b@kunde.test>\r\n'],
    ],
    ['another scan', [parts(plain(''), file('a')), MIXED], [parts(plain(''), file('b')), MIXED]],
    [
      'the same file with another name',
      [parts(plain(''), file('a', '1.pdf')), MIXED],
      [parts(plain(''), file('a', '2.pdf')), MIXED],
    ],
    [
      'another link under the same words',
      [`<a href="https://shop.test/1">${TEXT}</a>`, HTML],
      [`<a href="https://shop.test/2">${TEXT}</a>`, HTML],
    ],
    [
      'another text behind the same hint to read the HTML',
      [parts(plain(TEXT), `${HTML}\r\n<p>Paket eins</p>`), MIXED.replace('mixed', 'alternative')],
      [parts(plain(TEXT), `${HTML}\r\n<p>Paket zwei</p>`), MIXED.replace('mixed', 'alternative')],
    ],
    [
      'another text that is not shown',
      [parts(plain(TEXT), plain('eins')), MIXED.replace('mixed', 'alternative')],
      [parts(plain(TEXT), plain('zwei')), MIXED.replace('mixed', 'alternative')],
    ],
  ])('%s', (_, one, other) => {
    expect(isSame(one, other)).toBe(false);
  });
});
