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
import { badRequest, preconditionFailed } from '../platform/errors.ts';
import { mutation, query } from '../platform/operation.ts';
import { datedConditions, type Joined, readStatus, sumGates } from '../status/index.ts';
import { gateEnds, UNBOUND } from './gate-ends.ts';
import {
  countImportErrors,
  listImportErrors,
  listManifests,
  type ManifestRecord,
} from './inventory-store.ts';
import { countJobs, insertPendingJob, listJobs } from './jobs-store.ts';
import { policiesOf } from './policy.ts';
import { normalizeFolder, refuseBadRef } from './scope.ts';
import { findBinding, orphanObjects, saveBinding } from './store.ts';

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
    credentials: null,
    knownHosts: binding.knownHosts,
    caCertificate: binding.caCertificate,
    webhookUrl: null,
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
      }),
    ),
    manifests: manifestStatuses(manifests, joined),
  };
}

function manifestStatuses(manifests: readonly ManifestRecord[], joined: Joined): ManifestStatus[] {
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
      conditions,
    };
  });
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
    const binding = await findBinding(ctx.db, input.environmentId);
    if (!binding || binding.mode === 'off')
      throw preconditionFailed('This environment is not bound to git; configure it first');
    if (binding.suspendedAt !== null) throw preconditionFailed('This binding is suspended; resume it first');
    const jobId = await insertPendingJob(ctx.db, binding.id, 'syncNow');
    ctx.audit({ entityType: 'GitBinding', entityId: binding.id });
    await wake(ctx, input.environmentId, 'syncNow');
    return { jobId };
  },
});

async function wake(ctx: Context, environmentId: string, trigger: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger });
  await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['git'] });
}

export const configure = mutation({
  name: 'gitSync.configure',
  summary: 'Bind an environment to git, or change how it is bound',
  role: 'ADMIN',
  audit: 'gitSync.configured',
  input: ConfigureGitSync,
  output: GitSyncStatus,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, input) {
    const before = await findBinding(ctx.db, input.environmentId);
    const repositoryUrl = input.repositoryUrl ?? before?.repositoryUrl ?? 'embedded';
    if (repositoryUrl !== 'embedded') {
      throw badRequest(
        'repositoryUrl must be "embedded": this version binds environments to the repository that Headgate serves itself',
      );
    }
    if (input.mode === 'push') {
      throw badRequest(
        'mode must be off, observe or sync: this version does not write the database back to git',
      );
    }
    const write = {
      environmentId: input.environmentId,
      mode: input.mode,
      repositoryUrl,
      ref: refuseBadRef(input.branch ?? before?.ref ?? 'main'),
      path: normalizeFolder(input.path ?? before?.path ?? ''),
      sharedPaths: (input.sharedPaths ?? before?.sharedPaths ?? ['shared', 'tests']).map(normalizeFolder),
      intervalSeconds: input.intervalSeconds ?? before?.intervalSeconds ?? 60,
    };
    const bindingId = await saveBinding(ctx.db, write);
    if (input.mode === 'off' && before) await orphanObjects(ctx.db, before);
    ctx.audit({
      entityType: 'GitBinding',
      entityId: bindingId,
      diff: {
        mode: [before?.mode ?? null, write.mode],
        branch: [before?.ref ?? null, write.ref],
        path: [before?.path ?? null, write.path],
      },
    });
    await wake(ctx, input.environmentId, 'configured');
    return readSyncStatus(ctx, input.environmentId);
  },
});
