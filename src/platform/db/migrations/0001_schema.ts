/** The whole schema, one area after the other; docs/schema.sql shows it as PostgreSQL dumps it. */
import { ABSENCE } from './0001_schema/absence.ts';
import { ACCOUNTS } from './0001_schema/accounts.ts';
import { ADDRESSES } from './0001_schema/addresses.ts';
import { AUDIT } from './0001_schema/audit.ts';
import { CAPTURE } from './0001_schema/capture.ts';
import { CLOCK } from './0001_schema/clock.ts';
import { CUSTOMERS } from './0001_schema/customers.ts';
import { DRAFTS } from './0001_schema/drafts.ts';
import { EMAIL_JSON } from './0001_schema/email-json.ts';
import { EMAILS } from './0001_schema/emails.ts';
import { ERASE } from './0001_schema/erase.ts';
import { EVENT_COUNTS } from './0001_schema/event-counts.ts';
import { EVENT_TRIGGERS } from './0001_schema/event-triggers.ts';
import { EVENTS } from './0001_schema/events.ts';
import { IMPORT } from './0001_schema/import.ts';
import { KEYS } from './0001_schema/keys.ts';
import { LABELLED_EMAILS } from './0001_schema/labelled-emails.ts';
import { LEASES } from './0001_schema/leases.ts';
import { MAIL_RULES } from './0001_schema/mail-rules.ts';
import { MAILBOXES } from './0001_schema/mailboxes.ts';
import { REPLICAS } from './0001_schema/replicas.ts';
import { REPORTS } from './0001_schema/reports.ts';
import { RETENTION } from './0001_schema/retention.ts';
import { SEARCH } from './0001_schema/search.ts';
import { SEND } from './0001_schema/send.ts';
import { UPLOADS } from './0001_schema/uploads.ts';
import { TAGS } from './0001_schema/tags.ts';
import { SESSIONS } from './0001_schema/sessions.ts';
import { SENT_COPIES } from './0001_schema/sent-copies.ts';
import { STORAGE } from './0001_schema/storage.ts';
import { STATISTICS } from './0001_schema/statistics.ts';
import { TEMPLATES } from './0001_schema/templates.ts';
import { THREAD_LABELS } from './0001_schema/thread-labels.ts';
import { THREAD_LIST } from './0001_schema/thread-list.ts';
import { THREADS } from './0001_schema/threads.ts';
import { UNSUBSCRIBES } from './0001_schema/unsubscribes.ts';
import { WEBHOOKS } from './0001_schema/webhooks.ts';

export const SCHEMA: readonly string[] = [
  ...EMAILS,
  ...ABSENCE,
  ...CUSTOMERS,
  ...THREADS,
  ...THREAD_LIST,
  ...THREAD_LABELS,
  ...LABELLED_EMAILS,
  ...EMAIL_JSON,
  ...TAGS,
  ...UPLOADS,
  ...ERASE,
  ...CAPTURE,
  ...SEARCH,
  ...ADDRESSES,
  ...SEND,
  ...SENT_COPIES,
  ...DRAFTS,
  ...TEMPLATES,
  ...REPLICAS,
  ...REPORTS,
  ...MAILBOXES,
  ...ACCOUNTS,
  ...UNSUBSCRIBES,
  ...IMPORT,
  ...EVENT_COUNTS,
  ...EVENTS,
  ...WEBHOOKS,
  ...KEYS,
  ...SESSIONS,
  ...AUDIT,
  ...STORAGE,
  ...MAIL_RULES,
  ...EVENT_TRIGGERS,
  ...CLOCK,
  ...LEASES,
  ...RETENTION,
  ...STATISTICS,
];
