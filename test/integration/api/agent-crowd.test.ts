/** Many agents in the same second: each is served, or told when to come again; none sees a fault of the server. */
import { expect } from 'chai';
import {
  enrollNode,
  enrollRequest,
  heartbeat,
  type TestNode,
  tryEnroll,
} from '../../support/agents/agent-client.ts';
import { startTestController, useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

const CROWD = 100;

describe('a crowd of agents', function () {
  this.timeout(60_000);
  const test = useController({ enrollPerMinute: CROWD });
  const places = useTestEnvironments(test);

  const enrollmentToken = async () =>
    (
      await places.root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
        environmentId: places.environmentId,
      })
    ).token;

  it('enrolls from one address at once: 200, or 429 that says when to come again', async () => {
    const token = await enrollmentToken();
    const answers = await Promise.all(
      Array.from({ length: CROWD + 20 }, (_, n) =>
        tryEnroll(test.url, enrollRequest(token, { hostname: `crowd-${n}` })),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).to.deep.equal(Array(20).fill(429));
    for (const answer of refused) expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    const nodes = await test.db('nodes').where({ environment_id: places.environmentId });
    expect(nodes).to.have.length(CROWD);
  });

  it('polls and reports in the same moment, after a start too, and is stored', async () => {
    const own = await startTestController({
      ...{ secretKey: test.config.secretKey, databaseUrl: test.databaseUrl, dataDir: test.config.dataDir },
    });
    try {
      const token = await enrollmentToken();
      const crowd: TestNode[] = [];
      for (let n = 0; n < CROWD; n += 50) {
        const some = Array.from({ length: 50 }, (_, k) =>
          enrollNode(own.url, token, { hostname: `polls-${n + k}` }),
        );
        crowd.push(...(await Promise.all(some)));
      }
      // Nothing is remembered of them: as after a start, or a signal that was lost.
      const { bus } = own.controller.systemContext('test').services;
      await bus.publish(own.db, { type: 'config', environmentId: places.environmentId, reason: 'test' });
      const answers = await Promise.all(
        crowd.flatMap((node) => [node.config(), node.heartbeat(heartbeat({ labels: { n: node.nodeId } }))]),
      );
      const statuses = new Set(answers.map(({ status }) => status));
      expect([...statuses]).to.deep.equal([200]);
      const ids = crowd.map(({ nodeId }) => nodeId);
      await until(async () => (await own.db('node_reports').whereIn('node_id', ids)).length === CROWD, {
        what: 'all reports to be stored',
      });
    } finally {
      await own.stop();
    }
  });
});
