/** The audit log as people look at it: who sees what, by which filters, page after page. */
import { expect } from 'chai';
import fc from 'fast-check';
import { auditOperations, numberNext, writeAudit } from '../../../controller/insight/audit/index.ts';
import {
  type AuditQuery,
  type AuditViewer,
  DOWN_INDEXES,
  findEvents,
  pageQuery,
} from '../../../controller/insight/audit/queries.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import type { Role } from '../../../schemas/api/common.ts';
import type { ActorType, AuditEntryView, ListAudit } from '../../../schemas/api/insight/audit.ts';
import { longProperty } from '../../support/harness/long-property.ts';
import { usePlatform } from '../../support/harness/platform.ts';

const execute = createExecute(writeAudit);

function user(userId: string, teams: readonly string[], isSuperAdmin = false): Actor {
  return {
    ...{ type: 'user', userId, email: `${userId}@example.org`, name: userId, isSuperAdmin },
    ...{
      roles: new Map(teams.map((id): [string, Role] => [id, 'VIEWER'])),
      sessionId: 's',
      requiredAction: null,
    },
  };
}
const ADA = user('ada', ['one']);
const GRACE = user('grace', ['one', 'two']);
const NOBODY = user('nobody', []);
const ROOT = user('root', [], true);

describe('the audit log as it is looked at', () => {
  const platform = usePlatform();

  before(async () => {
    await platform.db('users').insert([
      { id: 'ada', email: 'ada@example.org', name: 'Ada' },
      { id: 'grace', email: 'grace@example.org', name: '' },
    ]);
    await platform.db('teams').insert([
      { id: 'one', name: 'Team one' },
      { id: 'two', name: 'Team two' },
    ]);
    await platform.db('environments').insert([
      { id: 'e1', team_id: 'one', name: 'staging' },
      { id: 'e2', team_id: 'two', name: 'production' },
    ]);
  });
  afterEach(() => platform.db('audit_log').delete());

  interface Told {
    by?: Actor;
    action?: string;
    entityType?: string;
    name?: string;
    teamId?: string | null;
    environmentId?: string | null;
    at?: string;
    diff?: Record<string, [unknown, unknown]>;
  }
  async function tell(...events: Told[]): Promise<void> {
    for (const { by = ADA, action = 'thing.changed', entityType = 'Thing', name = 'it', ...rest } of events) {
      const { teamId = null, environmentId = null, at, diff } = rest;
      const ctx = { ...platform.context(by), ipAddress: '192.0.2.7' };
      await writeAudit(
        ctx,
        { teamId, environmentId },
        [{ entityType, entityId: 'x', metadata: { name }, ...(diff ? { diff } : {}) }],
        action,
      );
      if (at) await platform.db('audit_log').whereNull('seq').update({ created_at: at });
      await numberNext(platform.context(ADA), async () => {});
    }
  }
  const list = (actor: Actor, input: Partial<ListAudit> = {}) =>
    execute(auditOperations.list, platform.context(actor), input);
  const names = async (actor: Actor, input: Partial<ListAudit> = {}) =>
    (await list(actor, input)).entries.map(({ metadata }) => metadata?.name);
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(DomainError);
    return error as DomainError;
  };

  describe('to whom', () => {
    const git: Actor = {
      type: 'git',
      commit: 'c'.repeat(40),
      author: 'Lin <l@example.org>',
      environmentId: 'e1',
    };
    beforeEach(() =>
      tell(
        { name: 'of one', teamId: 'one', environmentId: 'e1' },
        { name: 'of two', teamId: 'two', environmentId: 'e2', by: GRACE },
        { name: 'git in one', by: git, environmentId: 'e1' },
        { name: 'git in two', by: { ...git, environmentId: 'e2' }, environmentId: 'e2' },
        { name: 'ada signs in', action: 'user.signedIn' },
        { name: 'grace signs in', action: 'user.signedIn', by: GRACE },
        { name: 'by scim', by: { type: 'scim' }, entityType: 'ScimUser' },
        { name: 'in one, of no environment', teamId: 'one', by: GRACE },
        { name: 'of an environment that is gone', teamId: 'one', environmentId: 'gone' },
      ),
    );

    it('shows what happened in one’s teams, what git did there, and what one did for oneself', async () => {
      expect(await names(ADA)).to.deep.equal([
        'of an environment that is gone',
        'in one, of no environment',
        'ada signs in',
        'git in one',
        'of one',
      ]);
      expect(await names(GRACE)).to.deep.equal([
        'of an environment that is gone',
        'in one, of no environment',
        'grace signs in',
        'git in two',
        'git in one',
        'of two',
        'of one',
      ]);
      expect(await names(NOBODY)).to.deep.equal([]);
    });

    it('shows a super admin everything, also what belongs to no team', async () => {
      expect(await names(ROOT)).to.have.length(9);
    });

    it('hides what is another team’s, whatever is asked for', async () => {
      for (const filter of [
        { userId: 'grace' },
        { action: 'user.signedIn' },
        { entityType: 'SCIM' },
        { search: 'two' },
        { actorType: 'scim' },
      ] as const) {
        const seen = await names(ADA, filter);
        for (const name of ['of two', 'git in two', 'grace signs in', 'by scim'])
          expect(seen, JSON.stringify(filter)).not.to.include(name);
      }
    });

    it('refuses a team or environment of others, and knows none that is not', async () => {
      for (const place of [
        { teamId: 'two' },
        { environmentId: 'e2' },
        { teamId: 'one', environmentId: 'e2' },
      ])
        expect((await refusal(list(ADA, place))).code).to.equal('FORBIDDEN');
      for (const place of [{ teamId: 'none' }, { environmentId: 'none' }])
        expect((await refusal(list(ADA, place))).code).to.equal('NOT_FOUND');
    });

    it('is for people only', async () => {
      const account: Actor = {
        ...{ type: 'service_account', id: 'sa', name: 'ci', environmentId: 'e1', teamId: 'one' },
        permissions: new Set(['audit.read']),
      };
      for (const actor of [account, { type: 'scim' } as const, git])
        expect((await refusal(list(actor))).code, actor.type).to.equal('FORBIDDEN');
    });

    it('offers the words that one sees, and no others', async () => {
      const words = (
        operation: typeof auditOperations.actions | typeof auditOperations.entityTypes,
        actor: Actor,
      ): Promise<string[]> => execute(operation, platform.context(actor), {});
      expect(await words(auditOperations.actions, ADA)).to.deep.equal(['thing.changed', 'user.signedIn']);
      expect(await words(auditOperations.entityTypes, ADA)).to.deep.equal(['Thing']);
      expect(await words(auditOperations.entityTypes, ROOT)).to.deep.equal(['SCIM', 'ScimUser', 'Thing']);
      expect(await words(auditOperations.actions, NOBODY)).to.deep.equal([]);
      const who = await execute(auditOperations.users, platform.context(ADA), {});
      expect(who).to.deep.equal([
        { id: 'grace', name: null, email: 'grace@example.org' },
        { id: 'ada', name: 'Ada', email: 'ada@example.org' },
      ]);
    });
  });

  it('names who acts as they were called, where they are gone or never were people', async () => {
    const key = {
      type: 'service_account',
      id: 'sa',
      name: 'ci',
      environmentId: 'e1',
      teamId: 'one',
    } as const;
    await tell(
      { by: { ...key, permissions: new Set() }, teamId: 'one' },
      { by: user('gone', []), teamId: 'one' },
    );
    expect(await execute(auditOperations.users, platform.context(ROOT), {})).to.deep.equal([
      { id: 'sa', name: 'ci', email: null },
      { id: 'gone', name: null, email: 'gone@example.org' },
    ]);
    const { entries } = await list(ROOT);
    expect(entries.map(({ actorName, userEmail }) => [actorName, userEmail])).to.deep.equal([
      [null, 'gone@example.org'],
      ['ci', 'ci'],
    ]);
  });

  it('names teams and environments, and leaves out those that are gone', async () => {
    await tell({ teamId: 'one', environmentId: 'e1' }, { teamId: 'one', environmentId: 'gone' });
    const { entries } = await list(ADA);
    expect(entries.map((one) => [one.actorName, one.teamName, one.environmentName])).to.deep.equal([
      ['Ada', 'Team one', null],
      ['Ada', 'Team one', 'staging'],
    ]);
  });

  describe('by filters', () => {
    it('finds users and groups of SCIM together, and each alone', async () => {
      await tell(
        { name: 'user', entityType: 'ScimUser' },
        { name: 'other' },
        { name: 'group', entityType: 'ScimGroup' },
      );
      expect(await names(ROOT, { entityType: 'SCIM' })).to.deep.equal(['group', 'user']);
      expect(await names(ROOT, { entityType: 'ScimUser' })).to.deep.equal(['user']);
      expect(await names(ROOT, { entityType: 'Scim' })).to.deep.equal([]);
    });

    it('takes a day as that whole day of UTC, and a moment to its millisecond', async () => {
      await tell(
        { name: 'eve', at: '2026-03-01T23:59:59.999Z' },
        { name: 'morning', at: '2026-03-02T00:00:00.000Z' },
        { name: 'night', at: '2026-03-02T23:59:59.999Z' },
        { name: 'next', at: '2026-03-03T00:00:00.000Z' },
      );
      expect(await names(ROOT, { startDate: '2026-03-02', endDate: '2026-03-02' })).to.deep.equal([
        'night',
        'morning',
      ]);
      expect(await names(ROOT, { startDate: '2026-03-02T23:59:59.999Z' })).to.deep.equal(['next', 'night']);
      expect(await names(ROOT, { endDate: '2026-03-02T00:00:00' })).to.deep.equal(['morning', 'eve']);
      expect(await names(ROOT, { endDate: '2026-03-02T01:00:00+01:00' })).to.deep.equal(['morning', 'eve']);
      expect(await names(ROOT, { startDate: '2027-01-01' })).to.deep.equal([]);
      expect(await names(ROOT, { endDate: '2020-01-01' })).to.deep.equal([]);
    });

    it('refuses a day that no calendar has', async () => {
      for (const endDate of ['2026-13-01', '2026-02-31T99:00:00Z']) {
        const error = await refusal(list(ROOT, { endDate }));
        expect(error.code).to.equal('BAD_REQUEST');
        expect(error.message).to.include('endDate');
      }
      for (const startDate of ['yesterday', '2026-01-01 10:00', `2026-01-01T${'0'.repeat(200)}`])
        expect((await refusal(list(ROOT, { startDate }))).code).to.equal('BAD_REQUEST');
    });

    it('searches what an event tells, whatever the case, and takes no sign for a pattern', async () => {
      await tell(
        { name: 'Orders 100%' },
        { name: 'other', diff: { color: ['Crimson', 'teal'] } },
        { name: 'third', by: user('lovelace', []) },
      );
      expect(await names(ROOT, { search: 'oRDERS' })).to.deep.equal(['Orders 100%']);
      expect(await names(ROOT, { search: '100%' })).to.deep.equal(['Orders 100%']);
      expect(await names(ROOT, { search: '%' })).to.deep.equal(['Orders 100%']);
      expect(await names(ROOT, { search: 'o_ders' })).to.deep.equal([]);
      expect(await names(ROOT, { search: 'crimson' })).to.deep.equal(['other']);
      expect(await names(ROOT, { search: 'LOVELACE@' })).to.deep.equal(['third']);
      expect(await names(ROOT, { search: '192.0.2.7' })).to.have.length(3);
    });
  });

  describe('page after page', () => {
    it('comes newest first, to the end, without a gap or a repeat', async () => {
      await tell(...Array.from({ length: 7 }, (_, n) => ({ name: `${n}`, teamId: n % 2 ? 'one' : null })));
      const seen: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await list(ADA, { limit: 2, ...(cursor ? { cursor } : {}) });
        seen.push(...page.entries.map(({ metadata }) => metadata?.name));
        cursor = page.nextCursor ?? undefined;
        // What comes meanwhile does not move what follows.
        await tell({ name: 'new', teamId: 'one' });
      } while (cursor);
      expect(seen).to.deep.equal(['6', '5', '4', '3', '2', '1', '0']);
    });

    it('does not show what has no number yet', async () => {
      const ctx = platform.context(ADA);
      await writeAudit(ctx, { teamId: 'one' }, [{ entityType: 'Thing', entityId: 'x' }], 'thing.changed');
      expect((await list(ADA)).entries).to.deep.equal([]);
      await numberNext(platform.context(ADA), async () => {});
      expect((await list(ADA)).entries).to.have.length(1);
    });

    it('goes down an index of its own, whatever is asked for, and sorts no part of the log', async function () {
      this.timeout(30_000);
      const { db } = platform;
      await db.raw(
        `INSERT INTO audit_log (id, seq, prev_hash, hash, actor_type, user_id, action, entity_type, team_id, environment_id)
         SELECT n::text, n, '', '', 'user', 'u' || n % 50, 'a.b' || n % 40, 'Thing' || n % 9,
           CASE WHEN n % 3 > 0 THEN 'one' END, CASE WHEN n % 2 = 0 THEN 'e1' END FROM generate_series(1, 20000) n`,
      );
      await db.raw('ANALYZE audit_log');
      const ada = { userId: 'ada', teamIds: ['one', 'two'] };
      const root = { userId: 'root', teamIds: null };
      const moment = new Date();
      for (const [viewer, query, indexes] of [
        [root, {}, ['seq_unique']],
        [root, { search: 'x', from: moment, to: moment }, ['seq_unique', 'created']],
        [root, { action: 'a.b1' }, ['action_seq']],
        [root, { entityType: 'SCIM' }, ['entity_type_seq']],
        [root, { userId: 'u1', action: 'a.b1' }, ['user_seq']],
        [root, { teamId: 'two' }, ['team_seq', 'git_seq']],
        [ada, { environmentId: 'e1', action: 'a.b1' }, ['environment_seq']],
        [ada, { action: 'a.b1' }, ['team_seq', 'git_seq', 'own_seq']],
      ] as const) {
        const { sql, values } = pageQuery(viewer, { ...query, limit: 50 });
        const plan = await db.transaction(async (tx) => {
          await tx.raw(DOWN_INDEXES);
          const { rows } = await tx.raw<{ rows: object[] }>(`EXPLAIN ${sql}`, values);
          return rows.map((row) => Object.values(row).join()).join('\n');
        });
        const used = new Set([...plan.matchAll(/using audit_log_(\w+)/g)].map(([, name]) => name));
        expect([...used].sort(), `${JSON.stringify(query)}\n${plan}`).to.deep.equal([...indexes].sort());
        expect(plan).not.to.include('Seq Scan on audit_log');
        expect(plan.match(/Sort Key: (?!a\.seq|judged|found)/g) ?? [], plan).to.have.length.at.most(1);
      }
    });

    it('goes on where it has read one team to its end and another not, and repeats nothing', async () => {
      await tell(
        { name: 'orders', by: ADA, environmentId: 'e1' },
        { name: 'mail', teamId: 'one' },
        { name: 'mail', teamId: 'one' },
      );
      const found: unknown[] = [];
      let before: number | undefined;
      do {
        const page = await findEvents(
          platform.db,
          { userId: 'ada', teamIds: ['one'] },
          { search: 'orders', limit: 1, before },
          { searched: 1, others: 1, least: 1 },
        );
        found.push(...page.entries.map(({ metadata }) => metadata?.name));
        before = page.next ?? undefined;
      } while (before !== undefined);
      expect(found).to.deep.equal(['orders']);
    });

    /** What the pages should hold: each event judged by itself. */
    function shown(all: AuditEntryView[], { userId, teamIds }: AuditViewer, query: AuditQuery): number[] {
      const teamOf: Record<string, string> = { e1: 'one', e2: 'two' };
      const seen = (event: AuditEntryView) => {
        if (teamIds === null) return true;
        const team = event.teamId ?? (event.environmentId ? teamOf[event.environmentId] : undefined);
        if (team !== undefined) return teamIds.includes(team);
        return event.environmentId === null && event.userId === userId;
      };
      const fits = (event: AuditEntryView) =>
        (query.action === undefined || event.action === query.action) &&
        (query.userId === undefined || event.userId === query.userId) &&
        (query.actorType === undefined || event.actorType === query.actorType) &&
        (query.entityType === undefined ||
          (query.entityType === 'SCIM'
            ? ['ScimUser', 'ScimGroup'].includes(event.entityType)
            : event.entityType === query.entityType)) &&
        (query.teamId === undefined ||
          event.teamId === query.teamId ||
          (event.teamId === null && teamOf[event.environmentId ?? ''] === query.teamId)) &&
        (query.environmentId === undefined || event.environmentId === query.environmentId) &&
        (query.from === undefined || event.createdAt >= query.from) &&
        (query.to === undefined || event.createdAt < query.to) &&
        (query.search === undefined || JSON.stringify(event.metadata).includes(query.search));
      return all
        .filter((event) => seen(event) && fits(event))
        .map(({ seq }) => seq)
        .sort((a, b) => b - a);
    }

    it('holds what each event by itself says, for any filters, however little a page may look at', async function () {
      this.timeout(60_000);
      this.slow(20_000);
      const one = <T>(...of: T[]) => fc.constantFrom(...of);
      const START = Date.UTC(2026, 0, 1);
      const moment = fc.integer({ min: 0, max: 400 }).map((n) => new Date(START + n * 60_000));
      const event = fc.record({
        ...{ actor_type: one('user', 'git'), user_id: one('ada', 'grace', null), action: one('a.b', 'c.d') },
        ...{ entity_type: one('Thing', 'ScimUser', 'ScimGroup'), team_id: one('one', 'two', null) },
        ...{ environment_id: one('e1', 'e2', null), created_at: moment, name: one('orders', 'mail') },
      });
      const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 });
      const query = fc.record({
        ...{ action: maybe(one('a.b', 'c.d', 'e.f')), userId: maybe(one('ada', 'grace')) },
        ...{ actorType: maybe(one<ActorType>('user', 'git')), entityType: maybe(one('Thing', 'SCIM')) },
        ...{ search: maybe(one('orders', 'mail')), teamId: maybe(one('one', 'two')) },
        ...{ environmentId: maybe(one('e1', 'e2')), from: maybe(moment), to: maybe(moment) },
        limit: fc.integer({ min: 1, max: 5 }),
      });
      const viewer = fc.record({
        userId: one('ada', 'grace'),
        teamIds: one<string[] | null>(null, [], ['one'], ['one', 'two']),
      });
      const lookedAt = fc.integer({ min: 1, max: 6 }).map((n) => ({ searched: n, others: n, least: 1 }));
      await fc.assert(
        fc.asyncProperty(
          fc.array(event, { maxLength: 40 }),
          fc.array(fc.tuple(viewer, query, lookedAt), { minLength: 8, maxLength: 8 }),
          async (events, looks) => {
            await platform.db('audit_log').delete();
            if (events.length > 0)
              await platform.db('audit_log').insert(
                events.map(({ name, ...rest }, n) => ({
                  ...rest,
                  ...{ id: `id${n}`, seq: n + 1, prev_hash: '', hash: '', entity_id: 'x' },
                  metadata: JSON.stringify({ name }),
                })),
              );
            const all = await findEvents(platform.db, { userId: '', teamIds: null }, { limit: 1_000 });
            for (const [who, asked, most] of looks) {
              const found: number[] = [];
              let before: number | undefined;
              do {
                const page = await findEvents(platform.db, who, { ...asked, before }, most);
                if (page.next !== null && before !== undefined) expect(page.next).to.be.below(before);
                expect(page.entries.length).to.be.at.most(asked.limit);
                found.push(...page.entries.map(({ seq }) => seq));
                before = page.next ?? undefined;
              } while (before !== undefined);
              expect(found, JSON.stringify([who, asked, most])).to.deep.equal(shown(all.entries, who, asked));
            }
          },
        ),
        longProperty(40),
      );
    });
  });
});
