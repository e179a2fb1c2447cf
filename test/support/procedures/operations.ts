/** Every operation of the controller by its name, and what its output may hold. */
import type { TSchema } from 'typebox';
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
} from '../../../controller/delivery/bindings/index.ts';
import {
  promotionDeciding,
  promotionInitiating,
  promotionOperations,
} from '../../../controller/delivery/promotions/index.ts';
import {
  pullRequestChanging,
  pullRequestEnding,
  pullRequestOperations,
} from '../../../controller/delivery/pull-requests/index.ts';
import { environmentOperations } from '../../../controller/fleet/environments/index.ts';
import {
  agentUpdateOperations,
  fleetOperations,
  matrixOperations,
  nodeGroupEditing,
  nodeGroupOperations,
  nodeOperations,
} from '../../../controller/fleet/index.ts';
import { logOperations } from '../../../controller/fleet/logs/index.ts';
import { releaseOperations } from '../../../controller/fleet/releases/index.ts';
import { sampleOperations, tapOperations } from '../../../controller/fleet/samples/index.ts';
import {
  accessOperations,
  accountOperations,
  serviceAccountOperations,
  sessionOperations,
  twoFactorOperations,
} from '../../../controller/identity/access/index.ts';
import {
  memberAccountOperations,
  memberOperations,
  settingsOperations,
  unlinkingOperations,
  userAccountOperations,
  userOperations,
} from '../../../controller/identity/administration/index.ts';
import { directoryOperations } from '../../../controller/identity/directory/index.ts';
import { oidcOperations } from '../../../controller/identity/oidc/index.ts';
import { scimSettings } from '../../../controller/identity/scim/index.ts';
import { teamOperations } from '../../../controller/identity/teams/index.ts';
import { alertOperations } from '../../../controller/insight/alerts/index.ts';
import { auditOperations, auditRetentionOperations } from '../../../controller/insight/audit/index.ts';
import { dashboardOperations } from '../../../controller/insight/dashboard/index.ts';
import {
  filterPresetOperations,
  userPreferenceOperations,
} from '../../../controller/insight/preferences/index.ts';
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
} from '../../../controller/pipelines/index.ts';
import {
  pipelineDependencyOperations,
  pipelineGroupOperations,
} from '../../../controller/pipelines/order/index.ts';
import { engineOperations, vrlOperations } from '../../../controller/pipelines/playground/index.ts';
import { snippetOperations } from '../../../controller/pipelines/snippets/index.ts';
import { templateOperations } from '../../../controller/pipelines/templates/index.ts';
import type { Needs } from '../../../controller/platform/operation/operation.ts';
import { certificateOperations } from '../../../controller/secrets/certificates/index.ts';
import { secretOperations } from '../../../controller/secrets/index.ts';

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
