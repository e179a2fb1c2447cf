/** The embedded repository over git's smart HTTP: the real git command against the real server, and requests that are held open. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { GitClient, type GitOutcome, runGit, withCredentials } from '../../support/clients/git-client.ts';
import { type HttpResponse, send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { until } from '../../support/harness/until.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';
import type { TestUser } from '../../support/users/person.ts';

/** Of one user at a time, and how many more may wait. */
const SLOTS = 6;
const WAITING = 16;

/** Processes of git that this one, which the controller runs in, has started for requests. */
function backends(): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      const [, parent] = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return Number(parent) === process.pid && command.includes('http-backend');
    } catch {
      return false;
    }
  }).length;
}

describe('git over HTTP', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let remote: string;
  const clients: GitClient[] = [];

  const tokenOf = async (person: TestUser) =>
    (await person.mutate<{ token: string }>('user.createToken', { name: 'git' })).token;
  const client = (token: string) => {
    const made = new GitClient(withCredentials(remote, 'git', token));
    clients.push(made);
    return made;
  };
  const basic = (user: string, password = '') => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  });
  const refs = (service = 'git-upload-pack') => `${remote}/info/refs?service=${service}`;

  before(async function () {
    this.timeout(30_000);
    remote = test.controller.cloneUrl;
    // The team of the pushing editor must own all of the repository.
    await teams.root.mutate('gitSync.configure', { environmentId: teams.theirs.environmentId, mode: 'off' });
  });
  after(async () => {
    for (const one of clients) await one.remove();
  });

  it('is at /git/config.git below the base URL', () => {
    expect(remote).to.equal(`${test.url}/git/config.git`);
  });

  it('asks for a password with 401 and WWW-Authenticate', async () => {
    for (const headers of [{}, basic('git', 'wrong'), basic('', ''), { authorization: 'Bearer x' }]) {
      const answer = await send(refs(), { headers });
      expect(answer.status).to.equal(401);
      expect(answer.headers['www-authenticate']).to.match(/^Basic realm="Headgate"/);
      expect(answer.text).to.include('personal token');
    }
  });

  it('takes the scheme of the credentials in any case, as RFC 9110 has it', async () => {
    const token = await tokenOf(teams.root);
    for (const scheme of ['basic', 'BASIC', 'Basic']) {
      const authorization = basic('git', token).authorization.replace('Basic', scheme);
      expect((await send(refs(), { headers: { authorization } })).status, scheme).to.equal(200);
    }
  });

  it('tells git-lfs in its own form that no files of it are kept, and its push of the rest goes through', async () => {
    const answer = await send(`${remote}/info/lfs/objects/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.git-lfs+json' },
      body: '{"operation":"upload","objects":[]}',
    });
    expect(answer.status).to.equal(501);
    expect(answer.headers['content-type']).to.match(/^application\/vnd\.git-lfs\+json/);
    expect(answer.json().message).to.match(/keeps no files of git LFS.*git lfs untrack/);
  });

  it('does not take the password of the account, nor the session’s cookie', async () => {
    expect(
      (await send(refs(), { headers: basic(teams.root.email, 'a long enough password') })).status,
    ).to.equal(401);
    expect((await send(refs(), { headers: { cookie: teams.root.cookie } })).status).to.equal(401);
  });

  it('takes a token as the password or as the user name', async () => {
    const token = await tokenOf(teams.editor);
    for (const headers of [
      basic('git', token),
      basic('anybody', token),
      basic(token, ''),
      basic(token, 'x'),
    ]) {
      const answer = await send(refs(), { headers });
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.equal('application/x-git-upload-pack-advertisement');
    }
  });

  it('lets a VIEWER clone and fetch, and not push', async () => {
    const viewer = client(await tokenOf(teams.viewer));
    const cloned = await viewer.clone();
    expect(cloned.code, cloned.stderr).to.equal(0);
    expect((await viewer.run('fetch')).code).to.equal(0);
    await viewer.commit({ 'ours/viewer.yaml': manifest('viewer') });
    const pushed = await viewer.push();
    expect(pushed.code).not.to.equal(0);
    expect(pushed.stderr).to.include('403');
    expect(
      (await send(refs('git-receive-pack'), { headers: basic('git', await tokenOf(teams.viewer)) })).text,
    ).to.include('EDITOR');
    const raw = await send(`${remote}/git-receive-pack`, {
      method: 'POST',
      body: '0000',
      headers: {
        ...basic('git', await tokenOf(teams.viewer)),
        'content-type': 'application/x-git-receive-pack-request',
      },
    });
    expect(raw.status, 'past the advertisement').to.equal(403);
  });

  it('answers 403 to who is in no team of the repository', async () => {
    const token = await tokenOf(teams.stranger);
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      expect((await send(refs(service), { headers: basic('git', token) })).status).to.equal(403);
    }
  });

  it('lets an EDITOR push, and tells in the answer what became of it', async () => {
    const editor = client(await tokenOf(teams.editor));
    await editor.clone();
    await editor.commit({ 'ours/from-editor.yaml': manifest('from editor') }, 'Add a pipeline');
    const pushed = await editor.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
    const remoteLines = pushed.stderr.split('\n').filter((line) => line.startsWith('remote: '));
    expect(remoteLines.join('\n')).to.include('ours').and.include('from editor');
    const list = await teams.viewer.query<{ name: string; isDraft: boolean; commitMessage: string }[]>(
      'pipeline.list',
      {
        environmentId: teams.ours.environmentId,
      },
    );
    expect(list.find((one) => one.name === 'from editor')).to.include({
      isDraft: false,
      commitMessage: 'Add a pipeline',
    });
  });

  it('tells of a manifest that is refused, and takes the push all the same', async () => {
    const editor = client(await tokenOf(teams.editor));
    await editor.clone();
    await editor.commit({ 'ours/broken.yaml': 'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: [\n' });
    const pushed = await editor.push();
    expect(pushed.code).to.equal(0);
    expect(pushed.stderr).to.match(/remote: .*ours\/broken\.yaml/);
    await editor.commit({ 'ours/broken.yaml': null });
    await editor.push();
  });

  it('leaves a push that git itself refuses to git’s own words', async () => {
    const token = await tokenOf(teams.editor);
    const [first, second] = [client(token), client(token)];
    await first.clone();
    await second.clone();
    await first.commit({ 'notes/first.md': 'first\n' });
    expect((await first.push()).code).to.equal(0);
    await second.commit({ 'notes/second.md': 'second\n' });
    const late = await second.push();
    expect(late.code).not.to.equal(0);
    expect(late.stderr).to.match(/! \[rejected\].*fetch first/);
    // Past the client's own check, the server refuses just as plainly.
    const hidden = await second.run('push', 'origin', 'main:refs/headgate/forged');
    expect(hidden.code).not.to.equal(0);
    expect(hidden.stderr).to.match(/\[remote rejected\].*(hidden|deny)/);
  });

  const remoteLines = ({ stderr }: GitOutcome) =>
    stderr.split('\n').flatMap((line) => /^remote: (.*?)\s*$/.exec(line)?.[1] ?? []);

  it('says of a branch that no environment follows that nothing comes of it, and of what is followed no less', async () => {
    const topic = client(await tokenOf(teams.root));
    await topic.clone();
    await topic.commit({ 'notes/topic.md': 'topic\n' });
    const aside = await topic.run('push', 'origin', 'HEAD:refs/heads/topic');
    expect(aside.code, aside.stderr).to.equal(0);
    expect(remoteLines(aside)).to.deep.equal([
      'Headgate: no environment follows topic, nothing is deployed from it; main is followed: open a pull request',
    ]);
    const both = await topic.run('push', 'origin', 'HEAD:main', 'HEAD:refs/heads/topic-2');
    expect(both.stderr)
      .to.match(/remote: ours: /)
      .and.not.include('no environment follows');
  });

  it('says what a pushed tag means, and what the deletion of a branch or tag does', async () => {
    const topic = client(await tokenOf(teams.root));
    await topic.clone();
    const tagged = await topic.run('push', 'origin', 'HEAD:refs/tags/mark', 'HEAD:refs/heads/short-lived');
    expect(remoteLines(tagged)[1]).to.equal(
      'Headgate: the tag mark is stored; no environment follows it, so nothing is deployed. To deploy a tag, bind an environment to it',
    );
    const deleted = await topic.run('push', 'origin', ':refs/tags/mark', ':refs/heads/short-lived');
    expect(deleted.code, deleted.stderr).to.equal(0);
    expect(remoteLines(deleted)).to.deep.equal([
      'Headgate: the branch short-lived is deleted; no environment followed it, so nothing changes',
      'Headgate: the tag mark is deleted; no environment followed it, so nothing changes',
    ]);
  });

  it('refuses to delete the default branch, and says what to do instead', async () => {
    const editor = client(await tokenOf(teams.editor));
    await editor.clone();
    const { code, stderr } = await editor.run('push', 'origin', ':main', 'HEAD:refs/heads/beside');
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/! \[remote rejected\] main \(the default branch cannot be deleted\)/)
      .and.match(/HEAD -> beside \(not pushed with the deletion of the default branch: push it alone\)/)
      .and.match(/remote: Headgate: main is the default branch/)
      .and.match(/remote: .*push a commit without those manifests.*bind the environment to another branch/)
      .and.not.include('denyDeleteCurrent');
    const listed = await editor.run('ls-remote', 'origin');
    expect(listed.stdout).to.include('refs/heads/main').and.not.include('beside');
  });

  it('shows in the answer to a refused push nothing of what another push did meanwhile', async () => {
    const token = await tokenOf(teams.editor);
    const [winner, loser] = [client(token), client(token)];
    await winner.clone();
    await loser.clone();
    await winner.commit({ 'ours/of-the-winner.yaml': manifest('of the winner') });
    await loser.commit({ 'notes/loser.md': 'loser\n' });
    // Between git's look at the branches and its push.
    const hook = join(loser.folder, '.git/hooks/pre-push');
    await writeFile(
      hook,
      `#!/bin/sh\nunset GIT_DIR\ngit -C '${winner.folder}' push --quiet origin main 2>/dev/null\n`,
    );
    await chmod(hook, 0o755);
    const late = await loser.run('push', 'origin', 'main', 'main:refs/heads/of-the-loser');
    expect(late.code).to.equal(1);
    expect(late.stderr)
      .to.match(/! \[remote rejected\] main -> main/)
      .and.match(/\[new branch\]\s+main -> of-the-loser/);
    expect(remoteLines(late).filter((line) => !line.startsWith('error: '))).to.deep.equal([
      'Headgate: no environment follows of-the-loser, nothing is deployed from it; main is followed: open a pull request',
    ]);
    await rm(hook);
    const again = await loser.run('push', 'origin', 'main:refs/headgate/forged');
    expect([again.code, remoteLines(again)]).to.deep.equal([1, []]);
  });

  it('names the Git page of an environment whose pass takes long', async () => {
    const editor = client(await tokenOf(teams.editor));
    await editor.clone();
    await editor.commit({ 'notes/slow.md': 'slow\n' });
    const { environmentId } = teams.ours;
    const held = await test.db.transaction();
    try {
      // What passes of the environment take turns by.
      await held.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [
        `git pass of ${environmentId}`,
      ]);
      const pushed = await editor.push();
      expect(pushed.code, pushed.stderr).to.equal(0);
      expect(remoteLines(pushed)).to.deep.equal([
        `ours: still working; follow it at ${test.controller.url}/e/${environmentId}/git`,
      ]);
    } finally {
      await held.rollback();
    }
  });

  it('calls a followed tag that is gone a tag', async () => {
    const editor = client(await tokenOf(teams.editor));
    const configure = { environmentId: teams.ours.environmentId, mode: 'sync', path: 'ours' };
    await editor.clone();
    try {
      await teams.root.mutate('gitSync.configure', { ...configure, branch: 'v1' });
      const tagged = await editor.run('push', 'origin', 'HEAD:refs/tags/v1');
      expect(remoteLines(tagged).join('\n')).to.match(/^ours/);
      const gone = await editor.run('push', 'origin', ':refs/tags/v1');
      expect(remoteLines(gone)).to.deep.equal([
        'ours: the tag "v1" does not exist in the repository any more; push it again, or bind the environment to another one. Everything runs on as it was',
      ]);
    } finally {
      await teams.root.mutate('gitSync.configure', { ...configure, branch: 'main' });
    }
  });

  it('keeps the refs of its own out of sight', async () => {
    const listed = await runGit(['ls-remote', '--', withCredentials(remote, 'git', teams.token)]);
    expect(listed.stdout).to.include('refs/heads/main').and.not.include('refs/headgate');
  });

  it('answers 404 to every other path', async () => {
    for (const path of [
      '/git/other.git/info/refs?service=git-upload-pack',
      '/git/config.git',
      '/git/config.git/config',
      '/git/config.git/..%2f..%2fsecret-key',
      '/git/..%2fconfig.git/info/refs?service=git-upload-pack',
      '/git/config.git/objects/info/packs',
      '/git/',
    ]) {
      const answer = await send(`${test.url}${path}`, { headers: basic('git', teams.token) });
      expect(answer.status, path).to.equal(404);
    }
  });

  it('does not speak the dumb protocol', async () => {
    for (const path of [
      'info/refs',
      'info/refs?service=',
      'info/refs?service=git-upload-archive',
      'info/refs?service=git-upload-pack&service=git-receive-pack',
      'HEAD',
    ]) {
      const answer = await send(`${remote}/${path}`, { headers: basic('git', teams.token) });
      expect(answer.status, path).to.be.within(400, 404);
      expect(answer.text, path).not.to.match(/refs\/heads|[0-9a-f]{40}/);
    }
  });

  it('refuses a token that was deleted or has expired, and that of a locked user', async () => {
    const asked = async (token: string) => (await send(refs(), { headers: basic('git', token) })).status;
    const made = await teams.editor.mutate<{ id: string; token: string }>('user.createToken', {
      name: 'short',
    });
    expect(await asked(made.token)).to.equal(200);
    await test
      .db('personal_tokens')
      .where({ id: made.id })
      .update({ expires_at: new Date(Date.now() - 1) });
    expect(await asked(made.token)).to.equal(401);
    const other = await teams.editor.mutate<{ id: string; token: string }>('user.createToken', {
      name: 'other',
    });
    await test.db('users').where({ email: teams.editor.email }).update({ locked_at: new Date() });
    expect(await asked(other.token)).to.equal(401);
    await test.db('users').where({ email: teams.editor.email }).update({ locked_at: null });
    expect(await asked(other.token)).to.equal(200);
    await teams.editor.mutate('user.deleteToken', { id: other.id });
    expect(await asked(other.token)).to.equal(401);
  });

  it('deletes no token of somebody else', async () => {
    const made = await teams.editor.mutate<{ id: string; token: string }>('user.createToken', {
      name: 'mine',
    });
    expect((await teams.admin.call('mutation', 'user.deleteToken', { id: made.id })).status).to.equal(404);
    expect((await send(refs(), { headers: basic('git', made.token) })).status).to.equal(200);
  });

  it('leaves no token in its log', () => {
    expect(test.log()).not.to.match(/hgp_[0-9a-z]{26}_[0-9a-f]/);
  });

  describe('git requests that are held open', function () {
    this.timeout(60_000);
    let remote: string;
    let editor: string;
    let viewer: string;
    const held: ClientRequest[] = [];

    const tokenOf = async (person: TestUser) =>
      (await person.mutate<{ token: string }>('user.createToken', { name: 'git' })).token;
    const basic = (token: string) => `Basic ${Buffer.from(`git:${token}`).toString('base64')}`;
    /** What a push begins with that makes these refs. */
    const wanting = (refs: readonly string[], sha = 'a'.repeat(40)): string => {
      const lines = refs.map(
        (ref, n) => `${'0'.repeat(40)} ${sha} ${ref}${n === 0 ? '\0report-status' : ''}`,
      );
      return `${lines.map((line) => (line.length + 4).toString(16).padStart(4, '0') + line).join('')}0000`;
    };
    /** Those who hold requests open go, and the controller has heard of it. */
    async function leave(): Promise<void> {
      for (const call of held.splice(0)) call.destroy();
      await send(`${test.url}/healthz`);
    }
    /** A request whose body does not come to its end. */
    function hold(service: 'git-upload-pack' | 'git-receive-pack', body: string): void {
      const call = request(`${remote}/${service}`, {
        method: 'POST',
        agent: false,
        headers: {
          authorization: basic(editor),
          'content-type': `application/x-${service}-request`,
          'transfer-encoding': 'chunked',
        },
      });
      call.on('error', () => {});
      call.write(body);
      held.push(call);
    }

    before(async () => {
      remote = test.controller.cloneUrl;
      editor = await tokenOf(teams.editor);
      viewer = await tokenOf(teams.viewer);
    });
    after(async () => {
      for (const call of held) call.destroy();
    });

    it('are few of one user, who then waits or is told when to come again, and others do not wait', async () => {
      for (let n = 0; n < SLOTS / 2; n += 1) {
        hold('git-upload-pack', '0014command=ls-refs\n');
        // A push that has said what it wants, and whose pack does not come.
        hold('git-receive-pack', wanting([`refs/heads/held-${n}`]));
      }
      await until(() => backends() === SLOTS, { what: () => `${SLOTS} processes: ${backends()}` });
      const other = await runGit(['ls-remote', '--', withCredentials(remote, 'git', viewer)]);
      expect(other.code, other.stderr).to.equal(0);

      let refused: HttpResponse | null = null;
      const asked = Array.from({ length: WAITING + 1 }, async () => {
        const url = `${remote}/info/refs?service=git-upload-pack`;
        const answer = await send(url, { headers: { authorization: basic(editor) } });
        if (answer.status === 429) refused = answer;
        return answer.status;
      });
      await until(() => refused !== null, { what: 'the one too many to be refused', everyMs: 5 });
      expect((refused as HttpResponse | null)?.headers['retry-after']).to.equal('10');
      const listed = await runGit(['ls-remote', '--', withCredentials(remote, 'git', editor)]);
      expect(listed.code).not.to.equal(0);
      expect(listed.stderr)
        .to.match(/remote: You have 6 git requests under way, and no more are taken; try again in 10 s/)
        .and.include('429');
      expect(backends()).to.equal(SLOTS);

      for (const call of held.splice(0)) call.destroy();
      const statuses = await Promise.all(asked);
      expect(statuses.sort()).to.deep.equal([...Array(WAITING).fill(200), 429]);
      await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
    });

    for (const table of ['personal_tokens', 'git_bindings', 'repository_activity'])
      it(`give their slots back where the client goes while ${table} is asked`, async () => {
        await test.db.transaction(async (tx) => {
          await tx.raw('LOCK TABLE ?? IN ACCESS EXCLUSIVE MODE', [table]);
          for (let n = 0; n < SLOTS; n += 1)
            if (n % 2 === 0 && table !== 'repository_activity')
              hold('git-upload-pack', '0014command=ls-refs\n');
            else hold('git-receive-pack', wanting([`refs/heads/left-${n}`]));
          await untilWaiting(test.db, SLOTS);
          await leave();
        });
        const listed = await runGit(['ls-remote', '--', withCredentials(remote, 'git', editor)]);
        expect(listed.code, listed.stderr).to.equal(0);
        await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
      });

    it('leave nothing of a pack behind that breaks off', async () => {
      const objects = join(test.controller.gitdir, 'objects');
      const unpacked = () => readdirSync(objects).filter((name) => name.startsWith('tmp_objdir'));
      hold('git-receive-pack', `${wanting(['refs/heads/half'])}PACK\0\0\0\x02\0\0\0\x05`);
      await until(() => unpacked().length === 1, { what: 'git to begin' });
      await leave();
      await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
      expect(unpacked()).to.deep.equal([]);
    });

    it('are done to the end where a push is all there and its client goes, and leave no lock', async () => {
      const { gitdir } = test.controller;
      const head = (await runGit(['rev-parse', 'refs/heads/main'], gitdir)).stdout.trim();
      const folder = join(gitdir, 'refs', 'heads', 'many');
      const made = () => (existsSync(folder) ? readdirSync(folder) : []);
      const names = Array.from({ length: 1_500 }, (_, n) => `refs/heads/many/${n}`);
      hold('git-receive-pack', wanting(names, head));
      // An empty pack, with its checksum: all that is pushed is there.
      held[0]?.end(Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex'));
      await until(() => made().length > 20, { what: 'the first refs', everyMs: 1 });
      await leave();
      await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
      expect(made()).to.have.lengthOf(names.length);
      expect(made().filter((name) => name.endsWith('.lock'))).to.deep.equal([]);
    });
  });
});
