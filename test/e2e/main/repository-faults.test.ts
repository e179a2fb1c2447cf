/** The embedded repository is broken and mended: it is told with what to do, what runs is left alone, and pushes work again. */
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runGit } from '../../support/clients/git-client.ts';
import { unexplainedLines } from '../../support/fixtures/unexplained.ts';
import { until } from '../../support/harness/until.ts';
import { type RunningSite, startRunningSite } from '../../support/scenes/running-site.ts';

const BRANCH = 'live';
const KEPT = /Everything runs on as it was$/;
const MEND = /mend git\/config\.git in the data directory .*, or put a backup or a bare clone in its place/;

describe('when the repository', function () {
  this.timeout(60_000);
  this.slow(20_000);
  let site: RunningSite;
  let changes = 0;

  before(async () => {
    site = await startRunningSite({ inProcess: true });
    // `main` cannot be deleted by a push, being what HEAD names.
    expect((await pushLive()).code).to.equal(0);
    await site.client.mutate('gitSync.configure', {
      environmentId: site.environmentId,
      mode: 'sync',
      branch: BRANCH,
      intervalSeconds: 5,
    });
    await until(async () => (await site.status()).lastError === null, { what: 'the branch to be read' });
  });
  after(() => site?.remove());

  const pushLive = (...args: string[]) => site.git.run('push', ...args, 'origin', `main:${BRANCH}`);
  const branchFile = () => join(site.gitdir, 'refs/heads', BRANCH);

  /** What the status says once it says something that fits; nothing has changed meanwhile. */
  async function told(message: RegExp): Promise<string> {
    const applied = (await site.status()).appliedCommit?.sha;
    let status = await site.status();
    await until(
      async () => {
        status = await site.status();
        return message.test(status.lastError ?? '');
      },
      { what: () => `${message}, not: ${status.lastError}`, timeoutMs: 15_000, everyMs: 50 },
    );
    expect(status.lastError).to.match(KEPT);
    expect(status.gate[0]).to.include({ point: 'git', state: 'failed', reason: status.lastError });
    expect(status.appliedCommit?.sha).to.equal(applied);
    expect(status.manifests.map(({ name }) => name).sort()).to.deep.equal(['left', 'right']);
    return status.lastError ?? '';
  }

  /** The next push is applied, and nothing is left of what was told. */
  async function nextPushIsApplied(before: string[]): Promise<void> {
    const sha = await site.commitChange(`change ${++changes}`);
    const { code, stderr } = await pushLive();
    expect(code, stderr).to.equal(0);
    expect(stderr).to.match(/^remote: {3}~ left: version \d+/m);
    await site.untilApplied(sha);
    expect(await site.status()).to.include({ lastError: null, importErrorCount: 0 });
    await site.untilLeftRuns();
    expect(site.rightEngines()).to.deep.equal([before[1]]);
  }

  it('loses the bound branch, everything is kept until the branch is pushed again', async () => {
    const before = site.engines();
    const main = await site.git.run('push', '--delete', 'origin', 'main');
    expect(main.stderr, 'the branch of HEAD').to.contain('the default branch cannot be deleted');

    const deleted = await site.git.run('push', '--delete', 'origin', BRANCH);
    expect(deleted.code, deleted.stderr).to.equal(0);
    expect(deleted.stderr).to.match(
      /^remote: staging: the branch "live" does not exist in the repository; push it, or bind the environment to another one/m,
    );
    await told(/the branch "live" does not exist/);
    expect(site.engines()).to.deep.equal(before);

    const again = await pushLive();
    expect(again.stderr).to.match(/^remote: staging: nothing to do, 2 manifests as before/m);
    expect((await site.status()).lastError).to.equal(null);
    expect(site.engines()).to.deep.equal(before);
    await nextPushIsApplied(before);
  });

  it('is moved away, a push is refused in words, and all is well once it is back', async () => {
    const before = site.engines();
    const away = `${site.gitdir}.away`;
    renameSync(site.gitdir, away);
    try {
      expect(await told(/there is no repository in its folder/)).to.match(MEND);
      await site.commitChange(`change ${++changes}`);
      const { code, stderr } = await pushLive();
      expect(code).not.to.equal(0);
      expect(stderr).to.match(/^remote: The repository is not in its folder\. Ask an administrator/m);
      expect(site.engines()).to.deep.equal(before);
    } finally {
      renameSync(away, site.gitdir);
    }
    await until(async () => (await site.status()).lastError === null, {
      what: 'the error to go without a push',
      timeoutMs: 15_000,
      everyMs: 50,
    });
    expect(site.engines()).to.deep.equal(before);
    await nextPushIsApplied(before);
  });

  it('has a branch whose file names a commit that is missing, or is empty as after a power failure, all is kept until it is mended', async () => {
    const before = site.engines();
    const good = readFileSync(branchFile(), 'utf8');
    for (const [content, says] of [
      [`${'f'.repeat(40)}\n`, /the repository holds no commit f{40}/],
      ['', /the file refs\/heads\/live .*names no commit/],
    ] as const) {
      writeFileSync(branchFile(), content);
      expect(await told(says)).to.match(MEND);
      const { code, stderr } = await pushLive('--force');
      expect(code, `${says}`).not.to.equal(0);
      expect(stderr).to.match(/^remote: staging: the repository cannot be read: /m);
      expect(site.engines(), `${says}`).to.deep.equal(before);
    }
    writeFileSync(branchFile(), good);
    await nextPushIsApplied(before);
  });

  it('has a damaged object, all is kept until a bare clone takes its place', async () => {
    const before = site.engines();
    const sha = await site.commitChange(`change ${++changes}`);
    const fetched = await runGit(
      ['fetch', '--quiet', site.git.folder, 'main:refs/heads/fetched'],
      site.gitdir,
    );
    expect(fetched.code, fetched.stderr).to.equal(0);
    const tree = (await runGit(['rev-parse', `${sha}^{tree}`], site.gitdir)).stdout.trim();
    const object = join(site.gitdir, 'objects', tree.slice(0, 2), tree.slice(2));
    rmSync(object);
    writeFileSync(object, 'no object');
    writeFileSync(branchFile(), `${sha}\n`);
    expect(await told(new RegExp(`${tree}`))).to.match(MEND);
    expect(site.engines()).to.deep.equal(before);

    // As docs/when-something-goes-wrong.md has it.
    const fresh = `${site.gitdir}.fresh`;
    const cloned = await runGit(['clone', '--quiet', '--bare', site.git.folder, fresh]);
    expect(cloned.code, cloned.stderr).to.equal(0);
    copyFileSync(join(site.gitdir, 'config'), join(fresh, 'config'));
    renameSync(site.gitdir, `${site.gitdir}.damaged`);
    renameSync(fresh, site.gitdir);
    const pushed = await pushLive();
    expect(pushed.code, pushed.stderr).to.equal(0);
    await site.untilApplied(sha);
    await nextPushIsApplied(before);
  });

  it('has let nothing be deleted, and no error unexplained', async () => {
    expect(unexplainedLines(site.controller.output())).to.deep.equal([]);
    const { manifests } = await site.status();
    expect(manifests.map(({ name, ready }) => `${name} ${ready}`).sort()).to.deep.equal([
      'left true',
      'right true',
    ]);
  });
});
