import { readdirSync, readFileSync } from 'node:fs';
import { Visitor, parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';
import { ERRORS } from './error-registry.ts';
import { REQUEST_FAULTS } from './error-words.ts';
import { invalidRequest, ServiceError } from './errors.ts';

const SOURCES = new URL('../', import.meta.url);

/** A letter or a word that exists in German but not in English. */
const GERMAN =
  /[äöüÄÖÜß]|(?<![\w$-])(?:muss|darf|ist|wurden?|fehlt|keine?n?|nicht|kann|eine[mnr]?|der|das|und|oder|schrieb|bitte|Bitte|Sie|Datum|Betreff|Von|Abmelden|Vorlage|Entwurf|Anfrage|[Gg]esendet|[Ww]eitergeleitet|Nachricht|Liste|Angebot)(?![\w-])/;

/** Files below src that contain German words for a reason. A folder ends with a slash. */
const REASONS: Readonly<Record<string, string>> = {
  'core/errors.ts': 'the text of a send that is recorded later',
  'core/error-registry.ts': 'the registry of what callers read',
  'core/error-words.ts': 'the parts of what callers read',
  'core/texts.ts': 'the registry of what recipients and readers of quotes read',
  'api/document/example-story.ts': 'the German company that the examples tell of',
  'api/document/example-values.ts': 'what callers of that company write',
  'api/document/example-writing.ts': 'what callers of that company write',
  'core/delivery/': 'patterns of the reports and automatic answers of other servers, in many languages',
  'core/mime/text/': 'patterns of the quotes of other mail programs, in many languages',
  'core/mailbox/special-folder.ts': 'names of mailboxes, in many languages',
  'core/message/base-subject.ts': 'prefixes of subjects, in many languages',
  'config/config-accounts.ts': 'a mailbox as an example',
  'cli/import.ts': 'names of mailboxes as examples',
};

const isOf = (place: string) => (file: string) =>
  place.endsWith('/') ? file.startsWith(place) : file === place;

/** The texts of its strings and templates. */
function textsOf(file: string): readonly string[] {
  const { program, errors } = parseSync(file, readFileSync(new URL(file, SOURCES), 'utf8'));
  expect([file, errors]).toEqual([file, []]);
  const texts: string[] = [];
  const visitor = new Visitor({
    Literal: ({ value }) => void (typeof value === 'string' && texts.push(value)),
    TemplateElement: ({ value }) => void texts.push(value.raw),
  });
  visitor.visit(program);
  return texts;
}

it('has no German texts but in the registries, and words of mail where it reads them', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.(?:test|prop)\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(300);
  const german = new Map(
    files.map((file) => [file, textsOf(file).filter((text) => GERMAN.test(text))] as const),
  );
  const places = Object.keys(REASONS);
  const found = [...german].filter(
    ([file, texts]) => texts.length > 0 && !places.some((place) => isOf(place)(file)),
  );
  expect(found).toEqual([]);
  const needless = places.filter(
    (place) => !files.some((file) => isOf(place)(file) && (german.get(file)?.length ?? 0) > 0),
  );
  expect(needless).toEqual([]);
});

const valuesOf = (text: string): readonly string[] =>
  [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).sort();

it('says the same in both languages', () => {
  const texts = [...Object.values(ERRORS).map(({ text }) => text), ...Object.values(REQUEST_FAULTS)];
  const differing = texts.filter(({ de, en }) => valuesOf(de).join() !== valuesOf(en).join());
  expect(differing).toEqual([]);
  expect(texts.filter(({ en }) => GERMAN.test(en))).toEqual([]);
  const { text, englishText, field } = invalidRequest('wrong_type', {
    field: 'to[0]',
    type: { de: 'ein Objekt', en: 'an object' },
  });
  expect([text, englishText, field]).toEqual([
    'Die Anfrage ist ungültig: to[0] muss ein Objekt sein.',
    'The request is invalid: to[0] must be an object.',
    'to[0]',
  ]);
});

it('fills the values of a text in, bounded and without control characters', () => {
  expect(new ServiceError('invalid_uuid', { values: { field: 'id' } }).text).toBe(
    'id ist keine gültige UUID.',
  );
  expect(invalidRequest('too_long', { field: 'q', limit: 5 }).text).toBe(
    'Die Anfrage ist ungültig: q darf höchstens 5 Zeichen haben.',
  );
  const { text } = invalidRequest('missing', { field: `a\r\n${'b'.repeat(500)}` });
  expect(text).toMatch(/^Die Anfrage ist ungültig: a��b+…/);
  expect(text.length).toBeLessThan(300);
});
