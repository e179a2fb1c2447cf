/** `execute`: the checks in their order, and the work with its audit row in one transaction. */
import { expect } from 'chai';
import Type from 'typebox';
import { writeAudit } from '../../../controller/insight/audit/index.ts';
import type { Actor, MutationContext } from '../../../controller/platform/operation/context.ts';
import { DomainError, notFound } from '../../../controller/platform/operation/errors.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import { createHeavySlots } from '../../../controller/platform/operation/heavy-slots.ts';
import {
  type Access,
  type Committed,
  mutation,
  query,
  type Scope,
} from '../../../controller/platform/operation/operation.ts';
import { allows } from '../../../controller/platform/operation/permissions.ts';
import { type Role, Timestamp } from '../../../schemas/api/common.ts';
import { usePlatform } from '../../support/harness/platform.ts';
import { recordedLog } from '../../support/harness/recorded-log.ts';

const user = (roles: Record<string, Role> = {}, isSuperAdmin = false): Actor => ({
  type: 'user',
  userId: 'u1',
  email: 'ada@example.org',
  name: 'Ada',
  isSuperAdmin,
  roles: new Map(Object.entries(roles)),
  sessionId: 's1',
  requiredAction: null,
});

const Input = Type.Object(
  { key: Type.String({ maxLength: 50 }), at: Type.Optional(Timestamp) },
  { additionalProperties: false },
);

