/** Git is started by a process beside the controller, which may end before its time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type GitEnd, runGit } from '../../../controller/delivery/repository/index.ts';
import { childrenOf, processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';

const PROGRAM = new URL('../../support/harness/run-git.ts', import.meta.url).pathname;
/** Git waits for what it reads of standard input; the alias names what is looked for. */
const sleeping = (name: string) => ['-c', `alias.wait=!sleep 600 # ${name}`, 'wait'];

describe('the process that starts git', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-starter-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (args: string[], signal = new AbortController().signal): Promise<GitEnd> =>
    runGit(args, { cwd: folder, env: { PATH: process.env.PATH ?? '' }, signal, deadlineMs: 30_000 });
  const starters = () =>
    childrenOf(process.pid).filter(({ commandLine }) =>
      commandLine.some((word) => word.endsWith('/git-starter.ts')),
    );

  it('is one, knows nothing of the environment, and answers each run with its own end', async () => {
    const ends = await Promise.all(
      Array.from({ length: 20 }, (_, index) => run(['-c', `alias.say=!echo ${index}; exit ${index}`, 'say'])),
    );
    expect(ends.map(({ code, stdout }) => [code, stdout])).to.deep.equal(
      ends.map((_, index) => [index, `${index}\n`]),
    );
    expect(starters()).to.have.length(1);
    const known = readFileSync(`/proc/${starters()[0]?.pid}/environ`, 'utf8').split('\0').filter(Boolean);
    expect(known.filter((pair) => !/^NODE_CHANNEL_\w+=/.test(pair))).to.deep.equal([]);
  });

  it('ends git once nobody wants it any more, and says why', async () => {
    const ending = new AbortController();
    const name = `aborted-${process.pid}`;
    const ended = run(sleeping(name), ending.signal).catch((error: Error) => error);
    await until(() => processesNaming(name).length > 0, { what: 'git runs' });
    ending.abort(new Error('not wanted any more'));
    expect(await ended).to.include({ message: 'not wanted any more' });
    await until(() => processesNaming(name).length === 0, { what: 'git has ended' });
  });

  it('is replaced where it was killed: what ran is told so, what comes next runs', async () => {
    const name = `orphaned-${process.pid}`;
    const ended = run(sleeping(name)).catch((error: Error) => error);
    await until(() => processesNaming(name).length > 0, { what: 'git runs' });
    const [{ pid } = { pid: 0 }] = starters();
    process.kill(pid, 'SIGKILL');
    const error = await ended;
    expect(error).to.be.an('error').with.property('name', 'RepositoryError');
    expect(error).to.have.property(
      'message',
      'git cannot be run: the process that starts it has ended; try again',
    );
    expect((await run(['version'])).stdout).to.match(/^git version /);
    expect(starters().map((one) => one.pid))
      .to.have.length(1)
      .and.not.include(pid);
    for (const left of processesNaming(name)) process.kill(left.pid, 'SIGKILL');
  });

  it('is not ended by the signals that end a controller, and ends git when the controller is gone', async () => {
    const name = `controller-${process.pid}`;
    const controller = spawn(process.execPath, [PROGRAM, ...sleeping(name)], { stdio: 'ignore' });
    await until(() => processesNaming(name).length > 2, { what: 'git runs' });
    const [starter] = childrenOf(controller.pid ?? 0);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(starter?.pid ?? 0, signal);
    expect(processesNaming(name).length).to.be.above(2);
    controller.kill('SIGKILL');
    await until(() => processesNaming(name).length === 0, { what: 'git has ended' });
    const starting = () => processesNaming('/git-starter.ts').some(({ pid }) => pid === starter?.pid);
    await until(() => !starting(), { what: 'it has ended' });
  });

  it('does not keep a process alive that has nothing more to ask', async () => {
    const program = spawn(process.execPath, [PROGRAM, 'version'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    program.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    expect((await once(program, 'close'))[0]).to.equal(0);
    expect(said).to.match(/^git version /);
  });
});
