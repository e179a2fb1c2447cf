/** Alert rules, the events that they raise, and silences. */
import Type, { type Static } from 'typebox';
import { ALERT_CONDITIONS, ALERT_METRICS } from '../../manifests/alert-rule.ts';
import { GitOrigin, GivenName, Id, Input, Label, LabelMap, Nullable, Text, Timestamp } from '../common.ts';

export const AlertMetric = Type.Enum([...ALERT_METRICS]);
export const AlertCondition = Type.Enum([...ALERT_CONDITIONS]);

/** What the last evaluation of a rule saw; null before the first. */
export const RuleEvaluation = Type.Object({
  evaluatedAt: Timestamp,
  /** Nodes, pipelines, or pipelines on nodes that the rule looks at; none: it cannot fire. */
  series: Type.Integer(),
  /** Those that reported a value. */
  withValue: Type.Integer(),
  /** Those whose condition holds, but not for long enough yet. */
  pending: Type.Integer(),
  /** Open events, acknowledged ones included. */
  firing: Type.Integer(),
});
export type RuleEvaluation = Static<typeof RuleEvaluation>;

export const AlertRule = Type.Object({
  id: Id,
  environmentId: Id,
  teamId: Id,
  name: Type.String(),
  /** Null watches every pipeline and node of the environment. */
  pipelineId: Nullable(Id),
  pipelineName: Nullable(Type.String()),
  /** Usages are percentages, rates are events a second, the others 0 or 1. */
  metric: AlertMetric,
  condition: AlertCondition,
  threshold: Type.Number(),
  /** How long the condition must hold before the alert fires. */
  durationSeconds: Type.Integer(),
  enabled: Type.Boolean(),
  labels: LabelMap,
  evaluation: Nullable(RuleEvaluation),
  managedBy: Type.Enum(['ui', 'git']),
  /** Null for a rule that the UI owns. */
  git: Nullable(GitOrigin),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type AlertRule = Static<typeof AlertRule>;
export const AlertRuleList = Type.Array(AlertRule);

export const ListAlertRules = Input({ environmentId: Id });

const Threshold = Type.Number({ minimum: -1e15, maximum: 1e15 });
const DurationSeconds = Type.Integer({ minimum: 0, maximum: 86_400 });
export const DEFAULT_DURATION_SECONDS = 60;

export const CreateAlertRule = Input({
  name: GivenName,
  environmentId: Id,
  /** Absent watches every pipeline and node of the environment. */
  pipelineId: Type.Optional(Id),
  metric: AlertMetric,
  condition: AlertCondition,
  threshold: Threshold,
  /** 60 where absent. */
  durationSeconds: Type.Optional(DurationSeconds),
  /** That of the environment. */
  teamId: Id,
});
export const UpdateAlertRule = Input({
  id: Id,
  name: Type.Optional(GivenName),
  enabled: Type.Optional(Type.Boolean()),
  threshold: Type.Optional(Threshold),
  durationSeconds: Type.Optional(DurationSeconds),
});
export const AlertRuleId = Input({ id: Id });

/** `firing` and `acknowledged` events are open. */
export const EVENT_STATUSES = ['firing', 'acknowledged', 'resolved'] as const;
export const AlertEventStatus = Type.Enum([...EVENT_STATUSES]);

export const AlertEvent = Type.Object({
  id: Id,
  environmentId: Id,
  /** The rule, the node and the pipeline may have been deleted since. */
  ruleId: Id,
  ruleName: Type.String(),
  metric: AlertMetric,
  condition: AlertCondition,
  threshold: Type.Number(),
  durationSeconds: Type.Integer(),
  nodeId: Nullable(Id),
  nodeName: Nullable(Type.String()),
  pipelineId: Nullable(Id),
  pipelineName: Nullable(Type.String()),
  status: AlertEventStatus,
  /** One sentence: what is wrong, and where. */
  message: Type.String(),
  /** The newest value, and the one that was farthest beyond the threshold. */
  value: Nullable(Type.Number()),
  peak: Nullable(Type.Number()),
  /** How often it has fired: an event that fires again soon after it was resolved is opened again. */
  times: Type.Integer(),
  /** When it fired first, and last. */
  firedAt: Timestamp,
  openedAt: Timestamp,
  resolvedAt: Nullable(Timestamp),
  /** Why it was resolved, for example `no data`. */
  resolvedReason: Nullable(Type.String()),
  acknowledgedAt: Nullable(Timestamp),
  /** An e-mail address. */
  acknowledgedBy: Nullable(Type.String()),
  /** What mutes it: `maintenance`, or the id of a silence. Null: it is sent. */
  mutedBy: Nullable(Type.String()),
});
export type AlertEvent = Static<typeof AlertEvent>;

export const EVENTS_DEFAULT = 50;
export const EVENTS_MAX = 200;
export const ListAlertEvents = Input({
  environmentId: Id,
  /** 50 where absent. */
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: EVENTS_MAX, default: EVENTS_DEFAULT })),
  /** From the answer before. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** `open`: firing and acknowledged ones. */
  status: Type.Optional(Type.Enum([...EVENT_STATUSES, 'open'])),
  ruleId: Type.Optional(Id),
  nodeId: Type.Optional(Id),
  pipelineId: Type.Optional(Id),
});
/** The newest first. */
export const AlertEventPage = Type.Object({
  events: Type.Array(AlertEvent),
  nextCursor: Nullable(Type.String()),
});
export type AlertEventPage = Static<typeof AlertEventPage>;

