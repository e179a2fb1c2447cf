import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { openRepository, readDesired } from '../../../reconcilers/source/index.ts';
import { patient } from '../../support/harness/patience.ts';
import { processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import {
  ConfigRepository,
  names,
  PRODUCTION,
  pipeline,
  useConfigRepository,
} from '../../support/scenes/config-repository.ts';

const ROOT = 'environments/production';

describe('The git child of a repository', () => {
  const repository = useConfigRepository();

  const children = () => processesNaming(repository.gitdir).map(({ pid }) => pid);
  const add = (name: string) => repository.commit({ [`${ROOT}/${name}.yaml`]: pipeline(name) });

  it('is one and the same for read after read, and ends with the repository', async () => {
    await repository.read(add('a'));
    const first = children();
    expect(first).to.have.length(1);
    await repository.read(add('b'));
    expect(children()).to.deep.equal(first);
    await repository.repo.close();
    expect(children()).to.deep.equal([]);
    expect(names(await repository.read(add('c')))).to.deep.equal(['a', 'b', 'c']);
  });

  it('ends when nobody has read for a while', async () => {
    const repo = openRepository(repository.gitdir, { idleMs: 1 });
    await readDesired(repo, add('a'), PRODUCTION, repository.cache);
    await until(() => children().length === 0, { what: 'the idle child ends' });
    expect(names(await readDesired(repo, add('b'), PRODUCTION, repository.cache))).to.deep.equal(['a', 'b']);
    await repo.close();
  });

  it('is replaced when somebody kills it, before a read and during one', async () => {
    await repository.read(add('a'));
    for (const pid of children()) process.kill(pid, 'SIGKILL');
    expect(names(await repository.read(add('b')))).to.deep.equal(['a', 'b']);
    const reading = repository.read(add('c'));
    for (const pid of children()) process.kill(pid, 'SIGKILL');
    expect(names(await reading)).to.deep.equal(['a', 'b', 'c']);
  });

  it('sees packs that came after it, and copes with those that went', async () => {
    await repository.read(add('a'));
    const [child] = children();
    const sha = add('b');
    repository.git('repack', '-a', '-d', '-q');
    repository.git('prune-packed', '-q');
    expect(names(await repository.read(sha))).to.deep.equal(['a', 'b']);
    const other = new ConfigRepository();
    const foreign = other.commit({ [`${ROOT}/z.yaml`]: pipeline('z') });
    repository.git('fetch', '-q', other.gitdir, 'main:refs/heads/other');
    other.remove();
    expect(names(await repository.read(foreign))).to.deep.equal(['z']);
    expect(children()).to.deep.equal([child]);
  });

  it('asks a new child before it says that something is not there', async () => {
    await repository.read(add('a'));
    const other = new ConfigRepository();
    const sha = other.commit({ [`${ROOT}/z.yaml`]: pipeline('z') });
    // A child reads the list of other object stores when it starts, and never again.
    execFileSync('tee', [join(repository.gitdir, 'objects/info/alternates')], {
      input: `${join(other.gitdir, 'objects')}\n`,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    expect(names(await repository.read(sha))).to.deep.equal(['z']);
    other.remove();
  });

  it('keeps no process alive', async () => {
    const sha = add('a');
    const source = new URL('../../../reconcilers/source/index.ts', import.meta.url).href;
    const program = `
      import { openRepository, readCommit } from ${JSON.stringify(source)};
      const { subject } = await readCommit(openRepository(${JSON.stringify(repository.gitdir)}), ${JSON.stringify(sha)});
      process.stdout.write(subject);`;
    const said = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', program], {
      encoding: 'utf8',
      timeout: patient(20_000),
    });
    expect(said).to.equal('change');
    await until(() => children().length === 0, { what: 'the child ends with its process' });
  });
});
