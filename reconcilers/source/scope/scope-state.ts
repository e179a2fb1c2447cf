/** What is kept of one repository and scope from read to read, and the desired state that is made of it. */

import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { Snapshot, WalkMemory } from '../git/snapshot.ts';
import { foldPath } from '../git/tree.ts';
import type { LargeTrees } from '../git/tree-reader.ts';
import type { BuiltDocument } from '../manifest/build-document.ts';
import { findClashes, type PlacedDocument } from '../manifest/identity.ts';
import type { Desired, Problem, RefusedDocument } from '../types.ts';
import { Claims } from './claims.ts';
import { findCollisions } from './collisions.ts';
import { IncludeWatch, type StaleIncludes } from './include-watch.ts';
import { listDifference } from './list-difference.ts';
import type { FileResult } from './read-files.ts';

const LARGE_TREES = 100;

/** What counts is changed by `settle` only, in one turn, so that a read which fails half-way leaves it as it was. */
export class ScopeState {
  readonly memory: WalkMemory = { root: null };
  /** The large trees of the last read, by path. */
  readonly trees: LargeTrees = new BoundedMap(LARGE_TREES);
  readonly includes = new IncludeWatch();
  /** The object ids of all that can be read from this scope. */
  fingerprint = '';
  desired: Desired | null = null;
  results: readonly FileResult[] = [];
  private readonly claims = new Claims();

  /** Takes over what a commit was found to hold. */
  settle(commit: string, snapshot: Snapshot, results: readonly FileResult[], stale: StaleIncludes): Desired {
    const { gone, come } = listDifference(this.results, results);
    for (const result of gone) {
      this.includes.remove(result.includes);
      for (const key of claimsOf(result)) this.claims.remove(key);
    }
    for (const result of come) {
      this.includes.add(result.includes);
      for (const key of claimsOf(result)) this.claims.add(key);
    }
    stale.settle();
    this.results = results;
    this.desired = this.assemble(commit, snapshot);
    return this.desired;
  }

  private assemble(commit: string, snapshot: Snapshot): Desired {
    const contests = this.contests();
    const manifests: Desired['manifests'] = [];
    const refused: RefusedDocument[] = [];
    const problems = [...snapshot.problems, ...contests.collisions];
    for (const { file, problem, documents, only } of this.results) {
      if (only && contests === NO_CONTESTS) {
        manifests.push(only);
        continue;
      }
      if (problem) {
        problems.push(problem);
        refused.push({ kind: null, name: null, path: file.path });
      }
      for (const built of documents) {
        for (const found of built.problems) problems.push(found);
        if (built.manifest && !contests.documents.has(built) && !contests.paths.has(file.path))
          manifests.push(built.manifest);
        else refused.push({ kind: built.claim.kind, name: built.claim.name, path: file.path });
      }
    }
    for (const found of contests.clashes) problems.push(found);
    const { pathExists } = snapshot;
    const complete = pathExists && problems.length === 0;
    const fileCount = this.results.length;
    return {
      commit,
      manifests,
      problems,
      refused,
      pathExists,
      complete,
      fileCount,
      ...this.since(manifests),
    };
  }

  private since(manifests: Desired['manifests']): Pick<Desired, 'since' | 'changed' | 'gone'> {
    if (!this.desired) return { since: null, changed: null, gone: [] };
    const { gone, come } = listDifference(this.desired.manifests, manifests);
    return { since: this.desired.commit, changed: new Set(come), gone };
  }

  private contests(): Contests {
    if (!this.claims.contested) return NO_CONTESTS;
    const files = this.results.filter(({ file }) => this.claims.isContested(pathClaim(file.path)));
    const placed: PlacedDocument[] = [];
    for (const { file, documents } of this.results) {
      for (const built of documents) {
        if (documentClaims(built).some((key) => this.claims.isContested(key)))
          placed.push({ path: file.path, built });
      }
    }
    const { colliding, problems: collisions } = findCollisions(files.map(({ file }) => file));
    const { refused, problems: clashes } = findClashes(placed);
    return { paths: colliding, documents: refused, collisions, clashes };
  }
}

interface Contests {
  /** Files and documents that must not be used since others claim the same. */
  paths: ReadonlySet<string>;
  documents: ReadonlySet<BuiltDocument>;
  collisions: readonly Problem[];
  clashes: readonly Problem[];
}

const NO_CONTESTS: Contests = { paths: new Set(), documents: new Set(), collisions: [], clashes: [] };

function pathClaim(path: string): string {
  return `path\0${foldPath(path)}`;
}

function documentClaims({ identity, claim }: BuiltDocument): string[] {
  const claims: string[] = [];
  if (identity !== null) claims.push(`name\0${identity}`);
  if (claim.uid !== null) claims.push(`uid\0${claim.uid}`);
  return claims;
}

function claimsOf({ file, documents }: FileResult): string[] {
  return [pathClaim(file.path), ...documents.flatMap(documentClaims)];
}
