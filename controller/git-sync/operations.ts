import { isDeepStrictEqual } from 'node:util';
import {
  ConfigureGitSync,
  GitJobList,
  GitSyncStatus,
  ImportErrorList,
  ListGitJobs,
  ListImportErrors,
  type ManifestStatus,
  OfEnvironment,
  SyncStarted,
} from '../../schemas/api/git-sync.ts';
import { environmentScope } from '../access/index.ts';
import type { Context } from '../platform/context.ts';
import { mutation, query } from '../platform/operation.ts';
import { datedConditions, type Joined, readStatus, sumGates } from '../status/index.ts';
import { runningBinding, wake } from './bound.ts';
import { gateEnds, UNBOUND } from './gate-ends.ts';
import {
  countImportErrors,
  listImportErrors,
  listManifests,
  type ManifestRecord,
} from './inventory-store.ts';
import { countJobs, insertPendingJob, listJobs } from './jobs-store.ts';
import { bindingPolicy, type PolicyParts, policiesOf } from './policy.ts';
import { remoteDiff, remoteOf, shownOf, webhookUrlOf } from './remote.ts';
import { normalizeFolder, refuseBadRef } from './scope.ts';
import {
  type Binding,
  environmentNameOf,
  findBinding,
  lockBinding,
  orphanObjects,
  saveBinding,
} from './store.ts';

declare module '../platform/context.ts' {
  interface Services {
    /** The address under which people clone the embedded repository. */
    cloneUrl: string;
  }
}

async function readSyncStatus(ctx: Context, environmentId: string): Promise<GitSyncStatus> {
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
    credentials: shownOf(ctx.services, binding),
    knownHosts: binding.knownHosts,
    caCertificate: binding.caCertificate,
    webhookUrl: webhookUrlOf(ctx.services.baseUrl, binding),
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
    const isTrue = (type: string) => conditions.some((one) => one.type === type && one.status === 'True');
    const rolled = isTrue('RolledOut') || !conditions.some((one) => one.type === 'RolledOut');
    const bad = conditions.find((one) => one.status === 'False');
    return {
      kind: manifest.kind,
      name: manifest.name,
      path: manifest.path,
      line: manifest.line,
      objectId: manifest.objectId,
      appliedCommit: manifest.appliedCommit,
      seenCommit: manifest.seenCommit,
      ready: isTrue('Applied') && rolled && manifest.appliedHash === manifest.seenHash,
      gate: status?.gate ?? sumGates([], withoutObject(manifest, bad?.message ?? null)),
      conditions: whileSuspended(conditions, binding),
    };
  });
}

/** No pass says anything of what nobody looks at: while all of it is suspended, that is told of each. */
function whileSuspended(
  conditions: ManifestStatus['conditions'],
  { suspendedAt, suspendedBy, suspendReason }: Binding,
): ManifestStatus['conditions'] {
  if (suspendedAt === null) return conditions;
  const since = suspendedAt.toISOString().slice(0, 16).replace('T', ' ');
  const why = `Git is suspended here since ${since} UTC${suspendedBy ? ` by ${suspendedBy}` : ''}${suspendReason ? `: ${suspendReason}` : ''}`;
  return conditions.map((one) =>
    one.type === 'Applied'
      ? {
          ...one,
          status: 'Unknown',
          reason: 'Suspended',
          message: `${why}. ${one.message}`,
          lastTransition: suspendedAt,
        }
      : one,
  );
}

/** A manifest without a running object: refused so far, or of a kind that runs nowhere. */
function withoutObject(manifest: ManifestRecord, problem: string | null) {
  const base = { version: null, at: null };
  return {
    git: {
      ...base,
      state: problem ? ('failed' as const) : ('done' as const),
      commit: manifest.seenCommit,
      reason: problem ?? 'Read and understood',
    },
    accepted: {
      ...base,
      state: problem ? ('failed' as const) : manifest.objectId ? ('done' as const) : ('unknown' as const),
      commit: manifest.appliedCommit,
      reason: problem ?? (manifest.objectId ? 'Applied' : 'Nothing was applied'),
    },
  };
}

