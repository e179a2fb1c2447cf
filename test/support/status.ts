/** Rows as the status join reads them, with what a test does not care about filled in. */
import type { NodeRow, PipelineRow, ReportRow, RolloutRow } from '../../controller/status/queries.ts';

/** 2026-01-01, the moment that these tests take for now. */
export const NOW = Date.UTC(2026, 0, 1);
export const secondsAgo = (seconds: number) => new Date(NOW - seconds * 1_000);

export function nodeRow(more: Partial<NodeRow> = {}): NodeRow {
  return {
    id: 'n1',
    environmentId: 'env',
    name: 'node-1',
    host: 'node-1',
    os: null,
    channel: 'stable',
    revoked: false,
    updateTo: null,
    maintenance: false,
    uiLabels: {},
    agentLabels: {},
    enrolledAt: secondsAgo(3_600),
    archivedAt: null,
    reportedAt: secondsAgo(1),
    agentVersion: null,
    engineVersion: null,
    deploymentMode: null,
    hostMetrics: {},
    agentHealth: {},
    runningAs: null,
    updateError: null,
    pollIntervalMs: null,
    ...more,
  };
}

/** Version 3 for nodes of the ring 0. */
export function rolloutRow(more: Partial<RolloutRow> = {}): RolloutRow {
  return {
    id: 'r1',
    status: 'CANARY_DEPLOYED',
    versionId: 'v3',
    version: 3,
    commit: null,
    nodeSelector: null,
    canarySelector: { ring: '0' },
    since: secondsAgo(600),
    windowMinutes: 10,
    healthStartedAt: null,
    heldReason: null,
    ...more,
  };
}

export function pipelineRow(more: Partial<PipelineRow> = {}): PipelineRow {
  return {
    id: 'p1',
    environmentId: 'env',
    name: 'web',
    description: null,
    isDraft: false,
    managedBy: 'ui',
    groupId: null,
    nodeSelector: null,
    deployedVersionId: 'v2',
    deployedSelector: null,
    rollout: null,
    deployedAt: secondsAgo(600),
    createdAt: secondsAgo(900),
    updatedAt: secondsAgo(600),
    deployedVersion: 2,
    deployedCommit: null,
    latestVersion: 2,
    latestCommit: null,
    latestCommitMessage: null,
    latestCommitAuthor: null,
    reverts: {},
    manifest: null,
    problem: null,
    ...more,
  };
}

export function reportRow(more: Partial<ReportRow> = {}): ReportRow {
  return {
    nodeId: 'n1',
    pipelineId: 'p1',
    version: 2,
    status: 'RUNNING',
    lastError: null,
    degraded: null,
    draining: null,
    refused: null,
    statusSince: secondsAgo(60),
    rateEventsIn: 10,
    rateEventsOut: 9,
    rateBytesIn: 50,
    rateBytesOut: 40,
    rateErrors: 0.5,
    metricsAsOf: null,
    detail: {
      pid: 100,
      uptimeSeconds: 60,
      restarts: 0,
      metricsPort: 8_688,
      apiPort: 8_689,
      reportedAt: secondsAgo(1),
      eventsIn: 1_000,
      eventsOut: 900,
      bytesIn: 5_000,
      bytesOut: 4_000,
      errorsTotal: 1,
      eventsDiscarded: 0,
      warnings: [],
      lastDrain: null,
      eventsFiltered: 0,
    },
    ...more,
  };
}
