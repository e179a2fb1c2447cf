/** Acting on a plan: what would change is checked, then applied in order, then what left the tree is pruned. */
import { gitSyncOrphan } from '../../controller/git-sync/index.ts';
import { DomainError } from '../../controller/platform/errors.ts';
import type { OwnableKind } from '../../schemas/api/git-policy.ts';
import { type ManifestKind, nameKeyOf } from '../../schemas/manifests/index.ts';
import { type ApplyResult, type CheckResult, KINDS } from '../kinds/index.ts';
import type { CommitInfo, DesiredManifest, Problem } from '../source/index.ts';
import { batchesOf } from './batches.ts';
import { checkAll, ENGINE_CHECKS, kindOf } from './checking.ts';
import { identity, identityOf } from './identity.ts';
import { keepsText } from './kept.ts';
import {
  type Applying,
  allowedDeletes,
  applies,
  type Change,
  objectIdOf,
  type Plan,
  type PruneHold,
  renamedFromOf,
} from './plan.ts';
import { type Line, noCounts } from './report.ts';
import { noteStanding } from './standing.ts';
import type { Acted, Looked, PassOptions } from './steps.ts';

/** Manifests of one transaction. While one batch is written, the next is checked. */
const BATCH = 200;

type Pruning = Extract<Change, { action: 'prune' }>;
type Orphaning = Extract<Change, { action: 'orphan' }>;

/** @param guarded Why nothing of the plan is to be applied; null where it may be. */
export async function act(
  given: PassOptions,
  looked: Looked,
  plan: Plan,
  guarded: string | null,
): Promise<Acted> {
  const options: PassOptions = { ...given, ctx: { ...given.ctx, actor: gitActor(given, looked.commit) } };
  const acting = new Acting(options, looked, guarded);
  const due: Applying[] = [];
  for (const change of plan.changes) {
    if (applies(change)) due.push(change);
    else acting.take(change);
  }
  const prunes = plan.changes.filter((change) => change.action === 'prune');
  await acting.orphanAll(plan.changes.filter((change) => change.action === 'orphan'));
  await acting.clearNames(prunes, due);
  await acting.applyAll(due);
  await acting.pruneAll(prunes);
  return acting.acted;
}

export const gitActor = (
  { binding }: Pick<PassOptions, 'binding'>,
  { sha, author }: Pick<CommitInfo, 'sha' | 'author'>,
) => ({
  type: 'git' as const,
  commit: sha,
  author,
  environmentId: binding.environmentId,
});

class Acting {
  readonly acted: Acted = {
    outcomes: new Map(),
    applied: new Map(),
    kept: new Map(),
    problems: [],
    lines: [],
    counts: noCounts(),
  };
  readonly #options: PassOptions;
  readonly #looked: Looked;
  readonly #guarded: string | null;
  /** Objects that manifests may name, by identity: those that were there, and those that this pass has made. */
  readonly #there: Set<string>;

  constructor(options: PassOptions, looked: Looked, guarded: string | null) {
    this.acted.counts.unchanged = looked.focus?.untouched ?? 0;
    this.#options = options;
    this.#looked = looked;
    this.#guarded = guarded;
    this.#there = new Set(looked.ui.map(identityOf));
    for (const { kind, objectName } of looked.inventory.values())
      if (objectName !== null) this.#there.add(identity(kind, nameKeyOf(objectName)));
  }

  /** Why nothing may be written; null where it may. */
  get #standsBy(): 'observing' | 'guarded' | null {
    if (this.#options.binding.mode !== 'sync') return 'observing';
    return this.#guarded === null ? null : 'guarded';
  }

  /** What needs no writing. */
  take(change: Exclude<Change, Applying>): void {
    const { outcomes, lines, counts } = this.acted;
    switch (change.action) {
      case 'none': {
        const dangling = this.#looked.dangling.get(change.manifest);
        if (dangling) {
          this.#refuse(change, dangling);
          return;
        }
        outcomes.set(change, { type: 'unchanged' });
        counts.unchanged += 1;
        if (this.#wasRefused(change.manifest)) lines.push(this.#mended(change.manifest));
        return;
      }
      default:
        noteStanding(this.acted, change);
    }
  }

  #wasRefused(manifest: DesiredManifest): boolean {
    const stored = this.#looked.inventory.get(identityOf(manifest));
    return stored?.conditions.some((one) => one.status === 'False') ?? false;
  }

  #mended(manifest: DesiredManifest): Line {
    return {
      type: 'mended',
      name: manifest.name,
      kept: keepsText(this.#looked.inventory, manifest, null),
    };
  }

