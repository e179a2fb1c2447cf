/** Turns the results of a pass into changes of the inventory. */
import type { InventoryRecord } from '../../../controller/delivery/bindings/index.ts';
import { mergeConditions } from '../../loops/conditions.ts';
import type { Acted, Inventory, Observed, PassOptions } from '../pass-types.ts';
import { lastGoodText, type RefusedDocument } from '../plan/last-good.ts';
import { metaOf } from '../plan/meta.ts';
import type { Change, Plan } from '../plan/plan.ts';
import { identityOf } from '../read/identity.ts';
import {
  isSettled,
  objectOf,
  prunePolicyOf,
  records,
  retained,
  sameObject,
  sameRecord,
  toConditions,
  unchangedFacts,
} from './inventory-line.ts';
import { conditionsOf, type ManifestOutcome, STORED_CONDITIONS } from './outcome.ts';

export interface InventoryWrites {
  writes: InventoryRecord[];
  removals: { kind: string; nameKey: string }[];
}

/** What the lines of a pass are made of. */
interface LinesOfPass {
  commit: string;
  now: Date;
  stored: Inventory;
  acted: Acted;
  /** Lines that belong to an object which a change is about, perhaps under a new name. */
  claimed: ReadonlySet<string>;
  /** Lines whose object was orphaned by this pass. */
  orphaned: ReadonlySet<string>;
}

type Described = Extract<Change, { manifest: unknown }>;
type Gone = Exclude<Change, Described>;

/** The lines that differ from what is stored, and the lines to delete. */
export function manifestWrites(
  options: PassOptions,
  observed: Observed,
  plan: Plan,
  acted: Acted,
  refused: readonly RefusedDocument[],
): InventoryWrites {
  const pass = linesOfPass(options, observed, plan, acted);
  const { stored } = pass;
  const writes = new Map<string, InventoryRecord>();
  const removals: InventoryWrites['removals'] = [];
  /** Lines that a valid manifest stands for. */
  const described = new Set<string>();
  const put = (record: InventoryRecord, always = false) => {
    const key = identityOf(record);
    const before = stored.get(key);
    if (always || !before || !sameRecord(before, record)) writes.set(key, record);
  };
  for (const change of plan.changes) {
    if (!('manifest' in change)) {
      const line = lineOfGone(pass, change);
      if (line === 'delete') removals.push(change.previous);
      else if (line) put(line);
      continue;
    }
    const line = lineOfDescribed(pass, change);
    if (!line) continue;
    if (line.left) removals.push(line.left);
    described.add(line.key);
    // Applying has cleared the stored hash of these rows, so they are always written.
    if (line.record) put(line.record, acted.outcomes.get(change)?.type === 'applied');
  }
  const removed = new Set(removals.map(identityOf));
  const remaining = refused.length === 0 ? stored : new Map([...stored].filter(([key]) => !removed.has(key)));
  for (const document of refused) {
    const line = described.has(identityOf(document)) ? null : lineOfRefused(pass, document, remaining);
    if (line) put(line);
  }
  return { writes: [...writes.values()], removals };
}

function linesOfPass({ ctx }: PassOptions, observed: Observed, plan: Plan, acted: Acted): LinesOfPass {
  const isOrphaned = (change: Change) => change.action === 'orphan' && acted.outcomes.has(change);
  const previousOf = ({ previous }: Change) => (previous ? [identityOf(previous)] : []);
  return {
    commit: observed.commit.sha,
    now: new Date(ctx.clock.now()),
    stored: observed.inventory,
    acted,
    claimed: new Set(plan.changes.flatMap(previousOf)),
    orphaned: new Set(plan.changes.filter(isOrphaned).flatMap(previousOf)),
  };
}

/** The line of an object whose manifest left the tree; null where it stays as it is. */
function lineOfGone(
  { acted, stored, commit, now }: LinesOfPass,
  change: Gone,
): InventoryRecord | 'delete' | null {
  const isDone = acted.outcomes.has(change);
  const before = () => stored.get(identityOf(change.previous));
  switch (change.action) {
    case 'forget':
      return 'delete';
    case 'orphan':
      return isDone ? 'delete' : null;
    case 'prune':
      if (isDone) return 'delete';
      return retained(before(), acted.retained.get(change) ?? 'broken-manifests', commit, now);
    case 'keep':
      return retained(before(), change.reason, commit, now);
  }
}

interface DescribedLine {
  /** Of the line that the manifest stands for. */
  key: string;
  /** The line under the name of before; null where it was not renamed. */
  left: InventoryRecord | null;
  /** Null where nothing of it can differ. */
  record: InventoryRecord | null;
}

