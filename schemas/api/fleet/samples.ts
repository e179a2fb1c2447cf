/** Events that run through a pipeline right now: samples of a moment, and live taps. */
import Type, { type Static } from 'typebox';
import { AGENT_LIMITS } from '../../agent/limits.ts';
import { EventField } from '../../agent/protocol.ts';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Timestamp } from '../common.ts';

/** A component of a pipeline, or one of its named outputs as `key.port`. */
export const TapKey = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: worded(
    '^[a-zA-Z_][a-zA-Z0-9_]*(\\.[^\\s,*?\\[\\]{}]{1,128})?$',
    'must be the key of a component, with .<output> for one of several',
  ),
});

export const RequestSamples = Input({
  pipelineId: Id,
  componentKeys: Type.Array(TapKey, {
    minItems: 1,
    maxItems: AGENT_LIMITS.samples.components,
    uniqueItems: true,
  }),
  /** Events of each component. */
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: AGENT_LIMITS.samples.events,
      default: AGENT_LIMITS.samples.defaultEvents,
    }),
  ),
  /** The node to ask; absent: a healthy one on which the pipeline runs. */
  nodeId: Type.Optional(Id),
});
export const RequestedSamples = Type.Object({
  requestId: Id,
  /** The node that is asked first; another one where it does not answer. */
  nodeId: Id,
  nodeName: Type.String(),
  expiresAt: Timestamp,
});

export const SampleOf = Type.Object({
  componentKey: Type.String(),
  /** Oldest first. Values behind keys that are to be hidden are blanked. */
  events: Type.Array(Type.Unsafe<unknown>({})),
  schema: Type.Array(EventField),
  /** Why there is nothing to show. */
  error: Nullable(Type.String()),
  receivedAt: Timestamp,
});
export type SampleOf = Static<typeof SampleOf>;

export const GetSampleResult = Input({ requestId: Id });
export const SampleResultView = Type.Object({
  requestId: Id,
  pipelineId: Id,
  /** PENDING until every component has answered; EXPIRED where not all did in time: what came is there. */
  status: Type.Enum(['PENDING', 'COMPLETED', 'EXPIRED']),
  componentKeys: Type.Array(Type.String()),
  limit: Type.Integer(),
  nodeId: Nullable(Id),
  nodeName: Nullable(Type.String()),
  requestedAt: Timestamp,
  expiresAt: Timestamp,
  /** In the order of `componentKeys`; those that have not answered yet are absent. */
  results: Type.Array(SampleOf),
});
export type SampleResultView = Static<typeof SampleResultView>;

export const GetEventSchemas = Input({ pipelineId: Id });
/** What events looked like in the samples of the last day, component by component. */
export const EventSchemas = Type.Array(
  Type.Object({
    componentKey: Type.String(),
    fields: Type.Array(EventField),
    /** How many events it was read from. */
    events: Type.Integer(),
    sampledAt: Timestamp,
  }),
);
export type EventSchemas = Static<typeof EventSchemas>;

export const StartTap = Input({
  pipelineId: Id,
  componentKey: TapKey,
  /** The node to listen on; absent: a healthy one on which the pipeline runs. */
  nodeId: Type.Optional(Id),
});
export const StartedTap = Type.Object({
  tapId: Id,
  nodeId: Id,
  nodeName: Type.String(),
  /** It ends by itself then. */
  endsAt: Timestamp,
});
export const TapId = Input({ tapId: Id });

/** GET /api/taps/<tapId>: server-sent events `events` and, once, `ended`. */
export const TapEvents = Type.Object({
  events: Type.Array(Type.Unsafe<unknown>({})),
  /** Events that were left out before these, since there were too many. */
  dropped: Type.Integer(),
});
export type TapEvents = Static<typeof TapEvents>;
export const TapEnded = Type.Object({ reason: Type.String() });
export type TapEnded = Static<typeof TapEnded>;
