/** The configuration that mail-servers.ts writes for Postfix (3.4 or later) and Dovecot (2.3). */

export interface RelayLogin {
  readonly user: string;
  readonly password: string;
  /** PEM file of the certificate, which has to be for `localhost`. */
  readonly caFile: string;
}

export interface MailServerPlan {
  /** Absolute; contains all files of both servers. */
  readonly root: string;
  readonly smtpPort: number;
  readonly submissionPort: number;
  readonly imapPort: number;
  readonly users: Readonly<Record<string, { readonly address: string; readonly password: string }>>;
  /** Postfix's delivery target, in its own syntax; null: Dovecot. */
  readonly deliverTo: string | null;
  /** Port of 127.0.0.1 for other domains; null: they are refused. */
  readonly relayTo: number | null;
  /** Postfix logs in there, after STARTTLS; null: it does not. */
  readonly relayLogin?: RelayLogin | null;
  /** The user and group that own the mailboxes. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

/** Folders of the queue → mode, as `postfix check` would create them. */
export const POSTFIX_QUEUES: Readonly<Record<string, number>> = {
  active: 0o700,
  bounce: 0o700,
  corrupt: 0o700,
  defer: 0o700,
  deferred: 0o700,
  flush: 0o700,
  hold: 0o700,
  incoming: 0o700,
  maildrop: 0o730,
  pid: 0o755,
  private: 0o700,
  public: 0o710,
  saved: 0o700,
  trace: 0o700,
};

export function postfixConfig({
  root,
  users,
  deliverTo,
  relayTo,
  relayLogin = null,
}: MailServerPlan): string {
  const mailboxes = Object.values(users).map(({ address }) => `${address}=1`);
  return toLines({
    compatibility_level: '3.6',
    queue_directory: `${root}/spool`,
    data_directory: `${root}/postfix-data`,
    maillog_file: `${root}/postfix.log`,
    maillog_file_prefixes: root,
    myhostname: 'mail.example.test',
    mydestination: '',
    alias_maps: '',
    alias_database: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    smtpd_peername_lookup: 'no',
    virtual_mailbox_domains: 'example.test',
    virtual_mailbox_maps: `inline:{ ${mailboxes.join(', ')} }`,
    virtual_transport: deliverTo ?? `lmtp:unix:${root}/dovecot-run/lmtp`,
    minimal_backoff_time: '2s',
    maximal_backoff_time: '2s',
    queue_run_delay: '1s',
    // Nothing leaves this machine.
    default_transport:
      relayTo === null ? 'error:5.7.1 the outside world is switched off' : `smtp:[127.0.0.1]:${relayTo}`,
    message_size_limit: '60000000',
    mailbox_size_limit: '0',
    virtual_mailbox_limit: '0',
    smtpd_recipient_restrictions: 'permit_mynetworks, reject',
    smtpd_client_connection_rate_limit: '0',
    smtpd_client_connection_count_limit: '0',
    smtpd_tls_cert_file: `${root}/cert.pem`,
    smtpd_tls_key_file: `${root}/key.pem`,
    smtpd_tls_security_level: 'may',
    smtpd_sasl_type: 'dovecot',
    smtpd_sasl_path: `${root}/dovecot-run/auth-client`,
    in_flow_delay: '0',
    ...(relayLogin === null
      ? {}
      : {
          smtp_sasl_auth_enable: 'yes',
          smtp_sasl_password_maps: `static:${relayLogin.user}:${relayLogin.password}`,
          smtp_sasl_tls_security_options: 'noanonymous',
          smtp_tls_security_level: 'verify',
          smtp_tls_verify_cert_match: 'localhost',
          smtp_tls_CAfile: relayLogin.caFile,
          smtp_destination_recipient_limit: '2',
        }),
  });
}

export function postfixServices({ smtpPort, submissionPort }: MailServerPlan): string {
  return `
127.0.0.1:${smtpPort} inet n - n - - smtpd
127.0.0.1:${submissionPort} inet n - n - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_tls_auth_only=yes
  -o smtpd_sasl_auth_enable=yes
  -o smtpd_recipient_restrictions=permit_sasl_authenticated,reject
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
smtp unix - - n - - smtp
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`;
}

/** The part of a plan that Dovecot alone needs. */
export type DovecotPlan = Pick<MailServerPlan, 'root' | 'imapPort' | 'users' | 'owner'>;

export function dovecotConfig({ root, imapPort, owner }: DovecotPlan): string {
  return `
base_dir = ${root}/dovecot-run
state_dir = ${root}/dovecot-run
log_path = ${root}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_username_format = %n
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:${root}/mail/%n
mail_uid = ${owner.uid}
mail_gid = ${owner.gid}
mail_fsync = never
auth_failure_delay = 0
postmaster_address = postmaster@example.test
hostname = mail.example.test
passdb {
  driver = passwd-file
  args = username_format=%n ${root}/passwords
}
userdb {
  driver = static
  args = uid=${owner.uid} gid=${owner.gid} home=${root}/mail/%n
}
service imap-login {
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  unix_listener lmtp {
    mode = 0666
  }
}
service anvil {
  # No waiting after a wrong password.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service auth {
  unix_listener auth-client {
    mode = 0666
  }
}
`;
}

function toLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}
