import { expect } from 'chai';
import { MirrorScene } from '../../support/scenes/mirrors.ts';

describe('copies of remote repositories', () => {
  it('keep the credentials of a binding open as long as there is the binding', async () => {
    const scene = new MirrorScene();
    try {
      let opened = 0;
      const { keyring } = scene;
      const open = keyring.open.bind(keyring);
      keyring.open = (...args) => {
        opened += 1;
        return open(...args);
      };
      const of = (id: string) =>
        scene.binding('https://git.example.org/acme/config.git', {
          id,
          credentials: { type: 'basic', username: 'git', password: `password-of-${id}` },
        });
      const [gone, stays] = [of('gone'), of('stays')];
      for (const binding of [gone, stays, gone, stays]) scene.repositories.of(binding);
      expect(opened).to.equal(2);
      await scene.repositories.sweep([stays]);
      scene.repositories.of(stays);
      expect(opened).to.equal(2);
      scene.repositories.of(gone);
      expect(opened).to.equal(3);
    } finally {
      scene.close();
    }
  });
});
