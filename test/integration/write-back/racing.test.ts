import { expect } from 'chai';
import { embeddedHandle } from '../../../controller/delivery/repository/embedded-handle.ts';
import type { RepositoryHandle } from '../../../controller/delivery/repository/index.ts';
import { openRepository, type Repository } from '../../../reconcilers/source/index.ts';
import { commitOnto } from '../../../reconcilers/write-back/commit/commit.ts';
import { GitClient } from '../../support/clients/git-client.ts';
import { patient } from '../../support/harness/patience.ts';
import { useConfigRepository } from '../../support/scenes/config-repository.ts';

const WRITERS = 8;
const PUSHES = 4;
const HEADGATE = { name: 'Headgate', email: 'headgate@localhost' };
const signal = new AbortController().signal;

describe('commits on one branch at once', () => {
  const config = useConfigRepository();
  let human: GitClient;
  const open: Repository[] = [];

  beforeEach(async () => {
    config.commit({ 'README.md': 'begin\n', 'counter.txt': '0\n' });
    human = new GitClient(config.gitdir);
    await human.clone();
  });
  afterEach(async () => {
    for (const repository of open.splice(0)) await repository.close();
    await human.remove();
  });

  /** As controllers that know nothing of one another: each names the folder in its own way. */
  const handles = new Map<string, RepositoryHandle>();
  const writer = (n: number) => {
    const gitdir = `${config.gitdir}${'/.'.repeat(n)}`;
    const repository = openRepository(gitdir);
    open.push(repository);
    const handle = handles.get(gitdir) ?? embeddedHandle(gitdir);
    handles.set(gitdir, handle);
    return { handle, repository };
  };

  it(`loses none of those of ${WRITERS} environments and of a person`, async function () {
    this.timeout(60_000);
    const begun = Date.now();
    const writes = Array.from({ length: WRITERS }, (_, n) =>
      // Four replicas of the controller, each with two environments.
      commitOnto({
        ...writer(n % 4),
        branch: 'main',
        committer: HEADGATE,
        signal,
        async draft() {
          return {
            files: new Map([[`environments/e${n}/pipelines/p.yaml`, `n: ${n}\n`]]),
            message: `write ${n}`,
            author: HEADGATE,
          };
        },
      }),
    );
    const pushes = (async () => {
      for (let n = 0; n < PUSHES; n += 1) {
        await human.commit({ [`human-${n}.txt`]: 'by hand\n' }, `human ${n}`);
        for (;;) {
          if ((await human.run('push', '--quiet', 'origin', 'HEAD:main')).code === 0) break;
          await human.run('pull', '--quiet', '--rebase', 'origin', 'main');
        }
      }
    })();
    const done = await Promise.all(writes);
    await pushes;
    expect(Date.now() - begun).to.be.below(patient(55_000));
    expect(new Set(done.map((one) => one?.sha)).size).to.equal(WRITERS);
    const subjects = config.git('log', '--format=%s', 'main').split('\n').sort();
    const wanted = [
      ...Array.from({ length: WRITERS }, (_, n) => `write ${n}`),
      ...Array.from({ length: PUSHES }, (_, n) => `human ${n}`),
    ];
    for (const subject of wanted) expect(subjects).to.include(subject);
    const files = config.git('ls-tree', '-r', '--name-only', 'main').split('\n');
    expect(files).to.have.length(2 + WRITERS + PUSHES);
  });

  it('does the work again on what others have pushed meanwhile', async () => {
    const tips: (string | null)[] = [];
    const made = await commitOnto({
      ...writer(0),
      branch: 'main',
      committer: HEADGATE,
      signal,
      async draft(tip) {
        tips.push(tip);
        const now = Number(config.git('cat-file', 'blob', `${tip}:counter.txt`));
        if (tips.length === 1) config.commit({ 'counter.txt': '41\n' });
        return { files: new Map([['counter.txt', `${now + 1}\n`]]), message: 'count', author: HEADGATE };
      },
    });
    expect(tips).to.have.length(2);
    expect(config.git('cat-file', 'blob', `${made?.sha}:counter.txt`)).to.equal('42');
    expect(config.git('rev-parse', 'main')).to.equal(made?.sha);
  });

  it('gives up with nothing changed where others are faster each time', async () => {
    const refused = await commitOnto({
      ...writer(0),
      branch: 'main',
      committer: HEADGATE,
      signal,
      async draft() {
        config.commit({ 'counter.txt': `${Math.random()}\n` });
        return { files: new Map([['mine.txt', 'x\n']]), message: 'never', author: HEADGATE };
      },
    }).catch((error: Error) => error.message);
    expect(refused).to.match(/^Others pushed to "main" each time/);
    expect(config.git('ls-tree', '-r', '--name-only', 'main')).not.to.contain('mine.txt');
  }).timeout(20_000);

  it('keeps the mode of files, takes odd names, and makes no commit of nothing', async () => {
    const odd = 'environments/a b/[x]*?:é.yaml';
    config.commit({ [odd]: 'a: 1\n', 'run.sh': '#!/bin/sh\n' });
    const options = { ...writer(0), branch: 'main', committer: HEADGATE, signal };
    const draft = async () => ({
      files: new Map<string, string | null>([
        [odd, 'a: 2\n'],
        ['README.md', null],
      ]),
      message: 'odd',
      author: { name: 'A <b>\nX', email: 'a@b' },
    });
    const made = await commitOnto({ ...options, draft });
    expect(config.git('show', '--format=%an', '--name-status', '-z', made?.sha ?? '')).to.match(/A\s+b\s+X/);
    expect(config.git('cat-file', 'blob', `main:${odd}`)).to.equal('a: 2');
    const same = async () => ({ ...(await draft()), files: new Map([[odd, 'a: 2\n']]) });
    expect(await commitOnto({ ...options, draft: same })).to.equal(null);
  });
});
