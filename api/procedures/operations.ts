/** Every operation that is a procedure. Their names, kinds and schemas make the router. */
import { backupOperations, backupSettings } from '../../controller/backups/index.ts';
import {
  gitSyncApprovals,
  gitSyncDrift,
  gitSyncForge,
  gitSyncHolds,
  gitSyncOperations,
  gitSyncOverrides,
  gitSyncPlanning,
  gitSyncRetries,
  gitSyncToGit,
} from '../../controller/delivery/bindings/index.ts';
import {
  promotionDecisions,
  promotionInitiation,
  promotionOperations,
} from '../../controller/delivery/promotions/index.ts';
import {
  pullRequestChanging,
  pullRequestEnding,
  pullRequestOperations,
} from '../../controller/delivery/pull-requests/index.ts';
import { environmentOperations } from '../../controller/fleet/environments/index.ts';
import {
  agentUpdateOperations,
  fleetOperations,
  matrixOperations,
  nodeGroupEditing,
  nodeGroupOperations,
  nodeOperations,
} from '../../controller/fleet/index.ts';
import { logOperations } from '../../controller/fleet/logs/index.ts';
import { releaseOperations } from '../../controller/fleet/releases/index.ts';
import { sampleOperations, tapOperations } from '../../controller/fleet/samples/index.ts';
import {
  accessOperations,
  accountOperations,
  serviceAccountOperations,
  sessionOperations,
  twoFactorOperations,
} from '../../controller/identity/access/index.ts';
import {
  memberAccountOperations,
  memberOperations,
  settingsOperations,
  unlinkingOperations,
  userAccountOperations,
  userOperations,
} from '../../controller/identity/administration/index.ts';
import { directoryOperations } from '../../controller/identity/directory/index.ts';
import { oidcOperations } from '../../controller/identity/oidc/index.ts';
import { scimSettings } from '../../controller/identity/scim/index.ts';
import { teamOperations } from '../../controller/identity/teams/index.ts';
import {
  alertEventOperations,
  alertOperations,
  alertPreviewOperations,
  silenceOperations,
} from '../../controller/insight/alerts/index.ts';
import { analyticsOperations } from '../../controller/insight/analytics/index.ts';
import { anomalyOperations, anomalySettings } from '../../controller/insight/anomalies/index.ts';
import { auditOperations, auditRetentionOperations } from '../../controller/insight/audit/index.ts';
import { dashboardOperations } from '../../controller/insight/dashboard/index.ts';
import {
  alertDeliveryOperations,
  alertWebhookOperations,
  endpointDeliveryOperations,
  webhookEndpointOperations,
} from '../../controller/insight/notifications/index.ts';
import {
  filterPresetOperations,
  userPreferenceOperations,
} from '../../controller/insight/preferences/index.ts';
import {
  recommendationApplying,
  recommendationOperations,
} from '../../controller/insight/recommendations/index.ts';
import { streamOperations } from '../../controller/insight/streams/index.ts';
import { telemetryOperations } from '../../controller/insight/telemetry/index.ts';
import {
  aiContextOperations,
  aiConversationOperations,
  aiProviderOperations,
  aiSuggestionOperations,
  aiUsageOperations,
} from '../../controller/pipelines/assistant/index.ts';
import {
  pipelineDeploying,
  pipelineEditing,
  pipelineGraphs,
  pipelineOperations,
  rolloutViews,
  sharedComponentLinkOperations,
  sharedComponentOperations,
  stagedRollouts,
} from '../../controller/pipelines/index.ts';
import {
  migrationGeneration,
  migrationOperations,
  migrationSamples,
  migrationTranslation,
  migrationValidation,
} from '../../controller/pipelines/migration/index.ts';
import {
  pipelineDependencyOperations,
  pipelineGroupOperations,
} from '../../controller/pipelines/order/index.ts';
import { engineOperations, vrlOperations } from '../../controller/pipelines/playground/index.ts';
import { snippetOperations } from '../../controller/pipelines/snippets/index.ts';
import { templateOperations } from '../../controller/pipelines/templates/index.ts';
import { certificateOperations } from '../../controller/secrets/certificates/index.ts';
import { secretOperations } from '../../controller/secrets/index.ts';

export const OPERATION_MODULES = [
  aiContextOperations,
  aiConversationOperations,
  aiProviderOperations,
  aiSuggestionOperations,
  aiUsageOperations,
  backupOperations,
  backupSettings,
  gitSyncOperations,
  gitSyncApprovals,
  gitSyncDrift,
  gitSyncForge,
  gitSyncHolds,
  gitSyncPlanning,
  gitSyncRetries,
  gitSyncToGit,
  gitSyncOverrides,
  promotionDecisions,
  promotionInitiation,
  promotionOperations,
  pullRequestChanging,
  pullRequestEnding,
  pullRequestOperations,
  environmentOperations,
  agentUpdateOperations,
  fleetOperations,
  nodeGroupEditing,
  matrixOperations,
  nodeGroupOperations,
  nodeOperations,
  logOperations,
  releaseOperations,
  sampleOperations,
  tapOperations,
  accessOperations,
  accountOperations,
  serviceAccountOperations,
  sessionOperations,
  twoFactorOperations,
  memberAccountOperations,
  memberOperations,
  settingsOperations,
  unlinkingOperations,
  userAccountOperations,
  userOperations,
  directoryOperations,
  oidcOperations,
  scimSettings,
  teamOperations,
  alertEventOperations,
  alertPreviewOperations,
  alertOperations,
  silenceOperations,
  alertDeliveryOperations,
  alertWebhookOperations,
  endpointDeliveryOperations,
  webhookEndpointOperations,
  anomalyOperations,
  anomalySettings,
  auditOperations,
  auditRetentionOperations,
  analyticsOperations,
  dashboardOperations,
  recommendationApplying,
  recommendationOperations,
  streamOperations,
  telemetryOperations,
  filterPresetOperations,
  userPreferenceOperations,
  pipelineDeploying,
  pipelineEditing,
  pipelineGraphs,
  pipelineOperations,
  rolloutViews,
  sharedComponentLinkOperations,
  sharedComponentOperations,
  stagedRollouts,
  migrationGeneration,
  migrationOperations,
  migrationSamples,
  migrationTranslation,
  migrationValidation,
  pipelineDependencyOperations,
  pipelineGroupOperations,
  engineOperations,
  vrlOperations,
  snippetOperations,
  templateOperations,
  certificateOperations,
  secretOperations,
] as const;

/** Operations of these modules that only REST has. */
export const REST_ONLY = ['alert.getRule', 'audit.after'] as const;
