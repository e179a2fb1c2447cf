/** What nodes are told while the database hangs: what it said last, and not to wait. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { writeSetting } from '../../controller/platform/runtime/settings-store.ts';
import type { FleetNode } from '../../schemas/api/fleet/fleet.ts';
import { enrollNode, type TestNode } from '../support/agents/agent-client.ts';
import { useController } from '../support/harness/controller.ts';
import { until } from '../support/harness/until.ts';
import { enrollmentToken } from '../support/scenes/places.ts';
import { testEnvironment } from '../support/scenes/two-teams.ts';
import type { TestUser } from '../support/users/person.ts';

describe('a fleet whose database hangs', function () {
  this.timeout(30_000);
  this.slow(10_000);
  const controller = useController();
  let root: TestUser;
  let node: TestNode;
  let environmentId: string;

  before(async () => {
    await writeSetting(controller.db, 'fleet', { pollIntervalMs: 1_000 });
    root = await controller.root();
    ({ environmentId } = await testEnvironment(root));
    const token = await enrollmentToken(root, environmentId);
    node = await enrollNode(controller.url, token);
    await node.heartbeat({ pipelines: [] });
  });

  /** Reads of the tables wait until `during` has ended. */
  async function locked(tables: readonly string[], during: (tx: Knex.Transaction) => Promise<void>) {
    await controller.db.transaction(async (tx) => {
      await tx.raw(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
      await during(tx);
    });
  }
  const bumped = async () => {
    await controller.db('environments').where({ id: environmentId }).increment('config_revision', 1);
    const { db, services } = controller.controller.systemContext('test');
    await services.bus.publish(db, { type: 'config', environmentId, reason: 'test' });
  };
  const revision = async () => (await node.config()).json<{ configRevision: number }>().configRevision;

  it('is served the last config, and the new one as soon as it can be read', async () => {
    const before = await revision();
    await locked(['pipelines'], async () => {
      await bumped();
      expect(await revision()).to.equal(before);
      expect((await node.heartbeat({ pipelines: [] })).status).to.equal(200);
    });
    await until(async () => (await revision()) === before + 1, { what: 'the new config' });
  });

  it('is known while all nodes are read again', async () => {
    await locked(['nodes'], async () => {
      await controller.db.raw(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
      );
      // The bus has connected again, and asks for everything.
      await until(
        async () => {
          const { rows } = await controller.db.raw(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return rows.length > 0;
        },
        { what: 'all nodes to be read', timeoutMs: 10_000 },
      );
      expect((await node.config()).status).to.equal(200);
    });
    expect((await node.config()).status).to.equal(200);
  });

  it('is not called unreachable for what could not be stored', async () => {
    await controller.db('node_presence').update({ heard_at: new Date(Date.now() - 600_000) });
    const health = async () => (await root.query<FleetNode[]>('fleet.list', { environmentId }))[0]?.status;
    await until(async () => (await health()) === 'UNREACHABLE', { what: 'silence', timeoutMs: 10_000 });
    await locked(['node_reports'], async (tx) => {
      expect((await node.heartbeat({ pipelines: [] })).status).to.equal(200);
      await until(
        async () => {
          const { rows } = await tx.raw("SELECT clock_timestamp() - now() > interval '3 seconds' AS long");
          return rows[0].long;
        },
        { what: 'a while', timeoutMs: 10_000, everyMs: 100 },
      );
    });
    await until(async () => (await health()) === 'HEALTHY', { what: 'it to be heard' });
    await controller.db('node_presence').update({ heard_at: new Date(Date.now() - 600_000) });
    expect(await health(), 'others are given time too').not.to.equal('UNREACHABLE');
  });
});
