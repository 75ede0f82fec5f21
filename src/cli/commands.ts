/** Every command, in the order of the help. */
import { cleanFilesCommand } from './clean-files.ts';
import { dkimCommand } from './dkim.ts';
import type { Command } from './command.ts';
import { auditCommand } from './audit.ts';
import { importCommand } from './import.ts';
import { keysCommand } from './keys.ts';
import { reparseCommand } from './reparse.ts';
import { retentionCommand } from './retention.ts';
import { loginLinkCommand } from './login-link.ts';
import { mcpCommand } from './mcp.ts';
import { rethreadCommand } from './rethread.ts';

export const COMMANDS: readonly Command[] = [
  importCommand,
  reparseCommand,
  rethreadCommand,
  auditCommand,
  cleanFilesCommand,
  retentionCommand,
  dkimCommand,
  keysCommand,
  loginLinkCommand,
  mcpCommand,
];
