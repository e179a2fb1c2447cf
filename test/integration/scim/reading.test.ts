/** What SCIM tells: pages, filters, some of the attributes, where things are, and what the service can do. */
import { expect } from 'chai';
import type { TestController } from '../../support/harness/controller.ts';
import type { Json, ScimClient } from '../../support/scenes/scim/client.ts';
import { useScimScene } from '../../support/scenes/scim/scene.ts';

const UNKNOWN = '01arz3ndektsv4rrffq69g5fav';

describe('SCIM', () => {
  const scene = useScimScene();
  let test: TestController;
  let scim: ScimClient;
  let userId: string;
  let groupId: string;
  before(() => {
    ({ test, scim, userId, groupId } = scene);
  });

  const list = async (path: string): Promise<Json> => scim.want(200, 'GET', path);
  const found = async (what: string, filter: string): Promise<string[]> =>
    (await list(`/${what}?filter=${encodeURIComponent(filter)}`)).Resources.map(({ id }: Json) => id);

  describe('lists', () => {
    before(async () => {
      await test.db.raw(
        `WITH made AS (INSERT INTO users (id, email, name, auth_method, is_super_admin)
           SELECT 'page' || n, 'page' || n || '@pages.example', 'Page ' || n, 'OIDC', false
           FROM generate_series(100, 204) n RETURNING id, email)
         INSERT INTO scim_users (user_id, user_name) SELECT id, email FROM made`,
      );
    });

    it('a hundred where nothing is said, from the first on', async () => {
      const page = await list('/Users');
      expect(page).to.include({ startIndex: 1, itemsPerPage: 100 });
      expect(page.schemas).to.deep.equal(['urn:ietf:params:scim:api:messages:2.0:ListResponse']);
      expect(page.totalResults).to.be.at.least(106);
      expect(page.Resources).to.have.length(100);
    });

    it('every one once, page by page', async () => {
      const ids: string[] = [];
      let total = 1;
      for (let startIndex = 1; startIndex <= total; ) {
        const page = await list(`/Users?startIndex=${startIndex}&count=30`);
        total = page.totalResults;
        startIndex += page.itemsPerPage;
        ids.push(...page.Resources.map(({ id }: Json) => id));
      }
      expect(ids).to.have.length(total);
      expect(new Set(ids).size).to.equal(total);
    });

    it('by what is asked for, as far as that makes sense', async () => {
      for (const [query, startIndex, length] of [
        ...[['count=0', 1, 0] as const, ['count=-5', 1, 0] as const, ['count=1', 1, 1] as const],
        ...[['startIndex=0&count=2', 1, 2] as const, ['startIndex=-7&count=2', 1, 2] as const],
        ...[['startIndex=999999999999&count=2', 1_000_000_000, 0] as const, ['COUNT=3', 1, 3] as const],
        ['count=3&sortBy=userName&sortOrder=descending&aadOptscim062020', 1, 3] as const,
      ]) {
        const page = await list(`/Users?${query}`);
        expect(page, query).to.include({ startIndex, itemsPerPage: length });
        expect(page.totalResults).to.be.at.least(106);
        expect(page.Resources).to.have.length(length);
      }
    });

    it('a thousand at most', async () => {
      expect((await list('/Users?count=100000')).totalResults).to.be.below(1_000);
      const { filter } = await list('/ServiceProviderConfig');
      expect(filter).to.deep.equal({ supported: true, maxResults: 1_000 });
    });

    it('users by userName, displayName and e-mail address in any case, by id and externalId exactly', async () => {
      for (const filter of [
        ...['userName eq "ADA@example.ORG"', 'displayName eq "aDA"', 'emails eq "ADA@work.example"'],
        ...['emails.value eq "ada@WORK.example"', 'emails[type eq "Work"].value eq "ada@work.example"'],
        ...[
          'externalId eq "Ext-Ada"',
          `id eq "${userId}"`,
          `id eq "${userId}" and userName eq "ada@example.org"`,
        ],
      ])
        expect(await found('Users', filter), filter).to.deep.equal([userId]);
      for (const filter of [
        ...[
          'externalId eq "ext-ada"',
          `id eq "${userId.toUpperCase()}"`,
          'userName eq "ada"',
          'userName eq "%"',
        ],
        ...['emails[type eq "home"].value eq "ada@work.example"', `id eq "${userId}" and userName eq "x"`],
        ...[
          'userName eq ""',
          "userName eq \"' or '1'='1\"",
          'userName eq "?"',
          'userName eq "_da@example.org"',
        ],
      ])
        expect(await found('Users', filter), filter).to.deep.equal([]);
    });

    it('groups by displayName in any case, by id and externalId exactly, and by a member', async () => {
      for (const filter of [
        ...[
          'displayName eq "engineerS"',
          'externalId eq "Ext-Eng"',
          `id eq "${groupId}"`,
          `members eq "${userId}"`,
        ],
        ...[`id eq "${groupId}" and members eq "${userId}"`, `members[value eq "${userId}"]`],
      ])
        expect(await found('Groups', filter), filter).to.deep.equal([groupId]);
      for (const filter of [
        'externalId eq "ext-eng"',
        `members eq "${UNKNOWN}"`,
        `id eq "${groupId}" and members eq "x"`,
      ])
        expect(await found('Groups', filter), filter).to.deep.equal([]);
    });

    it('the same by .search', async () => {
      const search = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        filter: 'userName eq "ada@example.org"',
        attributes: ['userName'],
        startIndex: 1,
        count: 10,
      };
      const page = await scim.want(200, 'POST', '/Users/.search', search);
      expect(page.totalResults).to.equal(1);
      expect(Object.keys(page.Resources[0]).sort()).to.deep.equal(['id', 'schemas', 'userName']);
    });
  });

  describe('tells', () => {
    it('only the attributes that are asked for, or all but some; always id and schemas', async () => {
      const keys = async (path: string) => Object.keys(await list(path)).sort();
      const user = `/Users/${userId}`;
      expect(await keys(`${user}?attributes=userName`)).to.deep.equal(['id', 'schemas', 'userName']);
      expect(await list(`${user}?attributes=emails.value,NAME.givenname`)).to.deep.include({
        emails: [{ value: 'ada@work.example' }],
      });
      expect(
        await keys(`${user}?attributes=urn:ietf:params:scim:schemas:core:2.0:User:active,none`),
      ).to.deep.equal(['active', 'id', 'schemas']);
      expect(
        await keys(`${user}?excludedAttributes=emails,id,schemas,meta,groups,displayName,name`),
      ).to.deep.equal(['active', 'externalId', 'id', 'schemas', 'userName']);
      expect((await list(`${user}?excludedAttributes=emails.type`)).emails).to.deep.equal([
        { value: 'ada@work.example' },
      ]);
      expect(await list(`/Groups/${groupId}?excludedAttributes=members`)).not.to.have.property('members');
      expect((await list('/Groups?excludedAttributes=MEMBERS')).Resources[0]).not.to.have.property('members');
      expect((await list(`/Groups/${groupId}?attributes=members.value`)).members).to.deep.equal([
        { value: userId },
      ]);
      const made = await scim.call('POST', '/Users?attributes=userName', { userName: 'short@example.org' });
      expect(Object.keys(made.json<Json>()).sort()).to.deep.equal(['id', 'schemas', 'userName']);
      expect(made.headers.location).to.match(/\/api\/scim\/v2\/Users\/\w+$/);
      const patched = await scim.call('PATCH', `/Groups/${groupId}?attributes=displayName`, {
        Operations: [{ op: 'add', path: 'members', value: [] }],
      });
      expect(patched.status).to.equal(200);
      expect(patched.json()).to.deep.equal({
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
        id: groupId,
        displayName: 'Engineers',
      });
    });

    it('locations below the configured address, whatever Host and X-Forwarded-Host say', async () => {
      const headers = {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'ftp',
      };
      for (const path of [
        '/Users?count=5',
        `/Groups/${groupId}`,
        '/Schemas',
        '/ResourceTypes',
        '/ServiceProviderConfig',
      ])
        expect((await scim.call('GET', path, undefined, { headers })).text).not.to.include('evil');
      const made = await scim.call('POST', '/Users', { userName: 'hosted@example.org' }, { headers });
      expect(made.headers.location).to.include(`${test.config.baseUrl}/api/scim/v2/Users/`);
    });

    it('what it can do', async () => {
      const config = await list('/ServiceProviderConfig');
      expect(config).to.deep.include({
        patch: { supported: true },
        sort: { supported: false },
        etag: { supported: false },
      });
      expect(config.bulk.supported).to.equal(false);
      expect(config.authenticationSchemes[0].type).to.equal('oauthbearertoken');
      const types = await list('/ResourceTypes');
      expect(types.Resources.map(({ id, endpoint }: Json) => [id, endpoint])).to.deep.equal([
        ['User', '/Users'],
        ['Group', '/Groups'],
      ]);
      for (const { id, schema } of types.Resources) {
        expect(await list(`/ResourceTypes/${id}`)).to.include({ id, schema });
        expect(await list(`/Schemas/${encodeURIComponent(schema)}`)).to.include({ id: schema, name: id });
        expect(await list(`/Schemas/${schema}`)).to.include({ id: schema });
      }
      expect((await list('/Schemas')).totalResults).to.equal(2);
    });

    it('each attribute that a resource has in its schema', async () => {
      for (const [path, name] of [
        [`/Users/${userId}`, 'User'],
        [`/Groups/${groupId}`, 'Group'],
      ] as const) {
        const { attributes } = await list(`/Schemas/urn:ietf:params:scim:schemas:core:2.0:${name}`);
        const known = attributes.map((one: Json) => one.name);
        const common = ['schemas', 'id', 'externalId', 'meta'];
        for (const key of Object.keys(await list(path))) expect([...known, ...common], key).to.include(key);
      }
    });
  });
});
