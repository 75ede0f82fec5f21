/** The tables as Kysely sees them; the schema itself is in migrations/. Rows never leave this folder. */
import type { ColumnType, Generated } from 'kysely';
import type { AddressView, Placement } from '../../../app/emails/email-ports.ts';
import type { MailSource } from '../../../app/emails/variant-view.ts';
import type { CompanySource, CustomerSource, ThreadLink } from '../../../core/customer/link-emails.ts';
import type { AutomaticMail } from '../../../core/delivery/automatic.ts';
import type { DeliveryState, EmailState } from '../../../core/delivery/states.ts';

/** Written as JSON text, read as a value. */
type Json<T> = ColumnType<T, string, string>;

interface EmailThreadTable {
  id: string;
  account_id: string;
  customer_id: string | null;
  company_id: string | null;
  customer_source: ThreadLink['customerSource'];
  company_source: ThreadLink['companySource'];
  created_at: Generated<Date>;
  /** Of threads that may lead to one another, but for a separation; null for nearly all. */
  cluster_id: Generated<string | null>;
}

interface ThreadAliasTable {
  id: string;
  thread_id: string;
  merged_at: Generated<Date>;
}

interface ThreadMessageIdTable {
  account_id: string;
  message_id: string;
  thread_id: string;
}

export interface EmailTable {
  id: string;
  account_id: string;
  thread_id: string;
  direction: 'inbound' | 'outbound';
  message_id: string;
  /** As its header has it, where that is not the normalised form. */
  written_message_id: string | null;
  /** Another one that it is known by: the relay's, or of a second field Message-ID. */
  relay_message_id: string | null;
  in_reply_to: string[];
  reference_ids: string[];
  from_address: Json<AddressView>;
  to_addresses: Json<AddressView[]>;
  cc_addresses: Json<AddressView[]>;
  bcc_addresses: Json<AddressView[]>;
  subject: string;
  text_body: string;
  html_body: string | null;
  date: Date;
  customer_id: string | null;
  company_id: string | null;
  customer_source: CustomerSource | null;
  company_source: CompanySource | null;
  state: EmailState;
  state_detail: string | null;
  placement_rule: Placement['rule'];
  placement_message_id: string | null;
  bounced_message_id: string | null;
  subject_key: string | null;
  raw_size_bytes: string;
  raw: Buffer | null;
  raw_path: string | null;
  identity_key: Buffer | null;
  content_digest: Buffer | null;
  received_by: Json<MailSource> | null;
  reply_text: string | null;
  sender_address: Json<AddressView> | null;
  reply_to_addresses: Json<AddressView[]>;
  defects: string[];
  automatic: Json<AutomaticMail> | null;
  new_participant: boolean;
  own_customer: Generated<boolean>;
  anchor_id: string | null;
  ignored_ids: Generated<string[]>;
  party_id: string | null;
  exchange_with: string | null;
  created_at: Generated<Date>;
}

interface ThreadDecisionTable {
  id: string;
  account_id: string;
  kind: 'split' | 'merge' | 'move';
  thread_id: string;
  other_thread_id: string | null;
  email_ids: string[];
  from_thread_ids: string[];
  reason: string | null;
  decided_at: Generated<Date>;
}

interface MessageIdLabelTable {
  account_id: string;
  message_id: string;
  label: string;
}

interface EmailLabelTable {
  email_id: string;
  label: string;
}

interface LabelSeparationTable {
  label: string;
  other_label: string;
}

interface RefusedLinkTable {
  id: Generated<string>;
  email_id: string;
  message_id: string;
  refused_at: Generated<Date>;
}

interface EmailDeliveryTable {
  email_id: string;
  ordinal: number;
  address: string;
  state: DeliveryState;
  reply_code: number | null;
  reply_status: string | null;
  reply_text: string | null;
}

interface EmailAttachmentTable {
  id: string;
  email_id: string;
  ordinal: number;
  filename: string;
  content_type: string;
  size_bytes: string;
  storage_path: string;
  sha256: Buffer;
}

interface CustomerAddressTable {
  address: string;
  customer_id: string;
  origin: Generated<'learned' | 'registered' | 'removed'>;
  /** Past mail is linked by it. */
  settled: Generated<boolean>;
  created_at: Generated<Date>;
}

interface CustomerDomainTable {
  domain: string;
  customer_id: string;
  created_at: Generated<Date>;
}

interface CustomerCompanyTable {
  customer_id: string;
  company_id: string;
}

interface CustomerRelinkTable {
  email_id: string;
}

export interface Database {
  email_threads: EmailThreadTable;
  thread_aliases: ThreadAliasTable;
  thread_message_ids: ThreadMessageIdTable;
  thread_decisions: ThreadDecisionTable;
  message_id_labels: MessageIdLabelTable;
  email_labels: EmailLabelTable;
  label_separations: LabelSeparationTable;
  refused_links: RefusedLinkTable;
  emails: EmailTable;
  email_deliveries: EmailDeliveryTable;
  email_attachments: EmailAttachmentTable;
  customer_addresses: CustomerAddressTable;
  customer_domains: CustomerDomainTable;
  customer_companies: CustomerCompanyTable;
  customer_relinks: CustomerRelinkTable;
}
