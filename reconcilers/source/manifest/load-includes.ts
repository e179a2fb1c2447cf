/** The files that a spec includes: found in the tree, read before documents are built, and put in place here. */

import type { Finding } from '../finding.ts';
import type { SnapshotScope } from '../types.ts';
import { fileReferences } from '../yaml/file-reference.ts';
import { includedValue, includePath, MAX_INCLUDED_BYTES, tooLargeToInclude } from './includes.ts';
import { type IncludedContent, isFixture, type SpecFinding } from './resolve-spec.ts';

/** What stands at the path of an include: its bytes, or why there are none. */
export type IncludedBytes = { bytes: Uint8Array } | { refused: Omit<Finding, 'line' | 'column'> };

export interface Includes {
  scope: SnapshotScope;
  get(path: string): IncludedBytes | undefined;
}

export interface IncludedFile {
  path: string;
}

/** The repository paths that a spec includes, those that may be read; for reading them ahead. */
export function includedPaths(spec: unknown, manifestPath: string, scope: SnapshotScope): string[] {
  return fileReferences(spec).flatMap(({ reference }) => {
    const path = includePath(reference, manifestPath, scope);
    return typeof path === 'string' ? [path] : [];
  });
}

export function loadIncludes(
  spec: unknown,
  manifestPath: string,
  includes: Includes,
): {
  content: Map<string, IncludedContent>;
  /** Pointer of each reference to the file behind it. */
  files: Map<string, IncludedFile>;
  findings: (SpecFinding | (Finding & { path: string }))[];
} {
  const content = new Map<string, IncludedContent>();
  const files = new Map<string, IncludedFile>();
  const findings: (SpecFinding | (Finding & { path: string }))[] = [];
  let total = 0;
  for (const { pointer, reference } of fileReferences(spec)) {
    const path = includePath(reference, manifestPath, includes.scope);
    if (typeof path !== 'string') {
      findings.push({ ...path, pointer });
      continue;
    }
    const found = includes.get(path) ?? { refused: tooLargeToInclude(path) };
    if ('refused' in found) {
      findings.push({ ...found.refused, pointer });
      continue;
    }
    total += found.bytes.length;
    if (total > MAX_INCLUDED_BYTES) {
      const message = `the files of this manifest together are larger than ${MAX_INCLUDED_BYTES} bytes`;
      findings.push({ stage: 'references', pointer, message, hint: 'Include smaller files.' });
      break;
    }
    const value = includedValue(path, found.bytes, isFixture(pointer));
    if ('refused' in value) {
      findings.push({ ...value.refused, path });
      continue;
    }
    content.set(pointer, { path, value: value.value });
    files.set(pointer, { path });
  }
  return { content, files, findings };
}
