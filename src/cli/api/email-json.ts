/** The fields that commands read of an email in the API's answers. */
import type { AddressJson } from './format.ts';

export interface EmailJson {
  readonly id: string;
  readonly thread_id: string;
  readonly account_id: string;
  readonly direction: 'inbound' | 'outbound';
  readonly from_address: AddressJson;
  readonly to_addresses: readonly AddressJson[];
  readonly subject: string;
  readonly date: string;
  readonly state: string;
  readonly state_detail: string | null;
  readonly next_attempt_at: string | null;
}
