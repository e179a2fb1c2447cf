import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSourceCache, openRepository, readDesired } from '../../../reconcilers/source/index.ts';
import type { ImportedCommit } from '../../support/clients/fast-import.ts';
import {
  names,
  PRODUCTION,
  pipeline,
  problemTexts,
  useConfigRepository,
} from '../../support/scenes/config-repository.ts';

const ROOT = 'environments/production';

describe('Desired state', () => {
  const repository = useConfigRepository();

  it('keeps 199 manifests when one of 200 is wrong, and says where', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`${ROOT}/p${index}.yaml`, pipeline(`p${index}`)]),
    );
    files[`${ROOT}/p77.yaml`] =
      'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: p77 }\nspec:\n  a: [\n';
    const desired = await repository.read(repository.commit(files));
    expect(desired.manifests).to.have.length(199);
    expect(desired.refused).to.deep.equal([{ kind: 'Pipeline', name: 'p77', path: `${ROOT}/p77.yaml` }]);
    expect(
      desired.problems.every(
        ({ path, line, stage }) => path === `${ROOT}/p77.yaml` && line! >= 5 && stage === 'parse',
      ),
    ).to.equal(true);
    expect(desired).to.include({ complete: false, pathExists: true, fileCount: 200 });
  });

  it('refuses every document that claims a name twice, and names the others', async () => {
    const desired = await repository.read(
      repository.commit({
        [`${ROOT}/a.yaml`]: pipeline('Checkout'),
        [`${ROOT}/b.yaml`]: `${pipeline('other')}---\n${pipeline('checkout')}`,
        [`${ROOT}/c.yaml`]: pipeline('checkout', 'deployd: true'),
      }),
    );
    expect(names(desired)).to.deep.equal(['other']);
    const clashes = desired.problems.filter(({ stage }) => stage === 'identity');
    expect(problemTexts(clashes)).to.deep.equal([
      `${ROOT}/a.yaml: Pipeline Checkout is also declared at ${ROOT}/b.yaml:6, ${ROOT}/c.yaml:1; all of them are refused`,
      `${ROOT}/b.yaml: Pipeline checkout is also declared at ${ROOT}/a.yaml:1, ${ROOT}/c.yaml:1; all of them are refused`,
      `${ROOT}/c.yaml: Pipeline checkout is also declared at ${ROOT}/a.yaml:1, ${ROOT}/b.yaml:6; all of them are refused`,
    ]);
    expect(clashes[1]).to.include({ line: 6, column: 1, name: 'checkout' });
    expect(desired.refused).to.have.length(3);
  });

  it('refuses two documents with one uid, and lets kinds share a name', async () => {
    const rule =
      'apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: a }\nspec: { metric: cpu_usage, condition: gt, threshold: 9 }\n';
    const copy = (name: string) => pipeline(name).replace(`name: ${name}`, `name: ${name}, uid: U1`);
    const desired = await repository.read(
      repository.commit({
        [`${ROOT}/a.yaml`]: `${copy('a')}---\n${copy('b')}---\n${rule}---\n${pipeline('c')}---\n${rule.replace('name: a', 'name: c')}`,
      }),
    );
    expect(desired.manifests.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal([
      'AlertRule a',
      'Pipeline c',
      'AlertRule c',
    ]);
    expect(problemTexts(desired.problems)[0]).to.include(
      'the uid U1 is also declared at line 6 of this file',
    );
  });

  it('reads a changed file, and nothing else again', async () => {
    const first = await repository.read(
      repository.commit({ [`${ROOT}/a.yaml`]: pipeline('a'), [`${ROOT}/b/b.yaml`]: pipeline('b') }),
    );
    const second = await repository.read(
      repository.commit({ [`${ROOT}/a.yaml`]: pipeline('a', 'deployed: false') }),
    );
    expect(second.manifests[1]).to.equal(first.manifests[1]);
    expect(second.manifests[0]?.hash).to.not.equal(first.manifests[0]?.hash);
    expect(first.manifests[0]?.spec).to.have.property('deployed', true);
  });

  it('gives the same state for a commit that changes nothing here, under the new commit', async () => {
    const first = await repository.read(repository.commit({ [`${ROOT}/a.yaml`]: pipeline('a') }));
    const sha = repository.commit({ 'README.md': 'hello' });
    const second = await repository.read(sha);
    expect(second.commit).to.equal(sha);
    expect(second.manifests).to.equal(first.manifests);
    expect(await repository.read(sha)).to.equal(second);
  });

  it('sees a change of an included file, its going and its coming back', async () => {
    const text = pipeline(
      'a',
      'transforms: { t: { type: remap, inputs: [x], source: { $file: ../../shared/vrl/t.vrl } } }',
    );
    const source = async (sha: string) => {
      const desired = await repository.read(sha);
      return desired.manifests.map(({ spec }) => ('transforms' in spec ? spec.transforms.t?.source : null));
    };
    const first = repository.commit({
      [`${ROOT}/a.yaml`]: text,
      'shared/vrl/t.vrl': '.a = 1\n',
      [`${ROOT}/z.yaml`]: pipeline('z'),
    });
    expect(await source(first)).to.deep.equal(['.a = 1\n', undefined]);
    expect(await source(repository.commit({ 'shared/vrl/t.vrl': '.a = 2\n' }))).to.deep.equal([
      '.a = 2\n',
      undefined,
    ]);
    const gone = repository.commit({ 'shared/vrl/t.vrl': null, 'shared/vrl/tt.vrl': '' });
    expect(await source(gone)).to.deep.equal([undefined]);
    const [found] = (await repository.read(gone)).problems;
    expect(found).to.deep.include({
      path: `${ROOT}/a.yaml`,
      line: 4,
      stage: 'references',
      message: '$file: shared/vrl/t.vrl does not exist (from the root of the repository)',
      hint: `Did you mean \`tt.vrl\`? A $file is relative to its manifest, and may lie in ${ROOT}/, shared/, tests/.`,
    });
    expect(await source(repository.commit({ 'shared/vrl/t.vrl': '.a = 3\n' }))).to.deep.equal([
      '.a = 3\n',
      undefined,
    ]);
  });

  it('includes nothing through links and submodules', async () => {
    const include = (path: string) =>
      pipeline(path.replaceAll('/', '-'), `description: { $file: ../../shared/${path} }`);
    const desired = await repository.read(
      repository.commit(
        {
          [`${ROOT}/a.yaml`]: include('link'),
          [`${ROOT}/b.yaml`]: include('folder/x'),
          [`${ROOT}/c.yaml`]: include('module/x'),
          [`${ROOT}/d.yaml`]: include('real'),
          'shared/real/x': 'x',
        },
        {
          links: { 'shared/link': '/etc/passwd', 'shared/folder': 'real' },
          submodules: { 'shared/module': '1'.repeat(40) },
        },
      ),
    );
    expect(names(desired)).to.deep.equal([]);
    expect(problemTexts(desired.problems)).to.deep.equal([
      `${ROOT}/a.yaml: $file: shared/link is, or leads through, a symbolic link`,
      `${ROOT}/b.yaml: $file: shared/folder/x is, or leads through, a symbolic link`,
      `${ROOT}/c.yaml: $file: shared/module/x lies in a git submodule`,
      `${ROOT}/d.yaml: $file: shared/real is a folder`,
    ]);
  });

  it('does not depend on what was read before', async () => {
    const versions: ImportedCommit['files'][] = [
      {
        [`${ROOT}/a.yaml`]: pipeline('a'),
        [`${ROOT}/b.yaml`]: pipeline('b'),
        [`${ROOT}/x/c.yaml`]: pipeline('c'),
      },
      { [`${ROOT}/b.yaml`]: pipeline('a') },
      { [`${ROOT}/x/c.yaml`]: null, [`${ROOT}/B.yaml`]: pipeline('d') },
      { [`${ROOT}/b.yaml`]: null, [`${ROOT}/.headgateignore`]: 'a.yaml\n' },
      { [`${ROOT}/.headgateignore`]: null, [`${ROOT}/a.yaml`]: pipeline('a', 'suspend: true') },
    ];
    const commits = versions.map((files) => repository.commit(files));
    const summary = async (sha: string, cache = createSourceCache()) => {
      const { manifests, problems, refused, complete, fileCount } = await readDesired(
        repository.repo,
        sha,
        PRODUCTION,
        cache,
      );
      return {
        manifests: manifests.map(({ path, name, hash }) => [path, name, hash]),
        problems,
        refused,
        complete,
        fileCount,
      };
    };
    for (const order of [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [2, 0, 4, 1, 3],
    ]) {
      const cache = createSourceCache();
      for (const index of order) {
        const sha = commits[index] ?? '';
        expect(await summary(sha, cache)).to.deep.equal(await summary(sha));
      }
    }
  });

  it('calls what a partial mirror left out too large, and fetches nothing', async () => {
    const sha = repository.commit({
      [`${ROOT}/a.yaml`]: pipeline('a'),
      [`${ROOT}/b.yaml`]: `${pipeline('b')}#${'x'.repeat(5000)}\n`,
    });
    repository.git('config', 'uploadpack.allowFilter', 'true');
    const mirror = join(repository.folder, 'mirror.git');
    repository.git(
      'clone',
      '--quiet',
      '--bare',
      '--filter=blob:limit=1k',
      `file://${repository.gitdir}`,
      mirror,
    );
    const desired = await readDesired(openRepository(mirror), sha, PRODUCTION, repository.cache);
    expect(names(desired)).to.deep.equal(['a']);
    expect(desired.problems[0]?.message).to.include('does not hold the content of this file');
    expect(desired.refused).to.deep.equal([{ kind: null, name: null, path: `${ROOT}/b.yaml` }]);
  });

  it('fails as a whole when the repository or the commit is not there', async () => {
    const fails = async (gitdir: string, sha: string) => {
      const error = await readDesired(openRepository(gitdir), sha, PRODUCTION, repository.cache).then(
        () => null,
        (reason: Error) => reason,
      );
      return `${error?.name}: ${error?.message}`;
    };
    const sha = repository.commit({ [`${ROOT}/a.yaml`]: pipeline('a') });
    expect(await fails(repository.gitdir, 'f'.repeat(40))).to.match(/^GitRepositoryError: .*holds no commit/);
    expect(await fails(repository.gitdir, '--help')).to.match(/^GitRepositoryError: .*holds no commit/);
    expect(await fails(join(repository.folder, 'nowhere'), sha)).to.match(
      /^GitRepositoryError: .*cannot be read/,
    );
  });

  it('fails rather than show half of a repository that has lost a folder', async () => {
    const sha = repository.commit({ [`${ROOT}/a.yaml`]: pipeline('a'), [`${ROOT}/b/b.yaml`]: pipeline('b') });
    const tree = repository.git('rev-parse', `${sha}:${ROOT}/b`);
    // Few objects are imported loose, each in a file of its own.
    rmSync(join(repository.gitdir, 'objects', tree.slice(0, 2), tree.slice(2)));
    const error = await repository.read(sha).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.message).to.include(tree);
  });
});
