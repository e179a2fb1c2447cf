/** Acting on a plan: what would change is checked, then applied in order, then what left the tree is pruned. */
import { DomainError } from '../../controller/platform/errors.ts';
import { type ManifestKind, nameKeyOf } from '../../schemas/manifests/index.ts';
import { type ApplyResult, type CheckResult, KINDS, type Kind } from '../kinds/index.ts';
import type { CommitInfo, DesiredManifest, Problem } from '../source/index.ts';
import { identity, identityOf } from './identity.ts';
import { keepsText } from './kept.ts';
import { allowedDeletes, type Change, type Plan } from './plan.ts';
import { type Line, noCounts } from './report.ts';
import type { Acted, Looked, PassOptions } from './steps.ts';

/** Above this, the engine itself is not asked about each changed manifest: it starts a process for every one. */
const ENGINE_CHECKS = 24;
const PARALLEL_CHECKS = 4;
/** Manifests of one transaction. While one batch is written, the next is checked. */
const BATCH = 200;

type Applying = Extract<Change, { action: 'create' | 'update' }>;
type Pruning = Extract<Change, { action: 'prune' }>;

export async function act(given: PassOptions, looked: Looked, plan: Plan): Promise<Acted> {
  const options: PassOptions = { ...given, ctx: { ...given.ctx, actor: gitActor(given, looked.commit) } };
  const acting = new Acting(options, looked);
  const due: Applying[] = [];
  for (const change of plan.changes) {
    if (change.action === 'create' || change.action === 'update') due.push(change);
    else acting.take(change);
  }
  const prunes = plan.changes.filter((change) => change.action === 'prune');
  await acting.clearNames(prunes, due);
  await acting.applyAll(due);
  await acting.pruneAll(prunes);
  return acting.acted;
}

const gitActor = ({ binding }: PassOptions, { sha, author }: CommitInfo) => ({
  type: 'git' as const,
  commit: sha,
  author,
  environmentId: binding.environmentId,
});

class Acting {
  readonly acted: Acted = {
    outcomes: new Map(),
    applied: new Map(),
    problems: [],
    lines: [],
    counts: noCounts(),
  };
  readonly #options: PassOptions;
  readonly #looked: Looked;
  /** Identities of manifests that were refused: what names them waits. */
  readonly #failed: Set<string>;

  constructor(options: PassOptions, looked: Looked) {
    this.acted.counts.unchanged = looked.focus?.untouched ?? 0;
    this.#options = options;
    this.#looked = looked;
    this.#failed = new Set(
      looked.desired.refused.flatMap(({ kind, name }) =>
        kind && name ? [identity(kind, nameKeyOf(name))] : [],
      ),
    );
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
      case 'ignore':
        outcomes.set(change, { type: 'ignored' });
        return;
      case 'suspended':
        outcomes.set(change, { type: 'suspended' });
        counts.waiting += 1;
        return;
      case 'keep': {
        const { kind, name } = change.previous;
        counts.waiting += 1;
        lines.push({ type: 'kept', kind, name, reason: change.reason });
        return;
      }
      case 'prune':
      case 'forget':
        return;
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
  #refuse(change: Applying | Extract<Change, { action: 'none' }>, problems: readonly Problem[]): void {
    const { manifest, previous } = change;
    const kept = keepsText(this.#looked.inventory, manifest, previous?.nameKey ?? null);
    this.acted.problems.push(...problems);
    this.acted.lines.push(
      ...problems.slice(0, 3).map((problem): Line => ({ type: 'problem', problem, kept })),
    );
    this.acted.outcomes.set(change, { type: 'refused', problems, kept });
    this.acted.counts.refused += 1;
    this.#failed.add(identityOf(manifest));
  }

