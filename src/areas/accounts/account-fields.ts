/**
 * The fields of an account that is managed by the API: what is stored as it is, and may be shown, and what is sealed. The address of a
 * server is sealed as a whole, since it contains user and password; what is shown is the address without them.
 */
import type {
  OpenAddress,
  OpenCapture,
  OpenOAuth2,
  OpenOutOfOffice,
  OpenSettings,
} from '../../core/accounts/open-settings.ts';

/** As ACCOUNTS_FILE has them, but for the id. */
export type AccountFields = Readonly<Record<string, unknown>>;

/** What is sealed. */
export interface AccountSecrets {
  readonly smtp_url: string | null;
  readonly imap_url: string | null;
  readonly oauth2: {
    readonly client_secret: string | null;
    readonly refresh_token: string | null;
    readonly private_key: string | null;
  } | null;
  /** Selector → private key in PEM. */
  readonly dkim: Readonly<Record<string, string>> | null;
}

interface FullFields extends Partial<
  Omit<
    OpenSettings,
    'addresses' | 'smtp_server' | 'imap_server' | 'capture' | 'oauth2' | 'dkim' | 'out_of_office'
  >
> {
  readonly addresses?: readonly (Pick<OpenAddress, 'address'> & Partial<OpenAddress>)[] | null;
  readonly smtp_url?: string | null;
  readonly imap_url?: string | null;
  readonly capture?: Partial<OpenCapture> | null;
  readonly out_of_office?: (Pick<OpenOutOfOffice, 'text'> & Partial<OpenOutOfOffice>) | null;
  readonly oauth2?: (Partial<OpenOAuth2> & Partial<NonNullable<AccountSecrets['oauth2']>>) | null;
  readonly dkim?: {
    readonly domain?: string | null;
    readonly keys: Readonly<Record<string, string>>;
  } | null;
}

/** The address of a server as it may be shown. */
export function withoutLogin(address: string | null): string | null {
  if (address === null) return null;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

/**
 * True when UIDs mean the same in the next one: the same user at the same server, whatever the password and the options; or there is none.
 * A port may be left out, and a user be encoded in several ways: the page names every port.
 */
export function isSameMailbox(before: string | null, next: string | null): boolean {
  if (next === null) return true;
  return before !== null && placeOf(before) === placeOf(next);
}

const IMAP_PORTS: Readonly<Record<string, string>> = { 'imap:': '143', 'imaps:': '993' };

function placeOf(address: string): string {
  const { protocol, hostname, port, username } = new URL(address);
  return JSON.stringify([
    hostname.toLowerCase(),
    port === '' ? IMAP_PORTS[protocol] : port,
    decodeURIComponent(username),
  ]);
}

/** @param checked fields from which an account can be read */
export function splitFields(checked: AccountFields): {
  readonly open: OpenSettings;
  readonly secrets: AccountSecrets;
} {
  // Reading the account has checked the types.
  const fields = checked as FullFields;
  const { smtp_url: smtpUrl = null, imap_url: imapUrl = null, oauth2 = null, dkim = null } = fields;
  const { capture = null } = fields;
  const { from = '', join_by_subject: join = null, trusted_authserv_ids: trusted = null } = fields;
  return {
    open: {
      from,
      addresses: toOpenAddresses(fields.addresses ?? []),
      signature_text: fields.signature_text ?? null,
      signature_html: fields.signature_html ?? null,
      footer_text: fields.footer_text ?? null,
      footer_html: fields.footer_html ?? null,
      footer_once_per_thread: fields.footer_once_per_thread === true ? true : null,
      out_of_office: toOpenOutOfOffice(fields.out_of_office ?? null),
      smtp_server: withoutLogin(smtpUrl),
      imap_server: withoutLogin(imapUrl),
      imap_since: fields.imap_since ?? null,
      imap_sent: fields.imap_sent ?? null,
      imap_sent_copies: fields.imap_sent_copies ?? null,
      capture:
        capture === null
          ? null
          : {
              folders: capture.folders ?? null,
              never_addresses: capture.never_addresses ?? null,
              never_subjects: capture.never_subjects ?? null,
              internal_domains: capture.internal_domains ?? null,
              leave_out_private: capture.leave_out_private ?? null,
              only_customers: capture.only_customers ?? null,
            },
      rate_per_minute: fields.rate_per_minute ?? null,
      rate_per_day: fields.rate_per_day ?? null,
      join_by_subject: join,
      retention_days: fields.retention_days ?? null,
      trusted_authserv_ids: trusted,
      oauth2:
        oauth2 === null
          ? null
          : {
              provider: oauth2.provider ?? null,
              tenant: oauth2.tenant ?? null,
              grant: oauth2.grant ?? null,
              issuer: oauth2.issuer ?? null,
              token_url: oauth2.token_url ?? null,
              client_id: oauth2.client_id ?? null,
              scope: oauth2.scope ?? null,
            },
      dkim: dkim === null ? null : { domain: dkim.domain ?? null, selectors: Object.keys(dkim.keys) },
    },
    secrets: {
      smtp_url: smtpUrl,
      imap_url: imapUrl,
      oauth2:
        oauth2 === null
          ? null
          : {
              client_secret: oauth2.client_secret ?? null,
              refresh_token: oauth2.refresh_token ?? null,
              private_key: oauth2.private_key ?? null,
            },
      dkim: dkim?.keys ?? null,
    },
  };
}

const toOpenOutOfOffice = (
  absence: NonNullable<FullFields['out_of_office']> | null,
): OpenSettings['out_of_office'] =>
  absence === null
    ? null
    : {
        from: absence.from ?? null,
        until: absence.until ?? null,
        subject: absence.subject ?? null,
        language: absence.language ?? null,
        text: absence.text,
        html: absence.html ?? null,
      };

/** None in one spelling, so that the same settings are equal. */
const toOpenAddresses = (addresses: NonNullable<FullFields['addresses']>): OpenSettings['addresses'] =>
  addresses.length === 0
    ? null
    : addresses.map(({ address, ...one }) => ({
        address,
        name: one.name ?? null,
        reply_to: one.reply_to ?? null,
        signature_text: one.signature_text ?? null,
        signature_html: one.signature_html ?? null,
      }));

/** The fields again, for reading the account or changing some of them. */
export function joinFields(open: OpenSettings, secrets: AccountSecrets): AccountFields {
  const { smtp_server: _smtp, imap_server: _imap, oauth2, dkim, ...others } = open;
  return {
    ...others,
    smtp_url: secrets.smtp_url,
    imap_url: secrets.imap_url,
    oauth2: oauth2 === null ? null : { ...oauth2, ...secrets.oauth2 },
    dkim: dkim === null ? null : { domain: dkim.domain, keys: secrets.dkim },
  };
}
