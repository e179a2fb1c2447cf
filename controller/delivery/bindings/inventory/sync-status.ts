/** The status of an environment's git binding, for `gitSync.status`. */
import type { GitSyncStatus, ManifestStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { datedConditions, type Joined, readStatus, sumGates } from '../../../fleet/status/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { boundForgeOf, reviewRulesOf } from '../forge/forge-setting.ts';
import { countJobs } from '../jobs/jobs-store.ts';
import { policiesOf } from '../policy/policy.ts';
import { pullRequestSettings } from '../policy/pull-request-settings.ts';
import { presentRemote, webhookUrlOf } from '../remote-setting.ts';
import { type Binding, environmentNameOf, findBinding } from '../store.ts';
import { gateEnds, manifestEnds, UNBOUND } from './gate-ends.ts';
import { countImportErrors, listManifests, type ManifestRecord, readLine } from './inventory-store.ts';

/** Names of silent nodes listed for one manifest. */
const MAX_SILENT = 100;

declare module '../../../platform/operation/context.ts' {
  interface Services {
    /** The URL from which users clone the embedded repository. */
    cloneUrl: string;
  }
}

export async function readSyncStatus(ctx: Context, environmentId: string): Promise<GitSyncStatus> {
  const binding = await findBinding(ctx.db, environmentId);
  const joined = await readStatus(ctx, { environmentId });
  const gates = joined.pipelines.map((status) => status.gate);
  if (!binding) {
    return {
      environmentId,
      environmentName: await environmentNameOf(ctx.db, environmentId),
      configured: false,
      mode: 'off',
      repositoryUrl: null,
      cloneUrl: null,
      branch: null,
      path: null,
      suspended: false,
      suspension: null,
      intervalSeconds: null,
      sharedPaths: [],
      credentials: null,
      knownHosts: null,
      caCertificate: null,
      webhookUrl: null,
      forge: null,
      review: null,
      pullRequests: null,
      policy: null,
      waitsForFirstPlan: false,
      waitingPlan: null,
      pendingCount: 0,
      failedCount: 0,
      importErrorCount: 0,
      lastSyncAt: null,
      headCommit: null,
      appliedCommit: null,
      lastError: null,
      redirectedTo: null,
      gate: sumGates(gates, UNBOUND),
      manifests: [],
    };
  }
  const jobs = await countJobs(ctx.db, binding.id);
  const importErrorCount = await countImportErrors(ctx.db, binding.id);
  const manifests = await listManifests(ctx.db, binding.id);
  return {
    environmentId,
    environmentName: binding.environmentName,
    configured: true,
    mode: binding.mode,
    repositoryUrl: binding.repositoryUrl,
    cloneUrl: binding.repositoryUrl === 'embedded' ? ctx.services.cloneUrl : binding.repositoryUrl,
    branch: binding.ref,
    path: binding.path,
    suspended: binding.suspendedAt !== null,
    suspension: binding.suspendedAt && {
      by: binding.suspendedBy,
      at: binding.suspendedAt,
      reason: binding.suspendReason,
    },
    intervalSeconds: binding.intervalSeconds,
    sharedPaths: binding.sharedPaths,
    credentials: presentRemote(ctx.services, binding),
    knownHosts: binding.knownHosts,
    caCertificate: binding.caCertificate,
    webhookUrl: webhookUrlOf(ctx.services.baseUrl, binding),
    forge: boundForgeOf(binding),
    review: reviewRulesOf(binding),
    pullRequests: pullRequestSettings(binding),
    policy: policiesOf(binding),
    waitsForFirstPlan: binding.mode === 'sync' && binding.begunAt === null,
    waitingPlan: binding.waitingPlan,
    pendingCount: jobs.pending,
    failedCount: jobs.failed,
    importErrorCount,
    lastSyncAt: binding.lastPassAt,
    headCommit: binding.headCommit,
    appliedCommit: binding.appliedCommit,
    lastError: binding.lastError,
    redirectedTo: binding.redirectedTo,
    gate: sumGates(
      gates,
      gateEnds(binding, {
        importErrors: importErrorCount,
        manifests: manifests.length,
        waiting: manifests.filter((manifest) => manifest.prunePending).length,
        planWaits: binding.waitingPlan !== null,
      }),
    ),
    manifests: manifestStatuses(manifests, joined, binding),
  };
}

/** The status of one manifest; null when the inventory has none of that name. */
export async function readManifestStatus(
  ctx: Context,
  binding: Binding,
  { kind, nameKey }: { kind: string; nameKey: string },
): Promise<ManifestStatus | null> {
  const line = await readLine(ctx.db, binding.id, kind, nameKey);
  if (!line) return null;
  const { objectId } = line;
  const { environmentId } = binding;
  const joined =
    objectId === null
      ? { nodes: [], pipelines: [] }
      : await readStatus(ctx, { environmentId, pipelineId: objectId });
  return manifestStatuses([line], joined, binding)[0] ?? null;
}

function manifestStatuses(
  manifests: readonly ManifestRecord[],
  joined: Joined,
  binding: Binding,
): ManifestStatus[] {
  const byObject = new Map(joined.pipelines.map((status) => [status.pipeline.id, status]));
  return manifests.map((manifest): ManifestStatus => {
    const status = manifest.objectId === null ? undefined : byObject.get(manifest.objectId);
    const conditions =
      status && status.conditions.length > 0 ? status.conditions : datedConditions(manifest.conditions);
    const isTrue = (type: string) =>
      conditions.some((condition) => condition.type === type && condition.status === 'True');
    const rolled = isTrue('RolledOut') || !conditions.some((condition) => condition.type === 'RolledOut');
    return {
      kind: manifest.kind,
      name: manifest.name,
      path: manifest.path,
      line: manifest.line,
      objectId: manifest.objectId,
      appliedCommit: manifest.appliedCommit,
      seenCommit: manifest.seenCommit,
      ready: isTrue('Applied') && rolled && manifest.appliedHash === manifest.seenHash,
      gate: status?.gate ?? sumGates([], manifestEnds(manifest)),
      silentNodes: (status?.silentNodes ?? []).slice(0, MAX_SILENT),
      silentNodeCount: status?.silentNodes.length ?? 0,
      conditions: whileSuspended(conditions, binding),
    };
  });
}

/** No pass updates conditions while the whole binding is suspended, so each manifest reports the suspension. */
function whileSuspended(
  conditions: ManifestStatus['conditions'],
  { suspendedAt, suspendedBy, suspendReason }: Binding,
): ManifestStatus['conditions'] {
  if (suspendedAt === null) return conditions;
  const since = suspendedAt.toISOString().slice(0, 16).replace('T', ' ');
  const why = `Git is suspended here since ${since} UTC${suspendedBy ? ` by ${suspendedBy}` : ''}${suspendReason ? `: ${suspendReason}` : ''}`;
  return conditions.map((condition) =>
    condition.type === 'Applied'
      ? {
          ...condition,
          status: 'Unknown',
          reason: 'Suspended',
          message: `${why}. ${condition.message}`,
          lastTransition: suspendedAt,
        }
      : condition,
  );
}
