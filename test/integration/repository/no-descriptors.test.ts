/** Where the controller has no file descriptors left, what needs a process says so, and the controller lives on. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { ConfigRepository } from '../../support/scenes/config-repository.ts';

describe('a process without file descriptors left', function () {
  this.timeout(60_000);
  let config: ConfigRepository;
  before(() => {
    config = new ConfigRepository();
    config.commit({ 'README.md': 'begin\n' });
  });
  after(() => config.remove());

  it('says so of git, and is not ended by it', () => {
    const program = new URL('../../support/harness/without-descriptors.ts', import.meta.url).pathname;
    const limited = 'ulimit -n 200; exec "$0" "$@"';
    const { stdout } = spawnSync('/bin/sh', ['-c', limited, process.execPath, program, config.gitdir], {
      encoding: 'utf8',
    });
    const said = stdout.trim().split('\n');
    expect(said).to.have.lengthOf(3);
    expect(said[0]).to.match(/^run: RepositoryError: git cannot be run: .*EMFILE/);
    expect(said[1]).to.match(/^session: GitRepositoryError: .*no file descriptors left/);
    expect(said[2]).to.match(/^request: DomainError: The controller cannot run git at the moment/);
  });
});
