/** Presents one change of a plan. */
import { compile, type Definition, maskYaml, unifiedDiff } from '../../controller/pipelines/index.ts';
import type { PlanFinding, PlannedChange, TouchedNodes } from '../../schemas/api/delivery/git-plan.ts';
import type { Effect } from '../git/plan/affected-nodes.ts';
import { type Applying, renamedFromOf } from '../git/plan/plan.ts';
import type { CheckResult } from '../kinds/index.ts';
import type { DesiredManifest, Problem } from '../source/index.ts';
import { plainOfManifest } from '../write-back/manifest/plain-object.ts';
import type { Before } from './base-state.ts';
import { fieldChanges, MAX_FIELDS } from './field-changes.ts';

const MAX_HOSTS = 20;
/** Fields that the diff of the engine config shows better. */
const IN_CONFIG = new Set(['sources', 'transforms', 'sinks', 'global']);

export const toFinding = ({ stage, message, hint, path, line, column }: Problem): PlanFinding => ({
  ...{ stage, message, hint, path },
  line: line ?? null,
  column: column ?? null,
});

/** A change with every field empty, to be overlaid. */
export const blank = (
  action: PlannedChange['action'],
  { kind, name, path, line }: { kind: string; name: string; path: string; line: number },
): PlannedChange => ({
  ...{ action, kind, name, path, line },
  renamedFrom: null,
  objectId: null,
  reason: null,
  fields: [],
  engineDiff: null,
  nodes: null,
  tests: [],
  findings: [],
  notes: [],
  preview: null,
});

export function actionOf(change: Applying): PlannedChange['action'] {
  switch (change.action) {
    case 'create':
    case 'adopt':
      return change.action;
    case 'update':
      // A new name in git is a rename; back to the name in git is a heal.
      if (change.previous.name !== change.manifest.name) return 'rename';
      return change.drifted || change.renamedFrom !== null ? 'heal' : 'update';
  }
}

export function fieldsOf(
  change: Applying,
  before: Before | undefined,
): Pick<PlannedChange, 'fields' | 'notes'> {
  const { manifest } = change;
  if (!before) {
    if (change.action === 'create') return { fields: fieldChanges({}, fieldsOfNew(manifest)), notes: [] };
    return {
      fields: [],
      notes: ['what was applied before cannot be read any more, so fields are not compared'],
    };
  }
  const { form, name, labels, annotations } = before;
  const spec = form === 'manifest' ? manifest.spec : plainOfManifest(manifest).spec;
  const known = annotations !== null;
  const fields = fieldChanges(
    { ...before.spec, metadata: { name, labels, ...(known ? { annotations } : {}) } },
    {
      ...spec,
      metadata: {
        name: manifest.name,
        labels: manifest.labels,
        ...(known ? { annotations: manifest.annotations } : {}),
      },
    },
  );
  return {
    fields,
    notes:
      fields.length >= MAX_FIELDS ? [`more than ${MAX_FIELDS} fields differ; the others are not shown`] : [],
  };
}

/** The fields that a new manifest sets, without those that the engine config shows. */
function fieldsOfNew({ kind, labels, spec }: DesiredManifest): Record<string, unknown> {
  const set = Object.entries(spec).filter(
    ([field, value]) => !(kind === 'Pipeline' && IN_CONFIG.has(field)) && !isEmpty(value),
  );
  return { ...Object.fromEntries(set), ...(isEmpty(labels) ? {} : { metadata: { labels } }) };
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Compares what nodes run now with what they would run; a draft runs nowhere. */
export function engineDiffOf(
  change: Applying,
  runsNow: string | null,
): Pick<PlannedChange, 'engineDiff' | 'notes'> {
  if (change.manifest.kind !== 'Pipeline') return { engineDiff: null, notes: [] };
  const { spec } = change.manifest as DesiredManifest<'Pipeline'>;
  const after = spec.deployed ? compile(spec as Definition).configYaml : '';
  const before = runsNow ?? '';
  if (before === after) return { engineDiff: null, notes: [] };
  const diff = unifiedDiff('deployed', 'planned', maskYaml(before), maskYaml(after));
  return diff === ''
    ? { engineDiff: null, notes: ['the engine config differs only in values that are not shown'] }
    : { engineDiff: diff, notes: [] };
}

export function presentAffectedNodes(
  effects: readonly Effect[],
  hostOf: ReadonlyMap<string, string>,
): TouchedNodes {
  const all = (effect: keyof Effect) => new Set(effects.flatMap((one) => one[effect]));
  const [starts, restarts, stops] = [all('starts'), all('restarts'), all('stops')];
  const ids = new Set([...starts, ...restarts, ...stops]);
  const hosts = [...ids].map((id) => hostOf.get(id) ?? id).sort();
  return {
    count: ids.size,
    starts: starts.size,
    restarts: restarts.size,
    stops: stops.size,
    hosts: hosts.slice(0, MAX_HOSTS),
  };
}

const nodesText = (count: number): string => `${count} node${count === 1 ? '' : 's'}`;

const stagesText = ({ first, later }: { first: number; later: number }): string =>
  first === 0
    ? `canary: waits for a node that matches its selector, then ${nodesText(later)}`
    : `canary on ${nodesText(first)} first, then ${later} more`;

export function presentApplied(
  change: Applying,
  facts: {
    before: Before | undefined;
    runsNow: string | null;
    check: CheckResult | undefined;
    nodes: TouchedNodes | null;
    /** Set where canary nodes run it first. */
    stages: { first: number; later: number } | null;
    preview: PlannedChange['preview'];
  },
): PlannedChange {
  const { check } = facts;
  const { fields, notes } = fieldsOf(change, facts.before);
  const engine = engineDiffOf(change, facts.runsNow);
  return {
    ...blank(actionOf(change), change.manifest),
    renamedFrom: renamedFromOf(change),
    objectId: change.action === 'adopt' ? change.object.id : (change.previous?.objectId ?? null),
    fields,
    engineDiff: engine.engineDiff,
    nodes: facts.nodes,
    tests: check?.tests ?? [],
    preview: facts.preview,
    notes: [
      ...(facts.stages ? [stagesText(facts.stages)] : []),
      ...(check?.notes ?? []),
      ...(check?.unknown ?? []).map(
        (what) => `not known to the checker at hand: ${what}; the nodes' engine decides`,
      ),
      ...notes,
      ...engine.notes,
    ],
  };
}
