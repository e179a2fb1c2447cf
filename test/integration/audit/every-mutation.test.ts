/**
 * Whatever changes something leaves one event for each thing that it changed, with who did it, to what and where; what was
 * refused leaves none. Every procedure is tried, so a new one cannot be forgotten.
 */
import { expect } from 'chai';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';
import { EXEC_SECRETS } from '../../support/procedures/rows/environments.ts';
import { ROWS } from '../../support/procedures/rows/index.ts';
import { type Side, useTwoTeams } from '../../support/scenes/two-teams.ts';
import { NOTHING, type TestUser } from '../../support/users/person.ts';

const MUTATIONS = [...PROCEDURE_KINDS.keys()]
  .filter((name) => OPERATIONS.get(name)?.kind === 'mutation')
  .sort();
const UNKNOWN_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** Mutations that change more than one thing: the actions of all their events, sorted. */
const SEVERAL: Record<string, readonly string[]> = {
  'admin.createUser': ['team.memberAdded', 'user.created'],
  'costRecommendation.apply': ['costRecommendation.applied', 'pipeline.versionCreated'],
  // What is approved is deployed.
  'promotion.approve': ['pipeline.created', 'promotion.approved'],
  'sharedComponent.createFromNode': ['sharedComponent.created', 'sharedComponent.linked'],
};

/** What changes something that was there says what it was. */
const CHANGES = /\.(update|rename|set(?=[A-Z]|$)|toggle|configure|assign|accept)/;
/** But for these. */
const WITHOUT_DIFF: Record<string, string> = {
  'secret.update': 'its value is told to nobody',
  'userPreference.set': 'how somebody likes the pages is nobody’s business',
};
async function newVersions({ db, environmentId }: Side): Promise<object> {
  await db('shared_components').where({ environment_id: environmentId }).increment('version', 1);
  return {};
}
/** What differs from what is there. */
const OTHERWISE: Record<string, (side: Side) => Promise<object>> = {
  'fleet.setMaintenance': async ({ db, node }) => {
    await db('nodes').where({ id: node.nodeId }).update({ maintenance: false });
    return { enabled: true };
  },
  'sharedComponent.acceptUpdate': newVersions,
  'sharedComponent.acceptUpdateBulk': newVersions,
  'settings.updateFleet': async () => ({ logsRetentionDays: 9 }),
  'settings.updateScim': async ({ db }) => {
    await db('scim_settings').insert({ id: 'scim', enabled: false }).onConflict('id').merge();
    return { enabled: true };
  },
};

/** `clientId` is what an identity provider calls us. */
const isId = (field: string) => /(^id|Id)$/.test(field) && field !== 'clientId';

interface EventRow {
  id: string;
  actor_type: string;
  user_id: string | null;
  user_email: string | null;
  action: string;
  entity_type: string;
  entity_id: string | null;
  diff: Record<string, unknown> | null;
  ip_address: string | null;
  team_id: string | null;
  environment_id: string | null;
}

