/** The list of emails that several customers claim, for the edges. */
import type { PageRequest } from '../../platform/base/paging.ts';
import type { EmailsPage } from '../../platform/db/emails-json.ts';

export interface AmbiguousEmailsRequest extends PageRequest {
  /** As given; at most one of the two. null: all. */
  readonly address: string | null;
  readonly domain: string | null;
}

export interface CustomerUseCases {
  /**
   * Emails that have no customer because several claim them, newest first. Throws `invalid_cursor`, `invalid_request`,
   * `invalid_address`, `invalid_domain`, `header_injection`.
   */
  listAmbiguousEmails(request: AmbiguousEmailsRequest): Promise<EmailsPage>;
}
