/** The subject of a reply or a forward, with a single prefix, whatever the languages of earlier ones. */
import { withoutPrefixes } from '../message/base-subject.ts';

/** A received subject may have any length and content; a sent one may not. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/** @param maxChars of the whole subject, in UTF-16 units */
export function replySubject(subject: string, kind: 'reply' | 'forward', maxChars: number): string {
  const readable = subject.slice(0, maxChars).replace(CONTROLS, ' ');
  const prefix = kind === 'reply' ? 'Re: ' : 'Fwd: ';
  const whole = prefix + withoutPrefixes(readable, kind);
  // A cut within a surrogate pair leaves a half that can't be encoded.
  return whole.slice(0, maxChars).toWellFormed().trimEnd();
}
