/** The short way to the matrix against the long one to lists, over what a database holds. */
import { expect } from 'chai';
import { connect } from '../../../controller/database/connect.ts';
import { DEFAULT_FLEET_SETTINGS } from '../../../controller/fleet/settings/index.ts';
import { joinCells } from '../../../controller/fleet/status/cells.ts';
import { join } from '../../../controller/fleet/status/join-status.ts';
import { readCompactObserved, readObserved } from '../../../controller/fleet/status/queries.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { writeLargeFleet } from '../../support/scenes/large-fleet.ts';

describe('the matrix of an environment', () => {
  let test: TestDatabase;
  let db: TestDb;
  const environmentId = newId();
  const time = { now: Date.now(), listeningSince: 0, settings: DEFAULT_FLEET_SETTINGS };
  const both = async () => {
    const whole = join(await readObserved(db, { environmentId }), time);
    const short = joinCells(await readCompactObserved(db, environmentId), time);
    return {
      whole: whole.nodes.map(({ node, labels, groups, health, pairs }) => ({
        ...{ name: node.name, labels, groups, health },
        cells: pairs.map(({ pipeline, desired, gate }) => [
          ...[pipeline.name, desired, gate.status, gate.version],
        ]),
      })),
      short: short.nodes.map(({ node, labels, groups, health, cells }) => ({
        ...{ name: node.name, labels, groups, health },
        cells: cells.map(({ pipelineIndex, desired, status, version }) => [
          ...[short.pipelines[pipelineIndex]?.name, desired, status, version],
        ]),
      })),
    };
  };

  before(async () => {
    test = await testDatabase();
    db = connect(test.url, { poolSize: 2 });
    const teamId = newId();
    await db('teams').insert({ id: teamId, name: 'ours' });
    await db('environments').insert({ id: environmentId, team_id: teamId, name: 'large' });
    await writeLargeFleet(db, { environmentId, nodes: 60, pipelines: 20 });
    await db.raw(
      `UPDATE node_pipelines SET version = 2 + mod(hashtext(node_id || pipeline_id), 2),
         status = (ARRAY['RUNNING', 'CRASHED', 'STOPPED', 'STARTING'])[1 + abs(mod(hashtext(pipeline_id || node_id), 4))]`,
    );
    await db('pipelines')
      .whereILike('name', '%1')
      .update({ node_selector: { region: 'r1' } });
    await db('nodes').where({ name: 'node-0007' }).update({ maintenance: true });
    await db('node_pipelines').whereLike('node_id', '%9').whereLike('pipeline_id', '%5').delete();
  });
  after(async () => {
    await db?.destroy();
    await test?.drop();
  });

  it('says of each node and pipeline what lists say', async () => {
    const { whole, short } = await both();
    expect(whole).to.have.length(60);
    expect(short).to.deep.equal(whole);
  });

  it('is empty without nodes', async () => {
    await db('nodes').delete();
    expect(await both()).to.deep.equal({ whole: [], short: [] });
  });
});
