/** Filters of SCIM against PostgreSQL: they find whom a plain reading of the filter finds. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Filter } from '../../../controller/identity/scim/filter/filter.ts';
import { expectError, type Json, PATCH_OP } from '../../support/scenes/scim/client.ts';
import { evaluate, filterTrees, printFilter } from '../../support/scenes/scim/filters.ts';
import { useScimScene } from '../../support/scenes/scim/scene.ts';

describe('a filter of SCIM', function () {
  this.timeout(60_000);
  const scene = useScimScene();
  const ids: Record<string, string> = {};
  before(async () => {
    const { scim } = scene;
    const users = [
      ['bo@x.example', { name: { givenName: 'Bo', familyName: 'Ab' }, externalId: 'AB', active: false }],
      [
        'ab@x.example',
        { displayName: 'AbBa', emails: [{ value: 'ab@x.example', type: 'work', primary: true }] },
      ],
      ['ba@x.example', { externalId: 'ab', emails: [{ value: 'b@home' }, { value: 'a@ab', type: 'home' }] }],
      ['aa@x.example', { displayName: 'a', name: { givenName: 'A' } }],
    ] as const;
    for (const [userName, more] of users) ids[userName] = await scim.user(userName, more);
    await scim.group('Beta', [ids['ab@x.example'] ?? '', ids['ba@x.example'] ?? '']);
  });

  const find = async (what: string, filter: string): Promise<string[]> => {
    const path = `/${what}?count=1000&filter=${encodeURIComponent(filter)}`;
    const { Resources } = await scene.scim.want(200, 'GET', path);
    return Resources.map((one: Json) => one.userName ?? one.displayName).toSorted();
  };

  it('finds whom a plain reading of it finds, whatever the tree', async () => {
    const { Resources: all } = await scene.scim.want(200, 'GET', '/Users?count=1000');
    const texts = fc.oneof(
      fc.constantFrom('a', 'b', 'ab', 'AB', 'x.example', 'work', 'home', '', 'ab@x.example'),
      fc.string({ unit: fc.constantFrom('a', 'b', 'A', '@', '.'), maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(filterTrees(texts), async (tree: Filter) => {
        const expected = all
          .filter((user: Json) => evaluate(tree, user))
          .map((user: Json) => user.userName)
          .toSorted();
        expect(await find('Users', printFilter(tree)), printFilter(tree)).to.deep.equal(expected);
      }),
      { numRuns: 150 },
    );
  });

  it('compares the times of a resource, to the millisecond that is shown', async () => {
    const { scim } = scene;
    const { meta } = await scim.want(200, 'GET', `/Users/${ids['aa@x.example']}`);
    expect(await find('Users', `meta.created eq "${meta.created}"`)).to.deep.equal(['aa@x.example']);
    const later = await find('Users', `meta.lastModified gt "${meta.lastModified}"`);
    expect(later).not.to.include('aa@x.example');
    expect(await find('Users', 'meta.created gt "2020-01-01T00:00:00Z"')).to.have.length(5);
    expect(await find('Groups', 'not (meta.created gt "2020-01-01T00:00:00+02:00")')).to.deep.equal([]);
  });

  it('finds users by their groups, and groups by their members', async () => {
    expect(await find('Users', 'groups.display sw "be" and active eq true')).to.deep.equal([
      ...['ab@x.example', 'ba@x.example'],
    ]);
    expect(await find('Groups', `members.display co "abba" or displayName eq "engineers"`)).to.deep.equal([
      ...['Beta', 'Engineers'],
    ]);
    expect(
      await find('Groups', `members[value eq "${ids['ba@x.example']}" and type eq "User"]`),
    ).to.deep.equal(['Beta']);
    expect(await find('Users', 'manager eq "1" or not (manager pr)')).to.have.length(5);
  });

  it('says at which character it is not understood', async () => {
    const filter = encodeURIComponent('userName eq "a" xor id eq "b"');
    const detail = expectError(await scene.scim.call('GET', `/Users?filter=${filter}`), 400, 'invalidFilter');
    expect(detail).to.equal('The filter has "xor" after its end at character 17');
  });

  it('chooses among addresses and members in the paths of a PATCH', async () => {
    const { scim } = scene;
    const id = ids['ba@x.example'] ?? '';
    const operations = [
      { op: 'replace', path: 'emails[not (type pr) or type eq "other"].display', value: 'plain' },
      { op: 'remove', path: 'emails[value ew "@ab" and type eq "home"]' },
    ];
    const body = { schemas: [PATCH_OP], Operations: operations };
    expect((await scim.want(200, 'PATCH', `/Users/${id}`, body)).emails).to.deep.equal([
      { value: 'b@home', display: 'plain' },
    ]);
    const group = await scim.group('Chosen', Object.values(ids));
    await scim.patch(`/Groups/${group}`, { op: 'remove', path: 'members[display sw "a"]' });
    const { members } = await scim.want(200, 'GET', `/Groups/${group}`);
    expect(members.map((one: Json) => one.display).toSorted()).to.deep.equal([
      'ba@x.example',
      'bo@x.example',
    ]);
    const both = `members[value eq "${ids['ba@x.example']}" or value eq "${ids['bo@x.example']}"]`;
    await scim.patch(`/Groups/${group}`, { op: 'remove', path: both });
    expect((await scim.want(200, 'GET', `/Groups/${group}`)).members ?? []).to.deep.equal([]);
  });
});
