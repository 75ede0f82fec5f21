/** `email-worker audit`: compares mailboxes with the record of them. */
import { createImapSource } from '../connectors/imap/mailbox-source.ts';
import { createAccessTokens } from '../connectors/oauth2/access-tokens.ts';
import { createTokenStore } from '../areas/accounts/oauth2-tokens.ts';
import { createMailboxAuditStore } from '../areas/mailboxes/mailbox-audit.ts';
import { auditAccount, type MailboxAudit } from '../areas/mailboxes/audit-mailboxes.ts';
import { MailboxError } from '../areas/mailboxes/mailbox-ports.ts';
import { AUDIT_FINDINGS, type AuditFinding } from '../core/mailbox/audit.ts';
import { tokenAccounts } from '../service/create-access-tokens.ts';
import { imapAccounts } from '../service/create-mailbox-source.ts';
import { defineCommand, UsageError } from './command.ts';
import { formatError } from '../core/causes.ts';
import { formatCount } from './api/format.ts';
import { printable } from './output.ts';

/** The number of messages named for each finding. */
const MAX_NAMED = 20;

const TEXTS: Readonly<Record<AuditFinding, string>> = {
  missing: 'not known',
  lost: 'without their recorded email',
  other: 'with the email of another Message-ID',
  marked_gone: 'there, but marked as gone',
  not_marked: 'gone, but not marked',
};

export const auditCommand = defineCommand({
  name: 'audit',
  summary: 'Compares mailboxes with their record: UIDs and Message-IDs.',
  description:
    'Lists differences. The exit code is 1 when some were not repaired. The service fetches repaired messages again: within ' +
    'seconds while it runs, else after its start.\n\n' +
    'A message with the email of another Message-ID gets its own email when it is fetched again, unless that email itself was ' +
    'recorded wrongly. This is not known before, so the exit code is 1 with --repair as well. Run audit again: for an email ' +
    'that it still lists, run reparse with --email.\n\n' +
    'Waiting and quarantined messages are counted and are no difference. Mailboxes are never changed.',
  arguments: [],
  options: {
    account: {
      type: 'string',
      value: 'id',
      multiple: true,
      meaning: 'Only this account. Default: all accounts with a mailbox.',
    },
    repair: {
      type: 'boolean',
      meaning: 'Fetches missing and wrongly recorded messages again, and corrects wrong marks.',
    },
  },
  examples: [
    {
      line: 'audit --account sales --repair',
      meaning: 'Compares the mailboxes of one account and fetches missing messages.',
    },
  ],
  async run({ account: wanted = [], repair = false }, _paths, { output, logger, signal, open }) {
    const { pool, reader, registry } = await open();
    const tokens = createAccessTokens(tokenAccounts(registry.settings), logger);
    const source = createImapSource(imapAccounts(registry.settings), tokens);
    const unknown = wanted.find((id) => !source.accountIds.includes(id));
    if (unknown !== undefined) throw new UsageError(`the account ${unknown} has no mailbox to read`);
    const status = { isClean: true };
    try {
      tokens.keepIn(createTokenStore(pool));
      const store = createMailboxAuditStore(pool);
      for (const accountId of wanted.length > 0 ? wanted : source.accountIds) {
        if (signal.aborted) break;
        try {
          const capture = registry.settings.find(({ id }) => id === accountId)?.capture ?? null;
          const request = { accountId, capture, repair, signal };
          for await (const audit of auditAccount({ source, store, reader }, request)) {
            for (const line of formatAudit(accountId, audit, repair)) output.print(printable(line));
            if (!isClean(audit, repair)) status.isClean = false;
          }
        } catch (error) {
          if (!(error instanceof MailboxError)) throw error;
          if (!signal.aborted) output.note(printable(`${accountId}: ${formatError(error)}`));
          status.isClean = false;
        }
      }
    } finally {
      await tokens.close();
    }
    return status.isClean ? 'done' : 'failed';
  },
});

/** Taking a message again repairs a wrong link, but not an email that was recorded with a wrong Message-ID. */
function isClean({ kind, findings }: MailboxAudit, repaired: boolean): boolean {
  return kind === 'compared' && (repaired ? !findings.has('other') : findings.size === 0);
}

function repairOf(finding: AuditFinding): string {
  return finding === 'other'
    ? ', taken again; run audit once more then, and reparse --email <id> for those that it still names'
    : ', repaired';
}

function formatAudit(accountId: string, audit: MailboxAudit, repaired: boolean): readonly string[] {
  const { path, kind, messages, waiting, quarantined, findings } = audit;
  if (kind === 'other_uids') {
    return [
      `${accountId} ${path}: ${formatCount(messages, 'message')}, not read yet under its current UIDVALIDITY`,
    ];
  }
  const differences = AUDIT_FINDINGS.flatMap((finding) => {
    const wrong = findings.get(finding);
    if (wrong === undefined) return [];
    const named = wrong
      .slice(0, MAX_NAMED)
      .map(({ uid, emailId }) => (finding === 'other' ? `${uid} (email ${emailId})` : uid));
    const rest = wrong.length > MAX_NAMED ? ', …' : '';
    return [
      `  ${wrong.length} ${TEXTS[finding]}${repaired ? repairOf(finding) : ''}: UID ${named.join(', ')}${rest}`,
    ];
  });
  const result = differences.length === 0 ? 'no differences' : 'differences:';
  return [
    `${accountId} ${path}: ${formatCount(messages, 'message')}, ${waiting} to be taken, ${quarantined} set aside; ${result}`,
    ...differences,
  ];
}
