/** Shared by sample requests and taps: the permission check, the choice of components, and the choice of the node. */
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import { objectScope } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { DomainError, notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import type { Scope } from '../../platform/operation/operation.ts';
import { readStatus } from '../status/index.ts';
import { type ChosenNode, chooseNode } from './choose-node.ts';
import { findDeployed } from './store.ts';
import { sinksAmong } from './tap-targets.ts';

/** A NOTIFY payload may have 8,000 bytes. A node that gets no push sees its request with its next poll. */
const PUSH_BYTES = 7_500;

export const userOf = ({ actor }: Context): string | null => (actor.type === 'user' ? actor.userId : null);

export async function pipelineScope(
  ctx: Context,
  input: { pipelineId: string; nodeId?: string | undefined },
): Promise<Scope> {
  const scope = await objectScope(ctx, 'Pipeline', input.pipelineId);
  if (input.nodeId !== undefined) await objectScope(ctx, 'Node', input.nodeId);
  return scope;
}

/** A validated sample request and the node that can answer it. */
export interface SampleTarget {
  environmentId: string;
  pipelineName: string;
  sinkKeys: string[];
  node: ChosenNode;
}

/** @throws PRECONDITION_FAILED if no node can answer, BAD_REQUEST for unknown components */
export async function resolveTarget(
  ctx: Context,
  { pipelineId, nodeId }: { pipelineId: string; nodeId?: string | undefined },
  keys: readonly string[],
  { byPush = false }: { byPush?: boolean } = {},
): Promise<SampleTarget> {
  const deployed = await findDeployed(ctx.db, pipelineId);
  if (!deployed) throw notFound('Pipeline');
  const sinkKeys = sinksAmong(keys, deployed);
  const { environmentId, name } = deployed;
  const choice = chooseNode(await readStatus(ctx, { environmentId, pipelineId }), { nodeId, byPush });
  if ('unknownNode' in choice) throw notFound('Node');
  if ('reason' in choice) throw preconditionFailed(choice.reason);
  return { environmentId, pipelineName: name, sinkKeys, node: choice.node };
}

export const tooMany = (message: string) =>
  new DomainError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: 5 });

export const fitsSignal = (message: PushMessage): boolean =>
  Buffer.byteLength(JSON.stringify(message)) <= PUSH_BYTES;
