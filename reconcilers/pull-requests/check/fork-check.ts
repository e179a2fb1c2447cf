/**
 * The check of a pull request from a fork. Anybody may have written it, and anybody may read the result, so only the tree is
 * read: no plan is made, no program is run, and nothing of the database is revealed.
 */
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import { checkGraph, type Definition } from '../../../controller/pipelines/index.ts';
import { findCyclesAmong } from '../../git/plan/dependency-cycles.ts';
import { danglingAmong } from '../../git/plan/references.ts';
import { counted } from '../../plan-view/index.ts';
import {
  type DesiredManifest,
  type Problem,
  type Repository,
  readDesired,
  type SourceCache,
} from '../../source/index.ts';
import { oneLine, type Verdict } from './check-messages.ts';

export interface ForkCheck extends Verdict {
  /** Which stages ran and what they found, and why the others did not run; plain text. */
  reason: string;
}

const MAX_FINDINGS = 20;

const STAGES = [
  'The pull request comes from another repository, so only what reveals nothing is checked.',
  'Checked: parse, schema, identity, references inside the tree, graph.',
  'Not checked: plan, secrets, programs, transform tests, engine, nodes, guards; they would reveal this environment, or run what anybody may have written. A user who trusts it can push it to a branch of this repository.',
].join('\n');

export async function checkFork(
  repository: Repository,
  commit: string,
  { path, sharedPaths }: Pick<Binding, 'path' | 'sharedPaths'>,
  cache: SourceCache,
): Promise<ForkCheck> {
  const desired = await readDesired(repository, commit, { path, sharedPaths }, cache);
  const dangling = await danglingAmong(desired, desired.manifests, async () => []);
  // A name that is not in the tree may be that of an object here; the check does not reveal whether it is.
  const outside = [...dangling.values()].flat().length;
  const problems = [
    ...desired.problems,
    ...[...findCyclesAmong(desired.manifests).values()].flat(),
    ...desired.manifests.flatMap(graphProblems),
  ];
  const findings = problems
    .slice(0, MAX_FINDINGS)
    .map(({ path: file, line, message }) =>
      oneLine(`${file}${line === undefined ? '' : `:${line}`}: ${message}`, 400),
    );
  const more = problems.length > findings.length ? [`… and ${problems.length - findings.length} more`] : [];
  const notes =
    outside > 0 ? [`${counted(outside, 'name')} not in the tree; whether they exist is not shown here.`] : [];
  const reason = [STAGES, ...notes, ...findings, ...more].join('\n');
  return problems.length > 0
    ? {
        state: 'failure',
        summary: oneLine(`${counted(problems.length, 'fault')}: ${findings[0] ?? ''}`),
        reason,
      }
    : {
        state: 'success',
        summary: `${counted(desired.manifests.length, 'manifest')} read; no plan for a fork`,
        reason,
      };
}

function graphProblems(manifest: DesiredManifest): Problem[] {
  if (manifest.kind !== 'Pipeline') return [];
  return checkGraph(manifest.spec as Definition).map(({ pointer, message, hint }) => ({
    kind: manifest.kind,
    name: manifest.name,
    stage: 'graph',
    ...manifest.at(pointer),
    message,
    hint,
  }));
}
