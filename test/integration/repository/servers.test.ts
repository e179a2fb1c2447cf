/** Git servers as they are met: those that redirect, and those that are none of the usual. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { git } from '../../support/clients/fast-import.ts';
import { headOf, refusal, useMirrorScene } from '../../support/scenes/mirrors.ts';
import { useGitServer } from '../../support/servers/git-server.ts';

const never = new AbortController().signal;
const credentials = { type: 'basic', username: 'bot', password: 'S3cret' } as const;

describe('a git server', () => {
  const server = useGitServer({ user: { name: 'bot', password: 'S3cret' } }, 'new');
  const scene = useMirrorScene({ deadlineMs: 20_000 });

  /** As GitLab does for an address without `.git`, and every forge for a repository with a new name. */
  const moves = (from: string, to: string, status = 301) => {
    server.mischief = ({ path }) =>
      path.startsWith(`${from}/`)
        ? { status, headers: { Location: `http://localhost:${server.port}${to}${path.slice(from.length)}` } }
        : null;
  };
  const origin = () => `http://localhost:${server.port}`;

  it('is followed where it redirects on its own origin, for fetches, pushes and lists of branches', async () => {
    const first = server.commit({ files: { 'a.yaml': 'a: 1' } }, 'new');
    for (const status of [301, 302, 307, 308]) {
      const old = `/old-${status}`;
      moves(old, '/new.git', status);
      const handle = scene.of(`${origin()}${old}`, { credentials });
      expect(handle.redirectedTo(), old).to.equal(null);
      expect(await handle.fetch(never), old).to.deep.equal({ moved: true });
      expect(headOf(handle), old).to.equal(first);
      expect(handle.redirectedTo(), old).to.equal(`${origin()}/new.git`);
      expect([...(await handle.heads(['main'], never))], old).to.deep.equal([['main', first]]);
      const ref = `refs/heads/proposal-${status}`;
      expect(await handle.push({ ref, sha: first, expect: null }, never), old).to.equal('ok');
      expect(git(server.gitdir('new'), 'rev-parse', ref), old).to.equal(first);
    }
  });

  it('is followed by git alone, as after a restart, before anything was asked', async () => {
    const first = server.commit({ files: { 'a.yaml': 'a: 1' } }, 'new');
    moves('/old.git', '/new.git');
    const handle = scene.of(`${origin()}/old.git`, { credentials });
    expect([...(await handle.heads(['main'], never))]).to.deep.equal([['main', first]]);
    expect(handle.redirectedTo()).to.equal(`${origin()}/new.git`);
  });

  it('is read at its own address again once it redirects no more', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } }, 'new');
    moves('/old.git', '/new.git');
    const handle = scene.of(`${origin()}/old.git`, { credentials });
    await handle.fetch(never);
    server.mischief = () => null;
    server.create('old');
    const back = server.commit({ files: { 'a.yaml': 'a: 2' } }, 'old');
    await handle.fetch(never);
    expect(headOf(handle)).to.equal(back);
    expect(handle.redirectedTo()).to.equal(null);
  });

  it('is given up where it redirects in a circle, and never followed to another origin, to which no credentials go', async () => {
    moves('/old', '/old');
    expect(await refusal(scene.of(`${origin()}/old`, { credentials }).fetch(never))).to.match(
      /redirects in a circle; bind to the address/,
    );
    const seen: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const target = `http://localhost:${(other.address() as AddressInfo).port}/new.git`;
    server.mischief = ({ path }) => ({
      status: 301,
      headers: { Location: `${target}${path.slice('/old'.length)}` },
    });
    const handle = scene.of(`${origin()}/old`, { credentials });
    expect(await refusal(handle.fetch(never))).to.include(
      `redirects to ${target}, which is not followed, since that server would receive the credentials`,
    );
    await refusal(handle.heads(['main'], never));
    expect(seen).to.deep.equal([]);
    other.close();
  });

  it('counts its Retry-After with 503 as it does with 429', async () => {
    const handle = scene.of(server.url('new'), { credentials });
    server.mischief = () => ({ status: 503, headers: { 'Retry-After': '120' } });
    expect(await refusal(handle.fetch(never))).to.match(
      /is not ready \(status 503\) and asks for a pause of 120 s; it is tried again by itself/,
    );
    const asked = server.asked.length;
    await refusal(handle.fetch(never));
    expect(server.asked.length).to.equal(asked);
  });

  it('with SHA-256 as its object format is told to be one', async () => {
    const gitdir = join(server.root, 'sha256.git');
    git(server.root, 'init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main', gitdir);
    const tree = git(gitdir, 'hash-object', '-t', 'tree', '-w', '/dev/null');
    const commit = git(
      gitdir,
      '-c',
      'user.name=Ada',
      '-c',
      'user.email=ada@example.org',
      'commit-tree',
      '-m',
      'first',
      tree,
    );
    git(gitdir, 'update-ref', 'refs/heads/main', commit);
    expect(await refusal(scene.of(server.url('sha256'), { credentials }).fetch(never))).to.match(
      /uses SHA-256 as its object format, which is not supported yet; use one with SHA-1/,
    );
  });

  it('that serves files alone is told to be one', async () => {
    const dumb = createServer((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end(`${'a'.repeat(40)}\trefs/heads/main\n`),
    ).listen(0, '127.0.0.1');
    await once(dumb, 'listening');
    const url = `http://localhost:${(dumb.address() as AddressInfo).port}/config.git`;
    expect(await refusal(scene.of(url).fetch(never))).to.match(
      /only serves the files of the repository \(git's dumb protocol\), which is not supported; serve it by git http-backend/,
    );
    dumb.close();
  });

  it('that is a web page is told to be none', async () => {
    const page = createServer((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html>'),
    ).listen(0, '127.0.0.1');
    await once(page, 'listening');
    const url = `http://localhost:${(page.address() as AddressInfo).port}/config.git`;
    expect(await refusal(scene.of(url).fetch(never))).to.match(/something that is not git \(text\/html\)/);
    page.close();
  });

  it('that speaks TLS on the port of an http:// address is told to', async () => {
    // nginx' own answer; Apache and Go's server say the same in other words.
    const tls = createServer((_, response) =>
      response
        .writeHead(400, { 'Content-Type': 'text/html' })
        .end('<center>The plain HTTP request was sent to HTTPS port</center>'),
    ).listen(0, '127.0.0.1');
    await once(tls, 'listening');
    const { port } = tls.address() as AddressInfo;
    expect(await refusal(scene.of(`http://localhost:${port}/config.git`).fetch(never))).to.equal(
      `localhost expects TLS on port ${port}; write https:// instead of http://`,
    );
    tls.close();
  });
});
