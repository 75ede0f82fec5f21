/** Reads the absence of an account: `out_of_office` of ACCOUNTS_FILE and the API. */
import { MAX_ABSENCE_CHARS, type OutOfOffice } from '../core/absence/out-of-office.ts';
import { parseMoment } from '../core/moment.ts';
import { isOneLine } from '../core/one-line.ts';
import { REPLY_LANGUAGES } from '../core/reply/quote.ts';
import { isStorable } from '../core/storable-text.ts';
import { MAX_SENT_SUBJECT_CHARS } from '../platform/base/limits.ts';
import { ConfigError } from './config-error.ts';

const FIELDS = new Set(['from', 'until', 'subject', 'language', 'text', 'html']);

/** Throws ConfigError. @param where the name of the field, for messages */
export function readOutOfOffice(where: string, value: unknown): OutOfOffice | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ConfigError(where, 'must be an object such as {"text": "I am back on 2 January."}');
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw new ConfigError(where, `has the unknown field ${unknown}`);

  const textOf = (name: string, mostChars: number): string | null => {
    const text = fields[name] ?? null;
    if (text === null) return null;
    if (typeof text !== 'string' || text.trim() === '' || text.length > mostChars || !isStorable(text))
      throw new ConfigError(`${where}.${name}`, `must be text of at most ${mostChars} characters`);
    return text;
  };
  const timeOf = (name: string): Date | null => {
    const text = fields[name] ?? null;
    if (text === null) return null;
    const time = typeof text === 'string' ? parseMoment(text) : null;
    if (time === null)
      throw new ConfigError(`${where}.${name}`, 'must be a time such as 2026-12-24T00:00:00+01:00');
    return time;
  };

  const text = textOf('text', MAX_ABSENCE_CHARS);
  if (text === null) throw new ConfigError(`${where}.text`, 'is missing');
  const subject = textOf('subject', MAX_SENT_SUBJECT_CHARS);
  if (subject !== null && !isOneLine(subject)) throw new ConfigError(`${where}.subject`, 'must be one line');
  const named = fields['language'] ?? REPLY_LANGUAGES[0];
  const language = REPLY_LANGUAGES.find((one) => one === named);
  if (language === undefined)
    throw new ConfigError(`${where}.language`, `must be one of ${REPLY_LANGUAGES.join(', ')}`);
  const from = timeOf('from');
  const until = timeOf('until');
  if (from !== null && until !== null && until <= from)
    throw new ConfigError(`${where}.until`, 'must be later than from');
  return { from, until, subject, language, text, html: textOf('html', MAX_ABSENCE_CHARS) };
}
