/** Runs the operation behind a tool, and writes its answer or its error so that a model can go on from it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { Execute } from '../../controller/platform/operation/operation.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { toErrorResponse } from '../middleware/request.ts';
import { shortenAnswer } from './shorten-answer.ts';
import type { AgentTool } from './tools.ts';

/** Bytes of JSON: about 25,000 tokens. */
export const ANSWER_BYTES = 100 * 1024;
/** Of what is too large and has no list that could be cut. */
const EXCERPT_LENGTH = 4_000;

export interface ToolCaller {
  context: Context;
  execute: Execute;
  log: Logger;
  /** Whether the token may change things at once. */
  mayWrite: boolean;
}

/** Ends the refusal of a change that cannot be proposed. */
const HINT =
  'This token only proposes changes: put the object into git (git_sync_export has its manifest), or make a personal token that may change things at once';

export async function callTool(tool: AgentTool, input: unknown, caller: ToolCaller): Promise<CallToolResult> {
  const { context, execute, mayWrite, log } = caller;
  if (tool.effect === 'writes' && !mayWrite)
    return failure(
      `${tool.name} takes effect at once. This token only proposes changes: ask its owner to do it, or to make a personal token that may change things at once`,
    );
  const bound = tool.effect === 'reads' || mayWrite ? context : { ...context, onlyProposals: HINT };
  try {
    const output = await execute(tool.operation, bound, input);
    return present(tool, output);
  } catch (error) {
    const { requestId } = context;
    const { body } = toErrorResponse(error, { requestId, path: `/mcp ${tool.name}`, log });
    return failure(sentenceOf(body));
  }
}

/** The message, and what stands beside it: paths of wrong fields, the manifest that describes an object, the id of the request. */
function sentenceOf({ error, issues: _issues, ...details }: Record<string, unknown>): string {
  const more = Object.keys(details).length > 0 ? ` ${JSON.stringify(details)}` : '';
  return `${String(error)}${more.length > EXCERPT_LENGTH ? '' : more}`;
}

const failure = (message: string): CallToolResult => ({
  content: [{ type: 'text', text: message }],
  isError: true,
});

function present(tool: AgentTool, output: unknown): CallToolResult {
  // A copy, in which moments are texts.
  const plain: unknown = JSON.parse(JSON.stringify(output ?? null));
  const structured = tool.wrap === null ? plain : { [tool.wrap]: plain };
  const { value, json, cuts, fits } = shortenAnswer(structured, ANSWER_BYTES);
  if (!fits)
    return failure(
      `The answer has ${Math.round(Buffer.byteLength(json) / 1024)} KB, and ${ANSWER_BYTES / 1024} KB are the most. ${narrowing(tool)} It begins:\n${json.slice(0, EXCERPT_LENGTH)}`,
    );
  const note: CallToolResult['content'] =
    cuts.length === 0
      ? []
      : [{ type: 'text', text: `Cut at ${ANSWER_BYTES / 1024} KB: ${cuts.join('; ')}. ${narrowing(tool)}` }];
  return {
    content: [{ type: 'text', text: json }, ...note],
    structuredContent: value as Record<string, unknown>,
  };
}

/** Fields of the input that make an answer smaller are those that may be left out. */
function narrowing({ operation }: AgentTool): string {
  const { properties = {}, required = [] } = operation.input as { properties?: object; required?: string[] };
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  return optional.length > 0
    ? `Ask for less with ${optional.join(', ')}.`
    : 'Ask about one object of it with another tool.';
}
