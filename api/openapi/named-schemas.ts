/** The names of schemas in the description: those that they are exported by. */

import * as backups from '../../schemas/api/backups.ts';
import * as common from '../../schemas/api/common.ts';
import * as forges from '../../schemas/api/delivery/forges.ts';
import * as gitPlan from '../../schemas/api/delivery/git-plan.ts';
import * as gitPolicy from '../../schemas/api/delivery/git-policy.ts';
import * as gitSync from '../../schemas/api/delivery/git-sync.ts';
import * as gitWords from '../../schemas/api/delivery/git-words.ts';
import * as promotions from '../../schemas/api/delivery/promotions.ts';
import * as pullRequests from '../../schemas/api/delivery/pull-requests.ts';
import * as rollouts from '../../schemas/api/delivery/rollouts.ts';
import * as errorCodes from '../../schemas/api/error-codes.ts';
import * as environments from '../../schemas/api/fleet/environments.ts';
import * as fleet from '../../schemas/api/fleet/fleet.ts';
import * as logs from '../../schemas/api/fleet/logs.ts';
import * as matrix from '../../schemas/api/fleet/matrix.ts';
import * as nodeGroups from '../../schemas/api/fleet/node-groups.ts';
import * as releases from '../../schemas/api/fleet/releases.ts';
import * as samples from '../../schemas/api/fleet/samples.ts';
import * as identityProviders from '../../schemas/api/identity/identity-providers.ts';
import * as people from '../../schemas/api/identity/people.ts';
import * as serviceAccounts from '../../schemas/api/identity/service-accounts.ts';
import * as alerts from '../../schemas/api/insight/alerts.ts';
import * as analytics from '../../schemas/api/insight/analytics.ts';
import * as anomalies from '../../schemas/api/insight/anomalies.ts';
import * as audit from '../../schemas/api/insight/audit.ts';
import * as costRecommendations from '../../schemas/api/insight/cost-recommendations.ts';
import * as dashboard from '../../schemas/api/insight/dashboard.ts';
import * as eventStreams from '../../schemas/api/insight/event-streams.ts';
import * as metrics from '../../schemas/api/insight/metrics.ts';
import * as notifications from '../../schemas/api/insight/notifications.ts';
import * as preferences from '../../schemas/api/insight/preferences.ts';
import * as assistant from '../../schemas/api/pipelines/assistant.ts';
import * as conversations from '../../schemas/api/pipelines/conversations.ts';
import * as deployments from '../../schemas/api/pipelines/deployments.ts';
import * as engine from '../../schemas/api/pipelines/engine.ts';
import * as graph from '../../schemas/api/pipelines/graph.ts';
import * as migrations from '../../schemas/api/pipelines/migrations.ts';
import * as onNodes from '../../schemas/api/pipelines/on-nodes.ts';
import * as pipelineOrder from '../../schemas/api/pipelines/pipeline-order.ts';
import * as pipelines from '../../schemas/api/pipelines/pipelines.ts';
import * as sharedComponents from '../../schemas/api/pipelines/shared-components.ts';
import * as snippets from '../../schemas/api/pipelines/snippets.ts';
import * as templates from '../../schemas/api/pipelines/templates.ts';
import * as validation from '../../schemas/api/pipelines/validation.ts';
import * as versions from '../../schemas/api/pipelines/versions.ts';
import * as rest from '../../schemas/api/rest.ts';
import * as certificates from '../../schemas/api/secrets/certificates.ts';
import * as secretBackends from '../../schemas/api/secrets/secret-backends.ts';
import * as settings from '../../schemas/api/settings.ts';
import * as uiEvents from '../../schemas/api/ui-events.ts';

/** What is checked in steps, so that a fault names its field, is described as a whole. By name. */
export const DESCRIBED_AS: Readonly<Record<string, object>> = {
  SecretBackendConfig: {
    description:
      'As `secretBackend` wants it, or as the present backend does. Credentials that are left out stay as they are.',
    anyOf: [secretBackends.VaultConfig, secretBackends.CloudConfig, secretBackends.ExecConfig],
  },
};

/** By file below the folders of `schemas/api/`. A schema of a file that is not here is written out wherever it is used. */
export const SCHEMA_MODULES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  alerts,
  analytics,
  anomalies,
  assistant,
  audit,
  backups,
  certificates,
  common,
  conversations,
  'cost-recommendations': costRecommendations,
  dashboard,
  deployments,
  engine,
  environments,
  'error-codes': errorCodes,
  'event-streams': eventStreams,
  fleet,
  forges,
  'git-plan': gitPlan,
  'git-policy': gitPolicy,
  'git-sync': gitSync,
  'git-words': gitWords,
  graph,
  'identity-providers': identityProviders,
  logs,
  matrix,
  metrics,
  migrations,
  'node-groups': nodeGroups,
  notifications,
  'on-nodes': onNodes,
  people,
  'pipeline-order': pipelineOrder,
  pipelines,
  preferences,
  promotions,
  'pull-requests': pullRequests,
  releases,
  rest,
  rollouts,
  samples,
  'secret-backends': secretBackends,
  'service-accounts': serviceAccounts,
  settings,
  'shared-components': sharedComponents,
  snippets,
  templates,
  'ui-events': uiEvents,
  validation,
  versions,
};

/** Worth a name: what has fields or a list of values. */
function isNamed(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return 'enum' in value || ('type' in value && value.type === 'object');
}

/** A name that two files give to different schemas belongs to the first. */
export function schemaNames(): ReadonlyMap<object, string> {
  const names = new Map<object, string>();
  const taken = new Set<string>();
  for (const module of Object.values(SCHEMA_MODULES)) {
    for (const [name, schema] of Object.entries(module)) {
      if (!isNamed(schema) || names.has(schema) || taken.has(name)) continue;
      names.set(schema, name);
      taken.add(name);
    }
  }
  return names;
}
