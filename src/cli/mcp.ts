/** `email-worker mcp`: offers the tools of a running service to a program with a language model, over standard input and output. */
import { defineCommand, UsageError, type CommandResult } from './command.ts';
import { parseUrl } from './values.ts';

const DEFAULT_URL = 'http://127.0.0.1:3000';

export const mcpCommand = defineCommand({
  name: 'mcp',
  summary: 'Serves the tools of a running service to a language model (MCP over standard input and output).',
  description:
    'For programs that start their MCP servers as processes; others use the URL of the service with /mcp. Standard output ' +
    'belongs to the protocol. Set EMAIL_WORKER_KEY to a key with the rights for the model (see keys): read, draft to write ' +
    'drafts, send to send.',
  arguments: [],
  options: {
    url: { type: 'string', value: 'url', meaning: `Of the service. Default: ${DEFAULT_URL}.` },
  },
  examples: [
    {
      line: 'mcp --url https://mail.example.com',
      meaning: 'Serves the tools of a service on another machine.',
    },
  ],
  async run({ url = DEFAULT_URL }, _positionals, { config, signal }): Promise<CommandResult> {
    const token = config.commands.serviceKey;
    if (token === null) throw new UsageError('EMAIL_WORKER_KEY is not set: set it to the key of the model.');
    const service = parseUrl('--url', url);
    // Loaded for this command only: its libraries are half of all that the commands load.
    const { serveStdio } = await import('../api/mcp/stdio.ts');
    await serveStdio({ url: service, token, signal });
    return 'done';
  },
});
