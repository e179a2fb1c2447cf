/** The tools for agents, derived from the operations: names, descriptions and schemas are theirs. */
import type { Tool } from '@modelcontextprotocol/server';
import type { Operation } from '../../controller/platform/operation/operation.ts';
import { isRecord } from '../../controller/platform/text/is-record.ts';
import { createSchemaWriter, type Json } from '../openapi/schemas.ts';
import { OPERATION_MODULES, REST_ONLY } from '../procedures/operations.ts';
import { CORE, DIRECT, LEFT_OUT, OBSERVING, TOOLSETS, type Toolset } from './toolsets.ts';

export const DEFAULT_LIST = 'core';
export type ToolList = Toolset | typeof DEFAULT_LIST | 'all';
export const TOOL_LISTS: readonly ToolList[] = [DEFAULT_LIST, ...(Object.keys(TOOLSETS) as Toolset[]), 'all'];

/**
 * `reads`: changes nothing. `proposes`: becomes a proposal, or for a token that may write what the policy of edits says.
 * `writes`: takes effect at once, for tokens that may.
 */
export type Effect = 'reads' | 'proposes' | 'writes';

export interface AgentTool {
  name: string;
  operation: Operation;
  effect: Effect;
  toolset: Toolset;
  isCore: boolean;
  /** As `tools/list` has it. */
  listed: Tool;
  /** Where the answer is no object, the field of the structured content that holds it. */
  wrap: 'items' | 'result' | null;
}

/** `gitSync.importErrors` is `git_sync_import_errors`. */
export const toolName = (operation: string): string =>
  operation.replaceAll('.', '_').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Null for what is no tool. */
export function toolsetOf(operation: string): Toolset | null {
  const router = operation.split('.')[0] ?? '';
  if (operation in LEFT_OUT || router in LEFT_OUT) return null;
  const found = Object.entries(TOOLSETS).find(([, { routers }]) => routers.some((one) => one === router));
  return found ? (found[0] as Toolset) : null;
}

function effectOf(operation: Operation): Effect | null {
  if (operation.kind === 'query' || OBSERVING.has(operation.name)) return 'reads';
  if (operation.isProposal || mayBeProposed(operation.output)) return 'proposes';
  return DIRECT.has(operation.name) ? 'writes' : null;
}

/** Whether `OrGit` made the schema, or another union that holds `{proposed}`. */
function mayBeProposed(schema: object): boolean {
  const { anyOf } = schema as { anyOf?: object[] };
  return (
    anyOf?.some((one) => isRecord(one) && isRecord(one.properties) && 'proposed' in one.properties) ?? false
  );
}

const EFFECTS: Readonly<Record<Effect, string>> = {
  reads: '',
  proposes:
    ' Of what git describes it becomes a pull request, and nothing changes before somebody merges that; of anything else it is refused unless the token may change things at once.',
  writes: ' Takes effect at once.',
};

function describe(operation: Operation, effect: Effect): string {
  const { summary, role, permission } = operation;
  const permitted = permission ? `, or the permission ${permission}` : '';
  const sentence = /[.?!]$/.test(summary) ? summary : `${summary}.`;
  return `${sentence}${EFFECTS[effect]} Needs the role ${role} in the team${permitted}.`;
}

/** Schemas in place: a model reads each tool by itself. */
const inline = createSchemaWriter({ names: new Map(), closed: false });

function outputOf(operation: Operation): { schema: Json; wrap: AgentTool['wrap'] } {
  const schema = inline.write(operation.output);
  const { anyOf } = schema as { anyOf?: Json[] };
  if (schema.type === 'object') return { schema, wrap: null };
  if (anyOf?.every((one) => one.type === 'object'))
    return { schema: { type: 'object', ...schema }, wrap: null };
  const wrap = schema.type === 'array' ? 'items' : 'result';
  return { schema: { type: 'object', properties: { [wrap]: schema }, required: [wrap] }, wrap };
}

function toolOf(operation: Operation): AgentTool[] {
  const toolset = toolsetOf(operation.name);
  const effect = effectOf(operation);
  if (toolset === null || effect === null || operation.role === 'SUPER_ADMIN') return [];
  const name = toolName(operation.name);
  const { schema, wrap } = outputOf(operation);
  const isReading = effect === 'reads';
  const listed: Tool = {
    name,
    title: operation.summary,
    description: describe(operation, effect),
    inputSchema: inline.write(operation.input) as Tool['inputSchema'],
    outputSchema: schema as Tool['outputSchema'],
    annotations: {
      readOnlyHint: isReading,
      ...(isReading
        ? {}
        : { destructiveHint: /delete|undeploy|rollback|close|cancel/i.test(operation.name) }),
      openWorldHint: false,
    },
  };
  return [{ name, operation, effect, toolset, isCore: CORE.has(operation.name), listed, wrap }];
}

const isOperation = (value: unknown): value is Operation =>
  isRecord(value) && (value.kind === 'query' || value.kind === 'mutation') && typeof value.name === 'string';

/** Operations of all domains that could be tools. */
export const candidates = (): Operation[] =>
  OPERATION_MODULES.flatMap((module) => Object.values(module).filter(isOperation)).filter(
    ({ name }) => !REST_ONLY.some((one) => one === name),
  );

/** By name. Reads come first, since clients cut long lists. */
export function createTools(): ReadonlyMap<string, AgentTool> {
  const order: readonly Effect[] = ['reads', 'proposes', 'writes'];
  const tools = candidates().flatMap(toolOf);
  tools.sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect) || (a.name < b.name ? -1 : 1));
  return new Map(tools.map((tool) => [tool.name, tool]));
}

export const isIn = (tool: AgentTool, lists: readonly ToolList[]): boolean =>
  lists.some((list) => list === 'all' || list === tool.toolset || (list === DEFAULT_LIST && tool.isCore));
