/** One parsed document to a desired manifest, or to the problems that keep it from being one. */

import { locate, locateInText, writtenAt } from '../../../controller/platform/yaml/locate.ts';
import { printable } from '../../../controller/platform/yaml/position.ts';
import { type ManifestKind, nameKeyOf } from '../../../schemas/manifests/index.ts';
import { type Finding, problem } from '../finding.ts';
import { REPOSITORY_FILE } from '../git/snapshot.ts';
import type { DesiredManifest, Position, Problem } from '../types.ts';
import type { ParsedDocument, ParsedFile } from '../yaml/yaml-file.ts';
import { type IncludedFile, type Includes, loadIncludes } from './load-includes.ts';
import { type Claim, claimOf, readHeader } from './manifest-header.ts';
import { normaliseSpec, specHash } from './normalise.ts';
import { plainSecrets } from './plain-secrets.ts';
import { resolveSpec, type SpecFinding } from './resolve-spec.ts';
import { schemaFindings } from './schema-findings.ts';

export interface BuiltDocument {
  claim: Claim;
  line: number;
  column: number;
  /** Null when it was refused; `problems` then say why. */
  manifest: DesiredManifest | null;
  problems: Problem[];
  /** Kind and folded name, when the document tells both clearly enough to claim them. */
  identity: string | null;
}

export interface DocumentSource {
  path: string;
  file: ParsedFile;
  document: ParsedDocument;
  /** Whether the file stands outside of the binding's path, at the root. */
  isRepositoryFile: boolean;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function originOf(pointer: string, files: ReadonlyMap<string, IncludedFile>): IncludedFile | undefined {
  if (files.size === 0) return undefined;
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = files.get(at);
    if (found) return found;
  }
  return files.get('');
}

function textRecord(value: unknown): Record<string, string> {
  return isRecord(value) ? (value as Record<string, string>) : {};
}

const NOTHING_INCLUDED: ReturnType<typeof loadIncludes> = {
  content: new Map(),
  files: new Map(),
  findings: [],
};

export function buildDocument(source: DocumentSource, includes: Includes): BuiltDocument {
  const { path, file, document } = source;
  const claim = claimOf(document.value);
  const built: BuiltDocument = {
    claim: { kind: claim.kind, name: claim.name === null ? null : printable(claim.name), uid: claim.uid },
    line: document.line,
    column: document.column,
    manifest: null,
    problems: [],
    identity: null,
  };
  const refuse = (findings: readonly (Finding & { path?: string })[]): BuiltDocument => {
    built.problems = findings.map((found) =>
      problem(found.path ?? path, strip(found), built.claim.kind, built.claim.name),
    );
    return built;
  };
  const atPointer = (found: SpecFinding): Finding => ({
    stage: found.stage,
    message: found.message,
    hint: found.hint,
    ...locate(file, document.index, found.pointer),
  });

  if (document.findings.length > 0) return refuse(document.findings);
  const header = readHeader(document.value);
  if ('refused' in header) return refuse([atPointer(header.refused)]);
  const { kind, body } = header;
  if (claim.name !== null) built.identity = `${kind}\0${nameKeyOf(claim.name)}`;
  if (source.isRepositoryFile && kind !== 'Repository') {
    const message = `${REPOSITORY_FILE} at the root holds the Repository manifest only, not a ${kind}`;
    const hint = 'Move this document into the folder of an environment.';
    return refuse([atPointer({ stage: 'schema', pointer: '/kind', message, hint })]);
  }

  const {
    content,
    findings: missing,
    files,
  } = document.hasFiles ? loadIncludes(body.spec, path, includes) : NOTHING_INCLUDED;
  const resolved =
    document.hasFiles || document.hasPlaceholders
      ? resolveSpec(body.spec, content)
      : { spec: body.spec, findings: [] };
  const toPosition = (pointer: string): Position => {
    const origin = originOf(pointer, files);
    if (origin) return { path: origin.path, line: 1, column: 1 };
    return { path, ...locate(file, document.index, `/spec${pointer}`) };
  };
  const located = (found: SpecFinding): Finding & { path: string } => ({
    ...found,
    ...toPosition(found.pointer),
  });
  const references = [
    ...missing.map((found) => ('path' in found ? found : atSpec(found))),
    ...resolved.findings.map(atSpec),
  ];
  function atSpec(found: SpecFinding): Finding & { path: string } {
    return { path, ...atPointer({ ...found, pointer: `/spec${found.pointer}` }) };
  }
  if (references.length > 0) return refuse(references);

  const faults = schemaFindings(
    kind,
    resolved.spec === body.spec ? body : { ...body, spec: resolved.spec },
    (pointer) => writtenAt(file, document.index, pointer),
  );
  const secrets =
    kind === 'Pipeline' && isRecord(resolved.spec) ? plainSecrets(resolved.spec).map(located) : [];
  if (faults.length > 0 || secrets.length > 0) {
    const positioned = faults.map((found) =>
      found.pointer.startsWith('/spec/')
        ? located({ ...found, pointer: found.pointer.slice(5) })
        : atPointer(found),
    );
    return refuse([...positioned, ...secrets]);
  }

  const metadata = isRecord(body.metadata) ? body.metadata : {};
  const name = String(metadata.name);
  const spec = normaliseSpec(kind, resolved.spec as object);
  const manifest: DesiredManifest<ManifestKind> = {
    kind,
    name,
    nameKey: nameKeyOf(name),
    uid: claim.uid,
    previousName: typeof metadata.previousName === 'string' ? metadata.previousName : null,
    labels: textRecord(metadata.labels),
    annotations: textRecord(metadata.annotations),
    path,
    line: document.line,
    column: document.column,
    docIndex: document.index,
    spec,
    hash: specHash(kind, spec),
    at: toPosition,
    inFile(pointer, line, column) {
      const origin = originOf(pointer, files);
      if (origin) return { path: origin.path, line, column };
      return { path, ...locateInText(file, document.index, `/spec${pointer}`, line, column) };
    },
  };
  built.manifest = manifest;
  return built;
}

function strip(found: Finding): Finding {
  return {
    stage: found.stage,
    message: found.message,
    hint: found.hint,
    line: found.line,
    column: found.column,
  };
}
