/** What a pull request changes, told within bounds. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { localGit } from '../../../reconcilers/merge/local-git.ts';
import { readDiff } from '../../../reconcilers/pull-requests/merge/diff.ts';
import { PullWorkspace } from '../../support/scenes/pull-workspace.ts';

const lines = (count: number, of = 'line') =>
  Array.from({ length: count }, (_, n) => `${of} ${n}\n`).join('');

describe('the files of a pull request', function () {
  this.timeout(60_000);
  let repo: PullWorkspace;
  beforeEach(() => {
    repo = new PullWorkspace();
    repo.commit('main', {
      ...{ 'kept.yaml': lines(50), 'old.yaml': lines(60, 'old'), 'gone.yaml': 'gone\n', 'a.sh': 'x\n' },
      ...{ 'nämé "odd"\ttab.yaml': 'x\n', 'becomes-link': 'text\n' },
    });
    repo.branch('topic');
  });
  afterEach(() => repo.remove());

  const diff = () =>
    readDiff(
      localGit(repo.gitdir, new AbortController().signal),
      repo.git('merge-base', 'main', 'topic'),
      repo.head('topic'),
    );

  it('are told with what became of them, their lines and their patches', async () => {
    repo.commit('topic', {
      ...{ 'kept.yaml': lines(50).replace('line 7', 'seven'), 'gone.yaml': null, 'new.yaml': 'one\ntwo\n' },
      ...{ 'old.yaml': null, 'moved/new-name.yaml': lines(60, 'old'), 'nämé "odd"\ttab.yaml': 'y\n' },
    });
    repo.commit('main', { 'elsewhere.yaml': 'not of the branch\n' });
    const { files, filesTotal } = await diff();
    expect(filesTotal).to.equal(5);
    expect(
      files.map(({ path, oldPath, status, additions, deletions }) => [
        path,
        oldPath,
        status,
        additions,
        deletions,
      ]),
    ).to.have.deep.members([
      ['gone.yaml', null, 'deleted', 0, 1],
      ['kept.yaml', null, 'modified', 1, 1],
      ['moved/new-name.yaml', 'old.yaml', 'renamed', 0, 0],
      ['new.yaml', null, 'added', 2, 0],
      ['nämé "odd"\ttab.yaml', null, 'modified', 1, 1],
    ]);
    const patch = (name: string) => files.find(({ path }) => path === name)?.patch;
    expect(patch('kept.yaml')).to.match(/^diff --git a\/kept\.yaml[\s\S]*\n-line 7\n\+seven\n/);
    expect(patch('nämé "odd"\ttab.yaml')).to.contain('\n-x\n+y\n');
    expect(patch('moved/new-name.yaml')).to.contain('rename from old.yaml');
  });

  it('have no patch where they are no text, or huge', async () => {
    repo.commit('topic', {
      'bytes.bin': Buffer.from([0, 1, 2]),
      'huge.yaml': 'x'.repeat(3_000_000),
      'small.yaml': 'x\n',
    });
    const { files } = await diff();
    expect(files.map(({ path, patch }) => [path, patch !== null])).to.deep.equal([
      ['bytes.bin', false],
      ['huge.yaml', false],
      ['small.yaml', true],
    ]);
  });

  it('are told where only the mode changed, and where a file has become a link', async () => {
    execFileSync('git', [`--git-dir=${repo.gitdir}`, 'fast-import', '--quiet', '--force'], {
      input: [
        'commit refs/heads/topic\ncommitter A <a@b> 1700009999 +0000\ndata 1\nx\nfrom refs/heads/topic^0',
        `M 100755 ${repo.git('rev-parse', 'topic:a.sh')} a.sh`,
        'M 120000 inline becomes-link\ndata 4\na.sh\n\n',
      ].join('\n'),
    });
    const { files } = await diff();
    expect(files.map(({ path, status }) => [path, status])).to.deep.equal([
      ['a.sh', 'modified'],
      ['becomes-link', 'modified'],
    ]);
    expect(files[0]?.patch).to.match(/old mode 100644\nnew mode 100755/);
    expect(files[1]?.patch).to.match(/deleted file mode 100644[\s\S]*new file mode 120000/);
  });

  it('are 300 at most, with a mebibyte of patches, however much there is', async () => {
    repo.commit(
      'topic',
      Object.fromEntries(
        Array.from({ length: 400 }, (_, n) => [`many/${String(n).padStart(3, '0')}.yaml`, lines(600)]),
      ),
    );
    const { files, filesTotal } = await diff();
    expect([files.length, filesTotal]).to.deep.equal([300, 400]);
    const bytes = files.reduce((sum, { patch }) => sum + Buffer.byteLength(patch ?? ''), 0);
    expect(bytes)
      .to.be.above(900_000)
      .and.at.most(1024 * 1024);
    expect(files.every(({ additions }) => additions === 600)).to.equal(true);
  });
});
