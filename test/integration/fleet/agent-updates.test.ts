/** Updates of agents from the controller's side: who may be asked, what the agent is told, and how it ends. */
import { expect } from 'chai';
import { createUpdateTracker, type UpdateTracker } from '../../../controller/fleet/index.ts';
import { findIdentities } from '../../../controller/fleet/nodes/store.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import type { PendingAction } from '../../../schemas/agent/protocol.ts';
import type { FleetNode, TriggeredUpdate } from '../../../schemas/api/fleet/fleet.ts';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken, refusal, useTestEnvironments } from '../../support/scenes/places.ts';

const MINUTE = 60_000;
const HEX = 'AB'.repeat(32);
const SUM = `sha256:${HEX.toLowerCase()}`;
const FILE = 'https://example.org/headgate-agent';

describe('updates of agents', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let token: string;
  let node: TestNode;
  let made = 0;

  before(async () => {
    token = await enrollmentToken(places.root, places.environmentId);
  });
  beforeEach(async () => {
    node = await join();
  });

  /** Enrolled and heard of. */
  async function join(
    report: Record<string, unknown> = {},
    more: { channel?: 'dev' } = {},
  ): Promise<TestNode> {
    const joined = await enrollNode(test.url, token, { hostname: `updated-${++made}`, ...more });
    await joined.heartbeat(heartbeat(report));
    await seen('the heartbeat', ({ lastHeartbeatAt }) => lastHeartbeatAt !== null, joined);
    return joined;
  }
  const see = ({ nodeId } = node) => places.viewer.query<FleetNode>('fleet.get', { id: nodeId });
  const seen = async (what: string, holds: (view: FleetNode) => boolean, one = node) => {
    await until(async () => holds(await see(one)), { what });
    return see(one);
  };
  const input = (more: object = {}) => ({
    ...{ nodeId: node.nodeId, targetVersion: 'v0.7.0', downloadUrl: FILE, checksum: HEX },
    ...more,
  });
  const trigger = (more: object = {}) =>
    places.admin.mutate<TriggeredUpdate>('fleet.triggerAgentUpdate', input(more));
  const refused = (more: object = {}) =>
    refusal(places.admin, 'mutation', 'fleet.triggerAgentUpdate', input(more));
  const served = async (one = node) =>
    (await one.config()).json<{ pendingAction: PendingAction | null; configRevision: number }>();
  const audited = async (action: string, { nodeId } = node) =>
    test.db('audit_log').where({ action, entity_id: nodeId }).orderBy('created_at');
  const beat = (more: Record<string, unknown>) => node.heartbeat(heartbeat(more));

  describe('are told to the agent', () => {
    it('by its stream at once, and by every config until they end', async () => {
      const stream = await node.push();
      try {
        await until(() => stream.text() !== '', { what: 'the stream' });
        const before = await served();
        expect(before.pendingAction).to.equal(null);
        const signature = `${'A'.repeat(86)}==`;
        const { pendingUpdate } = await trigger({ signature });
        expect(pendingUpdate).to.deep.include({
          ...{ targetVersion: 'v0.7.0', downloadUrl: FILE, checksum: SUM, tries: 0 },
        });
        const order = { targetVersion: 'v0.7.0', downloadUrl: FILE, checksum: SUM, signature };
        await until(() => stream.events('action').length > 0, { what: 'the push' });
        expect(stream.events('action')).to.deep.equal([{ ...order, type: 'action', action: 'self_update' }]);
        expect(stream.events('config_changed')).to.have.length(1);
        const after = await served();
        expect(after.pendingAction).to.deep.equal({ type: 'self_update', ...order });
        expect(after.configRevision).to.equal(before.configRevision + 1);
        expect((await served()).pendingAction).to.deep.equal(after.pendingAction);
      } finally {
        stream.close();
      }
    });

    it('to that node alone, whose neighbours share their text as before', async () => {
      const neighbour = await join();
      const before = await neighbour.config();
      await trigger();
      await until(async () => (await served()).pendingAction !== null, { what: 'the node to be told' });
      const after = await neighbour.config({ 'if-none-match': before.headers.etag });
      expect(after.status).to.equal(304);
      const first = await node.config();
      expect((await node.config({ 'if-none-match': first.headers.etag })).status).to.equal(304);
    });

    it('with all of the address, of which nobody else sees a signature', async () => {
      const { pendingUpdate } = await trigger({ downloadUrl: `${FILE}?X-Signature=hunter2#top` });
      const address = async () => (await served()).pendingAction?.downloadUrl;
      await until(async () => (await address()) !== undefined, { what: 'the config' });
      expect(await address()).to.equal(`${FILE}?X-Signature=hunter2`);
      expect(pendingUpdate.downloadUrl).to.equal(`${FILE}?…`);
      expect(JSON.stringify([await see(), await test.db('audit_log')])).not.to.include('hunter2');
      expect(test.log()).not.to.include('hunter2');
    });

    it('with the fleet, which shows what is under way', async () => {
      await trigger();
      const view = await see();
      expect(view).to.include({ updateTo: 'v0.7.0' });
      expect(view.pendingUpdate).to.deep.include({ targetVersion: 'v0.7.0', checksum: SUM });
      const list = await places.viewer.query<FleetNode[]>('fleet.list', {
        environmentId: places.environmentId,
      });
      expect(list.find(({ id }) => id === node.nodeId)?.updateTo).to.equal('v0.7.0');
      const [row] = await audited('node.agentUpdateRequested');
      expect(row).to.deep.include({ diff: { updateTo: [null, 'v0.7.0'] }, actor_type: 'user' });
      expect(row.metadata).to.deep.include({ from: '0.6.0', targetVersion: 'v0.7.0', checksum: SUM });
    });
  });

  describe('are refused', () => {
    const WRONG: [reason: string, more: object, says: RegExp][] = [
      ['to http elsewhere', { downloadUrl: 'http://example.org/a' }, /begin with https/],
      ['to a file', { downloadUrl: 'file:///etc/passwd' }, /begin with https/],
      ['to no address', { downloadUrl: 'the newest' }, /is not a valid address/],
      ['to a line break', { downloadUrl: `${FILE}\nx` }, /is not a valid address/],
      [
        'to an address with a password',
        { downloadUrl: 'https://me:hunter2@example.org/a' },
        /contains a user or password/,
      ],
      ['to an address without end', { downloadUrl: `${FILE}/${'x'.repeat(2_048)}` }, /.*/],
      [
        'to an address that is too long in its own form',
        { downloadUrl: `${FILE}/${'😀'.repeat(1_000)}` },
        /2048 characters/,
      ],
      ['with a sum of another kind', { checksum: 'md5:abc' }, /checksum/],
      ['with a version that is none', { targetVersion: 'latest' }, /targetVersion/],
      ['with a path for a version', { targetVersion: '../v1.0.0' }, /targetVersion/],
      ['with a signature that is none', { signature: 'signed' }, /signature/],
    ];
    for (const [reason, more, says] of WRONG) {
      it(`with 400 ${reason}`, async () => {
        const answer = await refused(more);
        expect(answer)
          .to.match(/^BAD_REQUEST: /)
          .and.match(says);
        expect(answer).not.to.include('hunter2');
      });
    }

    it('but not to an address of the controller itself, with whatever protocol it has', async () => {
      expect(await refused({ downloadUrl: `${test.config.baseUrl}/agent/headgate-agent` })).to.equal('OK');
    });

    it('to a node that has not enrolled, or was revoked', async () => {
      const { id } = await places.editor.mutate<{ id: string }>('fleet.create', {
        ...{ environmentId: places.environmentId, name: 'waits', host: `waits-${++made}` },
      });
      expect(await refused({ nodeId: id })).to.match(/^PRECONDITION_FAILED: .*has not enrolled/);
      await places.admin.mutate('fleet.revokeNode', { id: node.nodeId });
      expect(await refused()).to.match(/^PRECONDITION_FAILED: .*was revoked/);
    });

    it('to a node that has never been heard of, or not for long', async () => {
      const silent = await enrollNode(test.url, token, { hostname: `silent-${++made}` });
      expect(await refused({ nodeId: silent.nodeId })).to.match(/^PRECONDITION_FAILED: .*cannot be reached/);
      // Since the controller listens: a node is not held to be silent before.
      const { services } = test.controller.systemContext('test');
      const since = services.listeningSince;
      services.listeningSince = () => 0;
      try {
        const hourAgo = new Date(Date.now() - 3_600_000);
        await test.db('node_presence').where({ node_id: node.nodeId }).update({ heard_at: hourAgo });
        expect(await refused()).to.match(/^PRECONDITION_FAILED: .*No heartbeat for 36\d\d s/);
      } finally {
        services.listeningSince = since;
      }
      expect(await audited('node.agentUpdateRequested')).to.have.length(0);
    });

    it('to a container, to the version that it has, and to the other channel', async () => {
      const container = await join({ deploymentMode: 'DOCKER' });
      expect(await refused({ nodeId: container.nodeId })).to.match(
        /^PRECONDITION_FAILED: .*pull a new image/,
      );
      expect(await refused({ targetVersion: 'v0.6.0' })).to.match(
        /^PRECONDITION_FAILED: .*already has the agent 0\.6\.0/,
      );
      expect(await refused({ targetVersion: 'dev-1a2b3c4' })).to.match(
        /^PRECONDITION_FAILED: .*channel stable/,
      );
      const dev = await join({ agentVersion: 'dev-0000000' }, { channel: 'dev' });
      expect(await refused({ nodeId: dev.nodeId })).to.match(/^PRECONDITION_FAILED: .*channel dev/);
      expect(await refused({ nodeId: dev.nodeId, targetVersion: 'dev-1a2b3c4' })).to.equal('OK');
    });
  });

  describe('end', () => {
    it('with the heartbeat that reports the version', async () => {
      await trigger();
      await beat({ agentVersion: '0.7.0' });
      const view = await seen('the end', ({ updateTo }) => updateTo === null);
      expect(view).to.deep.include({ pendingUpdate: null, failedUpdates: [], status: 'HEALTHY' });
      const [row] = await audited('node.agentUpdated');
      expect(row).to.deep.include({ actor_type: 'system', diff: { updateTo: ['v0.7.0', null] } });
      expect(row.team_id).to.equal(places.teamId);
      await until(async () => (await served()).pendingAction === null, { what: 'the config' });
    });

    /** An error that is told a single time must find the update known, as it is to the agent. */
    const told = (checksum: string) =>
      until(async () => (await served()).pendingAction?.checksum === checksum, { what: 'the config' });

    it('with an error, which is noted, shown and not tried again with that file', async () => {
      await trigger();
      await told(SUM);
      await beat({ updateError: 'update to v0.7.0 failed: no space is left there\0' });
      const view = await seen('the end', (one) => one.updateTo === null && one.updateError !== null);
      const reason = 'update to v0.7.0 failed: no space is left there';
      expect(view).to.include({ status: 'DEGRADED', updateError: reason });
      expect(view.statusReason).to.include(reason);
      expect(view.failedUpdates).to.have.length(1);
      expect(view.failedUpdates[0]).to.include({ targetVersion: 'v0.7.0', checksum: SUM, reason });
      expect(await refused()).to.match(/^PRECONDITION_FAILED: .*already failed .*no space/);
      expect((await audited('node.agentUpdateFailed'))[0]?.metadata).to.include({ reason });
      await until(async () => (await served()).pendingAction === null, { what: 'the config' });

      // Another build of it may be tried, and the error that still stands does not end it.
      await trigger({ checksum: 'cd'.repeat(32) });
      await told(`sha256:${'cd'.repeat(32)}`);
      await beat({ updateError: reason });
      await until(async () => (await see()).status === 'DEGRADED', { what: 'the report' });
      expect((await see()).updateTo).to.equal('v0.7.0');
      await beat({ updateError: 'update to v0.7.0 failed: wrong sum' });
      const again = await seen('the second end', ({ updateTo }) => updateTo === null);
      expect(again.failedUpdates.map((one) => one.checksum)).to.deep.equal([
        `sha256:${'cd'.repeat(32)}`,
        SUM,
      ]);
      await beat({});
      await seen('it to be well', ({ status }) => status === 'HEALTHY');
    });

    it('with a refusal, which is noted, and the same file may be asked for again', async () => {
      await trigger();
      await told(SUM);
      await beat({ updateError: 'update to v0.7.0 refused: it is not signed' });
      const view = await seen('the end', ({ updateTo }) => updateTo === null);
      expect(view.failedUpdates[0]?.reason).to.equal('update to v0.7.0 refused: it is not signed');
      expect(await refused({ signature: `${'A'.repeat(86)}==` })).to.equal('OK');
    });

    it('with a second one in their place, and the log tells of both', async () => {
      await trigger();
      await trigger({ targetVersion: 'v0.8.0' });
      expect((await see()).updateTo).to.equal('v0.8.0');
      expect((await audited('node.agentUpdateRequested')).map(({ diff }) => diff.updateTo)).to.deep.equal([
        [null, 'v0.7.0'],
        ['v0.7.0', 'v0.8.0'],
      ]);
      await until(async () => (await served()).pendingAction?.targetVersion === 'v0.8.0', {
        what: 'the config',
      });
    });

    it('when they are taken back, once', async () => {
      await trigger();
      const cancel = () =>
        refusal(places.admin, 'mutation', 'fleet.cancelAgentUpdate', { nodeId: node.nodeId });
      expect(await cancel()).to.equal('OK');
      expect(await cancel()).to.match(/^PRECONDITION_FAILED: The node .* has no pending update/);
      expect(await see()).to.deep.include({ updateTo: null, pendingUpdate: null, failedUpdates: [] });
      await until(async () => (await served()).pendingAction === null, { what: 'the config' });
      expect(await audited('node.agentUpdateCancelled')).to.have.length(1);
    });

    it('with the token of the node', async () => {
      await trigger();
      await places.admin.mutate('fleet.revokeNode', { id: node.nodeId });
      expect(await see()).to.deep.include({ updateTo: null, revoked: true });
    });

    it('for all ten who ask at once in the one that is under way', async () => {
      await Promise.all(Array.from({ length: 10 }, (_, n) => trigger({ targetVersion: `v0.8.${n}` })));
      const rows = await audited('node.agentUpdateRequested');
      expect(rows).to.have.length(10);
      const replaced = rows.map(({ diff }) => diff.updateTo[0]);
      expect(new Set(replaced).size).to.equal(10);
      expect(replaced).not.to.include((await see()).updateTo);
    });
  });

  describe('without an end', () => {
    let clock: ManualClock;
    let tracker: UpdateTracker;

    beforeEach(async () => {
      await trigger();
      clock = manualClock(Date.now());
      const { bus } = test.controller.systemContext('test').services;
      tracker = createUpdateTracker({ db: test.db, bus, clock, log: QUIET });
    });
    afterEach(() => tracker.stop());

    async function identity() {
      const { token_id } = await test.db('nodes').where({ id: node.nodeId }).first('token_id');
      const [found] = await findIdentities(test.db, { nodeIds: [], tokenIds: [token_id] });
      if (!found) throw new Error('the node is gone');
      return found;
    }
    const tries = async () => (await see()).pendingUpdate?.tries;
    const told = (uptimeSeconds: number) => ({ agentVersion: '0.6.0', updateError: null, uptimeSeconds });

    it('count a try of each ten minutes in which the config goes out, and are over after the third', async () => {
      const known = await identity();
      for (const n of [1, 2, 3]) {
        tracker.onSent(known);
        tracker.onSent(known);
        await until(async () => (await tries()) === n, { what: `try ${n} to be counted` });
        await tracker.sweep();
        clock.advance(10 * MINUTE);
        tracker.onSent(known);
        await tracker.sweep();
        expect(await tries()).to.equal(n);
        clock.advance(1);
      }
      await tracker.sweep();
      const view = await see();
      expect(view).to.deep.include({ pendingUpdate: null, updateTo: null });
      expect(view.failedUpdates[0]).to.deep.include({
        ...{
          targetVersion: 'v0.7.0',
          checksum: SUM,
          reason: 'The agent started it 3 times and never finished',
        },
      });
      expect((await audited('node.agentUpdateFailed'))[0]).to.include({ actor_type: 'system' });
      expect(await refused()).to.match(/^PRECONDITION_FAILED: .*started it 3 times/);
    });

    it('count a try when the agent was started anew, and end with the third of them', async () => {
      const known = await identity();
      tracker.onSent(known);
      for (const n of [2, 3]) {
        await until(async () => (await tries()) === n - 1, { what: `try ${n - 1} to be counted` });
        await tracker.stop();
        clock.advance(MINUTE);
        tracker.onHeartbeat(known, told(300));
        await tracker.stop();
        expect(await tries(), 'an agent that runs on').to.equal(n - 1);
        tracker.onHeartbeat(known, told(5));
      }
      await until(async () => (await tries()) === 3, { what: 'the third to be counted' });
      await tracker.stop();
      clock.advance(MINUTE);
      tracker.onHeartbeat(known, told(5));
      await until(async () => (await see()).updateTo === null, { what: 'the end' });
      expect((await see()).failedUpdates[0]?.reason).to.include('restarted after each');
    });

    it('are counted once by two controllers', async () => {
      const { bus } = test.controller.systemContext('test').services;
      const other = createUpdateTracker({ db: test.db, bus, clock, log: QUIET });
      const [mine, theirs] = [await identity(), await identity()];
      tracker.onSent(mine);
      other.onSent(theirs);
      await Promise.all([tracker.stop(), other.stop()]);
      expect(await tries()).to.equal(1);
    });

    it('are over after a day', async () => {
      clock.advance(24 * 60 * MINUTE - MINUTE);
      await tracker.sweep();
      expect((await see()).updateTo).to.equal('v0.7.0');
      clock.advance(2 * MINUTE);
      await tracker.sweep();
      const view = await see();
      expect(view.updateTo).to.equal(null);
      expect(view.failedUpdates[0]?.reason).to.include('24 hours');
    });

    it('are found where a report was stored and its end was not', async () => {
      await test.db('node_reports').where({ node_id: node.nodeId }).update({ agent_version: 'v0.7.0' });
      await tracker.sweep();
      expect(await see()).to.deep.include({ updateTo: null, failedUpdates: [] });
      expect(await audited('node.agentUpdated')).to.have.length(1);
    });

    it('are left alone by what is heard of an earlier one', async () => {
      const known = await identity();
      await trigger({ targetVersion: 'v0.9.0' });
      tracker.onHeartbeat(known, { ...told(5), agentVersion: 'v0.7.0' });
      await tracker.stop();
      expect((await see()).updateTo).to.equal('v0.9.0');
    });
  });

  it('cost nothing at the database for nodes without one', async () => {
    const { db } = test.controller.systemContext('test');
    await node.config();
    const asked: string[] = [];
    const listen = ({ sql }: { sql: string }) => asked.push(sql);
    db.on('query', listen);
    try {
      for (let n = 0; n < 5; n += 1) expect((await node.config()).status).to.equal(200);
    } finally {
      db.removeListener('query', listen);
    }
    expect(asked.filter((sql) => /pending_action/.test(sql))).to.deep.equal([]);
  });

  describe('a restart of the agent', () => {
    const restart = (nodeId = node.nodeId) =>
      refusal(places.admin, 'mutation', 'fleet.restartAgent', { nodeId });

    it('goes down its stream, in a container too', async () => {
      const container = await join({ deploymentMode: 'DOCKER' });
      const stream = await container.push();
      try {
        await until(() => stream.text() !== '', { what: 'the stream' });
        expect(await restart(container.nodeId)).to.equal('OK');
        await until(() => stream.events('action').length > 0, { what: 'the push' });
        expect(stream.events('action')).to.deep.equal([{ type: 'action', action: 'restart' }]);
      } finally {
        stream.close();
      }
      expect(await audited('node.agentRestartRequested', container)).to.have.length(1);
    });

    it('is refused where the agent would not hear of it', async () => {
      await beat({ agentHealth: { pushConnected: false } });
      await seen('the report', ({ agentHealth }) => agentHealth.pushConnected === false);
      expect(await restart()).to.match(/^PRECONDITION_FAILED: The push channel .* is not connected/);
      const silent = await enrollNode(test.url, token, { hostname: `deaf-${++made}` });
      expect(await restart(silent.nodeId)).to.match(/^PRECONDITION_FAILED: .*cannot be reached/);
    });
  });
});
