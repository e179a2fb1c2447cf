/** Filter presets: kept for everybody in an environment, twenty of a list, one of them its default. */
import { expect } from 'chai';
import type { FilterPreset } from '../../../schemas/api/insight/preferences.ts';
import { useController } from '../../support/harness/controller.ts';
import { ONE_OF_TEN, refusal, tenAtOnce, useTestEnvironments } from '../../support/scenes/places.ts';

describe('filter presets', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let made = 0;
  let environmentId: string;

  beforeEach(async () => {
    const input = { teamId: places.teamId, name: `of its own ${++made}` };
    environmentId = (await places.root.mutate<{ id: string }>('environment.create', input)).id;
  });

  const input = (more: object = {}) => ({
    ...{ environmentId, name: `preset ${++made}`, scope: 'pipeline_list', filters: { status: 'running' } },
    ...more,
  });
  const create = (more?: object) => places.editor.mutate<FilterPreset>('filterPreset.create', input(more));
  const tryCreate = (more: object) => refusal(places.editor, 'mutation', 'filterPreset.create', input(more));
  const list = (scope = 'pipeline_list') =>
    places.viewer.query<FilterPreset[]>('filterPreset.list', { environmentId, scope });
  const defaults = async (scope?: string) => (await list(scope)).filter((one) => one.isDefault);

  it('are shared by the people of the environment, by name, a list for each scope', async () => {
    const later = await create({ name: 'b', filters: { labels: ['a', 'b'], up: true, min: 2.5, q: '' } });
    const first = await create({ name: 'A' });
    const other = await create({ name: 'a', scope: 'fleet_matrix' });
    expect(await list()).to.deep.equal([first, later]);
    expect(await list('fleet_matrix')).to.deep.equal([other]);
    expect(later).to.include({ isDefault: false, createdByName: 'editor', environmentId });
    expect(later.filters).to.deep.equal({ labels: ['a', 'b'], up: true, min: 2.5, q: '' });
  });

  it('take a name once in a scope, whatever its case', async () => {
    await create({ name: 'Twice' });
    expect(await tryCreate({ name: ' twice' })).to.match(/^CONFLICT: .*choose another name/);
    expect(await tryCreate({ name: 'Twice', scope: 'fleet_matrix' })).to.equal('OK');
  });

  it('make one of ten that come at once with one name', async () => {
    const statuses = await tenAtOnce(() =>
      places.editor.call('mutation', 'filterPreset.create', input({ name: 'race', isDefault: true })),
    );
    expect(statuses).to.deep.equal(ONE_OF_TEN);
    expect(await defaults()).to.have.length(1);
  });

  it('are 20 of each of the two scopes', async () => {
    for (let n = 0; n < 20; n += 1) await create();
    expect(await tryCreate({})).to.match(/^PRECONDITION_FAILED/);
    expect(await tryCreate({ scope: 'fleet_matrix' })).to.equal('OK');
  });

  it('have one default: made so, another one made so, or none again', async () => {
    const first = await create({ isDefault: true });
    expect(await defaults()).to.deep.equal([first]);
    const second = await create({ isDefault: true });
    expect(await defaults()).to.deep.equal([second]);
    const scope = 'pipeline_list';
    const { id } = first;
    const set = await places.editor.mutate<FilterPreset>('filterPreset.setDefault', {
      ...{ environmentId, id, scope },
    });
    expect(set).to.deep.equal(first);
    expect(await defaults()).to.deep.equal([first]);
    await create({ isDefault: false });
    expect(await defaults()).to.deep.equal([first]);
    for (let times = 0; times < 2; times += 1)
      expect(await places.editor.mutate('filterPreset.clearDefault', { environmentId, scope })).to.deep.equal(
        {
          ok: true,
        },
      );
    expect(await defaults()).to.deep.equal([]);
  });

  it('keep the default of the other scope', async () => {
    const other = await create({ scope: 'fleet_matrix', isDefault: true });
    await create({ isDefault: true });
    await places.editor.mutate('filterPreset.clearDefault', { environmentId, scope: 'pipeline_list' });
    expect(await defaults('fleet_matrix')).to.deep.equal([other]);
  });

  it('have one default where ten are made it at once', async () => {
    const presets = await Promise.all(Array.from({ length: 10 }, () => create()));
    const statuses = await tenAtOnce((n) =>
      places.editor.call('mutation', 'filterPreset.setDefault', {
        ...{ environmentId, id: presets[n]?.id, scope: 'pipeline_list' },
      }),
    );
    expect(statuses).to.deep.equal(Array(10).fill(200));
    expect(await defaults()).to.have.length(1);
  });

  it('are not the default of a scope that they are not of', async () => {
    const { id } = await create();
    const given = { environmentId, id, scope: 'fleet_matrix' };
    expect(await refusal(places.editor, 'mutation', 'filterPreset.setDefault', given)).to.match(/^NOT_FOUND/);
  });

  it('are not found under another environment, be it one of the same person', async () => {
    const { id } = await create();
    for (const elsewhere of [places.siblingId, places.foreignId]) {
      const given = { environmentId: elsewhere, id };
      const change = (name: string, more: object = {}) =>
        refusal(places.both, 'mutation', name, { ...given, ...more });
      expect(await change('filterPreset.update', { name: 'taken over' })).to.match(/^NOT_FOUND/);
      expect(await change('filterPreset.delete')).to.match(/^NOT_FOUND/);
      expect(await change('filterPreset.setDefault', { scope: 'pipeline_list' })).to.match(/^NOT_FOUND/);
    }
    expect(await list()).to.have.length(1);
  });

  it('give back filters that are named like members of every object', async () => {
    const text = '{"constructor":"x","toString":["y"],"hasOwnProperty":true}';
    const { filters } = await create({ filters: JSON.parse(text) });
    expect(filters).to.deep.equal(JSON.parse(text));
    expect((await list())[0]?.filters).to.deep.equal(JSON.parse(text));
  });
});
