import { isDeepStrictEqual } from 'node:util';
import {
  ConfigureGitSync,
  GitJobList,
  GitSyncStatus,
  ImportErrorList,
  ListGitJobs,
  ListImportErrors,
  OfEnvironment,
  SyncStarted,
} from '../../../schemas/api/delivery/git-sync.ts';
import { environmentScope, mayPush } from '../../identity/access/index.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden } from '../../platform/operation/errors.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { branchName, normalizeFolder } from './branch-and-folder.ts';
import { runningBinding, wake, wakePullRequests } from './environment-binding.ts';
import { isByApp, sealApp } from './forge/app-access.ts';
import { forgeDiff, forgeOf, reviewDiff, reviewOf } from './forge/forge-setting.ts';
import { listImportErrors } from './inventory/inventory-store.ts';
import { readSyncStatus } from './inventory/sync-status.ts';
import { insertPendingJob, listJobs } from './jobs/jobs-store.ts';
import { lockBinding } from './pass-locks-store.ts';
import { bindingPolicy, type PolicyParts } from './policy/policy.ts';
import { pullRequestSettingsOf, pullRequestsDiff } from './policy/pull-request-settings.ts';
import { remoteDiff, remoteOf } from './remote-setting.ts';
import { setForgeError } from './status-store.ts';
import { findBinding, orphanObjects, otherTeamsOf, saveBinding } from './store.ts';

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
    const { status, limit = 25, before } = input;
    return binding ? listJobs(ctx.db, binding.id, { status, limit, before }) : [];
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
    const found = remoteOf(ctx.services, id, input, before);
    const wasThere = before?.repositoryUrl === 'embedded' && before.mode !== 'off';
    if (found.repositoryUrl === 'embedded' && input.mode !== 'off' && !wasThere)
      await assertMayJoin(ctx, input.environmentId);
    const forge = forgeOf(ctx.services, id, input, before, found.repositoryUrl);
    const { keyring } = ctx.services;
    const remote =
      input.credentials?.type === 'app' || isByApp(keyring, id, found)
        ? { ...found, sealedCredentials: sealApp(keyring, id, found, forge) }
        : found;
    const review = reviewOf(input, before, remote.repositoryUrl);
    const pullRequestSettings = pullRequestSettingsOf(input, before, forge.forge);
    const write = {
      id,
      environmentId: input.environmentId,
      mode: input.mode,
      ...remote,
      forge,
      ...(review ? { review } : {}),
      pullRequestSettings,
      ref: branchName(input.branch ?? before?.ref ?? 'main'),
      path: normalizeFolder(input.path ?? before?.path ?? ''),
      sharedPaths: (input.sharedPaths ?? before?.sharedPaths ?? ['shared', 'tests']).map(normalizeFolder),
      intervalSeconds: input.intervalSeconds ?? before?.intervalSeconds ?? 60,
      policy: { ...before?.policy, ...input.policy },
    };
    const bindingId = await saveBinding(ctx.db, write);
    const changedForge = forgeDiff(before, forge);
    if (Object.keys(changedForge).length > 0) await setForgeError(ctx.db, bindingId, null);
    // A binding that is off, or only copies the database to git, owns no objects: they become the UI's.
    if ((input.mode === 'off' || input.mode === 'push') && before) await orphanObjects(ctx.db, before);
    ctx.audit({
      entityType: 'GitBinding',
      entityId: bindingId,
      diff: {
        mode: [before?.mode ?? null, write.mode],
        branch: [before?.ref ?? null, write.ref],
        path: [before?.path ?? null, write.path],
        ...remoteDiff(before, remote),
        ...changedForge,
        ...reviewDiff(before, review),
        ...pullRequestsDiff(before?.pullRequestSettings ?? {}, pullRequestSettings),
        ...policyDiff(before?.policy ?? {}, write.policy),
      },
    });
    await wake(ctx, input.environmentId, 'configured');
    await wakePullRequests(ctx, input.environmentId, 'configured');
    return readSyncStatus(ctx, input.environmentId);
  },
});

/**
 * Binding to the shared repository gives the team read access to all of it, and takes the right to push from everybody who
 * is not EDITOR in that team as well. So only somebody who may push to the environments of the other teams may bind to it.
 */
async function assertMayJoin(ctx: Context, environmentId: string): Promise<void> {
  const others = await otherTeamsOf(ctx.db, 'embedded', environmentId);
  if (others.length === 0 || mayPush(ctx.actor, others)) return;
  throw forbidden(
    'The repository that Headgate serves describes environments of other teams. Bind your own repository, or ask a super admin or an EDITOR of those teams to bind this environment to it',
  );
}

const policyDiff = (before: PolicyParts, after: PolicyParts): Record<string, [unknown, unknown]> => {
  const [was, is] = [bindingPolicy(before), bindingPolicy(after)];
  const parts = Object.keys(is) as (keyof typeof is)[];
  return Object.fromEntries(
    parts
      .filter((part) => !isDeepStrictEqual(was[part], is[part]))
      .map((part) => [part, [was[part], is[part]]]),
  );
};
