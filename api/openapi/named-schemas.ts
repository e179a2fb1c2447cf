/** The names of schemas in the description: those that they are exported by. */
import * as alerts from '../../schemas/api/alerts.ts';
import * as analytics from '../../schemas/api/analytics.ts';
import * as audit from '../../schemas/api/audit.ts';
import * as certificates from '../../schemas/api/certificates.ts';
import * as common from '../../schemas/api/common.ts';
import * as dashboard from '../../schemas/api/dashboard.ts';
import * as engine from '../../schemas/api/engine.ts';
import * as environments from '../../schemas/api/environments.ts';
import * as errorCodes from '../../schemas/api/error-codes.ts';
import * as fleet from '../../schemas/api/fleet.ts';
import * as gitPlan from '../../schemas/api/git-plan.ts';
import * as gitPolicy from '../../schemas/api/git-policy.ts';
import * as gitSync from '../../schemas/api/git-sync.ts';
import * as gitWords from '../../schemas/api/git-words.ts';
import * as identityProviders from '../../schemas/api/identity-providers.ts';
import * as logs from '../../schemas/api/logs.ts';
import * as matrix from '../../schemas/api/matrix.ts';
import * as metrics from '../../schemas/api/metrics.ts';
import * as nodeGroups from '../../schemas/api/node-groups.ts';
import * as notifications from '../../schemas/api/notifications.ts';
import * as people from '../../schemas/api/people.ts';
import * as pipelineOrder from '../../schemas/api/pipeline-order.ts';
import * as pipelines from '../../schemas/api/pipelines.ts';
import * as preferences from '../../schemas/api/preferences.ts';
import * as promotions from '../../schemas/api/promotions.ts';
import * as pullRequests from '../../schemas/api/pull-requests.ts';
import * as releases from '../../schemas/api/releases.ts';
import * as rest from '../../schemas/api/rest.ts';
import * as rollouts from '../../schemas/api/rollouts.ts';
import * as samples from '../../schemas/api/samples.ts';
import * as secretBackends from '../../schemas/api/secret-backends.ts';
import * as serviceAccounts from '../../schemas/api/service-accounts.ts';
import * as settings from '../../schemas/api/settings.ts';
import * as sharedComponents from '../../schemas/api/shared-components.ts';
import * as snippets from '../../schemas/api/snippets.ts';
import * as templates from '../../schemas/api/templates.ts';

/** What is checked in steps, so that a fault names its field, is described as a whole. By name. */
export const DESCRIBED_AS: Readonly<Record<string, object>> = {
  SecretBackendConfig: {
    description:
      'As `secretBackend` wants it, or as the present backend does. Credentials that are left out stay as they are.',
    anyOf: [secretBackends.VaultConfig, secretBackends.CloudConfig, secretBackends.ExecConfig],
  },
};

/** By file below `schemas/api/`. A schema of a file that is not here is written out wherever it is used. */
export const SCHEMA_MODULES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  alerts,
  analytics,
  audit,
  certificates,
  common,
  dashboard,
  engine,
  environments,
  'error-codes': errorCodes,
  fleet,
  'git-plan': gitPlan,
  'git-policy': gitPolicy,
  'git-sync': gitSync,
  'git-words': gitWords,
  'identity-providers': identityProviders,
  logs,
  matrix,
  metrics,
  'node-groups': nodeGroups,
  notifications,
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
