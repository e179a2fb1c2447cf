/** What users keep for themselves under keys of their own, and filter presets that everybody in an environment has. */
import { expect } from 'chai';
import type { FilterPreset } from '../../../schemas/api/insight/preferences.ts';
import { useController } from '../../support/harness/controller.ts';
import { ONE_OF_TEN, refusal, tenAtOnce, useTestEnvironments } from '../../support/scenes/places.ts';

describe('user preferences', () => {
  const test = useController();
  const places = useTestEnvironments(test);

  const get = (person = places.viewer) => person.query('userPreference.get');
  const set = (key: string, value: string, person = places.viewer) =>
    person.mutate('userPreference.set', { key, value });
  const remove = (key: string, person = places.viewer) => person.mutate('userPreference.delete', { key });

  it('are none at first, and then the value by the key', async () => {
    expect(await get()).to.deep.equal({});
    expect(await set('theme', 'dark')).to.deep.equal({ key: 'theme', value: 'dark' });
    await set('columns', '');
    expect(await get()).to.deep.equal({ columns: '', theme: 'dark' });
    await set('theme', 'light');
    expect(await get()).to.deep.equal({ columns: '', theme: 'light' });
  });

  it('are those of one person alone', async () => {
    await set('mine', 'x');
    expect(await get(places.editor)).to.deep.equal({});
    await remove('mine', places.editor);
    expect(await get()).to.include({ mine: 'x' });
  });

  it('are forgotten on demand, and a second time without complaint', async () => {
    await set('short-lived', 'x');
    for (let times = 0; times < 2; times += 1)
      expect(await remove('short-lived')).to.deep.equal({ ok: true });
    expect(await get()).not.to.have.property('short-lived');
  });

  it('keep the last of ten values that come at once, without a fault', async () => {
    const statuses = await tenAtOnce((n) =>
      places.viewer.call('mutation', 'userPreference.set', { key: 'race', value: String(n) }),
    );
    expect(statuses).to.deep.equal(Array(10).fill(200));
    expect((await get()) as object).to.have.property('race');
  });

  it('are 200 at most, also where the last ones come at once; those that are there may change', async () => {
    const { root } = places;
    await test.db.raw(
      `INSERT INTO user_preferences (user_id, key, value)
       SELECT id, 'key ' || n, 'x' FROM users, generate_series(0, 196) n WHERE email = ?`,
      [root.email],
    );
    const statuses = await tenAtOnce((n) =>
      root.call('mutation', 'userPreference.set', { key: `another ${n}`, value: 'x' }),
    );
    expect(statuses).to.deep.equal([...Array(3).fill(200), ...Array(7).fill(412)]);
    const refused = await refusal(root, 'mutation', 'userPreference.set', { key: 'one more', value: 'x' });
    expect(refused).to.match(/^PRECONDITION_FAILED: .*delete one first/);
    await set('key 7', 'changed', root);
    expect(await get(root)).to.include({ 'key 7': 'changed' });
  });

  it('take a key of 100 characters with a value of 500, and no longer ones', async () => {
    await set('k'.repeat(100), 'v'.repeat(500), places.editor);
    const refused = (key: string, value: string) =>
      refusal(places.editor, 'mutation', 'userPreference.set', { key, value });
    expect(await refused('k'.repeat(101), '')).to.match(/^BAD_REQUEST: key/);
    expect(await refused('k', 'v'.repeat(501))).to.match(/^BAD_REQUEST: value/);
    expect(await refused('', 'v')).to.match(/^BAD_REQUEST: key/);
  });

  it('come back under keys that are named like members of every object', async () => {
    for (const key of ['constructor', '__proto__', 'toString']) await set(key, key, places.admin);
    const { answer } = await places.admin.call('query', 'userPreference.get');
    const { json } = answer.json<{ result: { data: { json: object } } }>().result.data;
    expect(Object.entries(json).sort()).to.deep.equal(
      ['__proto__', 'constructor', 'toString'].map((key) => [key, key]),
    );
  });

  it('leave the key in the audit log, and not the value', async () => {
    await set('audited', 'of-the-value', places.both);
    const row = await test
      .db('audit_log')
      .where({ action: 'userPreference.set' })
      .orderBy('id', 'desc')
      .first();
    expect(row).to.deep.include({ entity_type: 'UserPreference', metadata: { key: 'audited' } });
    expect(JSON.stringify(row)).not.to.include('of-the-value');
  });

  describe('filter presets', () => {
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
    const tryCreate = (more: object) =>
      refusal(places.editor, 'mutation', 'filterPreset.create', input(more));
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

    it('make one of ten that come at once with one name', async () => {
      const statuses = await tenAtOnce(() =>
        places.editor.call('mutation', 'filterPreset.create', input({ name: 'race', isDefault: true })),
      );
      expect(statuses).to.deep.equal(ONE_OF_TEN);
      expect(await defaults()).to.have.length(1);
    });

    it('are 20 of each of the two scopes, which have names of their own', async () => {
      for (let n = 0; n < 19; n += 1) await create();
      await create({ name: 'Twice' });
      expect(await tryCreate({})).to.match(/^PRECONDITION_FAILED/);
      expect(await tryCreate({ name: 'Twice', scope: 'fleet_matrix' })).to.equal('OK');
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
        expect(
          await places.editor.mutate('filterPreset.clearDefault', { environmentId, scope }),
        ).to.deep.equal({
          ok: true,
        });
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
      expect(await refusal(places.editor, 'mutation', 'filterPreset.setDefault', given)).to.match(
        /^NOT_FOUND/,
      );
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
});
