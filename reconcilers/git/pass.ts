/**
 * One pass over one binding: look (git, inventory, database), plan (pure), act (one transaction an object), record. May be
 * stopped anywhere and repeated: what was applied is recognised, what was not is done.
 */

import {
  type Binding,
  deleteManifests,
  finishJobs,
  hasPendingJobs,
  type InventoryRecord,
  type ManifestRecord,
  readInventory,
  replaceImportErrors,
  updateBindingStatus,
  upsertManifests,
} from '../../controller/git-sync/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import { DomainError, messageOf } from '../../controller/platform/errors.ts';
import type { Execute } from '../../controller/platform/operation.ts';
import { secretVariables } from '../../controller/secrets/index.ts';
import type { Condition } from '../../schemas/api/common.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import { type ConditionRecord, mergeConditions, sameConditions } from '../engine/conditions.ts';
import { type CheckResult, KINDS } from '../kinds/index.ts';
import {
  type CommitInfo,
  type Desired,
  type DesiredManifest,
  descends,
  type Problem,
  type Repository,
  readCommit,
  readDesired,
  resolveRef,
  type SourceCache,
} from '../source/index.ts';
import {
  conditionsOf,
  keptCondition,
  type ManifestOutcome,
  STORED_CONDITIONS,
  type StoredCondition,
} from './outcome.ts';
import { allowedDeletes, type Change, makePlan, type Plan } from './plan.ts';
import { type Counts, type Line, noCounts, renderReport } from './report.ts';

export interface PassOptions {
  ctx: Context;
  execute: Execute;
  binding: Binding;
  repository: Repository;
  cache: SourceCache;
  trigger: string;
  signal: AbortSignal;
}

export interface PassResult {
  outcome: 'applied' | 'unchanged' | 'partial' | 'observed' | 'failed';
  commit: CommitInfo | null;
  counts: Counts;
  report: string[];
  /** Null unless the pass as a whole could not do its work. */
  error: string | null;
}

/** Above this, the engine itself is not asked about each changed manifest: it starts a process for every one. */
const ENGINE_CHECKS = 24;
const PARALLEL_CHECKS = 4;

/** Throws only where nothing could be recorded either; a repository that cannot be read is a recorded failure. */
export async function runPass(options: PassOptions): Promise<PassResult> {
  const startedAt = new Date(options.ctx.clock.now());
  let looked: Looked;
  try {
    looked = await look(options);
  } catch (error) {
    if (options.signal.aborted || isDatabaseError(error)) throw error;
    return recordFailure(options, startedAt, error);
  }
  const plan = makePlan({
    desired: looked.desired,
    recorded: looked.inventory,
    descends: looked.descends,
    allowedDeletes: allowedDeletes(looked.commit.message),
  });
  const acted = await act(options, looked, plan);
  return record(options, startedAt, looked, plan, acted);
}

interface Looked {
  commit: CommitInfo;
  desired: Desired;
  inventory: InventoryRecord[];
  secrets: ReadonlySet<string>;
  descends: boolean;
}

/** A message for people that is shown as it is. */
export class SourceProblem extends Error {}

async function look({ ctx, binding, repository, cache }: PassOptions): Promise<Looked> {
  const head = await resolveRef(repository, binding.ref);
  if (head === null) {
    throw new SourceProblem(
      `the branch "${binding.ref}" does not exist in the repository; push it, or bind the environment to another one. Everything runs on as it was`,
    );
  }
  const [commit, desired, inventory, secrets] = await Promise.all([
    readCommit(repository, head),
    readDesired(repository, head, { path: binding.path, sharedPaths: binding.sharedPaths }, cache),
    readInventory(ctx.db, binding.id),
    secretVariables(ctx.db, binding.environmentId),
  ]);
  const applied = binding.appliedCommit?.sha ?? null;
  const follows = applied === null || applied === head || (await descends(repository, head, applied));
  return { commit, desired, inventory, secrets, descends: follows };
}

interface Acted {
  outcomes: Map<Change, ManifestOutcome>;
  objectIds: Map<Change, string>;
  problems: Problem[];
  lines: Line[];
  counts: Counts;
}

