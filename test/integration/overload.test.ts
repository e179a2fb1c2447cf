/** One user asks for more than the database can do: the others, the nodes and the leader do not notice. */
import { expect } from 'chai';
import { enrollNode, heartbeat, type TestNode } from '../support/agents/agent-client.ts';
import { send } from '../support/clients/http.ts';
import { useController, useRoot } from '../support/harness/controller.ts';
import { untilWaiting } from '../support/harness/lock-waiters.ts';
import { until } from '../support/harness/until.ts';
import { enrollmentToken } from '../support/scenes/places.ts';
import { testEnvironment } from '../support/scenes/two-teams.ts';
import { makeUser, type ProcedureResponse, signIn, type TestUser } from '../support/users/person.ts';

const SEARCHES = 60;

describe('a controller of which one viewer asks too much', function () {
  this.timeout(60_000);
  this.slow(20_000);
  const test = useController();
  const root = useRoot(test);
  let viewer: TestUser;
  let environmentId: string;
  let node: TestNode;

  before(async () => {
    const place = await testEnvironment(root);
    environmentId = place.environmentId;
    const { teamId } = place;
    const token = await enrollmentToken(root, environmentId);
    node = await enrollNode(test.url, token);
    await makeUser(test.db, { email: 'viewer@example.org', teams: { [teamId]: 'VIEWER' } });
    await makeUser(test.db, { email: 'other@example.org', teams: { [teamId]: 'VIEWER' } });
    viewer = await signIn(test.url, 'viewer@example.org');
  });

  const search = () =>
    viewer.call<{ lines: unknown[] }>('query', 'fleet.nodeLogs', {
      nodeId: node.nodeId,
      contains: 'nowhere',
    });

  async function assertOthersAreServed(): Promise<void> {
    const other = await signIn(test.url, 'other@example.org');
    expect(
      (await send(`${test.url}/api/auth/session`, { headers: { cookie: other.cookie } })).status,
    ).to.equal(200);
    expect((await other.call('query', 'pipeline.list', { environmentId })).status).to.equal(200);
    const sent = heartbeat({ engineVersion: 'while others search' });
    expect((await node.heartbeat(sent)).status).to.equal(200);
    await until(
      async () =>
        (await test.db('node_reports').where({ node_id: node.nodeId }).first('engine_version'))
          ?.engine_version === 'while others search',
      { what: 'the heartbeat to be stored', timeoutMs: 10_000 },
    );
    const ready = await send(`${test.url}/api/health/ready`);
    expect(ready.json<{ checks: object }>().checks).to.include({ leader: true, leading: true });
  }

  it('refuses what is too much with 429, and serves everybody else meanwhile', async () => {
    const answers: ProcedureResponse<{ lines: unknown[] }>[] = [];
    const held = await test.db.transaction();
    let searches: Promise<unknown>[] = [];
    try {
      // No search comes to an end for as long as this is held.
      await held.raw('LOCK TABLE log_lines IN ACCESS EXCLUSIVE MODE');
      searches = Array.from({ length: SEARCHES }, () => search().then((answer) => answers.push(answer)));
      await untilWaiting(held);
      await until(() => answers.length >= SEARCHES - 10, {
        what: () => `all but a few to be refused, not ${answers.length}`,
        timeoutMs: 10_000,
      });
      for (const { status, fault, answer } of answers) {
        expect(status).to.equal(429);
        expect(fault?.data).to.include({ code: 'TOO_MANY_REQUESTS' });
        expect(fault?.message).to.match(/Too many searches .* Try again in \d+ s/);
        expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
      }
      await assertOthersAreServed();
    } finally {
      await held.rollback();
      await Promise.all(searches);
    }
    // Those that had a slot end with the lock, or with the time of a request where this took long.
    const later = answers.slice(SEARCHES - 10).map(({ status }) => status);
    for (const status of later) expect(status).to.be.oneOf([200, 429, 503]);
    expect(test.log()).not.to.match(/lease not renewed|heartbeats not stored/);
    expect((await search()).status).to.equal(200);
  });

  it('logs no fault where clients leave that wait for their turn', async () => {
    const input = JSON.stringify({ json: { nodeId: node.nodeId, contains: 'nowhere' } });
    const address = `${test.url}/api/trpc/fleet.nodeLogs?input=${encodeURIComponent(input)}`;
    const client = new AbortController();
    const statuses: number[] = [];
    let failures = 0;
    const held = await test.db.transaction();
    try {
      await held.raw('LOCK TABLE log_lines IN ACCESS EXCLUSIVE MODE');
      const searches = Array.from({ length: 12 }, async () => {
        const { cookie } = viewer;
        const answer = await fetch(address, { headers: { cookie }, signal: client.signal }).catch(() => null);
        if (answer) statuses.push(answer.status);
        else failures += 1;
      });
      // Two run and eight wait.
      await until(() => statuses.length === 2, { what: 'two to be refused' });
      client.abort();
      await Promise.all(searches);
      expect(statuses).to.deep.equal([429, 429]);
      expect(failures).to.equal(10);
    } finally {
      await held.rollback();
    }
    await until(async () => (await search()).status === 200, { what: 'the queue to be empty' });
    expect(test.log()).not.to.match(/procedure failed|the client went away/);
  });
});
