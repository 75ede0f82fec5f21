/** Everything that is typed while a mailbox is connected, and the request that is made of it. */
import type { AccountRequest, FoundSettings } from 'email-worker-client';
import { newCaptureForm, toCapture, type CaptureForm } from './capture-form.ts';
import { noServer, readServer, toUrl, userOf, type LogIn, type ServerFields } from './server-address.ts';

export type Candidate = FoundSettings['candidates'][number];
/** `password`, or whose page asks the owner of the mailbox for a consent. */
export type LogInKind = 'password' | 'google' | 'microsoft' | 'issuer';
/** With which user mail is sent: that of the mailbox, another one, or none. */
export type SmtpLogIn = 'same' | 'own' | 'none';

export interface MailboxForm {
  readonly address: string;
  readonly name: string;
  readonly id: string;
  readonly logIn: LogInKind;
  readonly imap: ServerFields;
  readonly smtp: ServerFields;
  readonly user: string;
  readonly password: string;
  readonly smtpLogIn: SmtpLogIn;
  readonly smtpUser: string;
  readonly smtpPassword: string;
  readonly issuer: string;
  /** Empty: that of the service. */
  readonly clientId: string;
  readonly clientSecret: string;
  readonly capture: CaptureForm;
}

export const NEW_MAILBOX: MailboxForm = {
  address: '',
  name: '',
  id: '',
  logIn: 'password',
  imap: noServer('imap'),
  smtp: noServer('smtp'),
  user: '',
  password: '',
  smtpLogIn: 'same',
  smtpUser: '',
  smtpPassword: '',
  issuer: '',
  clientId: '',
  clientSecret: '',
  capture: newCaptureForm(''),
};

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** What follows from an address; what was typed in its place stays. */
export function withAddress(form: MailboxForm, address: string, taken: ReadonlySet<string>): MailboxForm {
  const isOwn = (typed: string, derived: string): boolean => typed !== '' && typed !== derived;
  const { capture } = form;
  return {
    ...form,
    address,
    id: isOwn(form.id, idFor(form.address, taken)) ? form.id : idFor(address, taken),
    user: isOwn(form.user, form.address) ? form.user : address,
    capture: isOwn(capture.internalDomains, domainOf(form.address))
      ? capture
      : { ...capture, internalDomains: domainOf(address) },
  };
}

/** Found servers in place of those of the form; null: none were found. What the form has for a log-in stays. */
export function withCandidate(form: MailboxForm, candidate: Candidate | null): MailboxForm {
  if (candidate === null)
    return { ...form, imap: noServer('imap'), smtp: noServer('smtp'), logIn: 'password' };
  const user = userOf(candidate.imap_url) || userOf(candidate.smtp_url) || form.user;
  return {
    ...form,
    imap: encrypted(readServer('imap', candidate.imap_url)),
    smtp: encrypted(readServer('smtp', candidate.smtp_url)),
    user,
    logIn: candidate.oauth2?.provider ?? 'password',
  };
}

/** A found server gets the password over TLS or not at all. */
const encrypted = (server: ServerFields): ServerFields =>
  server.security === 'offered' ? { ...server, security: 'starttls' } : server;

/** The name of the URL `/api/accounts/settings`. */
const RESERVED: ReadonlySet<string> = new Set(['settings']);
const MAX_ID_CHARS = 63;

/** An id that says whose mailbox it is: `sales`, and `sales-example` when that is taken. */
export function idFor(address: string, taken: ReadonlySet<string>): string {
  const slug = (text: string): string =>
    text
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '');
  const local = slug(address.split('@')[0] ?? '').slice(0, MAX_ID_CHARS);
  if (local === '') return '';
  const [site = ''] = domainOf(address).split('.');
  const wide = `${local}-${slug(site)}`.replace(/-+$/, '').slice(0, MAX_ID_CHARS);
  const isFree = (id: string): boolean => !taken.has(id) && !RESERVED.has(id);
  if (isFree(local)) return local;
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? wide : `${wide.slice(0, MAX_ID_CHARS - 4)}-${number}`;
    if (isFree(id)) return id;
  }
}

/** RFC 5322 §3.4: an address with a display name, which is quoted. */
export function fromWith(name: string, address: string): string {
  const trimmed = name.trim();
  return trimmed === '' ? address.trim() : `"${trimmed.replace(/["\\]/g, '\\$&')}" <${address.trim()}>`;
}

/** The log-ins of both servers; null: none. */
export function logInsOf(form: Omit<MailboxForm, 'capture' | 'id' | 'address' | 'name'>): {
  readonly imap: LogIn | null;
  readonly smtp: LogIn | null;
} {
  const own: LogIn = {
    user: form.user.trim(),
    password: form.logIn === 'password' ? form.password : null,
  };
  // The consent is for one user; it has no second one for sending.
  if (form.logIn !== 'password' || form.smtpLogIn === 'same') return { imap: own, smtp: own };
  if (form.smtpLogIn === 'none') return { imap: own, smtp: null };
  return { imap: own, smtp: { user: form.smtpUser.trim(), password: form.smtpPassword } };
}

export function toRequest(form: MailboxForm): AccountRequest {
  const logIns = logInsOf(form);
  const imapUrl = toUrl('imap', form.imap, logIns.imap);
  const capture = imapUrl === null ? null : toCapture(form.capture);
  return {
    id: form.id.trim(),
    from: fromWith(form.name, form.address),
    smtp_url: toUrl('smtp', form.smtp, logIns.smtp),
    imap_url: imapUrl,
    ...(capture === null ? {} : { capture }),
    ...(form.logIn === 'password' ? {} : { oauth2: toOAuth2(form) }),
  };
}

function toOAuth2({
  logIn,
  issuer,
  clientId,
  clientSecret,
}: MailboxForm): NonNullable<AccountRequest['oauth2']> {
  return {
    ...(logIn === 'issuer' ? { issuer: issuer.trim() } : { provider: logIn }),
    ...(clientId.trim() === '' ? {} : { client_id: clientId.trim() }),
    ...(clientSecret.trim() === '' ? {} : { client_secret: clientSecret.trim() }),
  };
}