export const CHANGE_KINDS = ['fired', 'fired_again', 'acknowledged', 'muted', 'unmuted', 'resolved'] as const;
export const AlertEventChange = Type.Object({
  id: Id,
  at: Timestamp,
  kind: Type.Enum([...CHANGE_KINDS]),
  value: Nullable(Type.Number()),
  note: Nullable(Type.String()),
  userEmail: Nullable(Type.String()),
});
export type AlertEventChange = Static<typeof AlertEventChange>;
export const AlertEventId = Input({ id: Id });
/** With its timeline, the oldest change first. */
export const AlertEventDetail = Type.Object({
  ...AlertEvent.properties,
  changes: Type.Array(AlertEventChange),
});
export type AlertEventDetail = Static<typeof AlertEventDetail>;
export const AcknowledgeEvent = Input({ id: Id, note: Type.Optional(Text(500)) });

export const MAX_OPEN_EVENTS = 50;
/** Open events of all environments that the caller may see, those that nobody acknowledged first. */
export const OpenAlertEvents = Type.Object({
  firing: Type.Integer(),
  acknowledged: Type.Integer(),
  /** The first 50, muted ones last. */
  events: Type.Array(
    Type.Object({ ...AlertEvent.properties, environmentName: Type.String(), teamName: Type.String() }),
  ),
});
export type OpenAlertEvents = Static<typeof OpenAlertEvents>;

/**
 * Labels of a node, or `rule`, `metric`, `node` and `pipeline` for the event itself. An event is muted when it carries every
 * value; `*` at the end of a value stands for any further text.
 */
export const Matchers = Type.Record(
  Type.String({ pattern: '^.{1,128}$' }),
  Type.String({ minLength: 1, maxLength: 256 }),
  {
    minProperties: 1,
    maxProperties: 16,
  },
);
export const AlertSilence = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  matchers: LabelMap,
  reason: Type.String(),
  startsAt: Timestamp,
  endsAt: Timestamp,
  status: Type.Enum(['scheduled', 'active', 'ended']),
  /** Open events that it mutes. */
  muted: Type.Integer(),
  createdBy: Nullable(Type.String()),
  managedBy: Type.Enum(['ui', 'git']),
  git: Nullable(GitOrigin),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type AlertSilence = Static<typeof AlertSilence>;
export const AlertSilenceList = Type.Array(AlertSilence);
export const ListSilences = Input({ environmentId: Id });
export const CreateSilence = Input({
  environmentId: Id,
  matchers: Matchers,
  reason: Label(500),
  /** Now where absent. */
  startsAt: Type.Optional(Timestamp),
  endsAt: Timestamp,
});
export const SilenceId = Input({ id: Id });

/** What a rule would have done. */
export const PreviewRule = Input({
  environmentId: Id,
  pipelineId: Type.Optional(Id),
  metric: AlertMetric,
  condition: AlertCondition,
  threshold: Threshold,
  durationSeconds: Type.Optional(DurationSeconds),
  /** 7 where absent. */
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })),
});
export type PreviewRule = Static<typeof PreviewRule>;
export const PREVIEW_DAYS = 7;
export const MAX_PREVIEWED_FIRINGS = 200;
export const RulePreview = Type.Object({
  from: Timestamp,
  to: Timestamp,
  /** Nodes, pipelines, or pipelines on nodes with recorded values; 0: nothing can be said. */
  series: Type.Integer(),
  /** Times that it would have fired, and on how many of these series. */
  firings: Type.Integer(),
  subjects: Type.Integer(),
  /** Whether it would be firing now. */
  firingNow: Type.Integer(),
  /** The newest 200. */
  events: Type.Array(
    Type.Object({
      nodeId: Nullable(Id),
      nodeName: Nullable(Type.String()),
      pipelineId: Nullable(Id),
      pipelineName: Nullable(Type.String()),
      firedAt: Timestamp,
      /** Null: still. */
      resolvedAt: Nullable(Timestamp),
      peak: Nullable(Type.Number()),
    }),
  ),
  /** What limits the answer, for users; null where nothing does. */
  note: Nullable(Type.String()),
});
export type RulePreview = Static<typeof RulePreview>;
