/** Parses and builds the files of a snapshot that are new or changed; what was built before is taken over. */

import { problem } from '../finding.ts';
import type { BlobReader } from '../git/blobs.ts';
import { inOrder } from '../git/ordered-lookup.ts';
import { REPOSITORY_FILE } from '../git/snapshot.ts';
import type { SnapshotFile } from '../git/walk.ts';
import { createYielder } from '../git/yield-turn.ts';
import { type BuiltDocument, buildDocument } from '../manifest/build-document.ts';
import { includedPaths } from '../manifest/load-includes.ts';
import type { DesiredManifest, Problem, SnapshotScope } from '../types.ts';
import { MAX_FILE_BYTES, type ParsedFile, parseYamlBytes, tooLarge } from '../yaml/yaml-file.ts';
import type { IncludeReader, IncludeState } from './include-reader.ts';
import type { SourceCache } from './source-cache.ts';

export interface FileResult {
  file: SnapshotFile;
  /** A change of what one of these stood for is a change of this file. */
  includes: readonly IncludeState[];
  problem: Problem | null;
  documents: readonly BuiltDocument[];
  /** The manifest of a file that holds one and nothing wrong, as nearly all do. */
  only: DesiredManifest | null;
}

/** Files whose bytes are in memory at a time; twice as many while the next ones are on their way. */
const BATCH = 256;

export interface Reading {
  cache: SourceCache;
  blobs: BlobReader;
  includes: IncludeReader;
  scope: SnapshotScope;
}

interface Wanted {
  file: SnapshotFile;
  /** Place in the results. */
  at: number;
}

interface Parsed extends Wanted {
  parsed: ParsedFile;
  /** The paths that it includes. */
  paths: ReadonlySet<string>;
}

/** The results of the files in their order; those of unchanged files are the same objects as before. */
export async function readFiles(
  listed: readonly SnapshotFile[],
  before: readonly FileResult[],
  stale: ReadonlySet<string>,
  reading: Reading,
): Promise<FileResult[]> {
  const results = new Array<FileResult>(listed.length);
  const wanted: Wanted[] = [];
  const earlier = inOrder(before, ({ file }) => file.path);
  listed.forEach((file, at) => {
    const known = earlier(file.path);
    const isStale = stale.size > 0 && known?.includes.some(({ path }) => stale.has(path));
    if (known?.file.oid === file.oid && !isStale) results[at] = known;
    else wanted.push({ file, at });
  });
  const pause = createYielder();
  let ahead = loadBatch(wanted.slice(0, BATCH), reading);
  for (let at = 0; at < wanted.length; at += BATCH) {
    const contents = await ahead;
    ahead = loadBatch(wanted.slice(at + BATCH, at + 2 * BATCH), reading);
    ahead.catch(() => undefined);
    const batch: Parsed[] = [];
    for (const one of wanted.slice(at, at + BATCH)) {
      const parsed = parseOne(one.file.oid, contents.get(one.file.oid), reading);
      batch.push({ ...one, parsed, paths: pathsOf(one.file.path, parsed, reading.scope) });
      await pause();
    }
    await reading.includes.load(new Set(batch.flatMap(({ paths }) => [...paths])));
    for (const one of batch) {
      results[one.at] = buildFile(one, await statesOf(one.paths, reading.includes), reading);
      await pause();
    }
    reading.includes.trim();
  }
  return results;
}

const NO_PATHS: ReadonlySet<string> = new Set();

function pathsOf(path: string, parsed: ParsedFile, scope: SnapshotScope): ReadonlySet<string> {
  const specs = parsed.documents.flatMap(({ hasFiles, value }) =>
    hasFiles && typeof value === 'object' && value !== null && 'spec' in value ? [value.spec] : [],
  );
  if (specs.length === 0) return NO_PATHS;
  return new Set(specs.flatMap((spec) => includedPaths(spec, path, scope)));
}

async function statesOf(paths: ReadonlySet<string>, includes: IncludeReader): Promise<IncludeState[]> {
  const states: IncludeState[] = [];
  for (const path of paths) states.push({ path, key: await includes.key(path) });
  return states;
}

/** The bytes of those files that are not parsed yet; null for one that is too large. */
async function loadBatch(batch: readonly Wanted[], reading: Reading): Promise<Map<string, Buffer | null>> {
  const oids = new Set(batch.map(({ file }) => file.oid).filter((oid) => !reading.cache.files.get(oid)));
  const read = async (oid: string) => [oid, await reading.blobs.read(oid, MAX_FILE_BYTES)] as const;
  return new Map(await Promise.all([...oids].map(read)));
}

function parseOne(oid: string, bytes: Buffer | null | undefined, reading: Reading): ParsedFile {
  const known = reading.cache.files.get(oid);
  if (known) return known;
  if (!bytes) return tooLarge(reading.blobs.sizeOf(oid));
  const parsed = parseYamlBytes(bytes);
  reading.cache.files.set(oid, parsed, parsed.text.length + 500);
  return parsed;
}

function buildFile(
  { file, parsed }: Parsed,
  includes: readonly IncludeState[],
  reading: Reading,
): FileResult {
  const { path } = file;
  if (parsed.finding)
    return { file, includes, problem: problem(path, parsed.finding), documents: [], only: null };
  const isRepositoryFile = path === REPOSITORY_FILE && reading.scope.path !== '';
  const documents = parsed.documents.map((document) =>
    buildDocument({ path, file: parsed, document, isRepositoryFile }, reading.includes),
  );
  const [first] = documents;
  const only = documents.length === 1 && first?.problems.length === 0 ? first.manifest : null;
  return { file, includes, problem: null, documents, only };
}
