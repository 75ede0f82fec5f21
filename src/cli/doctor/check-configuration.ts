/** The settings in use, and how safe they are. */
import { fileVariableOf } from '../../config/variable.ts';
import { VARIABLES, type Config } from '../../config/config.ts';
import { isLoopback, isLoopbackUrl } from '../../core/server-url.ts';
import { findReadableFiles } from '../../service/exposure.ts';
import { ok, problem, warning, type Check, type Finding } from '../../service/finding.ts';
import { findMisspelt } from './misspelt.ts';

/** A secret with fewer different characters is soon guessed. */
const MIN_DIFFERENT = 8;

const KNOWN = VARIABLES.flatMap(({ name, mayBeInFile }) =>
  mayBeInFile ? [name, fileVariableOf(name)] : [name],
);

/** @param read the variables that reading the configuration has asked for */
export function checkVariables(set: readonly string[], read: ReadonlySet<string>): Check {
  return {
    area: 'configuration',
    name: 'variables',
    async run() {
      const misspelt = findMisspelt(set, KNOWN, read);
      const used = set.filter((name) => KNOWN.includes(name)).length;
      return [
        ok(`${used} variables are set`),
        ...misspelt.map(({ name, meant }) =>
          warning(`${name} is set and has no effect`, `If ${meant} is meant, rename it.`),
        ),
      ];
    },
  };
}

export function checkSafety(config: Config): Check {
  return {
    area: 'configuration',
    name: 'safety',
    async run() {
      const files = await findReadableFiles([...config.secretFiles, config.dataDir]);
      const findings = [
        ...ofSecrets(config),
        ...ofMail(config),
        ...ofDatabase(config),
        ...ofHttp(config),
        ...files.map(({ path, mode }) =>
          warning(
            `other users of this machine can read ${path} (${mode})`,
            `Take their rights away: chmod go-rwx '${path}'.`,
          ),
        ),
      ];
      return findings.length === 0 ? [ok('no setting is less safe than it could be')] : findings;
    },
  };
}

function ofSecrets({ apiSecrets }: Config): readonly Finding[] {
  const weak = apiSecrets.some((secret) => new Set(secret).size < MIN_DIFFERENT);
  if (!weak) return [];
  return [
    warning(
      'API_SECRET can be guessed',
      'Remove it: the service creates one; or set the output of openssl rand -hex 32.',
    ),
  ];
}

function ofMail({ accounts }: Config): readonly Finding[] {
  return accounts.flatMap(({ id, from, smtpUrl, imap }) => {
    const findings: Finding[] = [];
    if (smtpUrl === null) {
      findings.push(
        warning(
          `account ${id} delivers no mail: it is written to the outbox folder`,
          'Set SMTP_URL, or smtp_url of the account.',
        ),
      );
    }
    if (!from.domain.includes('.')) {
      findings.push(
        warning(
          `account ${id} sends as ${from.localPart}@${from.domain}, which no recipient can answer`,
          'Set MAIL_FROM, or from of the account, to an address in your domain.',
        ),
      );
    }
    for (const [variable, text] of [
      ['SMTP_URL', smtpUrl],
      ['IMAP_URL', imap?.url ?? null],
    ] as const) {
      if (text !== null) findings.push(...ofServerUrl(id, variable, new URL(text)));
    }
    return findings;
  });
}

function ofServerUrl(id: string, variable: string, url: URL): readonly Finding[] {
  const where = `${variable} of account ${id}`;
  if (isLoopbackUrl(url)) return [];
  const findings: Finding[] = [];
  if (url.searchParams.get('tls_verify') === 'false') {
    findings.push(
      warning(
        `${where} accepts any certificate`,
        'Remove tls_verify=false; tls_ca names the authority of your server.',
      ),
    );
  }
  if (url.searchParams.get('allow_plaintext_auth') === 'true') {
    findings.push(warning(`${where} may send the password without TLS`, 'Remove allow_plaintext_auth=true.'));
  }
  if (url.searchParams.get('starttls') === 'off') {
    findings.push(warning(`${where} uses no TLS`, 'Remove starttls=off, or set starttls=required.'));
  }
  return findings;
}

function ofDatabase({ databaseUrl }: Config): readonly Finding[] {
  if (databaseUrl === null) return [];
  const url = new URL(databaseUrl);
  const isLocal = url.hostname === '' || isLoopbackUrl(url);
  const mode = url.searchParams.get('sslmode');
  if (isLocal || (mode !== null && mode !== 'disable')) return [];
  return [
    warning(
      'DATABASE_URL goes to another machine without TLS',
      'Add sslmode=require, or verify-full with sslrootcert, unless the network is private.',
    ),
  ];
}

function ofHttp({
  host,
  tls,
  trustedProxies,
  metricsListen,
  smtpListen,
  lmtpListen,
  listenTls,
}: Config): readonly Finding[] {
  const findings: Finding[] = [];
  if (!isLoopback(host) && tls === null && trustedProxies.length === 0) {
    findings.push(
      warning(
        `HTTP listens on ${host} without TLS: keys and mail cross the network in plain text`,
        'Set TLS_CERT_FILE and TLS_KEY_FILE, or put a proxy in front and name it in TRUSTED_PROXIES.',
      ),
    );
  }
  if (metricsListen !== null && !isLoopback(metricsListen.host)) {
    findings.push(
      warning(
        `METRICS_LISTEN is open to other machines at ${metricsListen.host}, without a secret`,
        'Restrict it to Prometheus by a firewall, or listen on 127.0.0.1.',
      ),
    );
  }
  for (const [variable, listen] of [
    ['SMTP_LISTEN', smtpListen],
    ['LMTP_LISTEN', lmtpListen],
  ] as const) {
    if (listen === null || isLoopback(listen.host) || listenTls !== null) continue;
    findings.push(
      warning(
        `${variable} takes mail of other machines without TLS`,
        'Set LISTEN_TLS_CERT_FILE and LISTEN_TLS_KEY_FILE.',
      ),
    );
  }
  return findings;
}

/** A configuration that can't be read at all; the checks that need it are left out. */
export function checkUnusable(message: string): Check {
  return {
    area: 'configuration',
    name: 'configuration',
    async run() {
      return [problem(message, 'Correct it: the service does not start, and the other checks need it.')];
    },
  };
}
