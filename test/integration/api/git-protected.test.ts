/** A branch that takes merged pull requests only: the real git command against the real server. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { git } from '../../support/clients/fast-import.ts';
import { GitClient, withCredentials } from '../../support/clients/git-client.ts';
import { send } from '../../support/clients/http.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

const NOTHING = '0'.repeat(40);

describe('a push to a protected branch', function () {
  this.timeout(60_000);
  const test = useController();
  const places = useTestEnvironments(test);
  let place: GitBindingScene;
  let token: string;
  let client: GitClient;

  before(async () => {
    place = await bindToGit(test, places, { 'pipelines/web.yaml': idleManifest('web') });
    ({ token } = await places.editor.mutate<{ token: string }>('user.createToken', { name: 'git' }));
  });
  beforeEach(async () => {
    await test.db('git_bindings').update({ protect_branch: true });
    client = new GitClient(withCredentials(test.controller.cloneUrl, 'git', token));
    await client.clone();
  });
  afterEach(() => client.remove());

  const names = () => git(place.gitdir, 'for-each-ref', '--format=%(refname)');

  it('is refused, and git prints why', async () => {
    const before = place.head();
    await client.commit({ 'notes.md': 'by hand\n' });
    const { code, stderr } = await client.push();
    expect(code).to.equal(1);
    expect(stderr).to.match(/! \[remote rejected\] main -> main \(protected: open a pull request\)/);
    expect(place.head()).to.equal(before);
  });

  it('is refused by force and as a deletion, too', async () => {
    const before = place.head();
    await client.run('commit', '--quiet', '--amend', '--message', 'another beginning');
    for (const args of [
      ['push', '--force', 'origin', 'HEAD:main'],
      ['push', 'origin', '--delete', 'main'],
      ['push', 'origin', ':refs/heads/main'],
    ]) {
      const { code, stderr } = await client.run(...args);
      expect([code, stderr.includes('protected: open a pull request')], stderr).to.deep.equal([1, true]);
    }
    expect(place.head()).to.equal(before);
  });

  it('takes no other branch with it, and says that those may be pushed alone', async () => {
    await client.commit({ 'notes.md': 'by hand\n' });
    const both = await client.run('push', 'origin', 'HEAD:main', 'HEAD:refs/heads/beside');
    expect(both.code).to.equal(1);
    expect(both.stderr).to.match(/HEAD -> beside \(not pushed with a protected branch: push it alone\)/);
    expect(names()).not.to.contain('beside');
    const alone = await client.run('push', 'origin', 'HEAD:refs/heads/beside', 'HEAD:refs/tags/mine');
    expect(alone.code, alone.stderr).to.equal(0);
    expect(names()).to.contain('refs/heads/beside').and.contain('refs/tags/mine');
  });

  it('is refused with a pack of many megabytes as well', async () => {
    const before = place.head();
    const bytes = Buffer.alloc(6 * 1024 * 1024);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeInt32LE((at * 2_654_435_761) | 0, at);
    writeFileSync(join(client.folder, 'large.bin'), bytes);
    await client.commit({ 'notes.md': 'by hand\n' });
    const { code, stderr } = await client.push();
    expect([code, stderr.includes('protected: open a pull request')], stderr).to.deep.equal([1, true]);
    expect(place.head()).to.equal(before);
    const aside = await client.run('push', 'origin', 'HEAD:refs/heads/large');
    expect(aside.code, aside.stderr).to.equal(0);
  });

  it('is the way to make the branch, where there is none yet', async () => {
    await test.db('git_bindings').update({ ref: 'release' });
    try {
      await client.commit({ 'notes.md': 'first\n' });
      const first = await client.run('push', 'origin', 'HEAD:refs/heads/release');
      expect(first.code, first.stderr).to.equal(0);
      await client.commit({ 'notes.md': 'second\n' });
      const second = await client.run('push', 'origin', 'HEAD:refs/heads/release');
      expect(second.stderr).to.match(/protected: open a pull request/);
    } finally {
      await test.db('git_bindings').update({ ref: 'main' });
    }
  });

  it('is a pull request instead, which is merged past it', async () => {
    await client.commit({ [`${place.folder}/pipelines/more.yaml`]: idleManifest('more') });
    const pushed = await client.run('push', 'origin', 'HEAD:refs/heads/more');
    expect(pushed.code, pushed.stderr).to.equal(0);
    const { environmentId } = place;
    const { number } = await places.editor.mutate<{ number: number }>('pullRequest.open', {
      ...{ environmentId, branch: 'more', title: 'More' },
    });
    const headSha = place.head('more');
    await places.editor.mutate('pullRequest.merge', { environmentId, number, method: 'rebase', headSha });
    await until(async () => (await test.db('pipelines').where({ name: 'more' })).length === 1, {
      what: 'it was applied',
    });
  });

  it('is told from one to a tag that is followed by its full name, which is protected too', async () => {
    const row = test.db('git_bindings').where({ repository_url: 'embedded', mode: 'sync' });
    const first = await client.run('push', 'origin', 'HEAD:refs/tags/v1', 'HEAD:refs/heads/v1');
    expect(first.code, first.stderr).to.equal(0);
    await row.clone().update({ ref: 'refs/tags/v1' });
    try {
      await client.run('commit', '--quiet', '--allow-empty', '--message', 'on');
      const branch = await client.run('push', 'origin', 'HEAD:refs/heads/v1');
      expect(branch.code, branch.stderr).to.equal(0);
      expect(branch.stderr).to.contain('no environment follows v1');
      const tag = await client.run('push', '--force', 'origin', 'HEAD:refs/tags/v1');
      expect([tag.code, tag.stderr.includes('protected: open a pull request')], tag.stderr).to.deep.equal([
        1,
        true,
      ]);
      await row.clone().update({ protect_branch: false });
      const free = await client.run('push', '--force', 'origin', 'HEAD:refs/tags/v1');
      expect(free.code, free.stderr).to.equal(0);
      expect(free.stderr).to.not.contain('no environment follows');
    } finally {
      await row.clone().update({ ref: 'main' });
      await client.run('push', 'origin', ':refs/heads/v1', ':refs/tags/v1');
    }
  });

  it('goes through once the branch is not protected any more', async () => {
    await test.db('git_bindings').update({ protect_branch: false });
    await client.commit({ 'free.md': 'by hand\n' });
    const { code, stderr } = await client.push();
    expect(code, stderr).to.equal(0);
  });

  describe('by another client than git', () => {
    const post = (body: Buffer, headers: Record<string, string> = {}) =>
      send(`${test.controller.cloneUrl}/git-receive-pack`, {
        method: 'POST',
        body,
        headers: {
          authorization: `Basic ${Buffer.from(`git:${token}`).toString('base64')}`,
          'content-type': 'application/x-git-receive-pack-request',
          ...headers,
        },
      });
    const line = (text: string) =>
      Buffer.from(`${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`);
    const deletion = (capabilities: string, sha = place.head()) =>
      Buffer.concat([line(`${sha} ${NOTHING} refs/heads/main\0${capabilities}`), Buffer.from('0000')]);

    it('is refused in the form that the client reads', async () => {
      const before = place.head();
      const plain = await post(deletion('report-status delete-refs'));
      expect(plain.text).to.equal(
        '000eunpack ok\n0036ng refs/heads/main protected: open a pull request\n0000',
      );
      const silent = await post(deletion('delete-refs'));
      expect([silent.status, silent.text]).to.deep.equal([403, 'main is protected: open a pull request\n']);
      const zipped = await post(gzipSync(deletion('report-status')), { 'content-encoding': 'gzip' });
      expect(zipped.text).to.contain('protected');
      expect(place.head()).to.equal(before);
    });

    it('is refused where git would read it otherwise than it was read here', async () => {
      const before = place.head();
      const upper = await post(deletion('report-status', place.head().toUpperCase()));
      expect(upper.text).to.contain('protected');
      const certificate = Buffer.concat([
        ...['push-cert\0report-status', 'certificate version 0.1\n', 'pusher x\n', '\n'].map(line),
        ...[`${before} ${NOTHING} refs/heads/main\n`, 'push-cert-end\n'].map(line),
        Buffer.from('0000'),
      ]);
      for (const body of [certificate, Buffer.from('zzzz'), Buffer.alloc(0), line('hello')])
        expect((await post(body)).status).to.equal(400);
      expect((await post(Buffer.from('no gzip'), { 'content-encoding': 'gzip' })).status).to.equal(400);
      expect(
        (await post(Buffer.concat(Array(30_000).fill(line(`${before} ${before} refs/heads/x`))))).status,
      ).to.equal(413);
      expect(place.head()).to.equal(before);
    });
  });
});
