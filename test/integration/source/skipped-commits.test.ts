/** How many commits came since the last pass. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { skippedCommits } from '../../../reconcilers/git/read/skipped-commits.ts';
import { openRepository, readCommit } from '../../../reconcilers/source/index.ts';
import { git } from '../../support/clients/fast-import.ts';
import { ConfigRepository } from '../../support/scenes/config-repository.ts';

/** So many on `main`, which change nothing. Answers the last. */
function writeCommits(gitdir: string, count: number): string {
  const line = 'commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n';
  const input = line.repeat(count).replace('data 1\nx\n', 'data 1\nx\nfrom refs/heads/main^0\n');
  execFileSync('git', [`--git-dir=${gitdir}`, 'fast-import', '--quiet'], { input });
  return git(gitdir, 'rev-parse', 'main');
}

describe('commits that a newer one overtook', function () {
  this.timeout(60_000);
  for (const { count, says } of [
    { count: 1, says: 0 },
    { count: 1_001, says: 1_000 },
    { count: 1_002, says: null },
  ])
    it(`are ${says ?? 'not told'} where ${count} came`, async () => {
      const config = new ConfigRepository();
      const repository = openRepository(config.gitdir);
      try {
        const sha = config.commit({ 'README.md': 'begin\n' });
        const head = writeCommits(config.gitdir, count);
        const binding = { headCommit: { sha } } as never;
        const found = await skippedCommits({ binding, repository }, await readCommit(repository, head));
        expect(found?.count ?? null).to.equal(says);
      } finally {
        await repository.close();
        config.remove();
      }
    });
});
