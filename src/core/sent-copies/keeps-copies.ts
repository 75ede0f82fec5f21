/**
 * Mail providers that put every email that passes their SMTP server into the sender's Sent mailbox themselves: our copy
 * would be a second one.
 */

/**
 * Names of SMTP servers, lower-case. Seen in practice: Gmail and Google Workspace, Microsoft 365 and Outlook.com, iCloud,
 * Yahoo and AOL. The relays of the same providers (smtp-relay.gmail.com) have no mailbox, and keep nothing.
 */
const KEEPING_HOSTS: ReadonlySet<string> = new Set([
  'smtp.gmail.com',
  'smtp.googlemail.com',
  'smtp.office365.com',
  'outlook.office365.com',
  'smtp-mail.outlook.com',
  'smtp.outlook.com',
  'smtp.live.com',
  'smtp.mail.me.com',
  'smtp.mail.yahoo.com',
  'smtp.aol.com',
]);

/** @param host of the SMTP server, without a port */
export const keepsCopies = (host: string): boolean =>
  KEEPING_HOSTS.has(host.toLowerCase().replace(/\.$/, ''));
