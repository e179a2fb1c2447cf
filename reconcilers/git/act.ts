/** Acting on a plan: what would change is checked, then applied in order, then what left the tree is pruned. */
import { DomainError } from '../../controller/platform/errors.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import { type CheckResult, KINDS } from '../kinds/index.ts';
import type { DesiredManifest } from '../source/index.ts';
import { keepsText } from './kept.ts';
import type { ManifestOutcome } from './outcome.ts';
import { allowedDeletes, type Change, type Plan } from './plan.ts';
import { type Line, noCounts } from './report.ts';
import type { Acted, Looked, PassOptions } from './steps.ts';

/** Above this, the engine itself is not asked about each changed manifest: it starts a process for every one. */
const ENGINE_CHECKS = 24;
const PARALLEL_CHECKS = 4;

export async function act(given: PassOptions, looked: Looked, plan: Plan): Promise<Acted> {
  const { sha, author } = looked.commit;
  const actor = { type: 'git' as const, commit: sha, author, environmentId: given.binding.environmentId };
  const options: PassOptions = { ...given, ctx: { ...given.ctx, actor } };
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
        if (wasRefused(looked, change)) acted.lines.push(mended(looked, change.manifest));
        break;
      case 'ignore':
        acted.outcomes.set(change, { type: 'ignored' });
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

function wasRefused(looked: Looked, { previous }: Extract<Change, { action: 'none' }>): boolean {
  const stored = looked.inventory.find(
    (one) => one.kind === previous.kind && one.nameKey === previous.nameKey,
  );
  return stored?.conditions.some((one) => one.status === 'False') ?? false;
}

const mended = (looked: Looked, manifest: DesiredManifest): Line => ({
  type: 'mended',
  name: manifest.name,
  kept: keepsText(looked.inventory, manifest, null),
});

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
    const said = [`Accepted as ${result.detail}`, ...check.notes].join('. ');
    acted.outcomes.set(change, { type: 'applied', check, detail: said });
    const renamedFrom = change.action === 'update' ? change.renamedFrom : null;
    const type = result.outcome === 'unchanged' ? 'changed' : result.outcome;
    acted.lines.push({
      type,
      kind: manifest.kind,
      name: manifest.name,
      detail: result.detail,
      renamedFrom,
      drifted: change.action === 'update' && change.drifted,
      notes: [
        ...check.notes,
        ...check.unknown.map(
          (what) => `not known to the checker at hand: ${what}; the nodes' engine decides`,
        ),
      ],
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

/** Last, in the opposite order of applying, and only when nothing in this pass was refused. */
async function pruneAll(options: PassOptions, looked: Looked, plan: Plan, acted: Acted): Promise<void> {
  const prunes = plan.changes.filter((change) => change.action === 'prune');
  if (prunes.length === 0) return;
  const broken = acted.counts.refused > 0 && allowedDeletes(looked.commit.message) < prunes.length;
  const observing = options.binding.mode !== 'sync';
  for (const change of prunes.reverse()) {
    const { previous } = change;
    const kind = KINDS.get(previous.kind as ManifestKind);
    if (!kind || previous.objectId === null) continue;
    if (observing || broken) {
      acted.counts.waiting += 1;
      acted.lines.push({
        type: 'kept',
        kind: previous.kind,
        name: previous.name,
        reason: observing ? 'observing' : 'broken-manifests',
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
