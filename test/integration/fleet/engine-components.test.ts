/** Component types of engines: sent once, stored by digest, and looked up by checks of pipelines. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { countComponentTypes, readNodeEngines } from '../../../controller/fleet/engines/index.ts';
import { componentsText } from '../../../schemas/agent/engine-components.ts';
import type { EngineInventory, HeartbeatResponse } from '../../../schemas/agent/protocol.ts';
import { usePlatform } from '../../support/harness/platform.ts';
import {
  type EnrolledNode,
  type FleetParts,
  insertEnvironment,
  insertNodes,
  startFleetParts,
  statementsOf,
} from '../../support/scenes/fleet-parts.ts';

const LISTS = {
  sources: ['stdin'],
  transforms: ['remap', 'window'],
  sinks: ['console'],
  enrichmentTables: ['file'],
};
const digestOf = (lists: typeof LISTS) =>
  `sha256:${createHash('sha256').update(componentsText(lists)).digest('hex')}`;
const DIGEST = digestOf(LISTS);

describe('the component types of engines', function () {
  this.timeout(30_000);
  const platform = usePlatform();
  let environmentId: string;
  let nodes: EnrolledNode[];
  let parts: FleetParts;

  beforeEach(async () => {
    environmentId = await insertEnvironment(platform);
    nodes = await insertNodes(platform, environmentId, 3);
    parts = await startFleetParts(platform);
  });
  afterEach(() => parts.stop());

  const beat = async (
    index: number,
    engine: EngineInventory | undefined,
    more: { engineVersion?: string } = {},
    to = parts,
  ): Promise<HeartbeatResponse> => {
    const known = await to.directory.authenticate(nodes[index]?.token ?? '');
    if (!known) throw new Error('the node is not known');
    return to.heartbeats.ingest(known, {
      ...{ pipelines: [], engineVersion: 'vector 0.57.0 (x)', ...more },
      ...(engine ? { engine } : {}),
    });
  };
  const engines = async () => {
    await parts.heartbeats.flush();
    return readNodeEngines(platform.db, environmentId, parts.clock.now());
  };
  const stored = () => platform.db('engine_components').where({ environment_id: environmentId });

  it('are asked for once, and not of the next node with the same engine', async () => {
    expect(await beat(0, { componentsDigest: DIGEST })).to.include({ sendEngineComponents: true });
    const told = await beat(0, { componentsDigest: DIGEST, components: LISTS });
    expect(told).not.to.have.any.keys('sendEngineComponents', 'warnings');
    expect(await beat(1, { componentsDigest: DIGEST })).not.to.have.property('sendEngineComponents');
    expect(await beat(2, undefined)).not.to.have.property('sendEngineComponents');
    const [first, second, third] = (await engines()).sort(
      (a, b) => Number(b.types !== null) - Number(a.types !== null),
    );
    for (const one of [first, second])
      expect(one).to.deep.include({
        version: '0.57.0',
        types: new Set(['SOURCE stdin', 'TRANSFORM remap', 'TRANSFORM window', 'SINK console']),
      });
    expect(third?.types).to.equal(null);
    expect(await countComponentTypes(platform.db, nodes[0]!.nodeId)).to.equal(5);
    expect(await countComponentTypes(platform.db, nodes[2]!.nodeId)).to.equal(null);
  });

  it('cost a heartbeat no statement, and another controller one', async () => {
    await beat(0, { componentsDigest: DIGEST });
    await beat(0, { componentsDigest: DIGEST, components: LISTS });
    await parts.heartbeats.flush();
    const usual = await statementsOf(platform, () => beat(0, { componentsDigest: DIGEST }));
    expect(usual.filter((sql) => sql.includes('engine_components'))).to.deep.equal([]);
    const other = await startFleetParts(platform);
    try {
      const looked = await statementsOf(platform, async () => {
        expect(await beat(0, { componentsDigest: DIGEST }, {}, other)).not.to.have.property(
          'sendEngineComponents',
        );
        await beat(1, { componentsDigest: DIGEST }, {}, other);
      });
      expect(looked.filter((sql) => sql.includes('"engine_components"'))).to.have.length(1);
    } finally {
      await other.stop();
    }
  });

  it('are not stored under a digest that is not theirs', async () => {
    const other = digestOf({ ...LISTS, sinks: ['http'] });
    await beat(0, { componentsDigest: other });
    const told = await beat(0, { componentsDigest: other, components: LISTS });
    expect(told.warnings?.[0]?.reason).to.include('componentsDigest is not the digest of these lists');
    const named = { ...LISTS, sinks: ['a b'] };
    const bad = await beat(1, { componentsDigest: digestOf(named), components: named });
    expect(bad.warnings?.[0]?.reason).to.include('other characters');
    const formless = await beat(2, { componentsDigest: 'md5:1' });
    expect(formless.warnings?.[0]?.reason).to.include('componentsDigest');
    expect(await stored()).to.deep.equal([]);
    expect(await engines()).to.deep.equal([]);
  });

  it('are forgotten when the node has another engine that says nothing', async () => {
    await beat(0, { componentsDigest: DIGEST, components: LISTS });
    await beat(0, undefined);
    expect((await engines()).some(({ types }) => types !== null)).to.equal(true);
    parts.clock.advance(1_000);
    await beat(0, undefined, { engineVersion: 'vector 0.40.0 (x)' });
    expect((await engines()).map(({ version, types }) => [version, types])).to.deep.equal([['0.40.0', null]]);
  });

  it('stay with the version where a heartbeat says an empty one, as an agent does that has just started', async () => {
    await beat(0, { componentsDigest: DIGEST, components: LISTS });
    await parts.heartbeats.flush();
    parts.clock.advance(1_000);
    await beat(0, undefined, { engineVersion: '' });
    const [node, ...others] = await engines();
    expect(others).to.deep.equal([]);
    expect(node?.version).to.equal('0.57.0');
    expect(node?.types?.has('SINK console')).to.equal(true);
  });

  it('are bounded in number for each environment', async () => {
    await platform.db.raw(
      `INSERT INTO engine_components (environment_id, digest, components)
       SELECT ?, 'sha256:' || n, '{}' FROM generate_series(1, 200) n`,
      [environmentId],
    );
    const told = await beat(0, { componentsDigest: DIGEST, components: LISTS });
    expect(told.warnings?.[0]?.reason).to.include('too many different engines');
    expect(await stored()).to.have.length(200);
    // Those that no node reports make room after a day.
    await platform.db('engine_components').update({ first_seen_at: new Date(Date.now() - 2 * 86_400_000) });
    const lists = { ...LISTS, sinks: ['http'] };
    expect(await beat(1, { componentsDigest: digestOf(lists), components: lists })).not.to.have.property(
      'warnings',
    );
    expect(await stored()).to.have.length(1);
  });

  it('of nodes that were not heard for a day, are archived or revoked have no say', async () => {
    await beat(0, { componentsDigest: DIGEST, components: LISTS });
    await beat(1, { componentsDigest: DIGEST });
    await beat(2, { componentsDigest: DIGEST });
    expect(await engines()).to.have.length(3);
    await platform.db('nodes').where({ id: nodes[0]?.nodeId }).update({ archived_at: new Date() });
    await platform.db('nodes').where({ id: nodes[1]?.nodeId }).update({ token_revoked_at: new Date() });
    expect(await engines()).to.have.length(1);
    parts.clock.advance(25 * 3_600_000);
    expect(await engines()).to.deep.equal([]);
  });
});
