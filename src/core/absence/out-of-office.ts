/** What an account answers by itself while its people are away, and the subject of that answer (RFC 3834 §3.1.5). */
import { withoutPrefixes } from '../message/base-subject.ts';
import type { ReplyLanguage } from '../reply/quote.ts';
import { AUTOMATIC_ANSWER_SUBJECT } from '../texts.ts';

/** A text of an absence, in UTF-16 units. */
export const MAX_ABSENCE_CHARS = 20_000;

export interface OutOfOffice {
  /** Mail that arrived before is not answered; null: since it was set. */
  readonly from: Date | null;
  /** Nothing is answered from then on; null: until it is removed. */
  readonly until: Date | null;
  /** null: that of the email, behind words that name the answer automatic. */
  readonly subject: string | null;
  /** Of the words before the subject. */
  readonly language: ReplyLanguage;
  readonly text: string;
  /** null: in plain text alone. */
  readonly html: string | null;
}

/** A received subject may have any length and content; a sent one may not. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/** @param maxChars of the whole subject, in UTF-16 units */
export function absenceSubject(
  { subject, language }: Pick<OutOfOffice, 'subject' | 'language'>,
  answered: string,
  maxChars: number,
): string {
  if (subject !== null) return subject;
  const readable = answered.slice(0, maxChars).replace(CONTROLS, ' ');
  const whole = `${AUTOMATIC_ANSWER_SUBJECT[language]} ${withoutPrefixes(readable, 'reply')}`;
  // A cut within a surrogate pair leaves a half that can't be encoded.
  return whole.slice(0, maxChars).toWellFormed().trimEnd();
}