describe('an operation', () => {
  const platform = usePlatform();
  const execute = createExecute(writeAudit);
  const steps: string[] = [];

  /** Writes a setting; what happens besides is up to the case. */
  const operation = (
    work: (ctx: MutationContext, input: { key: string }) => Promise<void> = async () => {},
    scope: () => Scope = () => ({ teamId: 'team', environmentId: 'env' }),
  ) =>
    mutation({
      name: 'test.write',
      summary: '',
      role: 'EDITOR',
      audit: 'test.written',
      input: Input,
      output: Type.Object({ ok: Type.Literal(true) }),
      scope() {
        steps.push('scope');
        return scope();
      },
      async run(ctx, input) {
        steps.push('run');
        await ctx.db('settings').insert({ key: input.key, value: '1' });
        await work(ctx, input);
        return { ok: true as const };
      },
    });
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'OK',
      (error: unknown) => (error instanceof DomainError ? error.code : 'FAULT'),
    );
  const rows = async (key: string) => ({
    settings: await platform.db('settings').where({ key }),
    audit: await platform.db('audit_log').whereRaw("metadata ->> 'key' = ?", [key]),
  });

  beforeEach(() => {
    steps.length = 0;
  });

  const ORDER: [
    reason: string,
    actor: Actor,
    input: unknown,
    code: string,
    steps: string[],
    scope?: (() => Scope) | undefined,
  ][] = [
    ['who, before all else', { type: 'anonymous' }, { bad: 1 }, 'UNAUTHORIZED', []],
    ['the input, before the scope', user(), { bad: 1 }, 'BAD_REQUEST', []],
    [
      'the scope, before the role',
      user(),
      { key: 'order' },
      'NOT_FOUND',
      ['scope'],
      () => {
        throw notFound('Thing');
      },
    ],
    ['the role, before the work', user({ team: 'VIEWER' }), { key: 'order' }, 'FORBIDDEN', ['scope']],
    ['and then the work', user({ team: 'EDITOR' }), { key: 'order' }, 'OK', ['scope', 'run']],
  ];
  for (const [reason, actor, input, code, expected, scope] of ORDER) {
    it(`checks ${reason}`, async () => {
      expect(await codeOf(execute(operation(undefined, scope), platform.context(actor), input))).to.equal(
        code,
      );
      expect(steps).to.deep.equal(expected);
    });
  }

  it('tells in the log who was refused what, and nothing of bad input or success', async () => {
    const { log, text } = recordedLog('info');
    const ask = (actor: Actor, input: object, scope?: () => Scope) =>
      codeOf(execute(operation(undefined, scope), { ...platform.context(actor), log }, input));
    const elsewhere = () => {
      throw notFound('Pipeline');
    };
    expect(await ask(user({ team: 'VIEWER' }), { key: 'refused' })).to.equal('FORBIDDEN');
    expect(await ask(user({ team: 'EDITOR' }), { key: 'refused' }, elsewhere)).to.equal('NOT_FOUND');
    expect(await ask(user({ team: 'EDITOR' }), { key: 7 })).to.equal('BAD_REQUEST');
    expect(await ask(user({ team: 'EDITOR' }), { key: 'granted' })).to.equal('OK');
    const lines = text().split('\n').filter(Boolean);
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map(({ code }) => code)).to.deep.equal(['FORBIDDEN', 'NOT_FOUND']);
    for (const line of told)
      expect(line).to.include({
        ...{ level: 'info', msg: 'refused', operation: 'test.write', actorType: 'user', actorId: 'u1' },
      });
    expect(told[0]).to.include.keys('requestId', 'ipAddress', 'reason');
  });

  it('keeps its audit row with its work', async () => {
    const work = operation(async (ctx, { key }) =>
      ctx.audit({ entityType: 'Setting', entityId: key, metadata: { key }, diff: { value: [null, 1] } }),
    );
    await execute(work, platform.context(user({ team: 'EDITOR' })), { key: 'kept' });
    const { settings, audit } = await rows('kept');
    expect(settings).to.have.length(1);
    expect(audit).to.have.length(1);
    expect(audit[0]).to.deep.include({
      actor_type: 'user',
      user_id: 'u1',
      user_email: 'ada@example.org',
      action: 'test.written',
      entity_type: 'Setting',
      entity_id: 'kept',
      diff: { value: [null, 1] },
      ip_address: '192.0.2.1',
      team_id: 'team',
      environment_id: 'env',
    });
  });

  it('leaves a row also when it says nothing of itself', async () => {
    const count = async () => (await platform.db('audit_log').where({ action: 'test.written' })).length;
    const before = await count();
    await execute(operation(), platform.context(user({ team: 'EDITOR' })), { key: 'silent' });
    expect(await count()).to.equal(before + 1);
  });

  it('leaves neither work nor audit row when it throws', async () => {
    for (const thrown of [new Error('a fault'), notFound('Thing')]) {
      const work = operation(async (ctx, { key }) => {
        ctx.audit({ entityType: 'Setting', entityId: key, metadata: { key } });
        throw thrown;
      });
      await codeOf(execute(work, platform.context(user({ team: 'EDITOR' })), { key: 'thrown' }));
      expect(steps).to.include('run');
      expect(await rows('thrown')).to.deep.equal({ settings: [], audit: [] });
    }
  });

  it('leaves no work when its audit row cannot be written', async () => {
    const failing = createExecute(async () => {
      throw new Error('the audit log is away');
    });
    expect(
      await codeOf(failing(operation(), platform.context(user({ team: 'EDITOR' })), { key: 'lost' })),
    ).to.equal('FAULT');
    expect((await rows('lost')).settings).to.deep.equal([]);
  });

  it('asks the fence first, in its own transaction, and does nothing when that refuses', async () => {
    const ctx = platform.context(user({ team: 'EDITOR' }));
    const fence = async () => {
      steps.push('fence');
      throw new DomainError('UNAVAILABLE', 'no longer the leader');
    };
    expect(await codeOf(execute(operation(), { ...ctx, fence }, { key: 'fenced' }))).to.equal('UNAVAILABLE');
    expect(steps).to.deep.equal(['scope', 'fence']);
  });

  it('takes a Date where a moment is wanted', async () => {
    const ctx = platform.context(user({ team: 'EDITOR' }));
    expect(await codeOf(execute(operation(), ctx, { key: 'date', at: new Date(0) }))).to.equal('OK');
    expect(await codeOf(execute(operation(), ctx, { key: 'bad date', at: new Date(Number.NaN) }))).to.equal(
      'BAD_REQUEST',
    );
  });

  it('that is heavy for its input is refused where as many run as may, but not to git and the system', async () => {
    const slots = createHeavySlots({
      perKey: 2,
      total: 2,
      waitingPerKey: 0,
      waiting: 0,
      waitMs: 1_000,
      longMs: 60_000,
    });
    const limited = createExecute(writeAudit, () => {}, slots);
    const going = Promise.withResolvers<void>();
    const search = query({
      name: 'test.search',
      summary: '',
      role: 'VIEWER',
      weight: ({ key }) => (key === 'heavy' ? 'heavy' : 'light'),
      input: Input,
      output: Type.Object({ ok: Type.Literal(true) }),
      scope: () => ({ teamId: 'team', environmentId: 'env' }),
      async run() {
        await going.promise;
        return { ok: true as const };
      },
    });
    const ask = (actor: Actor, key = 'heavy') => codeOf(limited(search, platform.context(actor), { key }));
    const viewer = user({ team: 'VIEWER' });
    const running = [ask(viewer), ask(viewer), ask(viewer, 'light'), ask({ type: 'system', name: 'test' })];
    expect(await ask(viewer)).to.equal('TOO_MANY_REQUESTS');
    expect(await ask(user({ other: 'VIEWER' })), 'the role comes first').to.equal('FORBIDDEN');
    going.resolve();
    expect(await Promise.all(running)).to.deep.equal(['OK', 'OK', 'OK', 'OK']);
    expect(await ask(viewer)).to.equal('OK');
  });

  it('runs once more where Postgres has ended it for a deadlock, and is written once', async () => {
    await platform.db('settings').insert(['deadlock a', 'deadlock b'].map((key) => ({ key, value: '1' })));
    const lock = (ctx: MutationContext, key: string) => ctx.db('settings').where({ key }).forUpdate().first();
    let runs = 0;
    let holding = 0;
    const bothHold = Promise.withResolvers<void>();
    const survived = Promise.withResolvers<void>();
    const crossing = (first: string, second: string) =>
      operation(async (ctx) => {
        runs += 1;
        // A row that is free again may be taken before who waited for it wakes: the second try lets it pass.
        if (runs > 2) await survived.promise;
        await lock(ctx, first);
        holding += 1;
        if (holding === 2) bothHold.resolve();
        await bothHold.promise;
        await lock(ctx, second);
      });
    const ctx = platform.context(user({ team: 'EDITOR' }));
    await Promise.all([
      execute(crossing('deadlock a', 'deadlock b'), ctx, { key: 'deadlock 1' }).then(() =>
        survived.resolve(),
      ),
      execute(crossing('deadlock b', 'deadlock a'), ctx, { key: 'deadlock 2' }).then(() =>
        survived.resolve(),
      ),
    ]);
    expect(runs).to.equal(3);
    for (const key of ['deadlock 1', 'deadlock 2']) expect((await rows(key)).settings).to.have.length(1);
  });

  describe('finish', () => {
    const finishing = (finish: () => Promise<void>) => ({
      ...operation(async (ctx, { key }) =>
        ctx.audit({ entityType: 'Setting', entityId: key, metadata: { key } }),
      ),
      async finish(_ctx: unknown, { key }: { key: string }, done: Committed<{ ok: true }, undefined>) {
        expect((await rows(key)).settings, 'committed before').to.have.length(1);
        await finish();
        await done.write('test.finished', async (inside) => {
          await inside.db('settings').where({ key }).update({ value: '2' });
          inside.audit({ entityType: 'Setting', entityId: key, metadata: { key } });
        });
        return done.output;
      },
    });
    const actionsOf = async (key: string) => (await rows(key)).audit.map(({ action }) => action).sort();

    it('works after the commit, and writes with an audit row of its own', async () => {
      await execute(
        finishing(async () => {}),
        platform.context(user({ team: 'EDITOR' })),
        { key: 'finished' },
      );
      expect((await rows('finished')).settings[0].value).to.equal(2);
      expect(await actionsOf('finished')).to.deep.equal(['test.finished', 'test.written']);
    });

    it('undoes nothing where it fails', async () => {
      const failing = finishing(() => Promise.reject(new Error('the forge is away')));
      const outcome = await codeOf(
        execute(failing, platform.context(user({ team: 'EDITOR' })), { key: 'unfinished' }),
      );
      expect(outcome).to.equal('FAULT');
      expect(await actionsOf('unfinished')).to.deep.equal(['test.written']);
    });

    it('completes the output before that is stored for a repeated request', async () => {
      const stored: unknown[] = [];
      const settle = async (_tx: unknown, output: unknown) => void stored.push(output);
      const ctx = { ...platform.context(user({ team: 'EDITOR' })), settle };
      await execute(operation(), ctx, { key: 'settled' });
      await execute(
        finishing(async () => {}),
        ctx,
        { key: 'settled later' },
      );
      expect(stored).to.deep.equal([{ ok: true }]);
    });
  });

  describe('allows', () => {
    const team: Scope = { teamId: 'team', environmentId: 'env' };
    const own: Scope = { teamId: null };
    const git = (environmentId: string): Actor => ({ type: 'git', commit: 'c', author: 'a', environmentId });
    const CASES: [reason: string, actor: Actor, scope: Scope, needed: Access, allowed: boolean][] = [
      ['a VIEWER to read', user({ team: 'VIEWER' }), team, 'VIEWER', true],
      ['no VIEWER to write', user({ team: 'VIEWER' }), team, 'EDITOR', false],
      ['no EDITOR to administer', user({ team: 'EDITOR' }), team, 'ADMIN', false],
      ['an ADMIN to write', user({ team: 'ADMIN' }), team, 'EDITOR', true],
      ['no ADMIN of another team', user({ other: 'ADMIN' }), team, 'VIEWER', false],
      ['no ADMIN what is a super admin’s', user({ team: 'ADMIN' }), team, 'SUPER_ADMIN', false],
      ['a super admin everything', user({}, true), team, 'SUPER_ADMIN', true],
      ['anybody what is his own', user(), own, 'VIEWER', true],
      ['nobody more than that without a team', user({ team: 'ADMIN' }), own, 'EDITOR', false],
      ['git in its own environment', git('env'), team, 'ADMIN', true],
      ['git in no other environment', git('other'), team, 'VIEWER', false],
      ['git no super admin’s rights', git('env'), team, 'SUPER_ADMIN', false],
      ['nobody without a session', { type: 'anonymous' }, own, 'VIEWER', false],
    ];
    for (const [reason, actor, scope, needed, allowed] of CASES) {
      it(reason, () => expect(allows(actor, scope, { role: needed })).to.equal(allowed));
    }

    for (const { reason, more, scope, allowed } of [
      { reason: 'a service account what its permission names', more: {}, scope: team, allowed: true },
      {
        reason: 'no service account without the permission',
        more: { permissions: new Set() },
        scope: team,
        allowed: false,
      },
      {
        reason: 'no service account in another environment of its team',
        more: {},
        scope: { ...team, environmentId: 'other' },
        allowed: false,
      },
      { reason: 'no service account what belongs to no environment', more: {}, scope: own, allowed: false },
    ])
      it(reason, () => {
        const account = {
          type: 'service_account',
          id: 'a',
          name: 'ci',
          environmentId: 'env',
          teamId: 'team',
        };
        const actor = { ...account, permissions: new Set(['pipelines.read']), ...more } as Actor;
        expect(allows(actor, scope, { role: 'VIEWER', permission: 'pipelines.read' })).to.equal(allowed);
      });
  });
});
