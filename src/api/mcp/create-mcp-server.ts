/**
 * An MCP server (Model Context Protocol) over the HTTP API: for language models that read and write mail. It is written here, and not with the
 * official SDK, since it needs four methods of the protocol, and no argument or parameter may be dropped before it is checked; see
 * docs/decisions/0063-what-a-start-installs.md.
 */
import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import type { Right } from '../../core/keys/rights.ts';
import type { ApiCall } from './api-call.ts';
import { checkInput, InputFault } from './check-input.ts';
import { closeNames } from './close-names.ts';
import { ApiRefusal, type Tool } from './define-tool.ts';
import { INVALID_PARAMS, isObject, RpcError, type Methods, type Params } from './json-rpc.ts';
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

/** The versions of the protocol that are the same for a server of tools without sessions, the newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** What a tool answers. */
interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: object;
  readonly isError?: true;
}

/** The methods that a client may call. */
export function createMcpServer({ call, mayUse, caller, version }: McpServerOptions): Methods {
  const lackedRight = (tool: Tool) => tool.rights.find((right) => !mayUse(right)) ?? null;
  return {
    initialize: ({ protocolVersion }) => ({
      // A client that asks for another version decides whether it goes on with ours.
      protocolVersion: PROTOCOL_VERSIONS.find((known) => known === protocolVersion) ?? PROTOCOL_VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'email-worker', title: 'Email', version },
      instructions: `Reads and writes the email of a company. ${WARNING}`,
    }),
    ping: () => ({}),
    'tools/list'(params) {
      // The list has one page.
      refuseOthers(params, ['_meta']);
      return { tools: TOOLS.filter((tool) => lackedRight(tool) === null).map(describeTool) };
    },
    async 'tools/call'(params) {
      refuseOthers(params, ['_meta', 'name', 'arguments']);
      const { name } = params;
      if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, 'name is missing, or no text');
      const tool = TOOLS.find((one) => one.name === name) ?? null;
      if (tool === null) throw unknownTool(name);
      const right = lackedRight(tool);
      if (right !== null)
        return refusal(new ServiceError('forbidden_right', { values: { right } }), { right });
      // null is no arguments that were left out.
      const { arguments: input = {} } = params;
      if (!isObject(input)) throw new RpcError(INVALID_PARAMS, 'arguments is no object');
      return runTool(tool, call, caller, input);
    },
  };
}

function refuseOthers(params: Params, known: readonly string[]): void {
  const other = Object.keys(params).find((name) => !known.includes(name));
  if (other !== undefined) throw new RpcError(INVALID_PARAMS, `unknown parameter: ${other.slice(0, 100)}`);
}

function unknownTool(name: string): RpcError {
  const close = closeNames(
    name,
    TOOLS.map((tool) => tool.name),
  );
  const hint = close.length === 0 ? '' : `; did you mean ${close.join(', ')}?`;
  return new RpcError(INVALID_PARAMS, `unknown tool: ${name.slice(0, 100)}${hint}`);
}

async function runTool(tool: Tool, call: ApiCall, caller: string, input: unknown): Promise<ToolResult> {
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
const refusal = (error: ServiceError, details: object): ToolResult => {
  const { status, code, text, others } = error;
  const problems = [error, ...others].map((one) => ({ field: one.field, code: one.code, error: one.text }));
  return errorResult({
    status,
    code,
    error: text,
    ...(others.length === 0 ? {} : { problems }),
    ...details,
  });
};

const toProblem = (problem: unknown): object => {
  const { field, code, error } = Object(problem) as Readonly<Record<string, unknown>>;
  return { field, code, untrusted_error: error };
};

/** Its texts may hold what mail or mail servers say, such as an address of Reply-To. */
function apiRefusal({ answer }: ApiRefusal): object {
  const {
    code,
    error,
    details,
    id,
    new_emails: added,
    problems,
  } = Object(answer.json) as Readonly<Record<string, unknown>>;
  return {
    status: answer.status,
    code,
    untrusted_error: error,
    ...(Array.isArray(problems) ? { problems: problems.map(toProblem) } : {}),
    ...(details === undefined ? {} : { untrusted_details: details }),
    ...(id === undefined ? {} : { email_id: id }),
    // The model reads their texts with the tools that mark them as such.
    ...(Array.isArray(added)
      ? { new_email_ids: added.map((email: { readonly id: string }) => email.id) }
      : {}),
  };
}

const errorResult = (json: object): ToolResult => ({
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
  return json;
}
