/** Every operation of the controller by its name, and what its output may hold. */
import type { TSchema } from 'typebox';
import {
  accessOperations,
  accountOperations,
  serviceAccountOperations,
  sessionOperations,
  twoFactorOperations,
} from '../../controller/access/index.ts';
import {
  memberAccountOperations,
  memberOperations,
  settingsOperations,
  unlinkingOperations,
  userAccountOperations,
  userOperations,
} from '../../controller/administration/index.ts';
import { alertOperations } from '../../controller/alerts/index.ts';
import { auditOperations, auditRetentionOperations } from '../../controller/audit/index.ts';
import { certificateOperations } from '../../controller/certificates/index.ts';
import { dashboardOperations } from '../../controller/dashboard/index.ts';
import { directoryOperations } from '../../controller/directory/index.ts';
import { environmentOperations } from '../../controller/environments/index.ts';
import {
  agentUpdateOperations,
  fleetOperations,
  matrixOperations,
  nodeGroupEditing,
  nodeGroupOperations,
  nodeOperations,
} from '../../controller/fleet/index.ts';
import {
  gitSyncApprovals,
  gitSyncDrift,
  gitSyncForge,
  gitSyncHolds,
  gitSyncOperations,
  gitSyncPlanning,
  gitSyncRetries,
  gitSyncToGit,
  gitSyncWords,
} from '../../controller/git-sync/index.ts';
import { logOperations } from '../../controller/logs/index.ts';
import { oidcOperations } from '../../controller/oidc/index.ts';
import {
  pipelineDependencyOperations,
  pipelineGroupOperations,
} from '../../controller/pipeline-order/index.ts';
import {
  pipelineConfigs,
  pipelineDeploying,
  pipelineDeployments,
  pipelineEditing,
  pipelineGraphs,
  pipelineOperations,
  rolloutViews,
  sharedComponentOperations,
  stagedRollouts,
} from '../../controller/pipelines/index.ts';
import type { Needs } from '../../controller/platform/operation.ts';
import { engineOperations, vrlOperations } from '../../controller/playground/index.ts';
import { filterPresetOperations, userPreferenceOperations } from '../../controller/preferences/index.ts';
import {
  promotionDeciding,
  promotionInitiating,
  promotionOperations,
} from '../../controller/promotions/index.ts';
import {
  pullRequestChanging,
  pullRequestEnding,
  pullRequestOperations,
} from '../../controller/pull-requests/index.ts';
import { releaseOperations } from '../../controller/releases/index.ts';
import { sampleOperations, tapOperations } from '../../controller/samples/index.ts';
import { scimSettings } from '../../controller/scim/index.ts';
import { secretOperations } from '../../controller/secrets/index.ts';
import { snippetOperations } from '../../controller/snippets/index.ts';
import { teamOperations } from '../../controller/teams/index.ts';
import { templateOperations } from '../../controller/templates/index.ts';

interface Described extends Needs {
  name: string;
  input: TSchema;
  output: TSchema;
}
export type DescribedOperation = Described & ({ kind: 'query' } | { kind: 'mutation'; audit: string });

export const OPERATIONS: ReadonlyMap<string, DescribedOperation> = new Map(
  [
    accessOperations,
    accountOperations,
    agentUpdateOperations,
    alertOperations,
    auditOperations,
    auditRetentionOperations,
    dashboardOperations,
    directoryOperations,
    engineOperations,
    certificateOperations,
    environmentOperations,
    filterPresetOperations,
    fleetOperations,
    gitSyncApprovals,
    gitSyncDrift,
    gitSyncForge,
    gitSyncHolds,
    gitSyncOperations,
    gitSyncRetries,
    gitSyncWords,
    gitSyncPlanning,
    gitSyncToGit,
    promotionDeciding,
    promotionInitiating,
    promotionOperations,
    pullRequestChanging,
    pullRequestEnding,
    pullRequestOperations,
    matrixOperations,
    memberAccountOperations,
    memberOperations,
    nodeGroupEditing,
    nodeGroupOperations,
    nodeOperations,
    logOperations,
    oidcOperations,
    pipelineDependencyOperations,
    pipelineGroupOperations,
    pipelineConfigs,
    pipelineDeploying,
    pipelineDeployments,
    pipelineEditing,
    pipelineGraphs,
    pipelineOperations,
    rolloutViews,
    stagedRollouts,
    sharedComponentOperations,
    sampleOperations,
    releaseOperations,
    scimSettings,
    secretOperations,
    serviceAccountOperations,
    sessionOperations,
    twoFactorOperations,
    settingsOperations,
    snippetOperations,
    teamOperations,
    tapOperations,
    templateOperations,
    unlinkingOperations,
    userAccountOperations,
    userOperations,
    userPreferenceOperations,
    vrlOperations,
  ]
    .flatMap((domain): DescribedOperation[] => Object.values(domain))
    .map((operation) => [operation.name, operation]),
);

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** Paths of fields that a schema does not name: what is not promised must not leak. */
export function unknownFields(schema: JsonSchema, value: unknown, path = ''): string[] {
  if (schema.anyOf) {
    const found = schema.anyOf.map((one) => unknownFields(one, value, path));
    return found.find((paths) => paths.length === 0) ?? found[0] ?? [];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => unknownFields(items, item, `${path}/${index}`)) : [];
  }
  const { properties } = schema;
  if (!properties || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const known = properties[key];
    return known ? unknownFields(known, item, `${path}/${key}`) : [`${path}/${key}`];
  });
}
