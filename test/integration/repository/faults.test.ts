/** What large and hostile repositories, and a full disk, do to the copies. */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSourceCache, openRepository, readDesired } from '../../../reconcilers/source/index.ts';
import { git } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { patient } from '../../support/harness/patience.ts';
import { type SmallDisk, smallDisk } from '../../support/harness/small-disk.ts';
import { headOf, MirrorScene, refusal, useMirrorScene } from '../../support/scenes/mirrors.ts';
import { useGitServer } from '../../support/servers/git-server.ts';

const never = new AbortController().signal;

describe('a copy of a repository', function () {
  this.timeout(60_000);
  const server = useGitServer();

  describe('on a disk that is full', () => {
    let disk: SmallDisk | null;
    let scene: MirrorScene;
    beforeEach(function () {
      disk = smallDisk(8);
      if (!disk) return this.skip();
      scene = new MirrorScene({ root: disk.folder, deadlineMs: 20_000 });
    });
    afterEach(() => disk?.remove());

    it('stays as it was, says so, and follows once there is space', async () => {
      const first = server.commit({ files: { 'a.yaml': 'a: 1' } });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const files = Array.from({ length: 8 }, (_, at) => [`${at}.bin`, randomBytes(1_900_000)] as const);
      const second = server.commit({ files: Object.fromEntries(files) });
      expect(await refusal(handle.fetch(never))).to.match(
        /the disk of the data directory is full; free some space/,
      );
      expect(headOf(handle)).to.equal(first);
      expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 1');
      const packs = readdirSync(join(handle.gitdir, 'objects/pack'));
      expect(packs.filter((name) => name.startsWith('tmp_'))).to.deep.equal([]);
      server.commit({ files: Object.fromEntries(files.map(([path]) => [path, null])) });
      const third = server.commit({ files: { 'a.yaml': 'a: 2' } });
      await handle.fetch(never);
      expect(headOf(handle)).to.equal(third);
      expect(second).not.to.equal(third);
    });

    it('to the last byte says so too', async () => {
      const first = server.commit({ files: { 'a.yaml': 'a: 1' } });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const second = server.commit({ files: { 'a.yaml': 'a: 2' } });
      disk?.fill();
      expect(await refusal(handle.fetch(never))).to.match(/the disk of the data directory is full/);
      expect(headOf(handle)).to.equal(first);
      disk?.empty();
      await handle.fetch(never);
      expect(headOf(handle)).to.equal(second);
    });
  });

  describe('of a large repository', () => {
    const scene = useMirrorScene({ deadlineMs: 50_000 });

    it('of 1,500 manifests is read whole, and a change of one of them quickly', async () => {
      const files: Record<string, string> = {};
      for (let at = 0; at < 1_500; at += 1) files[`prod/${at % 100}/p-${at}.yaml`] = idleManifest(`p-${at}`);
      server.commit({ files });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      const repository = openRepository(handle.gitdir, { idleMs: 1 });
      const scope = { path: 'prod', sharedPaths: [] };
      const cache = createSourceCache();
      const desired = await readDesired(repository, headOf(handle), scope, cache);
      expect(desired.manifests).to.have.length(1_500);
      server.commit({ files: { 'prod/1/p-1.yaml': idleManifest('p-1', 'changed') } });
      const began = performance.now();
      await handle.fetch(never);
      const changed = await readDesired(repository, headOf(handle), scope, cache);
      expect(performance.now() - began).to.be.lessThan(patient(5_000));
      expect(changed.changed?.size).to.equal(1);
      await repository.close();
    });

    it('keeps 40 MB of a server without partial copies out of this process', async () => {
      git(server.gitdir(), 'config', 'uploadpack.allowFilter', 'false');
      server.commit({ files: { 'prod/large.yaml': Buffer.alloc(40 * 1024 * 1024, '# x\n') } });
      server.commit({ files: { 'prod/a.yaml': idleManifest('a') } });
      const handle = scene.of(server.url());
      const before = process.memoryUsage().arrayBuffers;
      await handle.fetch(never);
      const repository = openRepository(handle.gitdir, { idleMs: 1 });
      const desired = await readDesired(
        repository,
        headOf(handle),
        { path: 'prod', sharedPaths: [] },
        createSourceCache(),
      );
      expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(20 * 1024 * 1024);
      expect(desired.manifests.map(({ name }) => name)).to.deep.equal(['a']);
      expect(desired.problems[0]?.message).to.match(/41943040 bytes/);
      await repository.close();
    });

    it('is gone from the server: nothing is removed here', async () => {
      server.commit({ files: { 'a.yaml': 'a: 1' } });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      rmSync(server.gitdir(), { recursive: true });
      expect(await refusal(handle.fetch(never))).to.match(/has no repository/);
      expect(git(handle.gitdir, 'show', 'main:a.yaml')).to.equal('a: 1');
    });

    it('brings no hook, filter, submodule or setting of its own with it', async () => {
      const sha = server.commit({
        files: {
          '.gitattributes': '* filter=evil\n',
          '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch /tmp/headgate-evil"\n',
          'hooks/post-checkout': '#!/bin/sh\ntouch /tmp/headgate-evil\n',
          config: '[core]\n\tfsmonitor = touch /tmp/headgate-evil\n',
        },
        submodules: { x: 'a'.repeat(40) },
      });
      const handle = scene.of(server.url());
      await handle.fetch(never);
      expect(headOf(handle)).to.equal(sha);
      expect(readdirSync(handle.gitdir)).not.to.include('hooks');
      expect(readdirSync('/tmp')).not.to.include('headgate-evil');
    });
  });
});
