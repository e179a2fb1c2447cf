import type { SampleRequest } from '../../../schemas/agent/protocol.ts';

/** Of a node `n`: the samples that it is asked for, oldest first. Whoever changes them counts up the node's revision. */
export const SAMPLE_REQUESTS = `coalesce((
    SELECT json_agg(json_build_object('requestId', s.id, 'pipelineId', s.pipeline_id, 'componentKeys', s.component_keys,
      'limit', s.event_limit, 'sinkKeys', s.sink_keys) ORDER BY s.created_at, s.id)
    FROM sample_requests s
    WHERE s.node_id = n.id AND s.done_at IS NULL AND s.created_at > now() - interval '2 minutes'), '[]')`;

export type SampleRequests = Required<SampleRequest>[];
