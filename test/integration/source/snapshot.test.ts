import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import {
  names,
  pipeline,
  problemTexts,
  useConfigRepository,
} from '../../support/scenes/config-repository.ts';

const ROOT = 'environments/production';

describe('The snapshot of a commit', () => {
  const repository = useConfigRepository();

  it('is what one commit holds, whatever came after', async () => {
    const first = repository.commit({
      [`${ROOT}/a.yaml`]: pipeline('a'),
      [`${ROOT}/deep/er/b.yml`]: pipeline('b'),
    });
    const second = repository.commit({ [`${ROOT}/a.yaml`]: null, [`${ROOT}/c.YAML`]: pipeline('c') });
    expect(names(await repository.read(second))).to.deep.equal(['c', 'b']);
    const desired = await repository.read(first);
    expect(names(desired)).to.deep.equal(['a', 'b']);
    expect(desired).to.include({ commit: first, pathExists: true, complete: true, fileCount: 2 });
  });

  it('leaves other folders and other files alone', async () => {
    const sha = repository.commit({
      [`${ROOT}/a.yaml`]: pipeline('a'),
      [`${ROOT}/README.md`]: '# about',
      [`${ROOT}/x.json`]: '{}',
      'environments/staging/b.yaml': pipeline('b'),
      'environments/production-eu/c.yaml': pipeline('c'),
      '.github/workflows/ci.yaml': 'on: push',
    });
    const desired = await repository.read(sha);
    expect([names(desired), desired.problems]).to.deep.equal([['a'], []]);
  });

  it('reads the root when the path is empty, with slashes or without', async () => {
    const sha = repository.commit({ 'a.yaml': pipeline('a'), 'b/b.yaml': pipeline('b') });
    for (const path of ['', '/', './']) {
      expect(names(await repository.read(sha, { path, sharedPaths: [] }))).to.deep.equal(['a', 'b']);
    }
  });

  it('takes headgate.yaml at the root along, for the Repository manifest only', async () => {
    const policy =
      'apiVersion: headgate/v1\nkind: Repository\nmetadata: { name: config }\nspec: { formatVersion: 1 }\n';
    const sha = repository.commit({ 'headgate.yaml': policy, [`${ROOT}/a.yaml`]: pipeline('a') });
    expect(names(await repository.read(sha))).to.deep.equal(['a', 'config']);
    const other = repository.commit({ 'headgate.yaml': pipeline('sneaked-in') });
    const desired = await repository.read(other);
    expect(names(desired)).to.deep.equal(['a']);
    expect(problemTexts(desired.problems)).to.deep.equal([
      'headgate.yaml: headgate.yaml at the root holds the Repository manifest only, not a Pipeline',
    ]);
  });

  it('honours ignore files at the root and at the path', async () => {
    const sha = repository.commit({
      '.headgateignore': '# not ours\n**/generated/\n',
      [`${ROOT}/.headgateignore`]: '/compose.yaml\n*.draft.yaml\n!keep.draft.yaml\n',
      [`${ROOT}/a.yaml`]: pipeline('a'),
      [`${ROOT}/compose.yaml`]: 'services: {}',
      [`${ROOT}/x/b.draft.yaml`]: pipeline('b'),
      [`${ROOT}/x/keep.draft.yaml`]: pipeline('kept'),
      [`${ROOT}/generated/c.yaml`]: 'nonsense: [',
    });
    const desired = await repository.read(sha);
    expect([names(desired), problemTexts(desired.problems)]).to.deep.equal([['a', 'kept'], []]);
    const without = repository.commit({ '.headgateignore': null });
    expect((await repository.read(without)).problems.map(({ path }) => path)).to.include(
      `${ROOT}/generated/c.yaml`,
    );
  });

  it('notices that an ignore file moved', async () => {
    const files = { [`${ROOT}/x/a.yaml`]: pipeline('a'), 'x/b.yaml': pipeline('b') };
    const ignoring = repository.commit({ ...files, '.headgateignore': '/x/\n' });
    expect(names(await repository.read(ignoring))).to.deep.equal(['a']);
    const moved = repository.commit({ '.headgateignore': null, [`${ROOT}/.headgateignore`]: '/x/\n' });
    expect(names(await repository.read(moved))).to.deep.equal([]);
  });

  it('keeps apart what two reads at once ignore', async () => {
    const files = { [`${ROOT}/x/a.yaml`]: pipeline('a'), [`${ROOT}/y/b.yaml`]: pipeline('b') };
    const all = repository.commit(files);
    const some = repository.commit({ '.headgateignore': 'a.yaml\n' });
    const none = repository.commit({ '.headgateignore': '*.yaml\n' });
    for (let round = 0; round < 3; round += 1) {
      const read = await Promise.all([all, some, none, some, all].map((sha) => repository.read(sha)));
      expect(read.map(names)).to.deep.equal([['a', 'b'], ['b'], [], ['b'], ['a', 'b']]);
    }
  });

  it('does not use a pattern that could be slow', async () => {
    const sha = repository.commit({
      '.headgateignore': `${'*a'.repeat(30)}b.yaml\nskip.yaml\n`,
      [`${ROOT}/${'a'.repeat(200)}.yaml`]: pipeline('a'),
      [`${ROOT}/skip.yaml`]: 'x: [',
    });
    const desired = await repository.read(sha);
    expect(problemTexts(desired.problems)).to.deep.equal([
      '.headgateignore: this pattern is too long or has too many stars and is not used',
    ]);
    expect(desired.problems[0]).to.include({ line: 1, column: 1 });
    expect(desired.complete).to.equal(false);
  });

  it('reports links and submodules, follows none, and tells nothing of their targets', async () => {
    const sha = repository.commit(
      { [`${ROOT}/a.yaml`]: pipeline('a'), 'environments/other/secret.yaml': pipeline('secret') },
      {
        links: {
          [`${ROOT}/passwd.yaml`]: '/etc/passwd',
          [`${ROOT}/team`]: '../other',
          [`${ROOT}/loop`]: '.',
          [`${ROOT}/.headgateignore`]: '../../other-ignore',
        },
        submodules: { [`${ROOT}/vendor`]: '1234567890123456789012345678901234567890' },
      },
    );
    const desired = await repository.read(sha);
    expect(names(desired)).to.deep.equal(['a']);
    expect(problemTexts(desired.problems)).to.have.members([
      `${ROOT}/.headgateignore: this is a symbolic link; links are never followed`,
      `${ROOT}/passwd.yaml: this is a symbolic link; links are never followed`,
      `${ROOT}/team: this is a symbolic link; links are never followed`,
      `${ROOT}/loop: this is a symbolic link; links are never followed`,
      `${ROOT}/vendor: this is a git submodule; submodules are not read`,
    ]);
    expect(JSON.stringify(desired.problems)).to.not.match(/etc|other|1234567890/);
    expect(desired.complete).to.equal(false);
  });

  it('reads nothing through a binding whose path is a link', async () => {
    const sha = repository.commit({ 'real/a.yaml': pipeline('a') }, { links: { environments: 'real' } });
    const desired = await repository.read(sha, { path: 'environments', sharedPaths: [] });
    expect(desired).to.deep.include({ manifests: [], pathExists: false, complete: false });
    expect(problemTexts(desired.problems)[0]).to.include('symbolic link');
  });

  for (const [what, first, second] of [
    ['case', `${ROOT}/A.yaml`, `${ROOT}/a.yaml`],
    ['the case of a folder', `${ROOT}/Eu/a.yaml`, `${ROOT}/eu/a.yaml`],
    ['the form of a letter', `${ROOT}/gr\u00fc\u00df.yaml`, `${ROOT}/gru\u0308\u00df.yaml`],
  ] as const) {
    it(`refuses two paths that differ in ${what} only, and names both`, async () => {
      const sha = repository.commit({
        [first]: pipeline('one'),
        [second]: pipeline('two'),
        [`${ROOT}/z.yaml`]: pipeline('z'),
      });
      const desired = await repository.read(sha);
      expect(names(desired)).to.deep.equal(['z']);
      expect(desired.problems.map(({ path }) => path)).to.have.members([first, second]);
      for (const found of desired.problems)
        expect(found.message).to.include(found.path === first ? second : first);
      expect(desired.refused.map(({ name }) => name)).to.have.members(['one', 'two']);
      expect(desired.complete).to.equal(false);
    });
  }

  for (const [what, name] of [
    ['a trailing space', 'a.yaml '],
    ['a trailing dot', 'a.yaml.'],
    ['a name reserved on Windows', 'CON.yaml'],
    ['a backslash', 'a\\..\\b.yaml'],
    ['a terminal escape', 'a\x1b[2J.yaml'],
  ] as const) {
    it(`refuses a file with ${what}`, async () => {
      const sha = repository.commit({
        [`${ROOT}/${name}`]: pipeline('a'),
        [`${ROOT}/b.yaml`]: pipeline('b'),
      });
      const desired = await repository.read(sha);
      expect(names(desired)).to.deep.equal(['b']);
      expect(desired.problems).to.have.length(1);
      expect(desired.problems[0]?.path).to.not.match(/\x1b/);
      expect(desired.complete).to.equal(false);
    });
  }

  it('gives up on a few objects that stand for billions of folders', async () => {
    const tree = (lines: string) =>
      execFileSync('git', [`--git-dir=${repository.gitdir}`, 'mktree'], {
        input: lines,
        encoding: 'utf8',
      }).trim();
    let top = tree('');
    for (let level = 0; level < 10; level += 1) {
      top = tree(Array.from({ length: 10 }, (_, index) => `040000 tree ${top}\tf${index}\n`).join(''));
    }
    repository.commit({ 'README.md': '' });
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    const sha = repository.git(...identity, 'commit-tree', '-m', 'bomb', top);
    const desired = await repository.read(sha, { path: '', sharedPaths: [] });
    expect(problemTexts(desired.problems)).to.deep.equal([
      ': there are more than 100000 folders, links and submodules below this path; the others were not read',
    ]);
    expect(desired.complete).to.equal(false);
  }).timeout(20_000);

  it('reads a name of 255 bytes', async () => {
    const sha = repository.commit({ [`${ROOT}/${'x'.repeat(250)}.yaml`]: pipeline('long') });
    expect(names(await repository.read(sha))).to.deep.equal(['long']);
  });

  it('says that a path does not exist and what is near it', async () => {
    const sha = repository.commit({ 'environments/productoin/a.yaml': pipeline('a') });
    const desired = await repository.read(sha);
    expect(desired).to.deep.include({ manifests: [], pathExists: false, complete: false, fileCount: 0 });
    expect(desired.problems[0]?.hint).to.equal('Did you mean `productoin`?');
  });

  it('never takes a large file in, whether it is a manifest or included', async () => {
    const large = Buffer.alloc(40 * 1024 * 1024, 'x: y\n');
    const middling = Buffer.alloc(3 * 1024 * 1024, 'x: y\n');
    const sha = repository.commit({
      [`${ROOT}/a.yaml`]: pipeline('a'),
      [`${ROOT}/b-large.yaml`]: large,
      [`${ROOT}/c-middling.yaml`]: middling,
      [`${ROOT}/d.yaml`]: pipeline('d', 'description: { $file: ../../shared/large.txt }'),
      [`${ROOT}/e.yaml`]: pipeline('e'),
      'shared/large.txt': large,
    });
    const before = process.memoryUsage().arrayBuffers;
    const desired = await repository.read(sha);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(16 * 1024 * 1024);
    expect(names(desired)).to.deep.equal(['a', 'e']);
    expect(desired.problems.map(({ path, stage }) => [path, stage])).to.have.deep.members([
      [`${ROOT}/b-large.yaml`, 'source'],
      [`${ROOT}/c-middling.yaml`, 'source'],
      [`${ROOT}/d.yaml`, 'references'],
    ]);
    expect(problemTexts(desired.problems)[0]).to.include('41943040 bytes; 1048576 is the most');
  });
});
