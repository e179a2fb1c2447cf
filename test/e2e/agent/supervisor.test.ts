import { existsSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { createLogger } from '../../../agent/log.ts';
import { DataDirectory } from '../../../agent/supervise/files/data-directory.ts';
import { Supervisor } from '../../../agent/supervise/supervisor.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { until } from '../../support/harness/until.ts';
import { FAKE_ENGINE, isAlive, makeWorkplace, type Workplace } from './agent-process.ts';
import { zombiesOf } from './scene.ts';
import { pipeline } from './scripted-server.ts';

describe('long limits of the supervisor, with real engines and a clock moved by hand', () => {
  const clock = manualClock();
  let place: Workplace;
  let supervisor: Supervisor;

  beforeEach(async () => {
    place = await makeWorkplace();
    supervisor = new Supervisor({
      directory: new DataDirectory(place.dataDir),
      portBase: place.portBase,
      engineBin: FAKE_ENGINE,
      env: { PATH: '/usr/bin:/bin' },
      clock,
      log: createLogger('error', () => {}),
      onLine: () => {},
      onChange: () => {},
    });
  });
  afterEach(async () => {
    const ended = supervisor.stopAll();
    supervisor.killAll();
    await ended;
    await place.clean();
  });

  const faulty = (id: string, fault: string, version = 1) =>
    pipeline(id, { version, configYaml: `# fault: ${fault}\n# ${version}\n` });
  const only = () => {
    const [found] = supervisor.list();
    if (!found) throw new Error('no pipeline');
    return found;
  };
  const said = (line: string) =>
    until(() => only().logs.since(0, 1e6).lines.includes(line), { what: `the engine says ${line}` });

  it('kills an engine that ignores SIGTERM after 30 s and not before', async () => {
    supervisor.apply([faulty('p1', 'ignore-term')]);
    await said('started with ignore-term');
    const pid = only().pid ?? 0;
    clock.advance(2_000);
    expect(only().status).to.equal('RUNNING');
    supervisor.apply([]);
    clock.advance(29_900);
    expect(isAlive(pid)).to.equal(true);
    clock.advance(200);
    await until(() => only().ended, { what: 'it has ended' });
    expect(isAlive(pid)).to.equal(false);
    expect(existsSync(place.path('pipelines/p1.yaml'))).to.equal(false);
  });

  it('starts the new version only when the old engine has ended', async () => {
    supervisor.apply([faulty('p1', 'ignore-term')]);
    await said('started with ignore-term');
    const pid = only().pid;
    clock.advance(2_000);
    expect(only().status).to.equal('RUNNING');
    supervisor.apply([faulty('p1', 'none', 2)]);
    await until(() => only().status === 'STARTING', { what: 'its config is checked' });
    expect(only().pid).to.equal(pid);
    clock.advance(30_000);
    await until(() => only().pid !== pid && only().pid !== undefined, { what: 'the new engine is there' });
    expect(only().current.version).to.equal(2);
  });

  it('starts no engine after it was told to end, not even one that waits for its next try', async () => {
    supervisor.apply([faulty('p1', 'exit-78')]);
    await until(() => only().status === 'CRASHED', { what: 'it has crashed' });
    await supervisor.stopAll();
    supervisor.apply([faulty('p1', 'none', 2)]);
    clock.advance(120_000);
    expect(only()).to.include({ status: 'STOPPED', pid: undefined });
    expect(place.engines()).to.deep.equal([]);
  });

  it('leaves no zombie and no open file after 50 crashes', async () => {
    supervisor.apply([faulty('p1', 'fork-and-crash')]);
    const openFiles = () => readdirSync('/proc/self/fd').length;
    let before = 0;
    for (let crash = 1; crash <= 50; crash += 1) {
      await until(() => only().status === 'CRASHED' && only().restarts === crash, { what: `crash ${crash}` });
      if (crash === 5) before = openFiles();
      clock.advance(60_000);
    }
    await until(() => only().status === 'CRASHED', { what: 'the last crash' });
    await until(() => openFiles() <= before + 2, {
      what: () => `${openFiles()} files are open, ${before} were`,
    });
    expect(zombiesOf(process.pid)).to.deep.equal([]);
    expect(place.engines()).to.deep.equal([]);
  });

  it('waits 1, 2, 4 … 60 s between starts', async () => {
    supervisor.apply([faulty('p1', 'exit-78')]);
    for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await until(() => only().status === 'CRASHED' && only().restarts === index + 1, {
        what: `crash ${index + 1}`,
      });
      clock.advance(seconds * 1_000 - 1);
      expect(only().status).to.equal('CRASHED');
      clock.advance(1);
      expect(only().status).to.equal('STARTING');
    }
  });
});
