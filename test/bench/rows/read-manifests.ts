/**
 * How long reading desired state takes on 10,000 manifests: all of it for the first time, after a commit that changed
 * one file, and without a change. Run alone with other sizes: node test/bench/rows/read-manifests.ts [files] [per folder]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSourceCache, openRepository, readDesired } from '../../../reconcilers/source/index.ts';
import { commit, createBareRepository } from '../../support/clients/fast-import.ts';
import { manifest } from '../manifests.ts';
import { asText, median, ms, type Result, type Say, whole } from '../result.ts';

const scope = { path: 'environments/production', sharedPaths: ['shared', 'tests'] };
const CHANGES = 9;

export async function readManifests(say: Say, count = 10_000, perFolder = 200): Promise<Result[]> {
  say(`source: a repository of ${whole(count)} manifests …`);
  const pathOf = (index: number) =>
    `${scope.path}/group-${Math.floor(index / perFolder)}/service-${index}.yaml`;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
  const gitdir = join(folder, 'config.git');
  const repo = openRepository(gitdir);
  try {
    createBareRepository(gitdir);
    const files = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [pathOf(index), manifest(index, 1)]),
    );
    const cache = createSourceCache();
    const measure = async (sha: string): Promise<number> => {
      const start = performance.now();
      const { manifests, problems } = await readDesired(repo, sha, scope, cache);
      const took = performance.now() - start;
      if (manifests.length !== count || problems.length > 0) {
        throw new Error(`${manifests.length} manifests and ${problems.length} problems`);
      }
      return took;
    };
    const first = await measure(commit(gitdir, { branch: 'main', message: 'many', files }));
    const changes: number[] = [];
    for (let round = 0; round < CHANGES; round += 1) {
      const index = Math.floor((round * count) / CHANGES);
      const changed = { [pathOf(index)]: manifest(index, 2 + round) };
      changes.push(await measure(commit(gitdir, { branch: 'main', message: 'one', files: changed })));
    }
    const last = commit(gitdir, {
      branch: 'main',
      message: 'elsewhere',
      files: { 'README.md': 'hello' },
    });
    await measure(last);
    const nothing = await measure(last);
    const what = `reading ${whole(count)} manifests`;
    return [
      { what: `${what}: the first time`, goal: '< 2 s', measured: ms(first), ok: first < 2_000 },
      {
        what: `${what}: one changed file`,
        goal: '< 8 ms',
        measured: `median ${ms(median(changes))}, longest of ${CHANGES} ${ms(Math.max(...changes))}`,
        ok: median(changes) < 8,
      },
      { what: `${what}: no change`, goal: '< 0.1 ms', measured: ms(nothing), ok: nothing < 0.1 },
    ];
  } finally {
    await repo.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const [count, perFolder] = process.argv.slice(2).map(Number);
  process.stdout.write(`${asText(await readManifests(() => {}, count, perFolder))}\n`);
}
