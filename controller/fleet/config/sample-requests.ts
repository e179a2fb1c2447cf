import type { SampleRequest } from '../../../schemas/agent/protocol.ts';

/**
 * SQL: the open sample requests of the node `n`, oldest first. Code that changes them increments the node's config revision.
 */
export const SAMPLE_REQUESTS = `coalesce((
    SELECT json_agg(json_build_object('requestId', s.id, 'pipelineId', s.pipeline_id, 'componentKeys', s.component_keys,
      'limit', s.event_limit, 'sinkKeys', s.sink_keys) ORDER BY s.created_at, s.id)
    FROM sample_requests s
    WHERE s.node_id = n.id AND s.done_at IS NULL AND s.created_at > now() - interval '2 minutes'), '[]')`;

export type SampleRequests = Required<SampleRequest>[];