/** The line of a manifest; null where nothing became of it, or the line under its name is another object's. */
function lineOfDescribed(pass: LinesOfPass, change: Described): DescribedLine | null {
  const { acted, stored } = pass;
  const outcome = acted.outcomes.get(change);
  if (!outcome) return null;
  const { manifest } = change;
  // The line under this name may belong to an object that is being renamed, and not to this manifest.
  const foreign = change.previous === null && pass.claimed.has(identityOf(manifest));
  // The manifest of an orphaned object is still read, but has no object.
  const isOrphans = pass.orphaned.has(identityOf(manifest));
  const previous = foreign || isOrphans ? undefined : stored.get(identityOf(change.previous ?? manifest));
  const isApplied = applies(outcome);
  if (foreign && !isOrphans && !isApplied) return null;
  const isRenamed = previous !== undefined && previous.nameKey !== manifest.nameKey;
  // Where a rename is refused, the line stays under the name that runs.
  const identity = isRenamed && !isApplied ? previous : manifest;
  const isUnchanged = outcome.type === 'unchanged' && previous && isSettled(previous, manifest);
  return {
    key: identityOf(identity),
    left: isRenamed && isApplied ? previous : null,
    record: isUnchanged ? null : recordOf(pass, change, outcome, previous, identity),
  };
}

const holds = (outcome: ManifestOutcome): boolean => outcome.type === 'policy' && outcome.waits === null;
const applies = (outcome: ManifestOutcome): boolean =>
  outcome.type === 'applied' || outcome.type === 'unchanged' || holds(outcome);

function recordOf(
  { commit, now, acted }: LinesOfPass,
  change: Described,
  outcome: ManifestOutcome,
  previous: InventoryRecord | undefined,
  { nameKey, name }: { nameKey: string; name: string },
): InventoryRecord {
  const { manifest } = change;
  const isApplied = applies(outcome);
  const isNew =
    outcome.type === 'applied' || (holds(outcome) && change.previous?.appliedHash !== manifest.hash);
  const isNewSpec = previous?.seenHash !== manifest.hash;
  const source = {
    path: manifest.path,
    line: manifest.line,
    commit: isNewSpec ? commit : (previous?.seenCommit ?? commit),
  };
  const facts =
    outcome.type === 'unchanged' && previous
      ? unchangedFacts(previous, outcome, source, manifest)
      : conditionsOf(outcome, source, manifest);
  return {
    kind: manifest.kind,
    nameKey,
    name,
    // The uid of a refused manifest is not yet that of the object.
    uid: isApplied ? manifest.uid : (previous?.uid ?? manifest.uid),
    path: manifest.path,
    line: manifest.line,
    ...objectOf(change, acted, previous),
    appliedHash: isApplied ? manifest.hash : (previous?.appliedHash ?? null),
    appliedMeta: isApplied ? metaOf(manifest) : (previous?.appliedMeta ?? null),
    appliedCommit: isNew ? commit : (previous?.appliedCommit ?? null),
    seenHash: manifest.hash,
    seenCommit: source.commit,
    prunePolicy: prunePolicyOf(manifest),
    prunePending: false,
    conditions: toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
  };
}

/** The line of a document that cannot be read as a manifest: what runs stays, and the conditions say what is wrong. */
function lineOfRefused(
  { commit, now }: LinesOfPass,
  document: RefusedDocument,
  remaining: Inventory,
): InventoryRecord | null {
  const previous = remaining.get(identityOf(document));
  const first = document.problems[0];
  if (!first) return null;
  const isKnown =
    previous?.conditions.some((one) => one.status === 'False' && one.message.startsWith(first.message)) ??
    false;
  const source = {
    path: first.path,
    line: first.line ?? previous?.line ?? 1,
    commit: isKnown ? (previous?.seenCommit ?? commit) : commit,
  };
  const outcome: ManifestOutcome = {
    type: 'refused',
    problems: document.problems,
    lastGood: lastGoodText(remaining, document, null),
  };
  const facts = conditionsOf(outcome, source, null);
  return {
    kind: document.kind,
    nameKey: document.nameKey,
    name: previous?.name ?? document.name,
    uid: previous?.uid ?? null,
    path: first.path,
    line: previous?.line ?? first.line ?? 1,
    ...sameObject(previous),
    appliedHash: previous?.appliedHash ?? null,
    appliedMeta: previous?.appliedMeta ?? null,
    appliedCommit: previous?.appliedCommit ?? null,
    seenHash: null,
    seenCommit: source.commit,
    prunePolicy: previous?.prunePolicy ?? 'auto',
    prunePending: false,
    conditions: toConditions(mergeConditions(STORED_CONDITIONS, records(previous), facts, now)),
  };
}
