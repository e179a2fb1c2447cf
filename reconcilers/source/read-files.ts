/** Parses and builds the files of a snapshot that are new or changed; what was built before is taken over. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlobReader } from './blobs.ts';
import { type BuiltDocument, buildDocument } from './build-document.ts';
import type { SourceCache } from './cache.ts';
import { problem } from './finding.ts';
import type { IncludeReader } from './include-reader.ts';
import { includedPaths } from './load-includes.ts';
import { REPOSITORY_FILE, type SnapshotFile } from './snapshot.ts';
import type { Problem, SnapshotScope } from './types.ts';
import { MAX_FILE_BYTES, type ParsedFile, parseYamlBytes, tooLarge } from './yaml-file.ts';

export interface FileResult {
  oid: string;
  /** What each included path stood for; a change there is a change of this file. */
  includes: readonly { path: string; key: string }[];
  problem: Problem | null;
  documents: readonly BuiltDocument[];
}

/** Files whose bytes are in memory at a time; twice as many while the next ones are on their way. */
const BATCH = 256;
/** Other work of the process gets its turn after this long. */
const MAX_TURN_MS = 20;

export interface Reading {
  cache: SourceCache;
  blobs: BlobReader;
  includes: IncludeReader;
  scope: SnapshotScope;
}

export async function readFiles(
  listed: readonly SnapshotFile[],
  before: ReadonlyMap<string, FileResult>,
  reading: Reading,
): Promise<Map<string, FileResult>> {
  const files = new Map<string, FileResult>();
  const changed: SnapshotFile[] = [];
  const known = new Map<string, string>();
  for (const result of before.values()) {
    for (const { path } of result.includes)
      if (!known.has(path)) known.set(path, await reading.includes.key(path));
  }
  for (const file of listed) {
    const result = before.get(file.path);
    const same =
      result?.oid === file.oid &&
      (result.includes.length === 0 || result.includes.every(({ path, key }) => known.get(path) === key));
    // Set for every file, so that the order is the order of the tree.
    files.set(file.path, same ? result : { oid: file.oid, includes: [], problem: null, documents: [] });
    if (!same) changed.push(file);
  }
  let turn = performance.now();
  let ahead = loadBatch(changed.slice(0, BATCH), reading);
  for (let at = 0; at < changed.length; at += BATCH) {
    const contents = await ahead;
    const following = changed.slice(at + BATCH, at + 2 * BATCH);
    ahead = loadBatch(following, reading);
    ahead.catch(() => undefined);
    for (const file of changed.slice(at, at + BATCH)) {
      const parsed = parseOne(file.oid, contents.get(file.oid), reading);
      const keys = await loadIncluded(file.path, parsed, reading);
      files.set(file.path, buildFile(file, parsed, keys, reading));
      if (performance.now() - turn < MAX_TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
  }
  return files;
}

async function loadIncluded(
  path: string,
  parsed: ParsedFile,
  reading: Reading,
): Promise<FileResult['includes']> {
  const paths = new Set<string>();
  for (const { hasFiles, value } of parsed.documents) {
    if (!hasFiles || typeof value !== 'object' || value === null || !('spec' in value)) continue;
    for (const included of includedPaths(value.spec, path, reading.scope)) paths.add(included);
  }
  if (paths.size === 0) return [];
  await reading.includes.load([...paths]);
  return await Promise.all(
    [...paths].map(async (included) => ({ path: included, key: await reading.includes.key(included) })),
  );
}

/** The bytes of those files that are not parsed yet; null for one that is too large. */
async function loadBatch(
  batch: readonly SnapshotFile[],
  reading: Reading,
): Promise<Map<string, Buffer | null>> {
  const oids = new Set(batch.map((file) => file.oid).filter((oid) => !reading.cache.files.get(oid)));
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
  file: SnapshotFile,
  parsed: ParsedFile,
  includes: FileResult['includes'],
  reading: Reading,
): FileResult {
  const { oid, path } = file;
  if (parsed.finding) return { oid, includes, problem: problem(path, parsed.finding), documents: [] };
  const isRepositoryFile = path === REPOSITORY_FILE && reading.scope.path !== '';
  const documents = parsed.documents.map((document) =>
    buildDocument({ path, file: parsed, document, isRepositoryFile }, reading.includes),
  );
  return { oid, includes, problem: null, documents };
}
