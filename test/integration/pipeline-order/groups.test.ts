/** Groups of pipelines: a tree of three levels, in which people file what they work with. */
import { expect } from 'chai';
import type { PipelineGroup } from '../../../schemas/api/pipelines/pipeline-order.ts';
import { useController } from '../../support/harness/controller.ts';
import { ONE_OF_TEN, refusal, tenAtOnce, useTestEnvironments } from '../../support/scenes/places.ts';

describe('pipeline groups', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let environmentId: string;
  let made = 0;

  beforeEach(async () => {
    const input = { teamId: places.teamId, name: `of its own ${++made}` };
    environmentId = (await places.root.mutate<{ id: string }>('environment.create', input)).id;
  });

  const input = (more: object = {}) => ({ environmentId, name: `group ${++made}`, ...more });
  const create = (more?: object) => places.editor.mutate<PipelineGroup>('pipelineGroup.create', input(more));
  const tryCreate = (more: object) => refusal(places.editor, 'mutation', 'pipelineGroup.create', input(more));
  const update = (id: string, more: object) =>
    places.editor.mutate<PipelineGroup>('pipelineGroup.update', { id, ...more });
  const tryUpdate = (id: string, more: object) =>
    refusal(places.editor, 'mutation', 'pipelineGroup.update', { id, ...more });
  const remove = (id: string) => places.admin.mutate('pipelineGroup.delete', { id });
  const list = () => places.viewer.query<PipelineGroup[]>('pipelineGroup.list', { environmentId });
  const find = async (id: string) => (await list()).find((one) => one.id === id);
  /** `a`, `a > b` and `a > b > c`. */
  const chain = async () => {
    const a = await create({ name: 'a' });
    const b = await create({ name: 'b', parentId: a.id });
    return { a, b, c: await create({ name: 'c', parentId: b.id }) };
  };
  const draft = async (name: string, groupId?: string) => {
    const { id } = await places.editor.mutate<{ id: string }>('pipeline.create', { environmentId, name });
    if (groupId) await places.editor.mutate('pipeline.update', { id, groupId });
    return id;
  };

  it('are listed by name, with parent, depth, color and how many pipelines are in them', async () => {
    const { a, b, c } = await chain();
    const other = await create({ name: 'B', color: '#1D6fb8' });
    await draft('filed', b.id);
    await draft('beside it', b.id);
    await draft('not filed');
    expect(await list()).to.deep.equal([a, { ...b, pipelineCount: 2 }, other, c].sort(byNameAndId));
    expect([a.depth, b.depth, c.depth, other.depth]).to.deep.equal([1, 2, 3, 1]);
    expect(a).to.include({ parentId: null, color: null, pipelineCount: 0, environmentId });
    expect(other.color).to.equal('#1D6fb8');
  });

  it('do not count pipelines that were deleted', async () => {
    const { id } = await create();
    const pipelineId = await draft('short-lived', id);
    expect((await find(id))?.pipelineCount).to.equal(1);
    await places.editor.mutate('pipeline.delete', { id: pipelineId });
    expect((await find(id))?.pipelineCount).to.equal(0);
  });

  it('take a name once below a parent, whatever its case, and again elsewhere', async () => {
    const { id: parentId } = await create({ name: 'Twice' });
    expect(await tryCreate({ name: ' tWICE ' })).to.match(/^CONFLICT: .*choose another name/);
    expect(await tryCreate({ name: 'Twice', parentId })).to.equal('OK');
    expect(await tryCreate({ name: 'twice', parentId })).to.match(/^CONFLICT/);
    expect(await tryCreate({ name: 'Twice', environmentId: places.siblingId })).to.equal('OK');
  });

  it('make one of ten that come at once with one name, at the root and below a parent', async () => {
    const { id: parentId } = await create();
    for (const place of [{}, { parentId }]) {
      const statuses = await tenAtOnce(() =>
        places.editor.call('mutation', 'pipelineGroup.create', input({ name: 'race', ...place })),
      );
      expect(statuses).to.deep.equal(ONE_OF_TEN);
    }
  });

  it('have three levels and no fourth', async () => {
    const { c } = await chain();
    expect(await tryCreate({ parentId: c.id })).to.match(/^BAD_REQUEST: That would be 4 levels/);
    const { id } = await create();
    expect(await tryUpdate(id, { parentId: c.id })).to.match(/^BAD_REQUEST: That would be 4 levels/);
  });

  it('are counted with what is in them when they move', async () => {
    const { a } = await chain();
    const top = await create({ name: 'top' });
    expect(await tryUpdate(a.id, { parentId: top.id })).to.match(/^BAD_REQUEST: That would be 4 levels/);
    const { b } = { b: (await list()).find((one) => one.name === 'b') };
    expect((await update(b?.id ?? '', { parentId: top.id })).depth).to.equal(2);
    expect((await list()).map(({ name, depth }) => [name, depth])).to.deep.equal([
      ...[
        ['a', 1],
        ['b', 2],
        ['c', 3],
        ['top', 1],
      ],
    ]);
  });

  it('have three levels also where ten are made and moved at once', async () => {
    const tops = await Promise.all(Array.from({ length: 6 }, () => create()));
    const statuses = await tenAtOnce((n) =>
      places.editor.call('mutation', 'pipelineGroup.update', {
        ...{ id: tops[n % 6]?.id, parentId: tops[(n * 5 + 1) % 6]?.id },
      }),
    );
    expect(statuses.filter((status) => status !== 200 && status !== 400)).to.deep.equal([]);
    for (const { depth } of await list()) expect(depth).to.be.within(1, 3);
  });

  it('are in no circle', async () => {
    const { a, b, c } = await chain();
    expect(await tryUpdate(a.id, { parentId: a.id })).to.match(
      /^BAD_REQUEST: The group "a" cannot be in itself/,
    );
    for (const inner of [b, c])
      expect(await tryUpdate(a.id, { parentId: inner.id })).to.match(/^BAD_REQUEST: .*which is in it/);
  });

  it('move to the root with parentId null, and stay where nothing is said', async () => {
    const { a, c } = await chain();
    expect(await update(c.id, { color: '#ffffff' })).to.include({ depth: 3, color: '#ffffff', name: 'c' });
    expect(await update(c.id, { parentId: null })).to.include({ depth: 1, parentId: null, color: '#ffffff' });
    expect(await update(c.id, { color: null, name: ' renamed ' })).to.include({
      color: null,
      name: 'renamed',
    });
    expect(await tryUpdate(c.id, { name: a.name.toUpperCase() })).to.match(/^CONFLICT/);
    expect(await tryUpdate(c.id, { name: 'RENAMED' })).to.equal('OK');
  });

  it('have no parent in another environment, be it one of the same person', async () => {
    const { id } = await create();
    for (const elsewhere of [places.siblingId, places.foreignId]) {
      const there = { environmentId: elsewhere, name: `there ${++made}` };
      const parent = await places.both.mutate<PipelineGroup>('pipelineGroup.create', there);
      const given = input({ parentId: parent.id });
      expect(await refusal(places.both, 'mutation', 'pipelineGroup.create', given)).to.match(/^NOT_FOUND/);
      const move = { id, parentId: parent.id };
      expect(await refusal(places.both, 'mutation', 'pipelineGroup.update', move)).to.match(/^NOT_FOUND/);
      const pipelineId = await draft(`filed ${++made}`);
      const file = { id: pipelineId, groupId: parent.id };
      expect(await refusal(places.both, 'mutation', 'pipeline.update', file)).to.match(/^NOT_FOUND/);
    }
  });

  it('leave their groups to the root when they are deleted, and their pipelines in no group', async () => {
    const { a, b, c } = await chain();
    const filed = await draft('filed', a.id);
    const deeper = await draft('deeper', b.id);
    expect(await remove(a.id)).to.deep.equal({
      ...{ deleted: true, moved: [{ id: b.id, name: 'b' }], ungrouped: 1 },
    });
    expect((await list()).map(({ id, depth }) => [id, depth])).to.deep.equal([
      ...[
        [b.id, 1],
        [c.id, 2],
      ],
    ]);
    const groupOf = async (id: string) =>
      (await places.viewer.query<{ groupId: string | null }>('pipeline.get', { id })).groupId;
    expect(await groupOf(filed)).to.equal(null);
    expect(await groupOf(deeper)).to.equal(b.id);
  });

  it('get a number at the root where their name is taken there, also that of the one that was deleted', async () => {
    const doomed = await create({ name: 'same' });
    await create({ name: 'Taken' });
    await create({ name: 'taken 2' });
    const long = 'x'.repeat(100);
    await create({ name: long });
    for (const name of ['same', 'TAKEN', long]) await create({ name, parentId: doomed.id });
    await remove(doomed.id);
    const names = (await list()).map(({ name }) => name).sort();
    expect(names).to.deep.equal(['same', 'Taken', 'taken 2', 'TAKEN 3', long, `${'x'.repeat(98)} 2`].sort());
    expect((await list()).every(({ parentId }) => parentId === null)).to.equal(true);
  });
});

const byNameAndId = (a: PipelineGroup, b: PipelineGroup) =>
  a.name.toLowerCase() === b.name.toLowerCase()
    ? a.id < b.id
      ? -1
      : 1
    : a.name.toLowerCase() < b.name.toLowerCase()
      ? -1
      : 1;
