/** What is wrong with a form, and at which of its fields it is shown. */
import type { EmailWorkerError } from 'email-worker-client';
import type { CaptureForm } from './capture-form.ts';
import type { MailboxForm } from './mailbox-form.ts';

export type FieldName =
  | 'address'
  | 'name'
  | 'id'
  | 'imapHost'
  | 'imapPort'
  | 'smtpHost'
  | 'smtpPort'
  | 'user'
  | 'password'
  | 'smtpUser'
  | 'smtpPassword'
  | 'issuer'
  | 'clientId'
  | 'clientSecret'
  | 'addresses'
  | 'folders'
  | 'neverAddresses'
  | 'neverSubjects'
  | 'internalDomains'
  | 'captureSwitches'
  | 'absenceText'
  | 'absenceFrom'
  | 'absenceUntil'
  | 'absenceSubject';

/** Those of what is recorded. */
export const CAPTURE_FIELDS: ReadonlySet<FieldName> = new Set([
  'folders',
  'neverAddresses',
  'neverSubjects',
  'internalDomains',
  'captureSwitches',
]);

/** Those of the automatic answer. */
export const ABSENCE_FIELDS: ReadonlySet<FieldName> = new Set([
  'absenceText',
  'absenceFrom',
  'absenceUntil',
  'absenceSubject',
]);

/** The fields at which problems with the changed values are shown. */
export const captureFieldsOf = (change: Partial<CaptureForm>): readonly FieldName[] =>
  Object.keys(change).map((name) => (name === 'otherFolders' ? 'folders' : (name as FieldName)));

/** Field → what is wrong with it, for people to read. */
export type Problems = Partial<Readonly<Record<FieldName, string>>>;

/** Fields of a request, as errors of the service name them → fields of the form. The longest that fits counts. */
const FIELDS: readonly (readonly [prefix: string, field: FieldName])[] = [
  ['address', 'address'],
  ['id', 'id'],
  ['from', 'address'],
  ['smtp_url', 'smtpHost'],
  ['imap_url', 'imapHost'],
  ['oauth2/issuer', 'issuer'],
  ['oauth2/client_secret', 'clientSecret'],
  ['oauth2', 'clientId'],
  ['addresses', 'addresses'],
  ['capture/folders', 'folders'],
  ['capture/never_addresses', 'neverAddresses'],
  ['capture/never_subjects', 'neverSubjects'],
  ['capture/internal_domains', 'internalDomains'],
  ['capture', 'captureSwitches'],
  ['out_of_office', 'absenceText'],
  ['out_of_office/from', 'absenceFrom'],
  ['out_of_office/until', 'absenceUntil'],
  ['out_of_office/subject', 'absenceSubject'],
];

/** The field of the form; null: the form has no such field. */
export function fieldOf(named: string): FieldName | null {
  const place = named.replace(/^\//, '').replace(/[.[\]]+/g, '/');
  const fitting = FIELDS.filter(([prefix]) => place === prefix || place.startsWith(`${prefix}/`));
  const [best] = fitting.sort(([one], [other]) => other.length - one.length);
  return best?.[1] ?? null;
}

type Said = Pick<EmailWorkerError, 'field' | 'problems'>;

/** The fields that an error of the service is about; none: it is about none of this form. */
export function fieldsOf({ field, problems }: Said): readonly FieldName[] {
  const named = problems.length > 0 ? problems.map((problem) => problem.field) : [field];
  return [...new Set(named.flatMap((name) => (name === null ? [] : (fieldOf(name) ?? []))))];
}

/** Why a field of the form can't be right, before the service is asked. */
export type LocalProblem = 'needed' | 'port' | 'noServer';

/** False: no mailbox is read, and mail is sent with another log-in, or without. */
export const usesUser = ({
  imap,
  logIn,
  smtpLogIn,
}: Pick<MailboxForm, 'imap' | 'logIn'> & { readonly smtpLogIn: string }): boolean =>
  imap.host.trim() !== '' || logIn !== 'password' || smtpLogIn === 'same';

/** In the order of the form. */
export function localProblems(
  form: Pick<
    MailboxForm,
    | 'imap'
    | 'smtp'
    | 'logIn'
    | 'user'
    | 'password'
    | 'smtpLogIn'
    | 'smtpUser'
    | 'smtpPassword'
    | 'issuer'
    | 'clientId'
  >,
): Partial<Record<FieldName, LocalProblem>> {
  const found: Partial<Record<FieldName, LocalProblem>> = {};
  const needs = (field: FieldName, text: string): void => {
    if (text.trim() === '') found[field] = 'needed';
  };
  const [hasImap, hasSmtp] = [form.imap.host.trim() !== '', form.smtp.host.trim() !== ''];
  if (!hasImap && !hasSmtp) found.imapHost = 'noServer';
  if (hasImap && !isPort(form.imap.port)) found.imapPort = 'port';
  if (hasSmtp && !isPort(form.smtp.port)) found.smtpPort = 'port';
  const needsUser = usesUser(form);
  if (needsUser) needs('user', form.user);
  if (needsUser && form.logIn === 'password') needs('password', form.password);
  if (hasSmtp && form.logIn === 'password' && form.smtpLogIn === 'own') {
    needs('smtpUser', form.smtpUser);
    needs('smtpPassword', form.smtpPassword);
  }
  if (form.logIn === 'issuer') {
    needs('issuer', form.issuer);
    needs('clientId', form.clientId);
  }
  return found;
}

const isPort = (text: string): boolean =>
  /^\d{1,5}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= 65_535;
