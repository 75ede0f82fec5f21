/** The servers of an account and a new log-in, as they are typed, and the requests that are made of them. */
import type { Account, AccountChange, AccountRequest, AccountSettings } from 'email-worker-client';
import { logInsOf, NEW_MAILBOX, type MailboxForm, type SmtpLogIn } from './mailbox-form.ts';
import { localProblems, type FieldName, type LocalProblem } from './problems.ts';
import { areTogether, noServer, readServer, toUrl, type ServerFields } from './server-address.ts';

/** `keep`: the server that sends, and its log-in, stay as they are. */
export type SmtpChoice = SmtpLogIn | 'keep';

export interface LogInForm<Choice extends SmtpChoice> {
  readonly user: string;
  readonly password: string;
  readonly smtpLogIn: Choice;
  readonly smtpUser: string;
  readonly smtpPassword: string;
}

export interface ServersForm extends LogInForm<SmtpChoice> {
  readonly imap: ServerFields;
  readonly smtp: ServerFields;
}

/** The service never shows user and password, so both are typed again. The user is mostly the address. */
export function readServers({ from_address: from }: Account, settings: AccountSettings): ServersForm {
  const imap = readServer('imap', settings.imap_server);
  const smtp = readServer('smtp', settings.smtp_server);
  const isOneLogIn = imap.host === '' || areTogether(imap, smtp);
  return {
    imap,
    smtp,
    user: from?.address ?? '',
    password: '',
    smtpLogIn: isOneLogIn ? 'same' : 'keep',
    smtpUser: '',
    smtpPassword: '',
  };
}

/** The choices that make sense; none for an account that does not send. */
export function smtpChoices({
  imap_server: imap,
  smtp_server: smtp,
}: AccountSettings): readonly SmtpChoice[] {
  if (smtp === null) return [];
  return imap === null ? ['same', 'none'] : ['same', 'own', 'none', 'keep'];
}

/** A form of the wizard with the same log-in. */
function asMailbox({ smtpLogIn, ...form }: ServersForm): MailboxForm {
  return smtpLogIn === 'keep'
    ? { ...NEW_MAILBOX, ...form, smtp: noServer('smtp'), smtpLogIn: 'none' }
    : { ...NEW_MAILBOX, ...form, smtpLogIn };
}

export const serverProblems = (form: ServersForm): Partial<Record<FieldName, LocalProblem>> =>
  localProblems(asMailbox(form));

export function toServers(form: ServersForm): Pick<AccountChange, 'imap_url' | 'smtp_url'> {
  const logIns = logInsOf(asMailbox(form));
  return {
    imap_url: toUrl('imap', form.imap, logIns.imap),
    ...(form.smtpLogIn === 'keep' ? {} : { smtp_url: toUrl('smtp', form.smtp, logIns.smtp) }),
  };
}

/** Tries what was typed, and nothing else of the account. */
export const toCheck = (form: ServersForm, id: string, { from }: AccountSettings): AccountRequest => ({
  id,
  from,
  ...toServers(form),
});

/** True when a colleague changed the servers. */
export const hasOtherServers = (seen: Account, latest: Account): boolean =>
  seen.settings?.imap_server !== latest.settings?.imap_server ||
  seen.settings?.smtp_server !== latest.settings?.smtp_server;
