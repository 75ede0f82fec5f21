/** The automatic answer of an account whose people are away, as a form has it: times in the zone of the browser, as `datetime-local` has them. */
import type { AccountSettings } from 'email-worker-client';

export type Absence = NonNullable<AccountSettings['out_of_office']>;

export interface AbsenceForm {
  readonly isOn: boolean;
  /** Empty: at once. */
  readonly from: string;
  /** Empty: until it is switched off. */
  readonly until: string;
  /** Empty: the usual one. */
  readonly subject: string;
  readonly text: string;
}

export const readAbsence = (absence: Absence | null | undefined): AbsenceForm => ({
  isOn: (absence ?? null) !== null,
  from: toLocal(absence?.from ?? null),
  until: toLocal(absence?.until ?? null),
  subject: absence?.subject ?? '',
  text: absence?.text ?? '',
});

/**
 * null: nothing is answered.
 *
 * @param stored what the form does not show of it stays, but for the HTML of another text
 * @param language of the page, for a new one
 */
export function toAbsence(
  form: AbsenceForm,
  stored: Absence | null | undefined,
  language: 'de' | 'en',
): Absence | null {
  if (!form.isOn) return null;
  const opened = readAbsence(stored);
  const timeOf = (field: 'from' | 'until') =>
    // A time with seconds stays, unless it was changed.
    form[field] === opened[field] ? (stored?.[field] ?? null) : toMoment(form[field]);
  return {
    from: timeOf('from'),
    until: timeOf('until'),
    subject: form.subject.trim() === '' ? null : form.subject.trim(),
    language: stored?.language ?? language,
    text: form.text,
    html: form.text === opened.text ? (stored?.html ?? null) : null,
  };
}

/** The text is empty, so that there is nothing to answer. */
export const isWithoutText = ({ isOn, text }: AbsenceForm): boolean => isOn && text.trim() === '';

function toLocal(moment: string | null): string {
  if (moment === null) return '';
  const at = new Date(moment);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 16);
}

function toMoment(local: string): string | null {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? null : at.toISOString();
}
