/** An MCP server (Model Context Protocol) over the HTTP API, with the official SDK: for language models that read and write mail. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Right } from '../../core/keys/rights.ts';
import type { ApiCall } from './api-call.ts';
import { ApiRefusal, type Tool } from './define-tool.ts';
import { DRAFT_TOOLS } from './draft-tools.ts';
import { READING_TOOLS } from './reading-tools.ts';
import { SENDING_TOOLS } from './sending-tools.ts';
import { WARNING } from './untrusted.ts';

const TOOLS: readonly Tool[] = [...READING_TOOLS, ...DRAFT_TOOLS, ...SENDING_TOOLS];

export interface McpServerOptions {
  readonly call: ApiCall;
  /** Tools that need another right are not offered; null: the key's rights are unknown, and the API refuses what it lacks. */
  readonly mayUse: ((right: Right) => boolean) | null;
  /** The version of the service. */
  readonly version: string;
}

/** For one client; connect it to a transport. */
export function createMcpServer({ call, mayUse, version }: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: 'email-worker', title: 'Email', version },
    { instructions: `Reads and writes the email of a company. ${WARNING}` },
  );
  for (const tool of TOOLS) {
    if (mayUse !== null && !mayUse(tool.right)) continue;
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: tool.input,
        annotations: {
          readOnlyHint: tool.effect === 'none',
          // Sent mail can't be taken back.
          destructiveHint: tool.effect === 'destroys' || tool.effect === 'sends',
          openWorldHint: tool.effect === 'sends',
        },
      },
      (input) => runTool(tool, call, input),
    );
  }
  return server;
}

async function runTool(
  tool: Tool,
  call: ApiCall,
  input: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  try {
    const result = await tool.run(call, input);
    return {
      content: [
        { type: 'text', text: tool.effect === 'none' ? `${WARNING}\n\n${toText(result)}` : toText(result) },
      ],
    };
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    const { status, json } = error.answer;
    return { content: [{ type: 'text', text: toText({ status, ...Object(json) }) }], isError: true };
  }
}

const toText = (json: object): string => JSON.stringify(json, null, 1);
