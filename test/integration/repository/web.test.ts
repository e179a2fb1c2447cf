/** Mirrors of git servers over HTTP(S): the real git on both sides. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { descends, openRepository } from '../../../reconcilers/source/index.ts';
import { git } from '../../support/clients/fast-import.ts';
import { AUTHORITY } from '../../support/fixtures/certificates.ts';
import { patient } from '../../support/harness/patience.ts';
import { commandLinesDuring, processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { headOf, MirrorScene, refusal } from '../../support/scenes/mirrors.ts';
import { GitServer, useGitServer } from '../../support/servers/git-server.ts';

const never = new AbortController().signal;
const TOKEN = 'glpat-S3cret/with+odd "chars\'';
const credentials = { type: 'basic', username: 'bot', password: TOKEN } as const;

describe('a repository of a git server over HTTP', () => {
  let server: GitServer;
  let scene: MirrorScene;
  beforeEach(async () => {
    server = await GitServer.start();
    server.create();
    scene = new MirrorScene({ deadlineMs: 20_000 });
  });
  afterEach(async () => {
    await server.stop();
    scene.close();
  });

  it('is copied at a depth of one commit, and followed as it moves', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const second = server.commit({ files: { 'a.yaml': 'a: 2' } });
    const handle = scene.of(server.url());
    expect(handle.kind).to.equal('remote');
    expect(await handle.fetch(never)).to.deep.equal({ moved: true });
    expect(headOf(handle)).to.equal(second);
    expect(git(handle.gitdir, 'rev-list', '--count', 'main')).to.equal('1');
    const third = server.commit({ files: { 'b.yaml': 'b: 1' } });
    expect(await handle.fetch(never)).to.deep.equal({ moved: true });
    expect(headOf(handle)).to.equal(third);
    expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 2');
  });

  it('is not downloaded again while its branch stands still', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = scene.of(server.url());
    await handle.fetch(never);
    const { downloads } = server;
    expect(await handle.fetch(never)).to.deep.equal({ moved: false });
    expect(server.downloads).to.equal(downloads);
  });

  it('leaves what is larger than 2 MB with the server', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1', 'large.bin': Buffer.alloc(5_000_000, 'x') } });
    const handle = scene.of(server.url());
    await handle.fetch(never);
    expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 1');
    const missing = git(handle.gitdir, 'rev-list', '--objects', '--missing=print', 'main');
    expect(missing).to.match(/^\?[0-9a-f]{40}$/m);
  });

  it('is copied from a server that knows no partial copies', async () => {
    git(server.gitdir(), 'config', 'uploadpack.allowFilter', 'false');
    const sha = server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = scene.of(server.url());
    await handle.fetch(never);
    expect(headOf(handle)).to.equal(sha);
  });

  it('has the commits from the applied one to the newest, however many there are', async () => {
    const applied = server.commit({ files: { 'a.yaml': 'a: 0' } });
    for (let at = 1; at <= 60; at += 1) server.commit({ files: { 'a.yaml': `a: ${at}` } });
    const handle = scene.of(server.url(), { appliedCommit: { sha: applied } });
    await handle.fetch(never);
    const repository = openRepository(handle.gitdir, { idleMs: 1 });
    expect(await descends(repository, headOf(handle), applied)).to.equal(true);
    const { downloads } = server;
    await handle.fetch(never);
    expect(server.downloads).to.equal(downloads);
    await repository.close();
  });

  it('asks for no further commits where the newest follows the applied one', async () => {
    const applied = server.commit({ files: { 'a.yaml': 'a: 0' } });
    await scene.of(server.url()).fetch(never);
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const { downloads } = server;
    await scene.of(server.url(), { appliedCommit: { sha: applied } }).fetch(never);
    expect(server.downloads).to.equal(downloads + 1);
  });

  it('follows a branch that was forced elsewhere, and says that no path leads there', async () => {
    const applied = server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = scene.of(server.url(), { appliedCommit: { sha: applied } });
    await handle.fetch(never);
    const unrelated = server.commit({ files: { 'b.yaml': 'b: 1' }, orphan: true });
    await handle.fetch(never);
    expect(headOf(handle)).to.equal(unrelated);
    const repository = openRepository(handle.gitdir, { idleMs: 1 });
    expect(await descends(repository, unrelated, applied)).to.equal(false);
    await repository.close();
  });

  it('forgets a branch that was deleted, and finds a tag of its name', async () => {
    const sha = server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = scene.of(server.url());
    await handle.fetch(never);
    git(server.gitdir(), 'update-ref', '-d', 'refs/heads/main');
    expect(await handle.fetch(never)).to.deep.equal({ moved: true });
    expect(git(handle.gitdir, 'for-each-ref')).to.equal('');
    git(server.gitdir(), 'update-ref', 'refs/tags/main', sha);
    await handle.fetch(never);
    expect(headOf(handle, 'refs/tags/main')).to.equal(sha);
  });

  it('brings another branch or a commit by its id where one is asked for', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const other = server.commit({ branch: 'other', files: { 'a.yaml': 'a: 2' } });
    const older = server.commit({ branch: 'third', files: { 'a.yaml': 'a: 3' } });
    const handle = scene.of(server.url());
    await handle.fetch(never, 'other');
    expect(headOf(handle, 'refs/heads/other')).to.equal(other);
    await handle.fetch(never, older);
    expect(git(handle.gitdir, 'show', `${older}:a.yaml`)).to.equal('a: 3');
  });

  it('is one copy and one download for bindings that look at the same time', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const one = scene.of(server.url(), { id: 'one' });
    const two = scene.of(server.url(), { id: 'two' });
    await Promise.all([one.fetch(never), two.fetch(never)]);
    expect(one.gitdir).to.equal(two.gitdir);
    expect(server.downloads).to.equal(1);
    expect(scene.mirrors()).to.have.length(1);
  });

  it('is another copy for a binding with other credentials', async () => {
    server.user = { name: 'bot', password: TOKEN };
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const good = scene.of(server.url(), { credentials });
    const bad = scene.of(server.url(), { credentials: { ...credentials, password: 'wrong' } });
    await good.fetch(never);
    expect(await refusal(bad.fetch(never))).to.match(/does not accept the user name and token/);
    expect(existsSync(bad.gitdir)).to.equal(false);
  });

  describe('takes a push', () => {
    let sha: string;
    beforeEach(() => {
      sha = server.commit({ files: { 'a.yaml': 'a: 1', 'large.bin': Buffer.alloc(3_000_000, 'x') } });
    });

    it('of a commit that was made in the copy', async () => {
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const made = commitOn(handle.gitdir, sha);
      const update = { ref: 'refs/heads/main', sha: made, expect: sha };
      expect(await handle.push(update, never)).to.equal('ok');
      expect(git(server.gitdir(), 'rev-parse', 'main')).to.equal(made);
      expect(headOf(handle)).to.equal(made);
      expect(await handle.fetch(never)).to.deep.equal({ moved: false });
    });

    it('and rejects it where somebody else was faster, whose commit stays', async () => {
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const made = commitOn(handle.gitdir, sha);
      const theirs = server.commit({ files: { 'b.yaml': 'b: 1' } });
      const update = { ref: 'refs/heads/main', sha: made, expect: sha };
      expect(await handle.push(update, never)).to.equal('rejected');
      expect(git(server.gitdir(), 'rev-parse', 'main')).to.equal(theirs);
    });

    it('of a new branch, which must not exist', async () => {
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const made = commitOn(handle.gitdir, sha);
      const update = { ref: 'refs/heads/headgate/change', sha: made, expect: null };
      expect(await handle.push(update, never)).to.equal('ok');
      expect(await handle.push({ ...update, sha: commitOn(handle.gitdir, sha) }, never)).to.equal('rejected');
    });

    it('unless the server forbids it', async () => {
      const hook = join(server.gitdir(), 'hooks/pre-receive');
      writeFileSync(hook, '#!/bin/sh\necho protected >&2; exit 1\n', { mode: 0o755 });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const update = { ref: 'refs/heads/main', sha: commitOn(handle.gitdir, sha), expect: sha };
      expect(await refusal(handle.push(update, never))).to.match(
        /refuses the change of refs\/heads\/main: .*pre-receive hook declined/,
      );
    });
  });

  describe('tells what is wrong and what to do', () => {
    beforeEach(() => {
      server.commit({ files: { 'a.yaml': 'a: 1' } });
    });
    const ANSWERS: readonly [number, Record<string, string>, RegExp][] = [
      [401, {}, /requires credentials; give the binding a user name and a token/],
      [403, {}, /denies them this repository/],
      [404, {}, /has no repository .* compare the address/],
      [429, { 'Retry-After': '120' }, /asked too often/],
      [500, {}, /has an internal error \(status 500\)/],
      [
        301,
        { Location: 'http://169.254.169.254/latest' },
        /redirects to http:\/\/169\.254\.169\.254, which is not followed/,
      ],
    ];
    it('where it answers with an error or leads elsewhere, to the question for refs and in the download', async () => {
      for (const [status, headers, message] of ANSWERS) {
        // Copies of their own: one may have been told to wait.
        const handle = scene.of(server.url(), { knownHosts: `${status}` });
        server.mischief = () => ({ status, headers });
        expect(await refusal(handle.fetch(never)), `${status}`).to.match(message);
        const again = scene.of(server.url(), { knownHosts: `${status} again` });
        server.mischief = ({ fetch }) => (fetch ? { status, headers } : null);
        expect(await refusal(again.fetch(never)), `${status}`).to.match(
          status === 301 ? /redirects to another address/ : message,
        );
      }
    });

    it('and leaves a server alone as long as that has asked for', async () => {
      const handle = scene.of(server.url());
      server.mischief = () => ({ status: 429, headers: { 'Retry-After': '120' } });
      await refusal(handle.fetch(never));
      const asked = server.asked.length;
      expect(await refusal(handle.fetch(never))).to.match(/asked too often/);
      expect(server.asked.length).to.equal(asked);
    });

    it('where nobody listens, or nobody knows the name', async () => {
      const url = server.url();
      await server.stop();
      expect(await refusal(scene.of(url).fetch(never))).to.match(
        /^localhost cannot be reached: nothing answers there, or .* private/,
      );
      expect(scene.log, 'the reason').to.include('ECONNREFUSED');
      expect(await refusal(scene.of('http://nowhere.invalid/x.git').fetch(never))).to.match(
        /^nowhere\.invalid cannot be reached: nothing answers there, or .* private/,
      );
      server = await GitServer.start();
    });

    it('where the operator does not allow its address, and then it is not asked', async () => {
      scene.close();
      scene = new MirrorScene({ privateTargets: [] });
      const url = server.url();
      const said = [
        await refusal(scene.of(url).fetch(never)),
        await refusal(scene.of(url).heads(['main'], never)),
        await refusal(scene.of(url.replace('localhost', '127.0.0.1')).fetch(never)),
      ].map((text) => text.replace('127.0.0.1', 'localhost'));
      expect(new Set(said)).to.have.property('size', 1);
      expect(said[0]).to.match(/^localhost cannot be reached: nothing answers there, or .* private/);
      expect(server.asked).to.deep.equal([]);
      expect(scene.log, 'the reason').to.include('not in HEADGATE_PRIVATE_TARGETS');
    });

    it('where something else than git answers', async () => {
      server.mischief = () => ({ status: 200, headers: { 'Content-Type': 'text/html' } });
      expect(await refusal(scene.of(server.url()).fetch(never))).to.match(/is not git/);
    });

    it('where the answer breaks off in the middle', async () => {
      server.mischief = ({ fetch }) => (fetch ? 'break' : null);
      const handle = scene.of(server.url());
      expect(await refusal(handle.fetch(never))).to.match(/localhost/);
      server.mischief = () => null;
      expect(await handle.fetch(never)).to.deep.equal({ moved: true });
    });

    for (const mischief of ['hang', 'drip'] as const) {
      it(`where the answer to the question for refs ${mischief}s`, async () => {
        server.commit({ files: { 'a.yaml': 'a: 1' } });
        scene.close();
        scene = new MirrorScene({ deadlineMs: 1_500 });
        const handle = scene.of(server.url());
        server.mischief = ({ fetch }) => (fetch ? null : mischief);
        const began = performance.now();
        expect(await refusal(handle.fetch(never))).to.match(
          /^localhost cannot be reached: nothing answers there, or .* private/,
        );
        expect(performance.now() - began).to.be.lessThan(patient(15_000));
        expect(server.downloads).to.equal(0);
      });

      it(`where the download ${mischief}s: it ends at its deadline, and nothing of it is left`, async () => {
        scene.close();
        scene = new MirrorScene({ deadlineMs: 1_500 });
        server.mischief = ({ fetch }) => (fetch ? mischief : null);
        const handle = scene.of(server.url());
        const began = performance.now();
        expect(await refusal(handle.fetch(never))).to.match(/too slow: git was not done after 2 seconds/);
        expect(performance.now() - began).to.be.lessThan(patient(15_000));
        expect(scene.runs()).to.deep.equal([]);
        expect(processesNaming(handle.gitdir)).to.deep.equal([]);
      });
    }
  });

  it('gives up what nobody waits for any more, with all its processes', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    server.mischief = ({ fetch }) => (fetch ? 'hang' : null);
    const handle = scene.of(server.url());
    const gone = new AbortController();
    const fetching = handle.fetch(gone.signal);
    fetching.catch(() => {});
    await until(() => server.downloads === 1, { what: 'the download' });
    gone.abort(new Error('the pass was ended'));
    expect(await refusal(fetching)).to.equal('the pass was ended');
    expect(processesNaming(handle.gitdir)).to.deep.equal([]);
  });

  describe('is made anew', () => {
    for (const [what, damage] of [
      ['an empty object', (gitdir: string) => rmSync(join(gitdir, 'objects/pack'), { recursive: true })],
      ['a broken configuration', (gitdir: string) => writeFileSync(join(gitdir, 'config'), '[core\n')],
      [
        'a lock that a dead process has left',
        (gitdir: string) => writeFileSync(join(gitdir, 'shallow.lock'), ''),
      ],
      ['no HEAD', (gitdir: string) => rmSync(join(gitdir, 'HEAD'))],
    ] as const) {
      it(`where the copy has ${what}`, async () => {
        server.commit({ files: { 'a.yaml': 'a: 1' } });
        const handle = scene.of(server.url());
        await handle.fetch(never);
        damage(handle.gitdir);
        const sha = server.commit({ files: { 'a.yaml': 'a: 2' } });
        await handle.fetch(never);
        expect(headOf(handle)).to.equal(sha);
        expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 2');
      });
    }

    it('where whoever reads it has found it damaged', async () => {
      server.commit({ files: { 'a.yaml': 'a: 1' } });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      rmSync(join(handle.gitdir, 'objects/pack'), { recursive: true });
      handle.distrust();
      await handle.fetch(never);
      expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 1');
    });
  });

  it('is removed once no binding has used it for an hour', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const binding = scene.binding(server.url());
    const handle = scene.repositories.of(binding);
    await handle.fetch(never);
    const old = new Date(Date.now() - 2 * 60 * 60_000);
    utimesSync(handle.gitdir, old, old);
    await scene.repositories.sweep([binding]);
    expect(scene.mirrors()).to.have.length(1);
    await scene.repositories.sweep([]);
    expect(scene.mirrors()).to.have.length(0);
  });

  it('stays small: many packs become one', async () => {
    server.commit({ files: { 'a.yaml': 'a: 0' } });
    const handle = scene.of(server.url());
    await handle.fetch(never);
    const local = (args: string[], input: string) =>
      execFileSync('git', ['-C', handle.gitdir, ...args], { input, encoding: 'utf8' }).trim();
    for (let at = 0; at < 45; at += 1) {
      const oid = local(['hash-object', '-w', '--stdin'], `a: ${at}`);
      local(['pack-objects', '-q', 'objects/pack/pack'], `${oid}\n`);
    }
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    await handle.fetch(never);
    const packs = git(handle.gitdir, 'count-objects', '-v');
    expect(Number(/packs: (\d+)/.exec(packs)?.[1])).to.be.lessThan(20);
    expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 1');
  });

  it('lets no credential be seen while it is used and after', async () => {
    server.user = { name: 'bot', password: TOKEN };
    const sha = server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = scene.of(server.url(), { credentials });
    const seen = await commandLinesDuring(async () => {
      await handle.fetch(never);
      await handle.push({ ref: 'refs/heads/new', sha, expect: null }, never);
    });
    server.user = { name: 'bot', password: 'another' };
    const said = await refusal(handle.fetch(never, 'new'));
    const pushed = await refusal(handle.push({ ref: 'refs/heads/x', sha, expect: null }, never));
    expect(seen.size).to.be.greaterThan(3);
    const everything = [said, pushed, scene.log, [...seen].join('\n'), filesBelow(scene.root)].join('\n');
    for (const form of [
      TOKEN,
      encodeURIComponent(TOKEN),
      Buffer.from(`bot:${TOKEN}`).toString('base64'),
      Buffer.from(TOKEN).toString('base64'),
      TOKEN.replaceAll("'", "'\\''"),
      'S3cret',
    ])
      expect(everything).not.to.include(form);
  });
});

describe('a repository of a git server over HTTPS', () => {
  const server = useGitServer({ tls: true, user: { name: 'bot', password: TOKEN } });
  let scene: MirrorScene;
  beforeEach(() => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    scene = new MirrorScene({ deadlineMs: 20_000 });
  });
  afterEach(async () => {
    scene.close();
  });

  it('is read under a private authority that the binding names', async () => {
    const handle = scene.of(server.url(), { credentials, caCertificate: AUTHORITY });
    await handle.fetch(never);
    expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 1');
    expect(readFileSync(join(handle.gitdir, 'config'), 'utf8')).not.to.include('bot');
  });

  it('is refused without that authority, and under a name that the certificate lacks', async () => {
    expect(await refusal(scene.of(server.url(), { credentials }).fetch(never))).to.match(
      /the certificate of localhost is not trusted \(\w+\); give the authority/,
    );
    const elsewhere = server.url().replace('localhost', '127.0.0.2');
    expect(
      await refusal(scene.of(elsewhere, { credentials, caCertificate: AUTHORITY }).fetch(never)),
    ).to.match(/cannot be reached|certificate of 127\.0\.0\.2/);
  });
});

function commitOn(gitdir: string, parent: string): string {
  const file = `change-${Math.random().toString(36).slice(2)}.yaml`;
  const blob = execFileSync('git', [`--git-dir=${gitdir}`, 'hash-object', '-w', '--stdin'], {
    input: file,
    encoding: 'utf8',
  }).trim();
  const tree = git(gitdir, 'ls-tree', parent);
  const made = execFileSync('git', [`--git-dir=${gitdir}`, 'mktree', '--missing'], {
    input: `${tree}\n100644 blob ${blob}\t${file}\n`,
    encoding: 'utf8',
  }).trim();
  return execFileSync('git', [`--git-dir=${gitdir}`, 'commit-tree', made, '-p', parent, '-m', 'ours'], {
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    },
  }).trim();
}

const filesBelow = (folder: string): string =>
  execFileSync('sh', ['-c', 'find "$0" -type f -exec cat {} +; find "$0"', folder], {
    encoding: 'latin1',
    maxBuffer: 256 * 1024 * 1024,
  });
