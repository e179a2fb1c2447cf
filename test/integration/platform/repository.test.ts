/** The embedded repository: made once, whole or not at all, and seeded with one commit. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ensureEmbeddedRepository,
  gitEnvironment,
  seedRepository,
} from '../../../controller/delivery/repository/index.ts';
import { seedExample } from '../../../controller/demo/example-repository.ts';
import { git } from '../../support/clients/fast-import.ts';

const AUTHOR = { name: 'Ada Example', email: 'ada@example.org' };

describe('the embedded repository', () => {
  let dataDir: string;
  let folder: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'headgate-repository-'));
    folder = join(dataDir, 'example');
    mkdirSync(join(folder, 'environments'), { recursive: true });
    writeFileSync(join(folder, 'headgate.yaml'), 'kind: Repository\n');
    writeFileSync(join(folder, 'environments/.gitignore'), '*\n');
    writeFileSync(join(folder, 'environments/one.yaml'), 'kind: Pipeline\n');
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('is made bare, on main, and closed to other users', async () => {
    const made = await ensureEmbeddedRepository(dataDir);
    expect(made).to.include({ created: true, name: 'config.git', gitdir: join(dataDir, 'git/config.git') });
    expect(git(made.gitdir, 'symbolic-ref', 'HEAD')).to.equal('refs/heads/main');
    expect(git(made.gitdir, 'rev-parse', '--is-bare-repository')).to.equal('true');
    expect(statSync(made.root).mode & 0o077).to.equal(0);
  });

  it('is left as it is when it is there, but for its settings', async () => {
    const { gitdir } = await ensureEmbeddedRepository(dataDir);
    await seedRepository(gitdir, folder, AUTHOR);
    const head = git(gitdir, 'rev-parse', 'main');
    writeFileSync(
      join(gitdir, 'config'),
      '[core]\n\tbare = true\n\thooksPath = /tmp/evil\n\tfsmonitor = /tmp/evil\n',
    );
    const again = await ensureEmbeddedRepository(dataDir);
    expect(again.created).to.equal(false);
    expect(git(gitdir, 'rev-parse', 'main')).to.equal(head);
    expect(git(gitdir, 'config', 'core.hooksPath')).to.equal('/dev/null');
    expect(readFileSync(join(gitdir, 'config'), 'utf8')).not.to.include('evil');
  });

  it('is made anew beside a half-made one of a start that was killed', async () => {
    mkdirSync(join(dataDir, 'git/config.git.new-a1b2c3/refs'), { recursive: true });
    const { gitdir, created } = await ensureEmbeddedRepository(dataDir);
    expect(created).to.equal(true);
    expect(git(gitdir, 'rev-parse', '--is-bare-repository')).to.equal('true');
  });

  it('is made by one of several that start at the same moment', async () => {
    const made = await Promise.all([1, 2, 3].map(() => ensureEmbeddedRepository(dataDir)));
    expect(made.filter(({ created }) => created)).to.have.length(1);
    expect(readdirSync(join(dataDir, 'git'))).to.deep.equal(['config.git']);
    expect(git(made[0]?.gitdir ?? '', 'rev-parse', '--is-bare-repository')).to.equal('true');
  });

  it('is seeded with every file of a folder, ignored or not, as one commit', async () => {
    const { gitdir } = await ensureEmbeddedRepository(dataDir);
    await seedRepository(gitdir, folder, AUTHOR);
    expect(git(gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n')).to.deep.equal([
      'environments/.gitignore',
      'environments/one.yaml',
      'headgate.yaml',
    ]);
    expect(git(gitdir, 'log', '--format=%an <%ae>', 'main')).to.equal('Ada Example <ada@example.org>');
    expect(git(gitdir, 'show', 'main:headgate.yaml')).to.equal('kind: Repository');
  });

  it('is seeded with the example, whose manifests name the schemas of the running server', async () => {
    const { gitdir } = await ensureEmbeddedRepository(dataDir);
    await seedExample(gitdir, AUTHOR, 'https://headgate.example:8443/');
    const paths = git(gitdir, 'ls-tree', '-r', '--name-only', 'main').split('\n');
    const manifests = paths.filter((path) => /^environments\/.*\.yaml$/.test(path));
    expect(manifests).to.include('environments/staging/alerts/node-unreachable.yaml');
    const texts = new Map(paths.map((path) => [path, git(gitdir, 'show', `main:${path}`)]));
    for (const path of manifests)
      expect(texts.get(path), path).to.match(
        /^# yaml-language-server: \$schema=https:\/\/headgate\.example:8443\/schemas\/v1\/[a-z-]+\.json$/m,
      );
    expect([...texts.values()].join('\n')).not.to.contain('localhost:8080');
  });

  it('is not seeded over commits that are there', async () => {
    const { gitdir } = await ensureEmbeddedRepository(dataDir);
    await seedRepository(gitdir, folder, AUTHOR);
    const head = git(gitdir, 'rev-parse', 'main');
    writeFileSync(join(folder, 'late.yaml'), 'kind: Pipeline\n');
    const refused = await seedRepository(gitdir, folder, AUTHOR).then(
      () => null,
      (error: Error) => error.message,
    );
    expect(refused).to.include('update-ref');
    expect(git(gitdir, 'rev-parse', 'main')).to.equal(head);
  });

  it('is worked with an environment that knows neither the machine’s nor the user’s settings', () => {
    const environment = gitEnvironment('/somewhere/config.git');
    expect(
      Object.keys(environment)
        .filter((name) => !name.startsWith('GIT_'))
        .sort(),
    ).to.deep.equal(['LANG', 'PATH']);
    expect(environment).to.include({
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
    });
  });
});
