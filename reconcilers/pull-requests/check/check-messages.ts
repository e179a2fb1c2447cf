/** The verdict on a plan, in one line for a commit status. */
import { visible as clean } from '../../../controller/platform/text/visible-text.ts';
import type { GitPlan, PlanFinding } from '../../../schemas/api/delivery/git-plan.ts';
import type { CheckState } from '../../../schemas/api/delivery/pull-requests.ts';
import { counted } from '../../plan-view/index.ts';

export interface Verdict {
  state: CheckState;
  /** At most 140 characters: every forge shows that many. */
  summary: string;
}

const MAX_CHARACTERS = 140;

export function oneLine(text: string, max = MAX_CHARACTERS): string {
  const line = clean(text.replaceAll(/\s+/g, ' ').trim());
  return [...line].length > max
    ? `${[...line]
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`
    : line;
}

const verdict = (state: CheckState, summary: string): Verdict => ({ state, summary: oneLine(summary) });

/** The identity of a fault, independent of its line. */
export const faultKey = ({ path, message }: Pick<PlanFinding, 'path' | 'message'>): string =>
  `${path}\0${message}`;

/**
 * Refused manifests come first: no approval helps them. `known` are faults that the base already has: they are mentioned and
 * do not fail the check.
 */
export function verdictOfPlan(plan: GitPlan, known: ReadonlySet<string> = new Set()): Verdict {
  const { counts, changes, findings, guards, fleet } = plan;
  const isNew = (finding: PlanFinding) => !known.has(faultKey(finding));
  const refused = changes.filter(({ action }) => action === 'refuse');
  const old = refused.filter((one) => one.findings.length > 0 && !one.findings.some(isNew));
  const count = counts.refuse - old.length;
  if (count > 0) {
    const first = refused.find((one) => !old.includes(one));
    const which = first ? `: ${first.name}: ${first.reason?.message ?? 'refused'}` : '';
    return verdict('failure', `${counted(count, 'manifest')} refused${which}`);
  }
  const faults = findings.filter(isNew);
  if (faults.length > 0)
    return verdict('failure', `${counted(faults.length, 'fault')} in files: ${faults[0]?.message ?? ''}`);
  const broken = fleet.find(({ severity }) => severity === 'error');
  if (broken) return verdict('failure', broken.message);
  if (plan.state === 'waiting') {
    const over = guards.filter(({ exceeded }) => exceeded).map(({ guard }) => guard);
    const which = over.length > 0 ? ` (${over.join(', ')})` : '';
    return verdict('failure', `over the guards: waits for an ADMIN after the merge${which}`);
  }
  const before = old.length + findings.length;
  const knownFaults = before > 0 ? `; ${counted(before, 'fault')} from before` : '';
  return verdict('success', `${changesText(plan)}${warningsText(plan)}${knownFaults}${appliedText(plan)}`);
}

const DONE = {
  update: 'changed',
  create: 'created',
  delete: 'deleted',
  adopt: 'adopted',
  rename: 'renamed',
  heal: 'set back',
} as const;

/** `2 changed, 1 created; 3 nodes restart`. */
function changesText({ counts, nodes }: GitPlan): string {
  const acting = (Object.keys(DONE) as (keyof typeof DONE)[])
    .filter((action) => counts[action] > 0)
    .map((action) => `${counts[action]} ${DONE[action]}`);
  if (acting.length === 0) return 'nothing changes';
  const effect = (count: number, verb: string) =>
    count > 0 ? [`${counted(count, 'node')} ${verb}${count === 1 ? 's' : ''}`] : [];
  const effects = [
    ...effect(nodes.restarts, 'restart'),
    ...effect(nodes.starts, 'start'),
    ...effect(nodes.stops, 'stop'),
  ];
  return [acting.join(', '), ...(effects.length > 0 ? [effects.join(', ')] : [])].join('; ');
}

const warningsText = ({ fleet }: GitPlan): string =>
  fleet.length > 0 ? `; ${counted(fleet.length, 'warning')}` : '';

const appliedText = ({ state }: GitPlan): string =>
  state === 'not-applied' ? '; nothing is applied in this mode' : '';

export const conflictVerdict = (base: string, paths: readonly string[]): Verdict =>
  verdict('failure', `conflicts with ${oneLine(base, 60)} in ${counted(paths.length, 'file')}`);
