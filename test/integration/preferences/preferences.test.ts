/** User preferences: one's own, under keys of one's own. */
import { expect } from 'chai';
import { useController } from '../../support/harness/controller.ts';
import { refusal, tenAtOnce, useTestEnvironments } from '../../support/scenes/places.ts';

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
    for (let n = 0; n < 197; n += 1) await set(`key ${n}`, 'x', root);
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
});
