/** Reads manifests from texts at hand, with the parts that read them from git, and without a repository. */

import { problem } from '../../../reconcilers/source/finding.ts';
import { type BuiltDocument, buildDocument } from '../../../reconcilers/source/manifest/build-document.ts';
import type { IncludedBytes } from '../../../reconcilers/source/manifest/load-includes.ts';
import type { DesiredManifest, Problem } from '../../../reconcilers/source/types.ts';
import { parseYamlBytes } from '../../../reconcilers/source/yaml/yaml-file.ts';

export const MANIFEST_PATH = 'environments/production/pipelines/one.yaml';

export interface ReadTexts {
  documents: BuiltDocument[];
  manifests: DesiredManifest[];
  problems: Problem[];
}

/** `files` are what `$file` finds, by their paths from the root of the repository. */
export function readManifests(content: string | Uint8Array, files: Record<string, string> = {}): ReadTexts {
  const file = parseYamlBytes(Buffer.from(content));
  const get = (path: string): IncludedBytes => {
    const text = files[path];
    if (text !== undefined) return { bytes: Buffer.from(text) };
    return { refused: { stage: 'references', message: `$file: ${path} does not exist`, hint: 'Add it.' } };
  };
  const includes = { scope: { path: 'environments/production', sharedPaths: ['shared', 'tests'] }, get };
  const documents = file.documents.map((document) =>
    buildDocument({ path: MANIFEST_PATH, file, document, isRepositoryFile: false }, includes),
  );
  const problems = documents.flatMap((built) => built.problems);
  if (file.finding) problems.push(problem(MANIFEST_PATH, file.finding));
  return {
    documents,
    problems,
    manifests: documents.flatMap(({ manifest }) => (manifest ? [manifest] : [])),
  };
}

/** The one manifest of a text; throws with the problems when there is not exactly one. */
export function readManifest(content: string, files: Record<string, string> = {}): DesiredManifest {
  const { manifests, problems } = readManifests(content, files);
  const [manifest, second] = manifests;
  if (!manifest || second || problems.length > 0)
    throw new Error(`no single manifest: ${JSON.stringify(problems)}`);
  return manifest;
}
