/**
 * How long reading desired state takes on 10,000 manifests: all of it for the first time, after a commit that changed
 * one file, and without a change. Run: node test/bench/source.ts [files] [files per folder]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSourceCache, openRepository, readDesired } from '../../reconcilers/source/index.ts';
import { commit, createBareRepository } from '../support/fast-import.ts';

const count = Number(process.argv[2] ?? 10_000);
const perFolder = Number(process.argv[3] ?? 200);
const scope = { path: 'environments/production', sharedPaths: ['shared', 'tests'] };

function manifest(index: number, threshold: number): string {
  return `apiVersion: headgate/v1
kind: Pipeline
metadata:
  name: service-${index}     # one of many
  labels: { team: team-${index % 40} }
spec:
  description: Logs of service ${index} to search
  nodeSelector: { role: edge }
  values: { index: service-${index} }
  sources:
    app: { type: file, include: [/var/log/service-${index}/*.log] }
  transforms:
    parse:
      type: remap
      inputs: [app]
      source: |
        . = parse_json!(.message)
        .service = "service-${index}"
        .limit = ${threshold}
  sinks:
    search:
      type: elasticsearch
      inputs: [parse]
      bulk: { index: "\${value.index}" }
      auth: { strategy: basic, user: shipper, password: "\${SVC_SECRET_SEARCH_PASSWORD}" }
`;
}

const pathOf = (index: number) =>
  `${scope.path}/group-${Math.floor(index / perFolder)}/service-${index}.yaml`;

const folder = mkdtempSync(join(tmpdir(), 'headgate-bench-'));
try {
  const gitdir = join(folder, 'config.git');
  createBareRepository(gitdir);
  const files = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [pathOf(index), manifest(index, 1)]),
  );
  const first = commit(gitdir, { branch: 'main', message: 'many', files });
  const repo = openRepository(gitdir);
  const cache = createSourceCache();
  const measure = async (label: string, sha: string) => {
    const start = performance.now();
    const desired = await readDesired(repo, sha, scope, cache);
    const took = performance.now() - start;
    console.log(
      `${label}: ${took.toFixed(1)} ms, ${desired.manifests.length} manifests, ${desired.problems.length} problems`,
    );
    return took;
  };
  await measure('first read', first);
  const changes: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const index = Math.floor((round * count) / 9);
    const sha = commit(gitdir, {
      branch: 'main',
      message: 'one',
      files: { [pathOf(index)]: manifest(index, 2 + round) },
    });
    changes.push(await measure(`one changed file (${round + 1})`, sha));
  }
  console.log(`one changed file, median: ${changes.sort((a, b) => a - b)[4]?.toFixed(1)} ms`);
  const last = commit(gitdir, { branch: 'main', message: 'nothing here', files: { 'README.md': 'hello' } });
  await measure('a commit that changes nothing here', last);
  await measure('no change', last);
  console.log(`memory: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
