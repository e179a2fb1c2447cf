/** Filter presets: kept for everybody in an environment, twenty of a list, one of them its default. */
import { expect } from 'chai';
import type { FilterPreset } from '../../../schemas/api/preferences.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import {
  makeTestEnvironments,
  ONE_OF_TEN,
  refusal,
  type TestEnvironments,
  tenAtOnce,
} from '../../support/scenes/places.ts';

describe('filter presets', () => {
  let test: TestController;
  let places: TestEnvironments;
  let made = 0;
  let environmentId: string;

  before(async () => {
    test = await startTestController();
    places = await makeTestEnvironments(test);
  });
  after(() => test?.stop());
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

  it('are 20 of a scope, and the refusal says what to do', async () => {
    for (let n = 0; n < 20; n += 1) await create();
    expect(await tryCreate({})).to.match(/^PRECONDITION_FAILED: There are 20 .*delete one first/);
    expect(await tryCreate({ scope: 'fleet_matrix' })).to.equal('OK');
    const [one] = await list();
    await places.editor.mutate('filterPreset.delete', { environmentId, id: one?.id });
    expect(await tryCreate({})).to.equal('OK');
  });

  it('are 20 also where the last ones come at once', async () => {
    for (let n = 0; n < 17; n += 1) await create();
    const statuses = await tenAtOnce(() => places.editor.call('mutation', 'filterPreset.create', input()));
    expect(statuses).to.deep.equal([...Array(3).fill(200), ...Array(7).fill(412)]);
    expect(await list()).to.have.length(20);
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

  it('change in part, and stay the default', async () => {
    const before = await create({ isDefault: true });
    const { id } = before;
    const change = (more: object) =>
      places.editor.mutate<FilterPreset>('filterPreset.update', { environmentId, id, ...more });
    expect(await change({ name: ' renamed ' })).to.deep.include({
      ...{ name: 'renamed', filters: before.filters, isDefault: true },
    });
    expect(await change({ filters: {} })).to.deep.include({ name: 'renamed', filters: {}, isDefault: true });
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

  const WRONG: { reason: string; filters: object }[] = [
    { reason: 'an object within', filters: { a: { b: 1 } } },
    { reason: 'a list of numbers', filters: { a: [1] } },
    { reason: 'null', filters: { a: null } },
    { reason: '51 keys', filters: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, 1])) },
    { reason: 'a key of 101 characters', filters: { ['x'.repeat(101)]: 1 } },
    { reason: 'an empty key', filters: { '': 1 } },
    { reason: 'a text of 1,001 characters', filters: { a: 'x'.repeat(1_001) } },
    { reason: 'a list of 101 texts', filters: { a: Array(101).fill('') } },
    {
      reason: 'more than 4 KB in all',
      filters: Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`k${n}`, 'é'.repeat(450)])),
    },
  ];
  for (const { reason, filters } of WRONG) {
    it(`refuse filters with ${reason}`, async () => {
      expect(await tryCreate({ filters })).to.match(/^BAD_REQUEST: .*filters/);
      const { id } = await create();
      const given = { environmentId, id, filters };
      const refused = await refusal(places.editor, 'mutation', 'filterPreset.update', given);
      expect(refused).to.match(/^BAD_REQUEST: .*filters/);
    });
  }

  it('give back filters that are named like members of every object', async () => {
    const text = '{"constructor":"x","toString":["y"],"hasOwnProperty":true}';
    const { filters } = await create({ filters: JSON.parse(text) });
    expect(filters).to.deep.equal(JSON.parse(text));
    expect((await list())[0]?.filters).to.deep.equal(JSON.parse(text));
  });

  it('refuse a scope that there is not', async () => {
    expect(await tryCreate({ scope: 'everything' })).to.match(/^BAD_REQUEST: scope must be one of/);
  });
});
