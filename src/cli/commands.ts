/** Every command, in the order of the help. */
import { accountsCommand } from './api/accounts.ts';
import { eventsCommand } from './api/events.ts';
import { queueCommand } from './api/queue.ts';
import { rulesCommand } from './api/rules.ts';
import { searchCommand } from './api/search.ts';
import { sendCommand } from './api/send.ts';
import { threadCommand } from './api/thread.ts';
import { webhooksCommand } from './api/webhooks.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { adoptStorageCommand } from './adopt-storage.ts';
import { clockCommand } from './clock.ts';
import { cleanFilesCommand } from './clean-files.ts';
import { dkimCommand } from './dkim.ts';
import { createCompletionCommand } from './completion.ts';
import type { Command } from './command.ts';
import { backupCommand } from './backup.ts';
import { auditCommand } from './audit.ts';
import { importCommand } from './import.ts';
import { keysCommand } from './keys.ts';
import { moveCommand } from './move.ts';
import { reparseCommand } from './reparse.ts';
import { retentionCommand } from './retention.ts';
import { loginLinkCommand } from './login-link.ts';
import { mcpCommand } from './mcp.ts';
import { restoreCommand } from './restore.ts';
import { rethreadCommand } from './rethread.ts';
import { verifyCommand } from './verify.ts';

export const COMMANDS: readonly Command[] = [
  doctorCommand,
  sendCommand,
  searchCommand,
  threadCommand,
  queueCommand,
  accountsCommand,
  webhooksCommand,
  rulesCommand,
  eventsCommand,
  importCommand,
  reparseCommand,
  rethreadCommand,
  auditCommand,
  cleanFilesCommand,
  adoptStorageCommand,
  retentionCommand,
  clockCommand,
  backupCommand,
  restoreCommand,
  verifyCommand,
  moveCommand,
  dkimCommand,
  keysCommand,
  loginLinkCommand,
  mcpCommand,
  createCompletionCommand(() => COMMANDS),
];
