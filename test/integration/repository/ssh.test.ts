/** Mirrors of git servers over ssh: a real sshd, a real ssh. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSshKey } from '../../../controller/delivery/repository/remote/ssh-key.ts';
import { git } from '../../support/clients/fast-import.ts';
import { commandLinesDuring, processesNaming } from '../../support/harness/processes.ts';
import { headOf, MirrorScene, refusal } from '../../support/scenes/mirrors.ts';
import { findSshd, SshServer } from '../../support/servers/ssh-server.ts';

const never = new AbortController().signal;

describe('a repository of a git server over ssh', () => {
  let server: SshServer;
  let scene: MirrorScene;
  before(function () {
    if (findSshd() === null) this.skip();
  });
  beforeEach(async () => {
    server = await SshServer.start();
    server.create();
    scene = new MirrorScene({ deadlineMs: 20_000 });
  });
  afterEach(async () => {
    await server.stop();
    scene.close();
  });
  const bound = (more: { privateKey?: string; knownHosts?: string; url?: string } = {}) =>
    scene.of(more.url ?? server.url(), {
      credentials: { type: 'ssh', privateKey: more.privateKey ?? server.key },
      knownHosts: more.knownHosts ?? server.knownHosts,
    });

  it('is copied, followed and pushed to', async () => {
    const first = server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = bound();
    await handle.fetch(never);
    expect(headOf(handle)).to.equal(first);
    expect(await handle.fetch(never)).to.deep.equal({ moved: false });
    const second = server.commit({ files: { 'a.yaml': 'a: 2' } });
    await handle.fetch(never);
    expect(headOf(handle)).to.equal(second);
    expect(await handle.push({ ref: 'refs/heads/new', sha: second, expect: null }, never)).to.equal('ok');
    expect(git(server.gitdir(), 'rev-parse', 'new')).to.equal(second);
  });

  it('is refused where the server is not the one that is known', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = bound();
    await handle.fetch(never);
    await server.changeHostKey();
    expect(await refusal(handle.fetch(never))).to.match(
      /localhost shows another host key than knownHosts .* `ssh-keyscan -p \d+ localhost`/,
    );
    const unknown = bound({ knownHosts: server.knownHosts.replace('[localhost]', '[other]') });
    expect(await refusal(unknown.fetch(never))).to.match(/knownHosts of the binding has no key of localhost/);
  });

  it('is known by an authority that certifies its host key, at any port', async () => {
    const first = server.commit({ files: { 'a.yaml': 'a: 1' } });
    const authority = await server.certify('localhost');
    for (const pattern of [`[localhost]:${server.port}`, 'localhost', `[*host]:${server.port},other`]) {
      const handle = bound({ knownHosts: `# ours\n@cert-authority ${pattern} ${authority}\n` });
      await handle.fetch(never);
      expect(headOf(handle), pattern).to.equal(first);
    }
    const plain = `@cert-authority elsewhere ${authority}\n${server.knownHosts}`;
    await bound({ knownHosts: plain }).fetch(never);
    const elsewhere = bound({ knownHosts: `@cert-authority [localhost]:1 ${authority}` });
    expect(await refusal(elsewhere.fetch(never))).to.match(/has no key of localhost/);
    const other = await server.certify('elsewhere');
    const certified = bound({ knownHosts: `@cert-authority [localhost]:${server.port} ${other}` });
    expect(await refusal(certified.fetch(never)), 'a certificate of another host').not.to.equal('');
  });

  it('is refused with a key that the server does not know, or that is none', async () => {
    const handle = bound({ privateKey: server.makeKey('other') });
    expect(await refusal(handle.fetch(never))).to.match(
      /does not accept the key of the binding; add its public half/,
    );
  });

  it('is told of where it is not there', async () => {
    expect(await refusal(bound({ url: `${server.url()}x` }).fetch(never))).to.match(
      /has no repository ssh:.* compare the address/,
    );
  });

  it('is not connected to where the operator does not allow its address', async () => {
    scene.close();
    scene = new MirrorScene({ privateTargets: [] });
    for (const host of ['localhost', '127.0.0.1', '127.1'])
      expect(await refusal(bound({ url: server.url().replace('localhost', host) }).fetch(never))).to.equal(
        `${host} cannot be reached: nothing answers there, or it is at a private address that HEADGATE_PRIVATE_TARGETS does not list; check the address, or ask the operator of this controller, whose log names the reason; it is tried again by itself`,
      );
    expect(scene.log, 'the reason').to.include('not in HEADGATE_PRIVATE_TARGETS');
  });

  it('is opened by a key of openssl: ed25519, rsa, ec', async () => {
    const sha = server.commit({ files: { 'a.yaml': 'a: 1' } });
    for (const { privateKey } of [
      generateKeyPairSync('ed25519'),
      generateKeyPairSync('rsa', { modulusLength: 2_048 }),
      generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
    ]) {
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      writeFileSync(join(server.root, 'authorized_keys'), `${readSshKey(pem).publicKey}\n`);
      const handle = bound({ privateKey: pem });
      await handle.fetch(never);
      expect(headOf(handle), privateKey.asymmetricKeyType).to.equal(sha);
    }
  });

  it('shows the public half that ssh-keygen shows', () => {
    const shown = readSshKey(server.key).publicKey;
    expect(readFileSync(join(server.root, 'client.pub'), 'utf8').trim()).to.equal(shown);
  });

  it('lets no key be seen, and leaves no process and no file of a run', async () => {
    server.commit({ files: { 'a.yaml': 'a: 1' } });
    const handle = bound();
    const seen = await commandLinesDuring(() => handle.fetch(never));
    const body = server.key.split('\n')[2] ?? '';
    expect(body).to.have.length.greaterThan(30);
    expect([...seen].join('\n')).not.to.include(body);
    expect(scene.log).not.to.include(body);
    expect(scene.runs()).to.deep.equal([]);
    expect(processesNaming(handle.gitdir)).to.deep.equal([]);
  });
});
