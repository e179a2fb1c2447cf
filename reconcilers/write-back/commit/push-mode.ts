/**
 * Mode push: git is a copy of the database. What differs is committed; nothing is applied. Files of people are left alone:
 * an index beside the manifests names the ones that are ours.
 */
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import { isProtectedByOthers } from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { OWNABLE_KINDS } from '../../../schemas/api/delivery/git-policy.ts';
import type { ExportedManifests } from '../../../schemas/api/delivery/git-words.ts';
import type { SourceCache } from '../../source/index.ts';
import { exportManifests } from '../manifest/export.ts';
import { FOLDERS } from '../manifest/file-names.ts';
import { headgate } from './commit-message.ts';
import { hostOf, inRepository } from './workspace.ts';

export const INDEX_FILE = '.headgate-export.json';
const FORMAT = 1;

export interface Pushed {
  /** Null where git says all of it already. */
  sha: string | null;
  written: string[];
  removed: string[];
  skipped: ExportedManifests['skipped'];
}

/** @throws PRECONDITION_FAILED, CONFLICT, UNAVAILABLE where git does not take it */
export async function pushDatabase(ctx: Context, binding: Binding, cache: SourceCache): Promise<Pushed> {
  if (await isProtectedByOthers(ctx.db, binding))
    throw preconditionFailed(
      `Another team has protected the branch ${binding.ref}: bind this environment to another branch (gitSync.configure)`,
    );
  const placed = (path: string) => (binding.path === '' ? path : `${binding.path}/${path}`);
  return inRepository(ctx, cache, binding, async (place) => {
    let done: Omit<Pushed, 'sha'> = { written: [], removed: [], skipped: [] };
    const made = await place.commit({
      branch: binding.ref,
      from: null,
      async draft(sha) {
        const list = sha === null ? [] : await place.list(sha, binding.path);
        const there = new Map(list.map((path) => [path.toLowerCase(), path]));
        const read = async (path: string) => (sha === null ? null : place.read(sha, path));
        const ours = indexOf(await read(placed(INDEX_FILE))).filter((path) =>
          there.has(placed(path).toLowerCase()),
        );
        const mine = new Set(ours.map((path) => path.toLowerCase()));
        const inside = binding.path === '' ? 0 : binding.path.length + 1;
        const others = [...there.keys()].map((path) => path.slice(inside)).filter((path) => !mine.has(path));
        const { files, skipped } = await exportManifests(
          ctx,
          binding.environmentId,
          OWNABLE_KINDS,
          new Set(others),
        );
        const changes = new Map<string, string | null>();
        const paths = files.map(({ path }) => path).sort();
        for (const { path, text } of files)
          if ((await read(placed(path))) !== text) changes.set(placed(path), text);
        for (const path of ours) if (!paths.includes(path)) changes.set(placed(path), null);
        const index = `${JSON.stringify({ format: FORMAT, environment: binding.environmentName, files: paths }, null, 2)}\n`;
        if ((await read(placed(INDEX_FILE))) !== index) changes.set(placed(INDEX_FILE), index);
        const written = [...changes].flatMap(([path, text]) =>
          text === null || path === placed(INDEX_FILE) ? [] : [path],
        );
        const removed = [...changes].flatMap(([path, text]) => (text === null ? [path] : []));
        done = { written, removed, skipped };
        if (changes.size === 0) return null;
        const person = headgate(hostOf(ctx));
        const counts = [`${written.length} written`, `${removed.length} removed`].join(', ');
        const message = `Copy of ${binding.environmentName}: ${counts}\n\nHeadgate-Operation: gitSync.push\n`;
        return { files: changes, author: person, message };
      },
    });
    return { sha: made?.sha ?? null, ...done };
  });
}

/** What an earlier export wrote; nothing where the index cannot be read: then no file is ours. */
function indexOf(text: string | null): string[] {
  if (text === null) return [];
  try {
    const index: unknown = JSON.parse(text);
    const files = typeof index === 'object' && index !== null && 'files' in index ? index.files : [];
    return Array.isArray(files)
      ? files.filter((path): path is string => typeof path === 'string' && isInside(path))
      : [];
  } catch {
    return [];
  }
}

const FILE = new RegExp(`^(?:${Object.values(FOLDERS).join('|')})/[a-zA-Z0-9_-]+\\.yaml$`);

/** People may have edited the index: it must not lead to files that no export writes. */
const isInside = (path: string): boolean => FILE.test(path);