async function act(options: PassOptions, looked: Looked, plan: Plan): Promise<Acted> {
  const acted: Acted = {
    outcomes: new Map(),
    objectIds: new Map(),
    problems: [],
    lines: [],
    counts: noCounts(),
  };
  const checks = await checkAll(options, looked, plan);
  const failed = new Set<string>();
  for (const change of plan.changes) {
    options.signal.throwIfAborted();
    switch (change.action) {
      case 'create':
      case 'update':
        await applyOne(options, looked, change, checks.get(change), acted, failed);
        break;
      case 'none':
        acted.outcomes.set(change, { type: 'unchanged' });
        acted.counts.unchanged += 1;
        break;
      case 'ignore':
        acted.outcomes.set(change, { type: 'ignored' });
        acted.counts.unchanged += 1;
        break;
      case 'suspended':
        acted.outcomes.set(change, { type: 'suspended' });
        acted.counts.waiting += 1;
        break;
      case 'prune':
        break;
      case 'keep':
        acted.counts.waiting += 1;
        acted.lines.push({
          type: 'kept',
          kind: change.previous.kind,
          name: change.previous.name,
          reason: change.reason,
        });
        break;
      case 'forget':
        break;
    }
  }
  await pruneAll(options, looked, plan, acted);
  return acted;
}

/** Checks what would change, a few at a time. */
async function checkAll(
  { ctx, signal }: PassOptions,
  looked: Looked,
  plan: Plan,
): Promise<Map<Change, CheckResult>> {
  const names = new Map<ManifestKind, Map<string, string>>();
  for (const manifest of looked.desired.manifests) {
    const known = names.get(manifest.kind) ?? new Map<string, string>();
    names.set(manifest.kind, known.set(manifest.nameKey, manifest.name));
  }
  const due = plan.changes.filter((change) => change.action === 'create' || change.action === 'update');
  const check = { names, secrets: looked.secrets, engine: due.length <= ENGINE_CHECKS, signal };
  const results = new Map<Change, CheckResult>();
  const queue = [...due];
  const worker = async () => {
    for (let change = queue.shift(); change; change = queue.shift()) {
      const kind = KINDS.get(change.manifest.kind);
      if (kind) results.set(change, await kind.check(ctx, change.manifest, check));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CHECKS }, worker));
  return results;
}

async function applyOne(
  options: PassOptions,
  looked: Looked,
  change: Extract<Change, { action: 'create' | 'update' }>,
  check: CheckResult | undefined,
  acted: Acted,
  failed: Set<string>,
): Promise<void> {
  const { manifest, previous } = change;
  const kind = KINDS.get(manifest.kind);
  if (!kind || !check) return;
  const refuse = (outcome: ManifestOutcome) => {
    acted.outcomes.set(change, outcome);
    failed.add(`${manifest.kind}/${manifest.nameKey}`);
    acted.counts.refused += 1;
  };
  if (check.problems.length > 0) {
    const kept = keepsText(looked.inventory, manifest, previous?.nameKey ?? null);
    acted.problems.push(...check.problems);
    acted.lines.push(
      ...check.problems.slice(0, 3).map((problem): Line => ({ type: 'problem', problem, kept })),
    );
    refuse({ type: 'refused', problems: check.problems, kept });
    return;
  }
  if (options.binding.mode !== 'sync') {
    acted.outcomes.set(change, { type: 'observed', check });
    acted.lines.push({ type: 'observed', kind: manifest.kind, name: manifest.name });
    acted.counts.waiting += 1;
    return;
  }
  const blocker = kind
    .dependsOn(manifest)
    .find((name) => failed.has(`${manifest.kind}/${name.normalize('NFC').toLowerCase()}`));
  if (blocker !== undefined) {
    const message = `waits for "${blocker}", on which it depends and which was refused`;
    acted.lines.push({ type: 'failed', kind: manifest.kind, name: manifest.name, message });
    refuse({ type: 'failed', check, reason: 'Blocked', message });
    return;
  }
  try {
    const result = await kind.apply({
      ctx: options.ctx,
      execute: options.execute,
      environmentId: options.binding.environmentId,
      manifest,
      objectId: previous?.objectId ?? null,
      commit: looked.commit,
    });
    acted.objectIds.set(change, result.objectId);
    acted.outcomes.set(change, { type: 'applied', check, detail: `Accepted as ${result.detail}` });
    const renamedFrom = change.action === 'update' ? change.renamedFrom : null;
    const type = result.outcome === 'unchanged' ? 'changed' : result.outcome;
    acted.lines.push({
      type,
      kind: manifest.kind,
      name: manifest.name,
      detail: result.detail,
      renamedFrom,
      drifted: change.action === 'update' && change.drifted,
    });
    if (renamedFrom !== null) acted.counts.renamed += 1;
    else acted.counts[type] += 1;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'UNAVAILABLE') throw error;
    acted.lines.push({ type: 'failed', kind: manifest.kind, name: manifest.name, message: error.message });
    refuse({
      type: 'failed',
      check,
      reason: error.details?.reason === 'Conflict' ? 'Conflict' : 'ApplyFailed',
      message: error.message,
    });
  }
}

