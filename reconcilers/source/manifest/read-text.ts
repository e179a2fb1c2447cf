/** The manifests of a text that is in no commit yet, read by the rules that hold for those that are. */

import type { DesiredManifest, Problem, SnapshotScope } from '../types.ts';
import { parseYamlText } from '../yaml/yaml-file.ts';
import { buildDocument } from './build-document.ts';
import { includedPaths } from './load-includes.ts';

export interface ReadText {
  /** By place in the file. */
  documents: { index: number; line: number; value: unknown; manifest: DesiredManifest | null }[];
  problems: Problem[];
}

/** `included`: what stands at the paths that `includesOf` names. */
export function readText(
  path: string,
  text: string,
  { scope, included = new Map() }: { scope: SnapshotScope; included?: ReadonlyMap<string, string> },
): ReadText {
  const file = parseYamlText(text.replace(/^\ufeff/, ''));
  const problems: Problem[] = file.finding ? [{ path, kind: null, name: null, ...file.finding }] : [];
  const includes = {
    scope,
    get(at: string) {
      const content = included.get(at);
      return content === undefined ? undefined : { bytes: Buffer.from(content) };
    },
  };
  const documents = file.documents.map((document) => {
    const built = buildDocument({ path, file, document, isRepositoryFile: false }, includes);
    problems.push(...built.problems);
    return { index: document.index, line: document.line, value: document.value, manifest: built.manifest };
  });
  return { documents, problems };
}

/** The paths of the files that the documents of a text include. */
export function includesOf(path: string, text: string, scope: SnapshotScope): string[] {
  const { documents } = parseYamlText(text.replace(/^\ufeff/, ''));
  return documents.flatMap(({ value }) =>
    typeof value === 'object' && value !== null && 'spec' in value
      ? includedPaths(value.spec, path, scope)
      : [],
  );
}
