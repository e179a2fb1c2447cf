/**
 * A whole pass over ten thousand manifests: read, planned, checked (VRL compiled, secrets looked up), applied, recorded.
 * The first over an empty database, one after a commit that changes one file, one that finds nothing new.
 */
import { create as createSecret } from '../../../controller/secrets/stored/operations.ts';
import type { PassResult } from '../../../reconcilers/git/pass.ts';
import { type BoundEnvironment, reportLines } from '../../support/scenes/bound-environment.ts';
import { ReconcileScene } from '../../support/scenes/reconcile.ts';
import { makeDatabase } from '../database.ts';
import { manifest } from '../manifests.ts';
import { asText, median, ms, type Result, type Say, whole } from '../result.ts';

const COUNT = 10_000;
const PER_FOLDER = 250;
const CHANGES = 15;

const fileOf = (index: number) =>
  `environments/production/pipelines/f${Math.floor(index / PER_FOLDER)}/service-${index}.yaml`;

export async function pass(say: Say, count = COUNT): Promise<Result[]> {
  say(`pass: ${whole(count)} manifests …`);
  const database = await makeDatabase();
  const scene = await ReconcileScene.open({ url: database.url, drop: async () => {} });
  try {
    const environment = await scene.environment();
    await scene.execute(
      createSecret,
      { ...scene.context(environment.id), actor: { type: 'system', name: 'bench' } },
      { environmentId: environment.id, name: 'search_password', value: 'of-the-bench' },
    );
    return await measure(environment, count);
  } finally {
    await scene.close();
    await database.remove();
  }
}

async function measure(environment: BoundEnvironment, count: number): Promise<Result[]> {
  const one = async (expected: Partial<PassResult['counts']>): Promise<number> => {
    const startedAt = performance.now();
    const result = await environment.pass();
    const took = performance.now() - startedAt;
    for (const [key, value] of Object.entries(expected))
      if (result.counts[key as keyof PassResult['counts']] !== value)
        throw new Error(`${JSON.stringify(result.counts)}\n${reportLines(result).slice(0, 5).join('\n')}`);
    return took;
  };
  const { repository } = environment;
  const indexes = Array.from({ length: count }, (_, index) => index);
  repository.commit(Object.fromEntries(indexes.map((index) => [fileOf(index), manifest(index, 1)])));
  const first = await one({ created: count });
  const changes: number[] = [];
  for (let round = 0; round < CHANGES; round += 1) {
    const index = Math.floor((round * count) / CHANGES);
    repository.commit({ [fileOf(index)]: manifest(index, 2 + round) });
    changes.push(await one({ changed: 1, unchanged: count - 1 }));
  }
  const nothing: number[] = [];
  await one({ unchanged: count });
  for (let round = 0; round < CHANGES; round += 1) nothing.push(await one({ unchanged: count }));
  const what = `pass over ${whole(count)} manifests`;
  return [
    { what: `${what}: the first`, goal: '< 5 s', measured: ms(first), ok: first < 5_000 },
    {
      what: `${what}: one changed file`,
      goal: '< 50 ms',
      measured: `median ${ms(median(changes))}, longest of ${CHANGES} ${ms(Math.max(...changes))}`,
      ok: median(changes) < 50,
    },
    {
      what: `${what}: no change`,
      goal: '< 10 ms',
      measured: `median ${ms(median(nothing))}, longest of ${CHANGES} ${ms(Math.max(...nothing))}`,
      ok: median(nothing) < 10,
    },
  ];
}

if (import.meta.main) {
  const [count] = process.argv.slice(2).map(Number);
  process.stdout.write(`${asText(await pass(() => {}, count))}\n`);
}