/** What runs on while a manifest is refused. */
function keepsText(
  inventory: readonly InventoryRecord[],
  of: { kind: string; nameKey: string } | DesiredManifest,
  previousKey: string | null,
): string {
  const key = previousKey ?? of.nameKey;
  const record = inventory.find((one) => one.kind === of.kind && one.nameKey === key);
  if (!record?.objectId || record.objectVersion === null) return 'nothing of it runs yet';
  return record.objectDeployed
    ? `version ${record.objectVersion} runs on`
    : `version ${record.objectVersion} stays a draft`;
}

/** Last, in the opposite order of applying, and only when nothing in this pass was refused. */
async function pruneAll(options: PassOptions, looked: Looked, plan: Plan, acted: Acted): Promise<void> {
  const prunes = plan.changes.filter((change) => change.action === 'prune');
  if (prunes.length === 0) return;
  const broken = acted.counts.refused > 0 && allowedDeletes(looked.commit.message) < prunes.length;
  for (const change of prunes.reverse()) {
    const { previous } = change;
    const kind = KINDS.get(previous.kind as ManifestKind);
    if (!kind || previous.objectId === null) continue;
    if (options.binding.mode !== 'sync' || broken) {
      acted.counts.waiting += 1;
      acted.lines.push({
        type: 'kept',
        kind: previous.kind,
        name: previous.name,
        reason: broken ? 'broken-manifests' : 'confirm',
      });
      continue;
    }
    await kind.prune({
      ctx: options.ctx,
      execute: options.execute,
      environmentId: options.binding.environmentId,
      objectId: previous.objectId,
    });
    acted.outcomes.set(change, { type: 'applied', check: null, detail: 'Pruned' });
    acted.counts.deleted += 1;
    acted.lines.push({ type: 'pruned', kind: previous.kind, name: previous.name });
  }
}

async function record(
  options: PassOptions,
  startedAt: Date,
  looked: Looked,
  plan: Plan,
  acted: Acted,
): Promise<PassResult> {
  const { ctx, binding } = options;
  const { commit, desired } = looked;
  const attributed = desired.problems.map((problem) => attribute(problem, looked.inventory));
  const problems = [...attributed, ...acted.problems];
  const refusedDocuments = groupByIdentity(attributed);
  acted.counts.refused += refusedDocuments.length + attributed.filter((problem) => !problem.name).length;
  acted.lines.push(
    ...attributed.map(
      (problem): Line => ({ type: 'problem', problem, kept: keptOf(problem, looked.inventory) }),
    ),
  );
  const { writes, removals } = manifestWrites(options, looked, plan, acted, refusedDocuments);
  const worked = plan.changes.some((change) => acted.outcomes.get(change)?.type === 'applied');
  const outcome: PassResult['outcome'] =
    problems.length > 0 || acted.counts.refused > 0
      ? 'partial'
      : binding.mode === 'observe' && !plan.empty
        ? 'observed'
        : worked
          ? 'applied'
          : 'unchanged';
  const report = renderReport(binding.environmentName, commit, acted.lines, acted.counts);
  const told =
    outcome !== 'unchanged' || commit.sha !== binding.headCommit?.sha || options.trigger !== 'timer';
  const waiting = told || (await hasPendingJobs(ctx.db, binding.id));
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    if (removals.length > 0) await deleteManifests(tx, binding.id, removals);
    if (writes.length > 0) await upsertManifests(tx, binding.id, writes);
    await replaceImportErrors(
      tx,
      binding.id,
      problems.slice(0, 2_000).map((problem) => ({
        path: problem.path,
        line: problem.line ?? null,
        column: problem.column ?? null,
        kind: problem.kind,
        name: problem.name,
        stage: problem.stage,
        message: problem.message,
        hint: problem.hint,
        commit: commit.sha,
      })),
    );
    await updateBindingStatus(tx, binding.id, {
      headCommit: commit,
      ...(binding.mode === 'sync' ? { appliedCommit: commit } : {}),
      lastError: null,
    });
    if (waiting) {
      await finishJobs(tx, binding.id, {
        status: 'completed',
        outcome,
        trigger: options.trigger,
        commit,
        counts: acted.counts,
        report,
        error: null,
        planHash: plan.empty ? null : plan.hash,
        startedAt,
      });
    }
    if (waiting || writes.length > 0) {
      await ctx.services.bus.publish(tx, {
        type: 'ui',
        environmentId: binding.environmentId,
        topics: ['git', 'pipelines'],
      });
    }
  });
  return { outcome, commit, counts: acted.counts, report, error: null };
}