  async applyAll(due: readonly Applying[]): Promise<void> {
    const batches = batchesOf(due, this.#options.batch ?? BATCH);
    const engine = due.length <= ENGINE_CHECKS;
    let ahead = this.#checkAll(batches[0] ?? [], engine);
    for (const [index, batch] of batches.entries()) {
      const checks = await ahead;
      ahead = this.#checkAll(batches[index + 1] ?? [], engine);
      // Awaited in the next round; it must not count as unhandled before.
      ahead.catch(() => {});
      this.#options.signal.throwIfAborted();
      const sound = batch.filter((change) => {
        const problems = checks.get(change)?.problems ?? [];
        if (problems.length > 0) this.#refuse(change, problems);
        return problems.length === 0;
      });
      await this.#apply(sound, checks);
    }
    await ahead;
  }

  /** A few at a time. */
  async #checkAll(batch: readonly Applying[], engine: boolean): Promise<Map<Change, CheckResult>> {
    const { ctx, signal } = this.#options;
    const { secrets, dangling } = this.#looked;
    const results = new Map<Change, CheckResult>();
    const queue = batch[Symbol.iterator]();
    const worker = async () => {
      for (const change of queue) {
        const { manifest } = change;
        const problems = dangling.get(manifest);
        results.set(
          change,
          problems
            ? { problems: [...problems], detail: 'references', notes: [], unknown: [] }
            : await kindOf(change).check(ctx, manifest, { secrets, engine, signal }),
        );
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_CHECKS }, worker));
    return results;
  }

  /**
   * One transaction; where it fails for one manifest's fault, again in halves, so that every other one is applied.
   * All of one kind.
   */
  async #apply(batch: readonly Applying[], checks: ReadonlyMap<Change, CheckResult>): Promise<void> {
    const { ctx, execute, binding } = this.#options;
    const items = batch.filter((change) => !this.#observed(change, checks) && !this.#blocked(change, checks));
    const first = items[0];
    if (!first) return;
    try {
      const results = await kindOf(first).apply({
        ctx,
        execute,
        environmentId: binding.environmentId,
        commit: this.#looked.commit,
        items: items.map(({ manifest, previous }) => ({ manifest, objectId: previous?.objectId ?? null })),
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

  #observed(change: Applying, checks: ReadonlyMap<Change, CheckResult>): boolean {
    if (this.#options.binding.mode === 'sync') return false;
    const { kind, name } = change.manifest;
    this.acted.outcomes.set(change, { type: 'observed', check: checks.get(change)! });
    this.acted.lines.push({ type: 'observed', kind, name });
    this.acted.counts.waiting += 1;
    return true;
  }

  #blocked(change: Applying, checks: ReadonlyMap<Change, CheckResult>): boolean {
    const blocker = kindOf(change)
      .references(change.manifest)
      .find(({ kind, name }) => this.#failed.has(identity(kind, nameKeyOf(name))));
    if (!blocker) return false;
    const message = `waits for "${blocker.name}", on which it depends and which was refused`;
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
    this.#failed.add(identityOf(change.manifest));
  }

  #applied(change: Applying, checks: ReadonlyMap<Change, CheckResult>, result: ApplyResult): void {
    const { manifest } = change;
    const check = checks.get(change)!;
    this.acted.applied.set(change, result);
    const detail = [`Accepted as ${result.detail}`, ...check.notes].join('. ');
    this.acted.outcomes.set(change, { type: 'applied', check, detail });
    const renamedFrom = change.action === 'update' ? change.renamedFrom : null;
    this.acted.lines.push({
      type: result.outcome,
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
    this.acted.counts[renamedFrom === null ? result.outcome : 'renamed'] += 1;
  }

  /**
   * What left the tree while its name went over to another manifest goes first: that one has to wait for the name. Only
   * where that one is sound, for else nothing would come in its place.
   */
  async clearNames(prunes: readonly Pruning[], due: readonly Applying[]): Promise<void> {
    if (this.#options.binding.mode !== 'sync') return;
    const takers = new Map(due.map((change) => [identityOf(change.manifest), change]));
    const displaced = prunes.filter(({ previous }) => takers.has(identityOf(previous)));
    const checks = await this.#checkAll(
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
    const observing = this.#options.binding.mode !== 'sync';
    for (const change of left) {
      if (!observing && !broken) {
        await this.#prune(change);
        continue;
      }
      const { kind, name } = change.previous;
      acted.counts.waiting += 1;
      acted.lines.push({ type: 'kept', kind, name, reason: observing ? 'observing' : 'broken-manifests' });
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

function kindOf({ manifest }: Applying): Kind {
  const kind = KINDS.get(manifest.kind);
  if (!kind) throw new Error(`nothing acts on ${manifest.kind}`);
  return kind;
}

/** Neighbours of one kind; the order stays. Renames stand first in a plan, and trade names within one transaction. */
function batchesOf(due: readonly Applying[], size: number): Applying[][] {
  const batches: Applying[][] = [];
  for (const change of due) {
    const last = batches.at(-1);
    const renamed = change.action === 'update' && change.renamedFrom !== null;
    const fits = last?.[0]?.manifest.kind === change.manifest.kind && (renamed || last.length < size);
    if (fits) last.push(change);
    else batches.push([change]);
  }
  return batches;
}