  /** The document or what it describes is wrong. */
  #refuse(
    change: Applying | Extract<Change, { action: 'none' }>,
    problems: readonly Problem[],
    check?: CheckResult,
  ): void {
    const { manifest, previous } = change;
    const kept = keepsText(this.#looked.inventory, manifest, previous?.nameKey ?? null);
    this.acted.problems.push(...problems);
    this.acted.lines.push(
      ...problems.slice(0, 3).map((problem): Line => ({ type: 'problem', problem, kept })),
    );
    this.acted.outcomes.set(change, { type: 'refused', problems, kept, ...(check ? { check } : {}) });
    this.acted.counts.refused += 1;
  }

  async applyAll(due: readonly Applying[]): Promise<void> {
    const batches = batchesOf(due, this.#options.batch ?? BATCH);
    const engine = due.length <= ENGINE_CHECKS;
    let ahead = this.#check(batches[0] ?? [], engine);
    for (const [index, batch] of batches.entries()) {
      const checks = await ahead;
      ahead = this.#check(batches[index + 1] ?? [], engine);
      // Awaited in the next round; it must not count as unhandled before.
      ahead.catch(() => {});
      this.#options.signal.throwIfAborted();
      const sound = batch.filter((change) => {
        const check = checks.get(change);
        const problems = check?.problems ?? [];
        if (problems.length > 0) this.#refuse(change, problems, check);
        return problems.length === 0;
      });
      await this.#apply(sound, checks);
    }
    await ahead;
  }

  #check(batch: readonly Applying[], engine: boolean): Promise<Map<Change, CheckResult>> {
    return checkAll(this.#options, this.#looked, batch, engine);
  }

  /**
   * One transaction; where it fails for one manifest's fault, again in halves, so that every other one is applied.
   * All of one kind.
   */
  async #apply(batch: readonly Applying[], checks: ReadonlyMap<Change, CheckResult>): Promise<void> {
    const { ctx, execute, binding } = this.#options;
    const items = batch.filter(
      (change) => !this.#waits(change, checks) && !this.#blocked(change, checks, batch),
    );
    const first = items[0];
    if (!first) return;
    try {
      const results = await kindOf(first).apply({
        ctx,
        execute,
        environmentId: binding.environmentId,
        commit: this.#looked.commit,
        items: items.map((change) => ({ manifest: change.manifest, objectId: objectIdOf(change) })),
      });
      for (const [index, change] of items.entries()) this.#applied(change, checks, results[index]!);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'UNAVAILABLE') throw error;
      if (items.length > 1) {
        const half = Math.ceil(items.length / 2);
        await this.#apply(items.slice(0, half), checks);
        await this.#apply(items.slice(half), checks);
        return;
      }
      const reason =
        error.details?.reason === 'Conflict' || error.details?.reason === 'Blocked'
          ? error.details.reason
          : 'ApplyFailed';
      this.#fail(first, checks, reason, error.message);
    }
  }

  #waits(change: Applying, checks: ReadonlyMap<Change, CheckResult>): boolean {
    const { manifest } = change;
    const check = checks.get(change)!;
    switch (this.#standsBy) {
      case null:
        return false;
      case 'observing':
        this.acted.outcomes.set(change, { type: 'observed', check });
        break;
      case 'guarded':
        this.acted.outcomes.set(change, { type: 'guarded', check, why: this.#guarded ?? '' });
        break;
    }
    this.acted.lines.push({ type: 'observed', kind: manifest.kind, name: manifest.name });
    this.acted.counts.waiting += 1;
    return true;
  }

  /** Where it names what is not there and does not come with it. */
  #blocked(change: Applying, checks: ReadonlyMap<Change, CheckResult>, batch: readonly Applying[]): boolean {
    const blocker = kindOf(change)
      .references(change.manifest)
      .find(({ kind, name }) => {
        const key = identity(kind, nameKeyOf(name));
        return (
          !this.#there.has(key) &&
          !batch.some(
            (other) =>
              other !== change && !this.acted.outcomes.has(other) && identityOf(other.manifest) === key,
          )
        );
      });
    if (!blocker) return false;
    const message = `waits for "${blocker.name}", on which it depends and which is not there yet`;
    this.#fail(change, checks, 'Blocked', message);
    return true;
  }

  #fail(
    change: Applying,
    checks: ReadonlyMap<Change, CheckResult>,
    reason: 'Conflict' | 'Blocked' | 'ApplyFailed',
    message: string,
  ): void {
    const { kind, name } = change.manifest;
    this.acted.lines.push({ type: 'failed', kind, name, message });
    this.acted.outcomes.set(change, { type: 'failed', check: checks.get(change)!, reason, message });
    this.acted.counts.refused += 1;
  }

  #applied(change: Applying, checks: ReadonlyMap<Change, CheckResult>, result: ApplyResult): void {
    const { manifest } = change;
    const check = checks.get(change)!;
    this.acted.applied.set(change, result);
    this.#there.add(identityOf(manifest));
    const detail = [`Accepted as ${result.detail}`, ...check.notes].join('. ');
    this.acted.outcomes.set(change, { type: 'applied', check, detail });
    const renamedFrom = renamedFromOf(change);
    this.acted.lines.push({
      type: result.outcome,
      kind: manifest.kind,
      name: manifest.name,
      detail: result.detail,
      renamedFrom,
      drifted: change.action === 'update' && change.drifted,
      adopted: change.action === 'adopt',
      notes: [
        ...check.notes,
        ...check.unknown.map(
          (what) => `not known to the checker at hand: ${what}; the nodes' engine decides`,
        ),
      ],
    });
    this.acted.counts[renamedFrom === null ? result.outcome : 'renamed'] += 1;
  }

  /**
   * What left the tree while its name went over to another manifest goes first: that one has to wait for the name. Only
   * where that one is sound, for else nothing would come in its place.
   */
  async clearNames(prunes: readonly Pruning[], due: readonly Applying[]): Promise<void> {
    if (this.#standsBy !== null) return;
    const takers = new Map(due.map((change) => [identityOf(change.manifest), change]));
    const displaced = prunes.filter(({ previous }) => takers.has(identityOf(previous)));
    const checks = await this.#check(
      displaced.map(({ previous }) => takers.get(identityOf(previous))!),
      true,
    );
    for (const change of displaced) {
      const taker = takers.get(identityOf(change.previous))!;
      if (checks.get(taker)?.problems.length === 0) await this.#prune(change);
    }
  }

  /** Last, in the opposite order of applying, and only when nothing in this pass was refused. */
  async pruneAll(prunes: readonly Pruning[]): Promise<void> {
    const { acted } = this;
    const order = (kind: string) => KINDS.get(kind as ManifestKind)?.order ?? 0;
    const left = prunes
      .filter((change) => !acted.outcomes.has(change))
      .sort((a, b) => order(b.previous.kind) - order(a.previous.kind));
    const broken = acted.counts.refused > 0 && allowedDeletes(this.#looked.commit.message) < prunes.length;
    const reason: PruneHold | null = this.#standsBy ?? (broken ? 'broken-manifests' : null);
    for (const change of left) {
      if (reason === null) {
        await this.#prune(change);
        continue;
      }
      const { kind, name } = change.previous;
      acted.kept.set(change, reason);
      acted.counts.waiting += 1;
      acted.lines.push({ type: 'kept', kind, name, reason });
    }
  }

  /** What git does not own any more is the UI's, as it is. */
  async orphanAll(orphans: readonly Orphaning[]): Promise<void> {
    const { ctx, execute, binding } = this.#options;
    const { acted } = this;
    if (this.#standsBy !== null) {
      acted.counts.waiting += orphans.length;
      return;
    }
    for (const [kind, changes] of Map.groupBy(orphans, ({ previous }) => previous.kind)) {
      await execute(gitSyncOrphan, ctx, {
        environmentId: binding.environmentId,
        kind: kind as OwnableKind,
        objectIds: changes.flatMap(({ previous }) => previous.objectId ?? []),
      });
      for (const change of changes) {
        acted.outcomes.set(change, { type: 'applied', check: null, detail: 'Left to the UI' });
        acted.counts.changed += 1;
        acted.lines.push({ type: 'orphaned', kind, name: change.previous.name });
      }
    }
  }

  async #prune(change: Pruning): Promise<void> {
    const { ctx, execute, binding, signal } = this.#options;
    const { kind: kindName, name, objectId } = change.previous;
    const kind = KINDS.get(kindName as ManifestKind);
    if (!kind || objectId === null) return;
    signal.throwIfAborted();
    await kind.prune({ ctx, execute, environmentId: binding.environmentId, objectId });
    this.acted.outcomes.set(change, { type: 'applied', check: null, detail: 'Pruned' });
    this.acted.counts.deleted += 1;
    this.acted.lines.push({ type: 'pruned', kind: kindName, name });
  }
}