/** A problem of a file that holds one known manifest is that manifest's, even where its name could not be read. */
function attribute(problem: Problem, inventory: readonly InventoryRecord[]): Problem {
  if (problem.name !== null) return problem;
  const there = inventory.filter((record) => record.path === problem.path);
  const only = there.length === 1 ? there[0] : undefined;
  return only ? { ...problem, kind: only.kind, name: only.name } : problem;
}

function keptOf(problem: Problem, inventory: readonly InventoryRecord[]): string {
  if (problem.kind === null || problem.name === null) return '';
  const nameKey = problem.name.normalize('NFC').toLowerCase();
  return keepsText(inventory, { kind: problem.kind, nameKey }, null);
}

interface RefusedDocument {
  kind: string;
  name: string;
  nameKey: string;
  problems: Problem[];
}

function groupByIdentity(problems: readonly Problem[]): RefusedDocument[] {
  const groups = new Map<string, RefusedDocument>();
  for (const problem of problems) {
    if (problem.kind === null || problem.name === null) continue;
    const nameKey = problem.name.normalize('NFC').toLowerCase();
    const key = `${problem.kind}/${nameKey}`;
    const group = groups.get(key) ?? { kind: problem.kind, name: problem.name, nameKey, problems: [] };
    group.problems.push(problem);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** The lines of the inventory that are not what is stored already, and those that go. */
function manifestWrites(
  options: PassOptions,
  looked: Looked,
  plan: Plan,
  acted: Acted,
  refused: readonly RefusedDocument[],
): { writes: ManifestRecord[]; removals: { kind: string; nameKey: string }[] } {
  const now = new Date(options.ctx.clock.now());
  const commit = looked.commit.sha;
  const stored = new Map(looked.inventory.map((record) => [`${record.kind}/${record.nameKey}`, record]));
  const writes = new Map<string, ManifestRecord>();
  const removals: { kind: string; nameKey: string }[] = [];
  const put = (record: ManifestRecord) => {
    const key = `${record.kind}/${record.nameKey}`;
    const before = stored.get(key);
    if (!before || !sameRecord(before, record)) writes.set(key, record);
  };

  for (const change of plan.changes) {
    if (change.action === 'prune') {
      if (acted.outcomes.has(change)) removals.push(change.previous);
      else
        put(
          kept(
            stored.get(`${change.previous.kind}/${change.previous.nameKey}`),
            'broken-manifests',
            commit,
            now,
          ),
        );
      continue;
    }
    if (change.action === 'forget') {
      removals.push(change.previous);
      continue;
    }
    if (change.action === 'keep') {
      put(kept(stored.get(`${change.previous.kind}/${change.previous.nameKey}`), change.reason, commit, now));
      continue;
    }
    const outcome = acted.outcomes.get(change);
    if (!outcome) continue;
    const { manifest } = change;
    const previous = change.previous
      ? stored.get(`${change.previous.kind}/${change.previous.nameKey}`)
      : stored.get(`${manifest.kind}/${manifest.nameKey}`);
    const applied = outcome.type === 'applied' || outcome.type === 'unchanged';
    // A refused rename stays under the name that runs.
    const renamed = previous !== undefined && previous.nameKey !== manifest.nameKey;
    if (renamed && applied) removals.push(previous);
    const identity = renamed && !applied ? previous : manifest;
    const seenAnew = previous?.seenHash !== manifest.hash;
    const place = {
      path: manifest.path,
      line: manifest.line,
      commit: seenAnew ? commit : (previous?.seenCommit ?? commit),
    };
    const facts =
      outcome.type === 'unchanged' && previous
        ? unchangedFacts(previous, outcome, place, manifest)
        : conditionsOf(outcome, place, manifest);
    put({
      kind: manifest.kind,
      nameKey: identity.nameKey,
      name: identity.name,
      uid: manifest.uid,
      path: manifest.path,
      line: manifest.line,
      objectId: acted.objectIds.get(change) ?? previous?.objectId ?? null,
      appliedHash: applied ? manifest.hash : (previous?.appliedHash ?? null),
      appliedCommit: outcome.type === 'applied' ? commit : (previous?.appliedCommit ?? null),
      seenHash: manifest.hash,
      seenCommit: place.commit,
      prunePolicy: prunePolicyOf(manifest),
      prunePending: false,
      conditions: toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
    });
  }
  for (const document of refused) {
    const previous = stored.get(`${document.kind}/${document.nameKey}`);
    const first = document.problems[0];
    if (!first) continue;
    const known =
      previous?.conditions.some((one) => one.status === 'False' && one.message.startsWith(first.message)) ??
      false;
    const place = {
      path: first.path,
      line: first.line ?? previous?.line ?? 1,
      commit: known ? (previous?.seenCommit ?? commit) : commit,
    };
    const outcome: ManifestOutcome = {
      type: 'refused',
      problems: document.problems,
      kept: keepsText(looked.inventory, document, null),
    };
    put({
      kind: document.kind,
      nameKey: document.nameKey,
      name: previous?.name ?? document.name,
      uid: previous?.uid ?? null,
      path: first.path,
      line: previous?.line ?? first.line ?? 1,
      objectId: previous?.objectId ?? null,
      appliedHash: previous?.appliedHash ?? null,
      appliedCommit: previous?.appliedCommit ?? null,
      seenHash: null,
      seenCommit: place.commit,
      prunePolicy: previous?.prunePolicy ?? 'auto',
      prunePending: false,
      conditions: toConditions(
        mergeConditions(STORED_CONDITIONS, records(previous), conditionsOf(outcome, place, null), now),
      ),
    });
  }
  return { writes: [...writes.values()], removals };
}

/** One that was well and did not change keeps what was said of it; one that comes back from a fault is well again. */
function unchangedFacts(
  previous: ManifestRecord,
  outcome: ManifestOutcome,
  place: { path: string; line: number; commit: string },
  manifest: DesiredManifest,
) {
  if (previous.conditions.every((one) => one.status !== 'False')) return [];
  const facts = conditionsOf(outcome, place, manifest);
  return [
    ...facts,
    { ...facts[0]!, type: 'Validated' as const, reason: 'Valid', message: 'As it was when it was accepted' },
  ];
}

function kept(
  previous: ManifestRecord | undefined,
  reason: Parameters<typeof keptCondition>[0],
  commit: string,
  now: Date,
): ManifestRecord {
  if (!previous) throw new Error('a kept manifest is in the inventory');
  const place = { path: previous.path, line: previous.line, commit };
  const facts = [keptCondition(reason, place)];
  const already =
    previous.prunePending &&
    previous.conditions.some((one) => one.type === 'Applied' && one.reason === facts[0]?.reason);
  return {
    ...previous,
    prunePending: true,
    conditions: already
      ? previous.conditions
      : toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
  };
}

function records(previous: ManifestRecord | undefined): ConditionRecord<StoredCondition>[] {
  return (previous?.conditions ?? []).map((one) => ({
    ...one,
    type: one.type as StoredCondition,
    lastTransition: new Date(one.lastTransition).toISOString(),
  }));
}

const toConditions = (merged: readonly ConditionRecord<StoredCondition>[]): Condition[] =>
  merged.map((one) => ({ ...one, lastTransition: new Date(one.lastTransition) }));

function prunePolicyOf(manifest: DesiredManifest): ManifestRecord['prunePolicy'] {
  const policy = manifest.annotations['headgate/prune'];
  return policy === 'confirm' || policy === 'never' ? policy : 'auto';
}

function sameRecord(before: ManifestRecord, after: ManifestRecord): boolean {
  return (
    before.name === after.name &&
    before.uid === after.uid &&
    before.path === after.path &&
    before.line === after.line &&
    before.objectId === after.objectId &&
    before.appliedHash === after.appliedHash &&
    before.appliedCommit === after.appliedCommit &&
    before.seenHash === after.seenHash &&
    before.seenCommit === after.seenCommit &&
    before.prunePolicy === after.prunePolicy &&
    before.prunePending === after.prunePending &&
    sameConditions(records(before), records(after))
  );
}

const isDatabaseError = (error: unknown) =>
  error instanceof DomainError || typeof (error as { severity?: unknown }).severity === 'string';

async function recordFailure(options: PassOptions, startedAt: Date, error: unknown): Promise<PassResult> {
  const { ctx, binding } = options;
  const message =
    error instanceof SourceProblem ? error.message : `the repository cannot be read: ${messageOf(error)}`;
  const counts = noCounts();
  const report = [`${binding.environmentName}: ${message}`];
  const repeated = binding.lastError === message && options.trigger === 'timer';
  await ctx.db.transaction(async (tx) => {
    await ctx.fence?.(tx);
    await updateBindingStatus(tx, binding.id, { lastError: message });
    if (!repeated) {
      await finishJobs(tx, binding.id, {
        status: 'failed',
        outcome: 'failed',
        trigger: options.trigger,
        commit: null,
        counts,
        report,
        error: message,
        planHash: null,
        startedAt,
      });
    }
    await ctx.services.bus.publish(tx, { type: 'ui', environmentId: binding.environmentId, topics: ['git'] });
  });
  return { outcome: 'failed', commit: null, counts, report, error: message };
}
