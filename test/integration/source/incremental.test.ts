import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createSourceCache,
  type Desired,
  type DesiredManifest,
  readDesired,
} from '../../../reconcilers/source/index.ts';
import type { ImportedCommit } from '../../support/clients/fast-import.ts';
import { names, PRODUCTION, pipeline, useConfigRepository } from '../../support/scenes/config-repository.ts';

const ROOT = 'environments/production';

function content({ commit, manifests, since, changed, gone, ...rest }: Desired) {
  return {
    ...rest,
    manifests: manifests.map(({ path, name, hash, docIndex }) => [path, name, hash, docIndex]),
  };
}

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A commit that does to few files one of the things that people do, among them mistakes. */
function edit(next: (below: number) => number): ImportedCommit['files'] {
  const name = () => `p${next(9)}`;
  const path = () => `${ROOT}/${['', 'x/', 'x/y/', 'X/'][next(4)]}${name()}.yaml`;
  const include = `transforms: { t: { type: remap, inputs: [a], source: { $file: ${['', '../', '../../'][next(3)]}v${next(3)}.vrl } } }`;
  switch (next(9)) {
    case 0:
      return { [path()]: null };
    case 1:
      return { [path()]: `${pipeline(name())}---\n${pipeline(name())}` };
    case 2:
      return { [path()]: pipeline(name(), 'deployd: true') };
    case 3:
      return { [path()]: pipeline(name()).replace('name:', `uid: U${next(3)}, name:`) };
    case 4:
      return { [`${ROOT}/.headgateignore`]: ['*/p1.yaml\n', 'x/\n', null][next(3)] ?? null };
    case 5:
      return { [path()]: pipeline(name(), include) };
    case 6:
      return {
        [`${ROOT}/${['', 'x/'][next(2)]}v${next(3)}.vrl`]: next(3) === 0 ? null : `.a = ${next(5)}\n`,
      };
    case 7:
      return { 'README.md': `${next(1000)}` };
    default:
      return { [path()]: pipeline(name(), `description: ${next(5)}`) };
  }
}

describe('Reading one commit after another', () => {
  const repository = useConfigRepository();

  it('gives what a first read gives, whatever was read before, and tells the difference', async function () {
    this.timeout(60_000);
    const next = random(5);
    const { repo, cache } = repository;
    let before: Desired | null = null;
    for (let round = 0; round < 40; round += 1) {
      const sha = repository.commit(edit(next));
      // Some commits are never looked at, as when several are pushed at once.
      if (next(4) === 0) continue;
      const desired = await readDesired(repo, sha, PRODUCTION, cache);
      expect(content(desired)).to.deep.equal(
        content(await readDesired(repo, sha, PRODUCTION, createSourceCache())),
      );
      if (before) {
        const known = new Set<DesiredManifest>(before.manifests);
        const here = new Set<DesiredManifest>(desired.manifests);
        expect(desired.since).to.equal(before.commit);
        expect([...(desired.changed ?? [])]).to.deep.equal(
          desired.manifests.filter((one) => !known.has(one)),
        );
        expect(desired.gone).to.deep.equal(before.manifests.filter((one) => !here.has(one)));
      }
      before = desired;
    }
  });

  it('keeps every manifest but the changed one, and names that one', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `${ROOT}/g${index % 3}/p${index}.yaml`,
        pipeline(`p${index}`),
      ]),
    );
    const first = await repository.read(repository.commit(files));
    expect([first.since, first.changed, first.gone]).to.deep.equal([null, null, []]);
    const second = await repository.read(
      repository.commit({ [`${ROOT}/g1/p7.yaml`]: pipeline('p7', 'deployed: false') }),
    );
    const changed = [...(second.changed ?? [])];
    expect(changed.map(({ name }) => name)).to.deep.equal(['p7']);
    expect(second.gone).to.deep.equal(first.manifests.filter(({ name }) => name === 'p7'));
    expect(second.manifests.filter((one) => !first.manifests.includes(one))).to.deep.equal(changed);
    expect(second.since).to.equal(first.commit);
    expect(names(second)).to.deep.equal(names(first));
    const elsewhere = await repository.read(repository.commit({ 'README.md': 'x' }));
    expect([elsewhere.since, elsewhere.changed?.size, elsewhere.gone]).to.deep.equal([second.commit, 0, []]);
  });

  it('names a manifest that another one no longer stands in the way of', async () => {
    await repository.read(
      repository.commit({ [`${ROOT}/a.yaml`]: pipeline('a'), [`${ROOT}/b.yaml`]: pipeline('A') }),
    );
    const freed = await repository.read(repository.commit({ [`${ROOT}/b.yaml`]: null }));
    expect([...(freed.changed ?? [])].map(({ name }) => name)).to.deep.equal(['a']);
    const refused = await repository.read(repository.commit({ [`${ROOT}/c.yaml`]: pipeline('a') }));
    expect(refused.gone.map(({ path }) => path)).to.deep.equal([`${ROOT}/a.yaml`]);
  });

  it('is as it was after a read that failed half-way', async () => {
    const including = (name: string, path: string) =>
      pipeline(name, `transforms: { t: { type: remap, inputs: [x], source: { $file: ${path} } } }`);
    const files = { [`${ROOT}/a.yaml`]: including('a', 'v.vrl'), [`${ROOT}/v.vrl`]: '1' };
    const first = await repository.read(repository.commit(files));
    const sha = repository.commit({
      [`${ROOT}/v.vrl`]: '2',
      [`${ROOT}/b.yaml`]: including('b', '../../tests/t.vrl'),
      'tests/t.vrl': '3',
    });
    const tree = repository.git('rev-parse', `${sha}:tests`);
    // Few objects are imported loose, each in a file of its own.
    const object = join(repository.gitdir, 'objects', tree.slice(0, 2), tree.slice(2));
    renameSync(object, `${object}-away`);
    const failed = await repository.read(sha).catch((error: Error) => error.message);
    expect(failed).to.include(tree);
    renameSync(`${object}-away`, object);
    const second = await repository.read(sha);
    expect(content(second)).to.deep.equal(
      content(await readDesired(repository.repo, sha, PRODUCTION, createSourceCache())),
    );
    expect(second.since).to.equal(first.commit);
    expect([...(second.changed ?? [])].map(({ name }) => name)).to.deep.equal(['a', 'b']);
  });
});