describe('the audit log of every mutation', () => {
  const test = useController({ execSecretCommands: [EXEC_SECRETS] });
  const teams = useTwoTeams(test);
  let n = 10_000;

  const inputOf = (name: string, side: Side, caller: TestUser) =>
    Promise.resolve(ROWS[name]!.input(side, ++n, ROWS[name]!.names === 'own' ? caller : teams.root));
  const leastOf = (name: string): TestUser =>
    ({ VIEWER: teams.viewer, EDITOR: teams.editor, ADMIN: teams.admin, SUPER_ADMIN: teams.root })[
      OPERATIONS.get(name)!.role
    ];
  const eventsOf = (person: TestUser): Promise<EventRow[]> =>
    test.db('audit_log').where({ user_email: person.email }).orderBy(['created_at', 'id']);
  async function leftBy(person: TestUser, work: () => Promise<unknown>): Promise<EventRow[]> {
    const before = new Set((await eventsOf(person)).map(({ id }) => id));
    await work();
    return (await eventsOf(person)).filter(({ id }) => !before.has(id));
  }

  for (const name of MUTATIONS) {
    it(`of ${name} holds one event for each thing that was changed`, async () => {
      const caller = leastOf(name);
      const row = await inputOf(name, teams.ours, caller);
      const more = await OTHERWISE[name]?.(teams.ours);
      const input = more ? { ...(row as object), ...more } : row;
      const left = await leftBy(caller, async () => {
        const { status, output, fault } = await caller.call('mutation', name, input);
        expect(status, fault?.message).to.equal(200);
        if (output !== null)
          await ROWS[name]!.undo?.(teams.ours, output as Record<string, unknown>, teams.root);
      });
      const operation = OPERATIONS.get(name)!;
      const action = operation.kind === 'mutation' ? operation.audit : '';
      expect(left.map((event) => event.action).sort()).to.deep.equal(SEVERAL[name] ?? [action]);
      const things = left.map(
        ({ entity_type, entity_id, ...event }) => `${event.action} ${entity_type} ${entity_id}`,
      );
      expect(new Set(things).size, things.join()).to.equal(things.length);
      for (const event of left) {
        expect(event).to.include({ actor_type: 'user', user_email: caller.email, ip_address: '127.0.0.1' });
        expect(event.user_id).to.be.a('string');
        expect(event.entity_type).to.match(/^[A-Z][A-Za-z]+$/);
        expect(event.entity_id).to.be.a('string');
      }
      const places = input === NOTHING ? {} : (input as { teamId?: string; environmentId?: string });
      if (ROWS[name]!.names !== 'own')
        for (const { team_id } of left) expect(team_id, 'its team').to.equal(teams.ours.teamId);
      if (ROWS[name]!.names === 'scope' && places.environmentId)
        for (const { environment_id } of left) expect(environment_id).to.equal(places.environmentId);
      if (places.teamId) expect(left.map(({ team_id }) => team_id)).to.include(places.teamId);
      const tellsChange = left.some(({ diff }) => diff !== null && Object.keys(diff).length > 0);
      if (CHANGES.test(name)) expect(tellsChange || name in WITHOUT_DIFF, 'says what it was').to.equal(true);
    });

    it(`of ${name} holds nothing of what was refused`, async () => {
      const caller = leastOf(name);
      const good = await inputOf(name, teams.ours, caller);
      const full = good === NOTHING ? {} : (good as Record<string, unknown>);
      const foreign = ROWS[name]!.names === 'own' ? null : await inputOf(name, teams.theirs, teams.root);
      const unknown = Object.fromEntries(
        Object.entries(full).map(([field, value]) => [field, isId(field) ? UNKNOWN_ID : value]),
      );
      const hasIds = JSON.stringify(unknown) !== JSON.stringify(full);
      const { role } = OPERATIONS.get(name)!;
      const tries: [TestUser, unknown][] = [
        [caller, { ...full, surprise: 1 }],
        ...(hasIds ? [[caller, unknown] as [TestUser, unknown]] : []),
        ...(foreign === null || caller === teams.root ? [] : [[caller, foreign] as [TestUser, unknown]]),
        ...(role === 'VIEWER' ? [] : [[teams.viewer, full] as [TestUser, unknown]]),
      ];
      for (const [person, input] of tries) {
        const left = await leftBy(person, async () => {
          const { status } = await person.call('mutation', name, input);
          expect(status, JSON.stringify(input).slice(0, 200)).to.be.within(400, 499);
        });
        expect(left).to.deep.equal([]);
      }
    });
  }

  it('is numbered without a gap after all of that', async () => {
    await until(async () => (await test.db('audit_log').whereNull('seq')).length === 0, { what: 'numbers' });
    const seqs: number[] = await test.db('audit_log').orderBy('seq').pluck('seq');
    expect(seqs).to.deep.equal(seqs.map((_, index) => index + 1));
  });
});
