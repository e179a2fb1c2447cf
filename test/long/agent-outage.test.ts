/** The whole agent, in this process, with real engines and a clock moved by hand: hours without a controller. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { makeWorkplace, type Workplace } from '../e2e/agent/agent-process.ts';
import type { InProcessAgent } from '../e2e/agent/in-process-agent.ts';
import { faulty } from '../e2e/agent/scene.ts';
import { pipeline } from '../e2e/agent/scripted-server.ts';
import { until } from '../support/harness/until.ts';

const HOURS = 6;
const POLL_MS = 20_000;

describe('a controller that is away for hours', function () {
  this.timeout(120_000);
  let place: Workplace;
  let server: Server;
  let agent: InProcessAgent;
  let polls = 0;
  let away = false;

  before(async () => {
    place = await makeWorkplace();
    mkdirSync(place.dataDir);
    writeFileSync(place.path('node-token'), 'token\n');
    const config = JSON.stringify({
      pipelines: [faulty('writes', 'count'), pipeline('quiet', { configYaml: '# fault: idle\n' })],
      pollIntervalMs: POLL_MS,
    });
    server = createServer((request, response) => {
      request.resume();
      if (request.url?.endsWith('/config')) polls += 1;
      if (away) return response.destroy();
      if (request.url?.endsWith('/config')) return response.end(config);
      if (request.url?.endsWith('/push')) return response.writeHead(503).end();
      return response.end('{"ok":true,"configRevision":1,"rejected":0}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    agent = place.run({
      SVC_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      SVC_LOG_LEVEL: 'info',
    });
    await until(() => place.engines().length === 2, { what: 'both engines run' });
  });
  after(async () => {
    await place.clean();
    server.closeAllConnections();
    server.close();
  });

  it('leaves engines running, asks on and on, says so once, and lets no memory grow', async () => {
    const engines = place.engines();
    away = true;
    const rounds = (HOURS * 3_600_000) / POLL_MS;
    const heap: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = polls;
      for (let waited = 0; polls === before && waited < 100; waited += 1) {
        place.clock.advance(POLL_MS / 4);
        for (let turn = 0; turn < 8 && polls === before; turn += 1)
          await new Promise((done) => setImmediate(done));
      }
      expect(polls).to.be.greaterThan(before);
      if (round % 200 === 199) heap.push(usedHeap());
    }
    expect(place.engines()).to.deep.equal(engines);
    expect(agent.output().match(/poll failed/g)).to.have.length(1);
    const [first = 0] = heap;
    expect((heap.at(-1) ?? 0) - first, heap.join(' ')).to.be.below(3 * 1024 * 1024);
    away = false;
    await until(
      () => {
        place.clock.advance(POLL_MS / 4);
        return agent.output().includes('poll works again');
      },
      { what: 'it works again' },
    );
    expect(place.engines()).to.deep.equal(engines);
  });
});

/** Bytes, after a full collection. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
