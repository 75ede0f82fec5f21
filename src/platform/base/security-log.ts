/**
 * The security log: what an operator, or a program that reads the log, needs to know about strangers at the edges and
 * about the acts of operators. Names and fields of the events are stable and documented in docs/operations.md. It holds
 * no secrets and no texts of emails, and only those addresses that an act is about.
 */
import type { Logger } from './basics.ts';

/** Every event, with its severity and its message. */
const EVENTS = {
  'login.failed': ['warn', 'a request without a right secret was refused'],
  'login.throttled': ['warn', 'an address fails to log in again and again; its failures get 429 for a while'],
  'http.full': ['warn', 'too many HTTP connections; those that never logged in make room'],
  'mail_client.refused': ['warn', 'a mail client was refused: it has too many connections'],
  'mail_client.cut_off': ['warn', 'a mail client was cut off'],
  'listener.open': ['warn', 'a listener is open to other machines without protection'],
  'file.readable': ['warn', 'a file with secrets can be read by other users of the machine'],
  'send.cancelled': ['info', 'an operator cancelled a send'],
  'send.changed': ['info', 'an operator changed a send that waits'],
  'sent_copy.retried': ['info', 'an operator had a copy put into a Sent mailbox again'],
  'send.retried': ['info', 'an operator had a send tried again'],
  'erasure.requested': ['info', 'an operator asked for a person to be erased'],
  'email.deleted': ['info', 'an operator deleted an email'],
  'thread.deleted': ['info', 'an operator deleted a thread'],
  'retention.confirmed': ['info', 'an operator let retention delete what it held'],
  'clock.confirmed': ['info', "an operator confirmed the database's clock"],
  'send.resolved': ['info', 'an operator said what became of a send'],
  'suppression.set': ['info', 'an operator suppressed an address'],
  'suppression.lifted': ['info', 'an operator lifted a suppression'],
  'unsubscribe.removed': ['info', 'an operator removed an unsubscribe'],
  'customer.registered': ['info', "an operator replaced a customer's addresses and domains"],
  'thread.changed': [
    'info',
    'an operator changed the status, the assignee, the labels or the customer of a thread',
  ],
  'threads.changed': ['info', 'an operator changed many threads at once'],
  'threads.deleted': ['info', 'an operator deleted many threads at once'],
  'thread.split': ['info', 'an operator split a thread'],
  'thread.merged': ['info', 'an operator merged threads'],
  'thread.emails_moved': ['info', 'an operator moved emails to another thread'],
  'quarantine.retried': ['info', 'an operator had a message that was set aside tried again'],
  'account.tried': ['info', 'an operator tried the servers of an account'],
  'account.created': ['info', 'an operator created an account'],
  'account.changed': ['info', 'an operator changed an account'],
  'account.deleted': ['info', 'an operator deleted an account'],
  'account.paused': ['info', 'an operator paused an account'],
  'account.resumed': ['info', 'an operator resumed an account'],
  'account.consent_requested': ['info', "an operator asked for the consent of an account's owner"],
  'account.consent_given': ['info', 'the owner of the mailboxes of an account consented'],
  'account.consent_refused': ['warn', 'a consent for an account was refused, or was none'],
  'account.resynced': ['info', 'an operator had the mailboxes of an account compared again'],
  'capture.removal_requested': ['info', 'an operator had removed what the rules of an account leave out'],
  'capture.removal_stopped': ['info', 'an operator stopped such a removal'],
  'webhook.created': ['info', 'an operator made a webhook'],
  'webhook.changed': ['info', 'an operator changed a webhook'],
  'webhook.deleted': ['info', 'an operator deleted a webhook'],
  'webhook.paused': ['info', 'an operator paused a webhook'],
  'webhook.resumed': ['info', 'an operator resumed a webhook'],
  'webhook.replayed': ['info', 'an operator moved the position of a webhook'],
  'webhook.secret_rotated': ['info', 'an operator had a webhook get a new secret'],
  'webhook.tested': ['info', 'an operator had a test delivered to a webhook'],
  'rule.created': ['info', 'an operator made a rule on received mail'],
  'rule.changed': ['info', 'an operator changed a rule on received mail'],
  'rule.deleted': ['info', 'an operator deleted a rule on received mail'],
  'rules.ordered': ['info', 'an operator changed the order of the rules on received mail'],
  'sender.blocked': ['info', 'a clerk blocked a sender'],
  'sender.unblocked': ['info', 'a clerk unblocked a sender'],
  'template.created': ['info', 'an operator made a template'],
  'template.changed': ['info', 'an operator changed a template'],
  'template.deleted': ['info', 'an operator deleted a template'],
  'key.created': ['info', 'an operator made a key'],
  'key.changed': ['info', 'an operator changed a key'],
  'key.revoked': ['info', 'an operator revoked a key'],
  'key.rotated': ['info', 'an operator had a key get a new secret'],
  'session.opened': ['info', 'a browser logged in'],
  'session.ended': ['info', 'a browser logged out, here or everywhere'],
  'command.started': ['info', 'an operator started a command'],
  'command.ended': ['info', "an operator's command ended"],
  'suppression.changed': ['info', 'the list of suppressed addresses changed'],
} as const satisfies Record<string, readonly ['info' | 'warn', string]>;

export type SecurityEvent = keyof typeof EVENTS;

export interface SecurityLog {
  note(event: SecurityEvent, fields: Readonly<Record<string, unknown>>): void;
}

/** Lines of the security log are marked by `log: "security"`. */
export function createSecurityLog(logger: Logger): SecurityLog {
  return {
    note(event, fields) {
      const [level, text] = EVENTS[event];
      logger[level]({ log: 'security', event, ...fields }, text);
    },
  };
}
