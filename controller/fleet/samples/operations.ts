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
} from '../../../schemas/api/samples.ts';
import { objectScope } from '../../identity/access/index.ts';
import { notFound } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { effectiveRedactKeys, lockEnvironment } from '../environments/index.ts';
import { mergeFields, retainedFields } from './event-fields.ts';
import { createRedactor } from './redact.ts';
import { aim, fitsSignal, pipelineScope, tooMany, userOf } from './sample-scope.ts';
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

const OPEN_IN_ENVIRONMENT = 20;
const OPEN_OF_USER = 5;
const expiryOf = (requestedAt: Date) => new Date(requestedAt.getTime() + AGENT_LIMITS.sampleRequestMs);

export const requestSamples = mutation({
  name: 'pipeline.requestSamples',
  summary: 'Ask a node for some events of components, as they run through right now',
  role: 'EDITOR',
  audit: 'pipeline.samplesRequested',
  input: RequestSamples,
  output: RequestedSamples,
  scope: pipelineScope,
  prepare: (ctx, input) => aim(ctx, input, input.componentKeys),
  async run(ctx, input, { environmentId, pipelineName, sinkKeys, node }) {
    const { pipelineId, componentKeys, limit = AGENT_LIMITS.samples.defaultEvents } = input;
    const { nodeId, nodeName } = node;
    const userId = userOf(ctx);
    const createdAt = new Date(ctx.clock.now());
    await lockEnvironment(ctx.db, environmentId);
    if (userId !== null) await lockUser(ctx.db, userId);
    const since = new Date(createdAt.getTime() - AGENT_LIMITS.sampleRequestMs);
    const open = await countOpenRequests(ctx.db, { environmentId, userId, since });
    if (open.ofUser >= OPEN_OF_USER) {
      throw tooMany(
        `${OPEN_OF_USER} of your requests for samples are not answered yet; wait for one of them`,
      );
    }
    if (open.inEnvironment >= OPEN_IN_ENVIRONMENT) {
      throw tooMany(
        `${OPEN_IN_ENVIRONMENT} requests for samples of this environment are not answered yet; wait for one of them`,
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
  summary: 'The events that were asked for, as far as they have come',
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
    const { doneAt, redactKeys, ...shown } = request;
    const shownResult = resultsAsOf(redactKeys);
    const expiresAt = expiryOf(request.requestedAt);
    const isOpen = doneAt === null && expiresAt.getTime() > ctx.clock.now();
    const isComplete = found.size >= request.componentKeys.length;
    return {
      ...shown,
      expiresAt,
      status: isComplete ? ('COMPLETED' as const) : isOpen ? ('PENDING' as const) : ('EXPIRED' as const),
      results: request.componentKeys.flatMap((key) => {
        const result = found.get(key);
        return result ? shownResult(result) : [];
      }),
    };
  },
});

/** The patterns may have changed since a result was stored: by other ones than those of then it is blanked once more. */
function resultsAsOf(redactKeys: string[] | null) {
  const redactor = createRedactor(effectiveRedactKeys(redactKeys));
  return ({ redactKeys: before, ...result }: ResultRecord): Omit<ResultRecord, 'redactKeys'> =>
    isDeepStrictEqual(before, redactKeys)
      ? result
      : {
          ...result,
          events: result.events.map(redactor.value),
          schema: retainedFields(result.schema, redactor),
          error: result.error === null ? null : redactor.text(result.error),
        };
}

export const eventSchemas = query({
  name: 'pipeline.eventSchemas',
  summary: 'What events of each component looked like in the samples of the last day',
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
      fields: retainedFields(mergeFields(lists), redactor),
    }));
  },
});
