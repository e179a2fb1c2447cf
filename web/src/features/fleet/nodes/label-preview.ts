/** What a change of labels will start and stop, by the rule that configs are served by. */
import type { FleetNode } from '../../../../../schemas/api/fleet/fleet.ts';
import type { NodeGroup } from '../../../../../schemas/api/fleet/node-groups.ts';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { labelsOf } from '../../../../../schemas/node-groups/membership.ts';
import { matchesSelector } from '../../../../../schemas/pipelines/selector.ts';

type Labels = Readonly<Record<string, string>>;

/** Names of the deployed pipelines that a node with those labels runs, in order. */
export const wantedBy = (pipelines: readonly PipelineSummary[], labels: Labels): string[] =>
  pipelines
    .filter(
      ({ isDraft, deployedVersionNumber, nodeSelector }) =>
        !isDraft && deployedVersionNumber !== null && matchesSelector(nodeSelector, labels),
    )
    .map(({ name }) => name)
    .sort((a, b) => a.localeCompare(b));

export interface Foretold {
  /** Names of pipelines. */
  starts: string[];
  stops: string[];
  /** Names of groups. */
  joins: string[];
  leaves: string[];
}

/** `groups` as they are listed. What the node will run and belong to with other labels of the UI. In maintenance it runs nothing either way. */
export function foretell(
  node: FleetNode,
  uiLabels: Labels,
  groups: readonly NodeGroup[],
  pipelines: readonly PipelineSummary[],
): Foretold {
  const after = labelsOf(node.agentLabels, uiLabels, groups);
  const before = node.maintenance ? [] : wantedBy(pipelines, node.labels);
  const later = node.maintenance ? [] : wantedBy(pipelines, after.effective);
  const groupsBefore = node.groups.map(({ name }) => name);
  const groupsLater = after.groups.map(({ name }) => name);
  return {
    starts: without(later, before),
    stops: without(before, later),
    joins: without(groupsLater, groupsBefore),
    leaves: without(groupsBefore, groupsLater),
  };
}

const without = (all: readonly string[], gone: readonly string[]): string[] =>
  all.filter((name) => !gone.includes(name));
