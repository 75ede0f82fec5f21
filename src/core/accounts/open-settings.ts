/** The settings of an account that everyone who sees it may know, as they are stored. Names as in the API. */
export interface OpenSettings {
  readonly from: string;
  /** null: none besides `from`. */
  readonly addresses: readonly OpenAddress[] | null;
  readonly signature_text: string | null;
  readonly signature_html: string | null;
  readonly footer_text: string | null;
  readonly footer_html: string | null;
  readonly footer_once_per_thread: boolean | null;
  readonly out_of_office: OpenOutOfOffice | null;
  /** Without user and password; null: mail goes to the outbox folder. */
  readonly smtp_server: string | null;
  /** null: no mailbox is read. */
  readonly imap_server: string | null;
  readonly imap_since: string | null;
  readonly imap_sent: string | null;
  readonly imap_sent_copies: string | null;
  readonly capture: OpenCapture | null;
  readonly rate_per_minute: number | null;
  readonly rate_per_day: number | null;
  readonly join_by_subject: { readonly window_days: number } | null;
  readonly retention_days: number | null;
  readonly trusted_authserv_ids: readonly string[] | null;
  readonly oauth2: OpenOAuth2 | null;
  readonly dkim: { readonly domain: string | null; readonly selectors: readonly string[] } | null;
}

/** See CaptureRules; null stands for an empty list, or false. */
export interface OpenCapture {
  readonly folders: readonly string[] | null;
  readonly never_addresses: readonly string[] | null;
  readonly never_subjects: readonly string[] | null;
  readonly internal_domains: readonly string[] | null;
  readonly leave_out_private: boolean | null;
  readonly only_customers: boolean | null;
}

/** See OutOfOffice; times in RFC 3339. */
export interface OpenOutOfOffice {
  readonly from: string | null;
  readonly until: string | null;
  readonly subject: string | null;
  /** null: German. */
  readonly language: string | null;
  readonly text: string;
  readonly html: string | null;
}

/** See SenderAddress. */
export interface OpenAddress {
  readonly address: string;
  readonly name: string | null;
  readonly reply_to: string | null;
  readonly signature_text: string | null;
  readonly signature_html: string | null;
}

export interface OpenOAuth2 {
  readonly provider: string | null;
  readonly tenant: string | null;
  /** null: the consent of a person. */
  readonly grant: string | null;
  readonly issuer: string | null;
  readonly token_url: string | null;
  /** null: that of the configuration. */
  readonly client_id: string | null;
  readonly scope: string | null;
}
