/**
 * An MCP server (Model Context Protocol) over the HTTP API, with the official SDK: for language models that read and write mail. Requests
 * are handled below the SDK's `McpServer`, which drops arguments and parameters that it does not know.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ErrorCode, McpError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { ApiCall } from './api-call.ts';
import { checkInput, InputFault } from './check-input.ts';
import { closeNames } from './close-names.ts';
import { ApiRefusal, type Tool } from './define-tool.ts';
import { DRAFT_TOOLS } from './draft-tools.ts';
import { READING_TOOLS } from './reading-tools.ts';
import { deriveKey } from './sending.ts';
import { SENDING_TOOLS } from './sending-tools.ts';
import { NOTE, showAll, WARNING } from './untrusted.ts';

export const TOOLS: readonly Tool[] = [...READING_TOOLS, ...DRAFT_TOOLS, ...SENDING_TOOLS];

export interface McpServerOptions {
  readonly call: ApiCall;
  /** Tools that need another right are neither offered nor carried out. */
  readonly mayUse: (right: Right) => boolean;
  /** Names the caller; a repeat by another caller is not a repeat. */
  readonly caller: string;
  /** The version of the service. */
  readonly version: string;
}

// Nothing is dropped before it is checked.
const ListRequest = z.looseObject({
  method: z.literal('tools/list'),
  params: z.looseObject({}).optional(),
});
const CallRequest = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string() }),
});

/** For one client; connect it to a transport. */
export function createMcpServer({ call, mayUse, caller, version }: McpServerOptions): Server {
  const server = new Server(
    { name: 'email-worker', title: 'Email', version },
    { capabilities: { tools: {} }, instructions: `Reads and writes the email of a company. ${WARNING}` },
  );
  const lackedRight = (tool: Tool) => tool.rights.find((right) => !mayUse(right)) ?? null;

  server.setRequestHandler(ListRequest, ({ params = {} }) => {
    // The list has one page.
    refuseOthers(params, ['_meta']);
    return { tools: TOOLS.filter((tool) => lackedRight(tool) === null).map(describeTool) };
  });

  server.setRequestHandler(CallRequest, async ({ params }) => {
    refuseOthers(params, ['_meta', 'name', 'arguments']);
    const tool = TOOLS.find(({ name }) => name === params.name) ?? null;
    if (tool === null) throw unknownTool(params.name);
    const right = lackedRight(tool);
    if (right !== null) return refusal(new ServiceError('forbidden_right', { values: { right } }), { right });
    return runTool(tool, call, caller, params['arguments'] ?? {});
  });
  return server;
}

function refuseOthers(params: object, known: readonly string[]): void {
  const other = Object.keys(params).find((name) => !known.includes(name));
  if (other !== undefined)
    throw new McpError(ErrorCode.InvalidParams, `unknown parameter: ${other.slice(0, 100)}`);
}

function unknownTool(name: string): McpError {
  const close = closeNames(
    name,
    TOOLS.map((tool) => tool.name),
  );
  const hint = close.length === 0 ? '' : `; did you mean ${close.join(', ')}?`;
  return new McpError(ErrorCode.InvalidParams, `unknown tool: ${name.slice(0, 100)}${hint}`);
}

async function runTool(tool: Tool, call: ApiCall, caller: string, input: unknown): Promise<CallToolResult> {
  try {
    const checked = checkInput(tool.input, input);
    const result = await tool.run(call, checked, {
      derivedKey: deriveKey(caller, tool.name, emailOf(checked)),
    });
    const structuredContent = { ...(tool.effect === 'none' ? { note: NOTE } : {}), ...showAll(result) };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  } catch (error) {
    if (error instanceof InputFault) return refusal(error.fault, namesOf(error));
    if (error instanceof ApiRefusal) return errorResult(apiRefusal(error));
    throw error;
  }
}

/** The input without the condition of the send: it is the same email after the model has read the thread again. */
const emailOf = ({ if_newest: _condition, ...email }: Readonly<Record<string, unknown>>): object => email;

const namesOf = ({ closeNames: close, knownNames: known }: InputFault): object =>
  close.length > 0 ? { did_you_mean: close } : known.length > 0 ? { known } : {};

/** The service itself refuses, before it asks the API. */
const refusal = ({ status, code, text }: ServiceError, details: object): CallToolResult =>
  errorResult({ status, code, error: text, ...details });

/** Its texts may hold what mail or mail servers say, such as an address of Reply-To. */
function apiRefusal({ answer }: ApiRefusal): object {
  const {
    code,
    error,
    details,
    id,
    new_emails: added,
  } = Object(answer.json) as Readonly<Record<string, unknown>>;
  return {
    status: answer.status,
    code,
    untrusted_error: error,
    ...(details === undefined ? {} : { untrusted_details: details }),
    ...(id === undefined ? {} : { email_id: id }),
    // The model reads their texts with the tools that mark them as such.
    ...(Array.isArray(added)
      ? { new_email_ids: added.map((email: { readonly id: string }) => email.id) }
      : {}),
  };
}

const errorResult = (json: object): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(showAll(json)) }],
  isError: true,
});

const described = new WeakMap<Tool, object>();

/** As `tools/list` shows it. */
function describeTool(tool: Tool) {
  const known = described.get(tool) as ReturnType<typeof toDescription> | undefined;
  if (known !== undefined) return known;
  const made = toDescription(tool);
  described.set(tool, made);
  return made;
}

function toDescription({ name, title, description, effect, input, output }: Tool) {
  const result = effect === 'none' ? output.extend({ note: z.string() }) : output;
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(input, 'input'),
    outputSchema: toJsonSchema(result, 'output'),
    annotations: {
      readOnlyHint: effect === 'none',
      // Sent mail can't be taken back.
      destructiveHint: effect === 'destroys' || effect === 'sends',
      // A repeat sends nothing again: see deriveKey.
      idempotentHint: effect === 'none' || effect === 'sends',
      openWorldHint: effect === 'sends',
    },
  };
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _schema, ...json } = z.toJSONSchema(schema, {
    io,
    // Models pay for each word: a format needs no pattern, names in JSON are always texts, and results are only what is described.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      delete jsonSchema.propertyNames;
      if (io === 'output') delete jsonSchema.additionalProperties;
    },
  });
  return json as { type: 'object' };
}
