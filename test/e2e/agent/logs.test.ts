/** An agent delivers what engines write: each line once and in order, also when the controller was away. */
import { expect } from 'chai';
import { makeWorkplace, type Workplace } from './agent-process.ts';
import { pipeline, type ScriptedServer, send, startServer } from './scripted-server.ts';

const SECRET = 'canary-of-the-logs';

describe('log lines on their way from engines to the controller', function () {
  this.timeout(40_000);
  let server: ScriptedServer;
  let place: Workplace;

  beforeEach(async () => {
    server = await startServer();
    place = await makeWorkplace();
  });
  afterEach(async () => {
    await place.clean();
    await server.close();
  });

  const faulty = (id: string, fault: string, fields = {}) =>
    pipeline(id, { configYaml: `# fault: ${fault}\n`, ...fields });
  const run = (env = {}) =>
    place.run({
      SVC_URL: server.url,
      SVC_TOKEN: 'enroll-me',
      SVC_LOG_FLUSH_INTERVAL: '100ms',
      ...env,
    });
  const reach = (what: string, holds: () => boolean) => place.until(holds, { what });
  const numbers = (id: string) =>
    server.linesOf(id).flatMap((line) => (/^count \d+$/.test(line) ? [Number(line.slice(6))] : []));
  const inOrder = (found: readonly number[]) =>
    expect(found).to.deep.equal(Array.from({ length: found.length }, (_, n) => n));

  it('are delivered in order, only of pipelines that write, and are in heartbeats beside', async () => {
    server.pipelines = [faulty('counts', 'count'), faulty('silent', 'none')];
    run();
    await reach('forty lines', () => numbers('counts').length >= 40);
    inOrder(numbers('counts'));
    expect(server.linesOf('silent')).to.deep.equal(['started with none']);
    expect(server.logs.every((entries) => entries.every(({ lines }) => lines.length > 0))).to.equal(true);
    await reach('a heartbeat with lines', () =>
      server.heartbeats.some((beat) =>
        beat.pipelines.some(({ recentLogs }) => recentLogs?.includes('count 1')),
      ),
    );
    expect(server.heartbeats.every(({ deliversLogs }) => deliversLogs === true)).to.equal(true);
  });

  it('wait while the controller is away, and come in order and once when it is back', async () => {
    server.pipelines = [faulty('counts', 'count')];
    run();
    await reach('the first lines', () => numbers('counts').length >= 5);
    let refused = 0;
    server.override.logs = (_, response) => {
      refused += 1;
      send(response, 503, { error: 'the database is away' });
    };
    await reach('a refusal', () => refused >= 1);
    const before = numbers('counts').length;
    // The next try comes within seconds; the engine writes on meanwhile.
    await reach('a second refusal', () => refused >= 2);
    delete server.override.logs;
    await reach('what was kept', () => numbers('counts').length >= before + 60);
    inOrder(numbers('counts'));
  });

  it('outlive answers that are not the controller’s', async () => {
    server.pipelines = [faulty('counts', 'count')];
    const bodies = ['<html>sign in</html>', 'null', '{}', '{"ok":false}'];
    let asked = 0;
    server.override.logs = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(bodies[asked++ % bodies.length]);
      if (asked === 2) delete server.override.logs;
    };
    run();
    await reach('the lines', () => numbers('counts').length >= 40);
    inOrder(numbers('counts'));
  });

  it('are asked for less often by an agent that is refused, which runs its engines on', async () => {
    server.pipelines = [faulty('counts', 'count')];
    let asked = 0;
    server.override.logs = (_, response) => {
      asked += 1;
      send(response, 404, { error: 'No such agent endpoint' });
    };
    // The next try comes after 5 s of this clock at least; heartbeats also take real time.
    place.paceMs = 10;
    run();
    await reach('a first try', () => asked === 1);
    const beats = server.heartbeats.length;
    await reach('some heartbeats', () => server.heartbeats.length > beats + 6);
    expect(asked).to.equal(1);
    expect(server.report('counts')?.status).to.equal('RUNNING');
  });

  it('come with the end of the agent, and from a pipeline that is taken away', async () => {
    server.pipelines = [faulty('says-bye', 'bye'), faulty('stays', 'bye')];
    const agent = run({ SVC_LOG_FLUSH_INTERVAL: '1s' });
    await reach('both', () => server.linesOf('says-bye').length > 0 && server.linesOf('stays').length > 0);
    server.pipelines = [faulty('stays', 'bye')];
    await reach('the last line', () => server.linesOf('says-bye').includes('bye'));
    expect(await agent.terminate()).to.equal(0);
    for (const id of ['stays', 'says-bye']) {
      // Some shells tell that their sleep was ended.
      const lines = server.linesOf(id).filter((line) => line !== 'Terminated');
      expect(lines).to.deep.equal(['started with bye', 'bye']);
    }
  });

  it('tell no secrets, and are bounded however an engine floods', async () => {
    server.pipelines = [
      faulty('tells', 'echo-env', { secrets: { SVC_SECRET_X: SECRET } }),
      faulty('floods', 'flood'),
      faulty('long', 'long-line'),
    ];
    run();
    await reach('lines of all', () =>
      ['tells', 'floods', 'long'].every((id) => server.linesOf(id).length > 1),
    );
    const more = server.logs.length + 3;
    await reach('some more', () => server.logs.length > more);
    expect(JSON.stringify(server.logs)).not.to.include(SECRET);
    expect(server.linesOf('tells')).to.include('SVC_SECRET_X=[redacted]');
    for (const { lines } of server.logs.flat()) {
      expect(lines.length).to.be.at.most(500);
      for (const line of lines) expect(line.length).to.be.at.most(8_192);
    }
    expect(
      server.linesOf('floods').some((line) => /^… [\d,]+ lines or more were left out/.test(line)),
    ).to.equal(true);
  });
});
