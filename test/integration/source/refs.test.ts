import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { descends, openRepository, readCommit, resolveRef } from '../../../reconcilers/source/index.ts';
import { useConfigRepository } from '../../support/scenes/config-repository.ts';

describe('Refs and commits', () => {
  const repository = useConfigRepository();

  it('are none in an empty repository', async () => {
    expect(await resolveRef(repository.repo, 'main')).to.equal(null);
  });

  it('are not said to be gone when the repository is', async () => {
    const gone = openRepository(join(repository.folder, 'nowhere'));
    const error = await resolveRef(gone, 'main').then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.name).to.equal('GitRepositoryError');
  });

  it('are not said to be gone where the file of the branch is there and names nothing', async () => {
    const sha = repository.commit({ a: '1' });
    const file = join(repository.gitdir, 'refs/heads/main');
    for (const content of ['', '\0\0\0\0', 'garbage\n']) {
      writeFileSync(file, content);
      const error = await resolveRef(repository.repo, 'main').catch((reason: Error) => reason);
      expect(String(error), JSON.stringify(content)).to.equal(
        'GitRepositoryError: the file refs/heads/main of the repository names no commit',
      );
    }
    writeFileSync(file, `${sha}\n`);
    expect(await resolveRef(repository.repo, 'main')).to.equal(sha);
  });

  it('are found by branch, tag, and tag of a tag', async () => {
    const sha = repository.commit({ a: '1' });
    repository.git('tag', 'light', sha);
    repository.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'tag', '-a', '-m', 'x', 'v1', sha);
    repository.git('-c', 'user.name=a', '-c', 'user.email=a@b', 'tag', '-a', '-m', 'x', 'v2', 'v1');
    for (const ref of ['main', 'refs/heads/main', 'light', 'v1', 'v2', 'refs/tags/v2']) {
      expect(await resolveRef(repository.repo, ref), ref).to.equal(sha);
    }
    repository.git('pack-refs', '--all');
    for (const ref of ['main', 'v2']) expect(await resolveRef(repository.repo, ref), ref).to.equal(sha);
    expect(await resolveRef(repository.repo, 'refs/heads/v1')).to.equal(null);
  });

  it('are none for a branch that was deleted, a tag of a file, and what is no name', async () => {
    repository.commit({ a: '1' });
    const other = repository.commit({ b: '1' }, { branch: 'feature/x' });
    expect(await resolveRef(repository.repo, 'feature/x')).to.equal(other);
    repository.git('update-ref', '-d', 'refs/heads/feature/x');
    repository.git('tag', 'file', 'main:a');
    for (const ref of [
      'feature/x',
      'feature',
      'file',
      '',
      '-u',
      '../HEAD',
      'main~1',
      'main:a',
      '@',
      'a..b',
      'x\ny',
      'main\0',
    ]) {
      expect(await resolveRef(repository.repo, ref), JSON.stringify(ref)).to.equal(null);
    }
  });

  it('tell who committed what, when', async () => {
    const parent = repository.commit({ a: '1' });
    const message = 'Deploy checkout\n\nBecause.\n\nHeadgate-Allow-Delete: 3\n';
    const sha = repository.commit({ a: '2' }, { message });
    const info = await readCommit(repository.repo, sha);
    expect(info).to.deep.include({
      sha,
      author: 'Ada Example',
      email: 'ada@example.org',
      subject: 'Deploy checkout',
      message,
      parents: [parent],
    });
    expect(info.at.toISOString()).to.match(/^2023-11-1/);
  });
});

describe('Whether one commit descends from another', () => {
  const repository = useConfigRepository();

  it('holds along the history, not against it', async () => {
    const [first, second, third] = ['1', '2', '3'].map((a) => repository.commit({ a })) as [
      string,
      string,
      string,
    ];
    expect(await descends(repository.repo, third, first)).to.equal(true);
    expect(await descends(repository.repo, second, second)).to.equal(true);
    expect(await descends(repository.repo, first, third)).to.equal(false);
  });

  it('does not hold after a rewritten history', async () => {
    const base = repository.commit({ a: '1' });
    const applied = repository.commit({ a: '2' });
    repository.git('update-ref', 'refs/heads/main', base);
    const rebased = repository.commit({ a: '2', b: 'x' });
    expect(await descends(repository.repo, rebased, applied)).to.equal(false);
    expect(await descends(repository.repo, rebased, base)).to.equal(true);
    const orphan = repository.commit({ a: '2' }, { orphan: true });
    expect(await descends(repository.repo, orphan, base)).to.equal(false);
  });

  it('finds the way through a merge', async () => {
    const base = repository.commit({ a: '1' });
    const side = repository.commit({ b: '1' }, { branch: 'side' });
    const main = repository.commit({ a: '2' });
    const merge = repository.git(
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit-tree',
      '-p',
      main,
      '-p',
      side,
      '-m',
      'merge',
      `${main}^{tree}`,
    );
    expect(await descends(repository.repo, merge, side)).to.equal(true);
    expect(await descends(repository.repo, merge, base)).to.equal(true);
  });

  it('gives up after as many commits as it is told', async () => {
    const all = Array.from({ length: 20 }, (_, index) => repository.commit({ a: String(index) }));
    const [first = '', last = ''] = [all[0], all[19]];
    expect(await descends(repository.repo, last, first, { maxCommits: 10 })).to.equal(false);
    expect(await descends(repository.repo, last, first, { maxCommits: 20 })).to.equal(true);
  });

  it('does not hold for a commit that is not there', async () => {
    const sha = repository.commit({ a: '1' });
    expect(await descends(repository.repo, sha, 'f'.repeat(40))).to.equal(false);
  });
});
