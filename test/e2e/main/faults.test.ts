/** What breaks while it runs: an engine that is killed, a controller that does not answer. */
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import { Clone } from '../../support/clone.ts';
import { type RunningHeadgate, startHeadgate } from '../../support/headgate.ts';
import { idleManifest, namedPipeline, onNodes, untilRunning } from '../../support/pipelines.ts';
import { enginesOf } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

describe('when something breaks', function () {
  this.timeout(60_000);
  let headgate: RunningHeadgate;
  let api: ApiClient;
  let clone: Clone;
  const ids: string[] = [];

  before(async () => {
    headgate = await startHeadgate();
    api = await headgate.api();
    clone = await Clone.of(headgate.cloneUrl);
    const names = ['left', 'right'];
    await clone.push(
      'Two pipelines',
      Object.fromEntries(
        names.map((name) => [`environments/staging/pipelines/${name}.yaml`, idleManifest(name)]),
      ),
    );
    for (const name of names) {
      const { id } = await namedPipeline(api, headgate.environments.staging, name);
      await untilRunning(api, id, 1);
      ids.push(id);
    }
  });
  after(async () => {
    await clone?.remove();
    await headgate?.remove();
  });

  it('a killed engine is seen as CRASHED, then runs in a new process, and the others go on', async () => {
    const [left = '', right = ''] = ids;
    const before = await untilRunning(api, left, 1);
    const other = enginesOf(right);
    process.kill(before.pid, 'SIGKILL');
    const seen: string[] = [];
    await until(
      async () => {
        const [node] = await onNodes(api, left);
        const now = `${node?.status} ${node?.pid === before.pid ? 'before' : 'after'}`;
        if (seen.at(-1) !== now) seen.push(now);
        return now === 'RUNNING after';
      },
      { what: () => `a new engine: ${seen.join(', ')}`, timeoutMs: 15_000, everyMs: 10 },
    );
    expect(
      seen.some((one) => one.startsWith('CRASHED')),
      seen.join(', '),
    ).to.equal(true);
    const after = await untilRunning(api, left, 1);
    expect(enginesOf(left)).to.deep.equal([after.pid]);
    expect(after.restarts).to.be.greaterThan(before.restarts);
    expect(enginesOf(right)).to.deep.equal(other);
  });

  it('engines run on while the controller does not answer, and a push works once it does', async () => {
    const before = ids.map((id) => enginesOf(id));
    const stoppedAt = performance.now();
    process.kill(headgate.pid, 'SIGSTOP');
    try {
      // Longer than a poll period (5 s) with its jitter: each agent asks in vain at least once.
      await until(() => performance.now() - stoppedAt > 6_000, {
        what: 'a poll period to pass',
        timeoutMs: 8_000,
        everyMs: 100,
      });
    } finally {
      process.kill(headgate.pid, 'SIGCONT');
    }
    expect(ids.map((id) => enginesOf(id))).to.deep.equal(before);
    const [left = ''] = ids;
    await clone.push('Faster', {
      'environments/staging/pipelines/left.yaml': idleManifest('left').replace('interval: 1', 'interval: 2'),
    });
    await untilRunning(api, left, 2);
  });
});
