/** The settings of the whole installation: what is shown of them, and the fleet's, which count on every controller at once. */
import { expect } from 'chai';
import { dayOf } from '../../../controller/database/day-partitions.ts';
import { logDays } from '../../../controller/fleet/logs/store.ts';
import type { NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import type { FleetView, SettingsView } from '../../../schemas/api/settings.ts';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { type OpenStream, send } from '../../support/clients/http.ts';
import { useController, useReplica, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import { createTestUsers } from '../../support/users/people.ts';
import { signIn } from '../../support/users/person.ts';

const DEFAULTS = {
  ...{ pollIntervalMs: 5_000, unhealthyThreshold: 3, metricsRetentionDays: 7, logsRetentionDays: 3 },
  pipelineVersionsRetained: 50,
  ...{ logsMibPerNodeHour: 100, logsMibTotal: 10_240 },
};

describe('the settings', () => {
  const test = useController();
  const other = useReplica(test);
  const root = useRoot(test);
  let environmentId: string;
  let node: TestNode;
  const streams: OpenStream[] = [];

  before(async () => {
    environmentId = (await testEnvironment(root)).environmentId;
    const token = await enrollmentToken(root, environmentId);
    node = await enrollNode(test.url, token);
    await node.heartbeat(heartbeat());
  });
  after(async () => {
    for (const stream of streams) stream.close();
  });

  const update = (change: Partial<FleetView>) =>
    root.call<FleetView>('mutation', 'settings.updateFleet', {
      ...{ pollIntervalMs: 5_000, unhealthyThreshold: 3 },
      ...change,
    });
  /** What the node is told by each of the two controllers. */
  const intervals = async () => {
    const authorization = `Bearer ${node.nodeToken}`;
    const asked = [test.url, other.url].map((url) =>
      send(`${url}/api/agent/config`, { headers: { authorization } }),
    );
    return (await Promise.all(asked)).map(
      (answer) => answer.json<{ pollIntervalMs: number }>().pollIntervalMs,
    );
  };

  it('of a new installation are the defaults, with the addresses that a provider needs', async () => {
    const told = await root.query<SettingsView>('settings.get');
    expect(told).to.deep.include({
      oidcProviders: [],
      fleet: DEFAULTS,
      audit: { retentionDays: null, isChosen: false },
    });
    expect(told.oidcRedirectUri).to.equal(`${test.config.baseUrl}/api/auth/oidc/callback`);
    expect(told.scim).to.deep.equal({
      ...{ enabled: false, baseUrl: `${test.config.baseUrl}/api/scim/v2` },
      ...{ tokenCreatedAt: null, lastUsedAt: null },
    });
    expect(told.groups).to.deep.include({ mappings: [], defaultRole: 'VIEWER', groupSyncEnabled: false });
  });

  it('mask what is secret', async () => {
    await test.db('oidc_settings').insert({
      ...{ issuer: 'https://id.example.org', client_id: 'headgate', sealed_client_secret: 'v1.sealed-text' },
      token_endpoint_auth_method: 'client_secret_basic',
    });
    await test.db('scim_settings').insert({ enabled: true, sealed_token: 'v1.sealed-text' });
    const { answer, output } = await root.call<SettingsView>('query', 'settings.get');
    expect(output?.oidcProviders).to.have.length(1);
    expect(output?.oidcProviders[0]).to.deep.include({
      ...{ id: 'oidc', isFromFile: false, lastFailure: null, lastWarning: null },
      ...{ issuer: 'https://id.example.org', clientId: 'headgate', clientSecret: '********' },
      ...{ displayName: null, tokenEndpointAuthMethod: 'client_secret_basic' },
    });
    expect(output?.scim.enabled).to.equal(true);
    expect(answer.text).not.to.include('sealed-text');
    await test.db('oidc_settings').update({ sealed_client_secret: null });
    expect(
      (await root.query<SettingsView>('settings.get')).oidcProviders[0]?.clientSecret,
      'a public client',
    ).to.equal(null);
  });

  describe('of the fleet', () => {
    afterEach(() => update(DEFAULTS));

    it('keep what is not given, also where two change different ones at once', async () => {
      expect((await update({ logsRetentionDays: 30 })).output).to.deep.equal({
        ...{ ...DEFAULTS, logsRetentionDays: 30 },
      });
      for (let days = 10; days < 20; days += 1) {
        await Promise.all([update({ metricsRetentionDays: days }), update({ logsRetentionDays: days })]);
        const { fleet } = await root.query<SettingsView>('settings.get');
        expect(fleet).to.deep.equal({ ...DEFAULTS, metricsRetentionDays: days, logsRetentionDays: days });
      }
    });

    it('tell the audit log what has changed, and nothing else', async () => {
      await update({ unhealthyThreshold: 5 });
      expect(await createTestUsers(test).audited('settings.fleetUpdated')).to.deep.include({
        ...{ entity_type: 'Settings', entity_id: 'fleet', diff: { unhealthyThreshold: [3, 5] } },
      });
    });

    it('have limits', async () => {
      for (const wrong of [
        { pollIntervalMs: 999 },
        { pollIntervalMs: 300_001 },
        { pollIntervalMs: 1_500.5 },
        { unhealthyThreshold: 1 },
        { logsRetentionDays: 0 },
        { metricsRetentionDays: 3_651 },
        { pipelineVersionsRetained: 9 },
        { logsMibPerNodeHour: 0 },
        { logsMibTotal: 99 },
        { logsMibTotal: 1_000.5 },
      ])
        expect((await update(wrong)).status, JSON.stringify(wrong)).to.equal(400);
    });

    it('reach nodes by every controller at once, and wake those that are connected', async () => {
      expect(await intervals()).to.deep.equal([5_000, 5_000]);
      const stream = await node.push();
      streams.push(stream);
      await until(() => stream.text() !== '', { what: 'the stream to begin' });
      await update({ pollIntervalMs: 2_000 });
      await until(async () => (await intervals()).join() === '2000,2000', {
        what: 'both controllers to serve it',
        // A rendering is believed for 30 s where nobody says that it is old.
        timeoutMs: 5_000,
        // A node may poll 120 times a minute.
        everyMs: 50,
      });
      await until(() => stream.events('config_changed').length > 0, { what: 'the node to be told' });
    });

    it('decide at once who is unreachable, on every controller', async function () {
      this.timeout(30_000);
      const elsewhere = await signIn(other.url, root.email, 'a long enough password');
      const statuses = async () => {
        const lists = [root, elsewhere].map((by) => by.query<NodeSummary[]>('fleet.list', { environmentId }));
        return (await Promise.all(lists)).map(([one]) => one?.status).join();
      };
      await until(async () => (await test.db('node_reports')).length > 0, { what: 'the report' });
      await test.db('node_presence').update({ heard_at: new Date(Date.now() - 60_000) });
      await update({ pollIntervalMs: 1_000, unhealthyThreshold: 2 });
      await until(async () => (await statuses()) === 'UNREACHABLE,UNREACHABLE', { what: 'it to be missed' });
      await update({ pollIntervalMs: 300_000, unhealthyThreshold: 2 });
      await until(async () => (await statuses()) === 'HEALTHY,HEALTHY', { what: 'it to be waited for' });
    });

    it('drop log lines that are older at once', async () => {
      const days = async (): Promise<string[]> =>
        (
          await test.db.raw(
            `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'log_lines'::regclass ORDER BY 1`,
          )
        ).rows.map(({ name }: { name: string }) => name);
      const day = dayOf(Date.now() - 15 * 86_400_000);
      const name = `log_lines_${new Date(day).toISOString().slice(0, 10).replaceAll('-', '')}`;
      await update({ logsRetentionDays: 20 });
      // What is done after this change may come to look only now: it keeps this day.
      await logDays.ensure(test.db, [day]);
      expect(await days()).to.include(name);
      await update({ logsRetentionDays: 10 });
      await until(async () => !(await days()).includes(name), { what: 'the day to be dropped' });
    });
  });
});
