/**
 * Contents of columns that the schema can't describe: the types of JSON, and texts that a check over several columns bounds.
 * scripts/statements.mjs gives these types to the columns, and fails when there is no such column.
 */
import type { OpenSettings } from '../../core/accounts/open-settings.ts';
import type { AddressView } from '../../core/address/address-view.ts';
import type { MailSource } from '../../core/message/mail-source.ts';
import type { Invitation } from '../../core/calendar/invitation.ts';
import type { AggregateReport } from '../../core/delivery/aggregate-report.ts';
import type { AutomaticMail } from '../../core/delivery/automatic.ts';
import type { CustomHeaders } from '../../core/message/custom-headers.ts';
import type { MailAuthentication } from '../../core/message/authentication.ts';
import type { SuggestedCounterparty } from '../../core/message/suggested-counterparty.ts';
import type { Metadata } from '../../core/message/tags.ts';
import type { EventType } from '../../core/event/event-types.ts';
import type { Condition, RuleActions } from '../../core/rules/rule.ts';
import type { BeyondJson } from '../../core/webhook/beyond-json.ts';
import type { Author } from '../../core/keys/author.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { EmailState } from '../../core/delivery/states.ts';

export interface ColumnTypes {
  'accounts.settings': OpenSettings;
  'api_keys.created_by': Author;
  'api_keys.rights': Right[];
  'emails.authentication': MailAuthentication;
  'audit_log.author': Author;
  'audit_log.details': Record<string, unknown>;
  'audit_outcomes.details': Record<string, unknown>;
  'emails.aggregate_report': AggregateReport;
  'emails.automatic': AutomaticMail;
  'emails.bcc_addresses': AddressView[];
  'emails.cc_addresses': AddressView[];
  'emails.from_address': AddressView;
  'emails.headers': CustomHeaders;
  'emails.invitation': Invitation;
  'emails.metadata': Metadata;
  'emails.received_by': MailSource;
  'emails.reply_to_addresses': AddressView[];
  'emails.sender_address': AddressView;
  'emails.state': EmailState;
  'emails.suggested_counterparty': SuggestedCounterparty;
  'emails.to_addresses': AddressView[];
  'email_variants.received_by': MailSource;
  'events.type': EventType;
  'mail_rules.actions': RuleActions;
  'mail_rules.conditions': Condition[];
  'mailbox_messages.header_summary': HeaderSummaryJson;
  'webhook_positions.beyond': BeyondJson;
  'webhooks.types': EventType[];
}

/** Dates as text. */
export interface HeaderSummaryJson {
  readonly subject: string | null;
  readonly from: AddressView | null;
  readonly date: string | null;
  readonly size_bytes: number | null;
}
