import { isDeepStrictEqual } from 'node:util';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import {
  EventSchemas,
  GetEventSchemas,
  GetSampleResult,
  RequestedSamples,
  RequestSamples,
  SampleResultView,
} from '../../../schemas/api/fleet/samples.ts';
import { objectScope } from '../../identity/access/index.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { effectiveRedactKeys, lockEnvironment } from '../environments/index.ts';
import { mergeFields, normalizeFields } from './event-fields.ts';
import { createRedactor } from './redact.ts';
import { fitsSignal, pipelineScope, resolveTarget, tooMany, userOf } from './sample-scope.ts';
import {
  bumpNode,
  countOpenRequests,
  findRequest,
  insertRequest,
  listResults,
  listSampledFields,
  type ResultRecord,
} from './store.ts';
import { lockUser } from './tap-store.ts';

const MAX_OPEN_PER_ENVIRONMENT = 20;
const MAX_OPEN_PER_USER = 5;
const expiryOf = (requestedAt: Date) => new Date(requestedAt.getTime() + AGENT_LIMITS.sampleRequestMs);

export const requestSamples = mutation({
  name: 'pipeline.requestSamples',
  summary: 'Request a few current events of components from a node',
  role: 'EDITOR',
  audit: 'pipeline.samplesRequested',
  input: RequestSamples,
  output: RequestedSamples,
  scope: pipelineScope,
  prepare: (ctx, input) => resolveTarget(ctx, input, input.componentKeys),
  async run(ctx, input, { environmentId, pipelineName, sinkKeys, node }) {
    const { pipelineId, componentKeys, limit = AGENT_LIMITS.samples.defaultEvents } = input;
    const { nodeId, nodeName } = node;
    const userId = userOf(ctx);
    const createdAt = new Date(ctx.clock.now());
    await lockEnvironment(ctx.db, environmentId);
    if (userId !== null) await lockUser(ctx.db, userId);
    const since = new Date(createdAt.getTime() - AGENT_LIMITS.sampleRequestMs);
    const open = await countOpenRequests(ctx.db, { environmentId, userId, since });
    if (open.ofUser >= MAX_OPEN_PER_USER) {
      throw tooMany(
        `You have ${MAX_OPEN_PER_USER} open requests for samples; wait until one of them is answered`,
      );
    }
    if (open.inEnvironment >= MAX_OPEN_PER_ENVIRONMENT) {
      throw tooMany(
        `This environment has ${MAX_OPEN_PER_ENVIRONMENT} open requests for samples; wait until one of them is answered`,
      );
    }
    const request = { requestId: newId(), pipelineId, componentKeys, limit, sinkKeys };
    await insertRequest(ctx.db, { ...request, environmentId, nodeId, userId, createdAt });
    await bumpNode(ctx.db, nodeId);
    ctx.audit({
      entityType: 'Pipeline',
      entityId: pipelineId,
      metadata: { name: pipelineName, componentKeys, node: nodeName, limit },
    });
    const { bus } = ctx.services;
    await bus.publish(ctx.db, { type: 'node', nodeId, environmentId });
    const message: PushMessage = { type: 'sample_request', ...request };
    if (fitsSignal(message)) await bus.publish(ctx.db, { type: 'push', nodeId, message });
    return { requestId: request.requestId, nodeId, nodeName, expiresAt: expiryOf(createdAt) };
  },
});

export const sampleResult = query({
  name: 'pipeline.sampleResult',
  summary: 'The requested events that have arrived so far',
  role: 'VIEWER',
  input: GetSampleResult,
  output: SampleResultView,
  scope: (ctx, input) => objectScope(ctx, 'Sample request', input.requestId),
  async run(ctx, { requestId }) {
    const request = await findRequest(ctx.db, requestId);
    if (!request) throw notFound('Sample request');
    const found = new Map(
      (await listResults(ctx.db, requestId)).map((result) => [result.componentKey, result]),
    );
    const { doneAt, redactKeys, ...view } = request;
    const redactResult = resultRedactor(redactKeys);
    const expiresAt = expiryOf(request.requestedAt);
    const isOpen = doneAt === null && expiresAt.getTime() > ctx.clock.now();
    const isComplete = found.size >= request.componentKeys.length;
    return {
      ...view,
      expiresAt,
      status: isComplete ? ('COMPLETED' as const) : isOpen ? ('PENDING' as const) : ('EXPIRED' as const),
      results: request.componentKeys.flatMap((key) => {
        const result = found.get(key);
        return result ? redactResult(result) : [];
      }),
    };
  },
});

/** The patterns may have changed since a result was stored; then it is redacted again by the current ones. */
function resultRedactor(redactKeys: string[] | null) {
  const redactor = createRedactor(effectiveRedactKeys(redactKeys));
  return ({ redactKeys: before, ...result }: ResultRecord): Omit<ResultRecord, 'redactKeys'> =>
    isDeepStrictEqual(before, redactKeys)
      ? result
      : {
          ...result,
          events: result.events.map(redactor.value),
          schema: normalizeFields(result.schema, redactor),
          error: result.error === null ? null : redactor.text(result.error),
        };
}

export const eventSchemas = query({
  name: 'pipeline.eventSchemas',
  summary: 'Fields of the events of each component in the samples of the last day',
  role: 'VIEWER',
  input: GetEventSchemas,
  output: EventSchemas,
  scope: (ctx, input) => objectScope(ctx, 'Pipeline', input.pipelineId),
  async run(ctx, { pipelineId }) {
    const since = new Date(ctx.clock.now() - AGENT_LIMITS.sampleResultMs);
    const sampled = await listSampledFields(ctx.db, pipelineId, since);
    const redactor = createRedactor(effectiveRedactKeys(sampled[0]?.redactKeys ?? null));
    return sampled.map(({ lists, redactKeys: _, ...rest }) => ({
      ...rest,
      fields: normalizeFields(mergeFields(lists), redactor),
    }));
  },
});
