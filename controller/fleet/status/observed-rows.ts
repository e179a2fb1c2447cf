/** The rows that desired and observed state are joined from. */
import type { RefusedVersion } from '../../../schemas/agent/protocol.ts';
import type { Condition, LabelMap } from '../../../schemas/api/common.ts';
import type { Draining, LastDrain, NodePipelineStatus } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { GroupRule } from '../groups/index.ts';
import type { RevertView } from './refusal.ts';
import type { Canary } from './version-for-node.ts';

export interface NodeRow {
  id: string;
  environmentId: string;
  name: string;
  host: string;
  os: string | null;
  channel: 'stable' | 'dev';
  revoked: boolean;
  /** The target version of a pending agent update. */
  updateTo: string | null;
  maintenance: boolean;
  uiLabels: LabelMap;
  agentLabels: LabelMap;
  enrolledAt: Date | null;
  /** When it was archived; set only if nodes are requested by id or archived ones are requested. */
  archivedAt: Date | null;
  heardAt: Date | null;
  /** Of the stored report: what a node reports may be stored less often than that it was heard. */
  reportedAt: Date | null;
  agentVersion: string | null;
  engineVersion: string | null;
  deploymentMode: 'STANDALONE' | 'DOCKER' | null;
  hostMetrics: Record<string, number>;
  agentHealth: Record<string, number | boolean>;
  runningAs: string | null;
  updateError: string | null;
  pollIntervalMs: number | null;
}

export interface PipelineRow {
  id: string;
  environmentId: string;
  name: string;
  description: string | null;
  isDraft: boolean;
  managedBy: 'ui' | 'git';
  groupId: string | null;
  nodeSelector: LabelMap | null;
  deployedVersionId: string | null;
  /** Selector of the deployed version; `nodeSelector` belongs to the edited definition. */
  deployedSelector: LabelMap | null;
  /** The active rollout. */
  rollout: RolloutRow | null;
  deployedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  deployedVersion: number | null;
  deployedCommit: string | null;
  latestVersion: number | null;
  latestCommit: string | null;
  latestCommitMessage: string | null;
  latestCommitAuthor: string | null;
  /** Reverts by node id. */
  reverts: Readonly<Record<string, RevertView>>;
  manifest: ManifestRow | null;
  problem: string | null;
}

/** An active rollout: its canary nodes and its progress. */
export interface RolloutRow extends Canary {
  id: string;
  status: 'CANARY_DEPLOYED' | 'HEALTH_CHECK';
  version: number;
  commit: string | null;
  /** When canary nodes should have started to run the version. */
  since: Date;
  windowMinutes: number;
  healthStartedAt: Date | null;
  heldReason: string | null;
}

export interface ManifestRow {
  path: string;
  line: number;
  seenCommit: string | null;
  appliedCommit: string | null;
  seenHash: string | null;
  appliedHash: string | null;
  prunePending: boolean;
  conditions: Condition[];
}

export interface ReportRow {
  nodeId: string;
  pipelineId: string;
  version: number;
  status: Exclude<NodePipelineStatus, 'PENDING'>;
  lastError: string | null;
  /** The failing part of a running engine; truncated when a whole environment is read. */
  degraded: string | null;
  /** Set while its engine is being stopped. */
  draining: Draining | null;
  refused: RefusedVersion | null;
  statusSince: Date;
  rateEventsIn: number;
  rateEventsOut: number;
  rateBytesIn: number;
  rateBytesOut: number;
  rateErrors: number;
  /** When the counters were read; null while they are fresh. */
  metricsAsOf: Date | null;
  /** Absent when a whole environment is read: lists do not need it. */
  detail?: ReportDetail;
}

export interface ReportDetail {
  pid: number | null;
  uptimeSeconds: number | null;
  restarts: number;
  metricsPort: number | null;
  apiPort: number | null;
  reportedAt: Date;
  eventsIn: number;
  eventsOut: number;
  bytesIn: number;
  bytesOut: number;
  errorsTotal: number;
  eventsDiscarded: number;
  warnings: string[];
  lastDrain: LastDrain | null;
  eventsFiltered: number;
}

/** The commits that were read and applied from git; null for an environment without a binding. */
export interface BindingRow {
  headCommit: string | null;
  headAt: string | null;
  appliedCommit: string | null;
  appliedAt: Date | null;
  lastError: string | null;
  importErrors: number;
}

export interface Observed {
  binding: BindingRow | null;
  nodes: NodeRow[];
  pipelines: PipelineRow[];
  reports: ReportRow[];
  /** Ordered by name. */
  groups: GroupRule[];
}

/** An environment, or one pipeline or node of it. */
export type ObservedScope =
  | { environmentId: string }
  | { environmentId: string; pipelineId: string }
  | { environmentId: string; nodeId: string };

/** A state of a pipeline that many nodes report; in a large fleet nearly all nodes report the same one. */
export interface SharedState extends Pick<ReportRow, 'pipelineId' | 'version' | 'status'> {
  /** Indexes in the list of nodes. */
  nodeIndexes: number[];
}

export interface CompactObserved extends Pick<Observed, 'nodes' | 'pipelines' | 'groups'> {
  states: SharedState[];
}

export type WithEnvironmentId<T> = T & { environmentId: string };
