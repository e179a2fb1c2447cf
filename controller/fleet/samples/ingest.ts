/** Receives samples from nodes: limits and redacts them before they are stored, and acknowledges them afterwards. */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { SampleResult, SamplesRequest } from '../../../schemas/agent/protocol.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import { effectiveRedactKeys } from '../environments/index.ts';
import { normalizeFields } from './event-fields.ts';
import { limitEvent, limitText } from './limit-event.ts';
import { createRedactor, type Redactor } from './redact.ts';
import type { SampledNode } from './sampled-node.ts';
import {
  bumpNode,
  finishRequest,
  insertResults,
  lockOpenRequests,
  type NewResult,
  type OpenRequest,
} from './store.ts';

/** Characters of all events of a request, shared by its components. */
const REQUEST_CHARS = 8 * 1024 * 1024;
const ERROR_CHARS = 500;

export interface Rejection {
  requestId: string;
  reason: string;
}
export interface SamplesResponse {
  ok: true;
  rejected?: Rejection[];
}

export interface SampleIngest {
  ingest(node: SampledNode, request: SamplesRequest): Promise<SamplesResponse>;
}

export function createSampleIngest({ db, bus, clock }: { db: Knex; bus: Bus; clock: Clock }): SampleIngest {
  return {
    ingest: (node, { results }) =>
      db.transaction(async (tx) => {
        const at = new Date(clock.now());
        const since = new Date(at.getTime() - AGENT_LIMITS.sampleRequestMs);
        const ids = [...new Set(results.map(({ requestId }) => requestId))];
        const { nodeId } = node;
        const open = ids.length === 0 ? [] : await lockOpenRequests(tx, { nodeId, ids, since });
        const { accepted, rejected } = classify(results, open);
        await insertResults(tx, accepted, at);
        for (const request of open) {
          if (!accepted.some(({ requestId }) => requestId === request.requestId)) continue;
          if (request.answered.length === request.componentKeys.length) {
            await finishRequest(tx, request.requestId, at);
            // The next config no longer contains the request.
            if (request.nodeId !== null) {
              await bumpNode(tx, request.nodeId);
              const { environmentId } = request;
              await bus.publish(tx, { type: 'node', nodeId: request.nodeId, environmentId });
            }
          }
        }
        if (accepted.length > 0)
          await bus.publish(tx, { type: 'ui', environmentId: node.environmentId, topics: ['samples'] });
        return { ok: true, ...(rejected.length > 0 ? { rejected } : {}) };
      }),
  };
}

/**
 * Decides which results are accepted, and marks their components as answered in `open`. The first result of a component wins.
 */
function classify(
  results: readonly SampleResult[],
  open: readonly OpenRequest[],
): { accepted: NewResult[]; rejected: Rejection[] } {
  const requests = new Map(
    open.map((request) => [
      request.requestId,
      { request, redactor: createRedactor(effectiveRedactKeys(request.redactKeys)) },
    ]),
  );
  const accepted: NewResult[] = [];
  const rejected: Rejection[] = [];
  for (const result of results) {
    const { requestId, componentKey } = result;
    const found = requests.get(requestId);
    const reject = (reason: string) => rejected.push({ requestId, reason });
    if (!found) {
      reject('no such request is open for this node');
    } else if (!found.request.componentKeys.includes(componentKey)) {
      reject('the request does not ask for this component');
    } else if (result.events === undefined && typeof result.error !== 'string') {
      reject('events: is required where there is no error');
    } else if (found.request.answered.includes(componentKey)) {
      reject('this component already has a result');
    } else {
      accepted.push(toNewResult(result, found.request, found.redactor));
      found.request.answered.push(componentKey);
    }
  }
  return { accepted, rejected };
}

function toNewResult(
  { requestId, componentKey, events = [], schema = [], error }: SampleResult,
  { limit, componentKeys, redactKeys }: OpenRequest,
  redactor: Redactor,
): NewResult {
  const share = Math.floor(REQUEST_CHARS / componentKeys.length / limit);
  const chars = Math.min(AGENT_LIMITS.samples.eventChars, share);
  return {
    requestId,
    componentKey,
    events: events.slice(0, limit).map((event) => redactor.value(limitEvent(event, chars))),
    fields: normalizeFields(schema, redactor),
    error: error === undefined || error === null ? null : redactor.text(limitText(error, ERROR_CHARS)),
    redactKeys,
  };
}
