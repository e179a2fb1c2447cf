import { LogPage, NodeLogs, PipelineLogs } from '../../../schemas/api/fleet/logs.ts';
import { objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { query, type Weight } from '../../platform/operation/operation.ts';
import { findLines, type LineFilter } from './store.ts';

const DEFAULT_LIMIT = 200;

/**
 * A filter scans up to `MAX_LINES_SCANNED` lines, and so does a request for one pipeline on one node. Otherwise a page reads
 * only its own lines.
 */
function weight({ nodeId, pipelineId, contains, levels, since }: PipelineLogs | NodeLogs): Weight {
  const isBoth = nodeId !== undefined && pipelineId !== undefined;
  return isBoth || contains || levels !== undefined || since !== undefined ? 'heavy' : 'light';
}

/** The validated input holds dates as text. */
function read(ctx: Context, input: PipelineLogs | NodeLogs): Promise<LogPage> {
  const { since, limit = DEFAULT_LIMIT, ...rest } = input;
  const filter: LineFilter = { ...rest, limit, since: since && new Date(since) };
  return findLines(ctx.db, filter);
}

export const pipelineLogs = query({
  name: 'pipeline.logs',
  summary: "Log lines of a pipeline's engines, newest first",
  role: 'VIEWER',
  permission: 'pipelines.read',
  input: PipelineLogs,
  output: LogPage,
  weight,
  async scope(ctx, input) {
    const scope = await objectScope(ctx, 'Pipeline', input.pipelineId);
    if (input.nodeId !== undefined) await objectScope(ctx, 'Node', input.nodeId);
    return scope;
  },
  run: read,
});

export const nodeLogs = query({
  name: 'fleet.nodeLogs',
  summary: 'Log lines of the engines on a node, newest first',
  role: 'VIEWER',
  permission: 'nodes.read',
  input: NodeLogs,
  output: LogPage,
  weight,
  async scope(ctx, input) {
    const scope = await objectScope(ctx, 'Node', input.nodeId);
    if (input.pipelineId !== undefined) await objectScope(ctx, 'Pipeline', input.pipelineId);
    return scope;
  },
  run: read,
});
