/** One object, one document: of two documents that claim one object, both are rejected. */

import { problem } from '../finding.ts';
import type { Problem } from '../types.ts';
import type { BuiltDocument } from './build-document.ts';

export interface PlacedDocument {
  path: string;
  built: BuiltDocument;
}

const MAX_NAMED = 5;

function placesOf(others: readonly PlacedDocument[], path: string): string {
  const named = others.slice(0, MAX_NAMED).map(({ path: other, built }) => {
    return other === path ? `line ${built.line} of this file` : `${other}:${built.line}`;
  });
  const more = others.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

function clash(
  group: readonly PlacedDocument[],
  what: (one: PlacedDocument) => string,
  hint: string,
): Problem[] {
  return group.map((one) => {
    const others = group.filter((other) => other !== one);
    return problem(
      one.path,
      {
        stage: 'identity',
        message: `${what(one)} is also declared at ${placesOf(others, one.path)}; all of them are refused`,
        hint,
        line: one.built.line,
        column: one.built.column,
      },
      one.built.claim.kind,
      one.built.claim.name,
    );
  });
}

function groupsBy(
  documents: readonly PlacedDocument[],
  key: (built: BuiltDocument) => string | null,
): PlacedDocument[][] {
  const first = new Map<string, PlacedDocument>();
  const groups = new Map<string, PlacedDocument[]>();
  for (const document of documents) {
    const claimed = key(document.built);
    if (claimed === null) continue;
    const known = first.get(claimed);
    if (!known) {
      first.set(claimed, document);
      continue;
    }
    const group = groups.get(claimed);
    if (group) group.push(document);
    else groups.set(claimed, [known, document]);
  }
  return [...groups.values()];
}

/** The documents that claim what is claimed twice, with a problem for each. */
export function findClashes(documents: readonly PlacedDocument[]): {
  refused: Set<BuiltDocument>;
  problems: Problem[];
} {
  const refused = new Set<BuiltDocument>();
  const problems: Problem[] = [];
  for (const group of groupsBy(documents, (built) => built.identity)) {
    const hint = 'Names count without regard to case. Rename one of them, or remove it.';
    problems.push(...clash(group, ({ built }) => `${built.claim.kind} ${built.claim.name}`, hint));
    for (const { built } of group) refused.add(built);
  }
  for (const group of groupsBy(documents, (built) => built.claim.uid)) {
    const hint = 'A uid belongs to one object. Remove it from the copy.';
    problems.push(...clash(group, ({ built }) => `the uid ${built.claim.uid}`, hint));
    for (const { built } of group) refused.add(built);
  }
  return { refused, problems };
}