export const status = query({
  name: 'gitSync.status',
  summary: "An environment's tie to git, and what became of every manifest",
  role: 'VIEWER',
  permission: 'gitops.read',
  input: OfEnvironment,
  output: GitSyncStatus,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => readSyncStatus(ctx, input.environmentId),
});

export const jobs = query({
  name: 'gitSync.jobs',
  summary: 'Passes, newest first',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: ListGitJobs,
  output: GitJobList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const binding = await findBinding(ctx.db, input.environmentId);
    return binding ? listJobs(ctx.db, binding.id, { status: input.status, limit: input.limit ?? 25 }) : [];
  },
});

export const importErrors = query({
  name: 'gitSync.importErrors',
  summary: 'What is wrong with manifests now: file, line, column, and what to do',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: ListImportErrors,
  output: ImportErrorList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const binding = await findBinding(ctx.db, input.environmentId);
    return binding ? listImportErrors(ctx.db, binding.id, input.limit ?? 10) : [];
  },
});

export const syncNow = mutation({
  name: 'gitSync.syncNow',
  summary: 'Look at git now',
  role: 'EDITOR',
  permission: 'gitops.manage',
  audit: 'gitSync.requested',
  input: OfEnvironment,
  output: SyncStarted,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const binding = await runningBinding(ctx, input.environmentId);
    const jobId = await insertPendingJob(ctx.db, binding.id, 'syncNow');
    ctx.audit({ entityType: 'GitBinding', entityId: binding.id });
    await wake(ctx, input.environmentId, 'syncNow');
    return { jobId };
  },
});

export const configure = mutation({
  name: 'gitSync.configure',
  summary: 'Bind an environment to git, or change how it is bound',
  role: 'ADMIN',
  audit: 'gitSync.configured',
  input: ConfigureGitSync,
  output: GitSyncStatus,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const id = await lockBinding(ctx.db, input.environmentId);
    const before = await findBinding(ctx.db, input.environmentId);
    const remote = remoteOf(ctx.services, id, input, before);
    const write = {
      id,
      environmentId: input.environmentId,
      mode: input.mode,
      ...remote,
      ref: refuseBadRef(input.branch ?? before?.ref ?? 'main'),
      path: normalizeFolder(input.path ?? before?.path ?? ''),
      sharedPaths: (input.sharedPaths ?? before?.sharedPaths ?? ['shared', 'tests']).map(normalizeFolder),
      intervalSeconds: input.intervalSeconds ?? before?.intervalSeconds ?? 60,
      policy: { ...before?.policy, ...input.policy },
    };
    const bindingId = await saveBinding(ctx.db, write);
    // A copy of the database describes nothing: all of it is the UI's.
    if ((input.mode === 'off' || input.mode === 'push') && before) await orphanObjects(ctx.db, before);
    ctx.audit({
      entityType: 'GitBinding',
      entityId: bindingId,
      diff: {
        mode: [before?.mode ?? null, write.mode],
        branch: [before?.ref ?? null, write.ref],
        path: [before?.path ?? null, write.path],
        ...remoteDiff(before, remote),
        ...policyDiff(before?.policy ?? {}, write.policy),
      },
    });
    await wake(ctx, input.environmentId, 'configured');
    return readSyncStatus(ctx, input.environmentId);
  },
});

const policyDiff = (before: PolicyParts, after: PolicyParts): Record<string, [unknown, unknown]> => {
  const [was, is] = [bindingPolicy(before), bindingPolicy(after)];
  const parts = Object.keys(is) as (keyof typeof is)[];
  return Object.fromEntries(
    parts
      .filter((part) => !isDeepStrictEqual(was[part], is[part]))
      .map((part) => [part, [was[part], is[part]]]),
  );
};
