/** `execute`: the checks in their order, and the work with its audit row in one transaction. */
import { Writable } from 'node:stream';
import { expect } from 'chai';
import Type from 'typebox';
import { writeAudit } from '../../../controller/insight/audit/index.ts';
import type { Actor, MutationContext } from '../../../controller/platform/operation/context.ts';
import { DomainError, notFound } from '../../../controller/platform/operation/errors.ts';
import { createHeavySlots } from '../../../controller/platform/operation/heavy-slots.ts';
import {
  type Access,
  allows,
  createExecute,
  mutation,
  query,
  type Scope,
} from '../../../controller/platform/operation/operation.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { type Role, Timestamp } from '../../../schemas/api/common.ts';
import { startTestPlatform, type TestPlatform } from '../../support/harness/platform.ts';

const user = (roles: Record<string, Role> = {}, isSuperAdmin = false): Actor => ({
  type: 'user',
  userId: 'u1',
  email: 'ada@example.org',
  name: 'Ada',
  isSuperAdmin,
  roles: new Map(Object.entries(roles)),
  sessionId: 's1',
  owes: null,
});

const Input = Type.Object(
  { key: Type.String({ maxLength: 50 }), at: Type.Optional(Timestamp) },
  { additionalProperties: false },
);

describe('an operation', () => {
  let platform: TestPlatform;
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

  before(async () => {
    platform = await startTestPlatform();
  });
  beforeEach(() => {
    steps.length = 0;
  });
  after(() => platform?.stop());

  const ORDER: {
    reason: string;
    actor: Actor;
    input: unknown;
    scope?: () => Scope;
    code: string;
    steps: string[];
  }[] = [
    {
      reason: 'who, before all else',
      actor: { type: 'anonymous' },
      input: { bad: 1 },
      code: 'UNAUTHORIZED',
      steps: [],
    },
    {
      reason: 'the input, before the scope',
      actor: user(),
      input: { bad: 1 },
      code: 'BAD_REQUEST',
      steps: [],
    },
    {
      reason: 'the scope, before the role',
      actor: user(),
      input: { key: 'order' },
      scope: () => {
        throw notFound('Thing');
      },
      code: 'NOT_FOUND',
      steps: ['scope'],
    },
    {
      reason: 'the role, before the work',
      actor: user({ team: 'VIEWER' }),
      input: { key: 'order' },
      code: 'FORBIDDEN',
      steps: ['scope'],
    },
    {
      reason: 'and then the work',
      actor: user({ team: 'EDITOR' }),
      input: { key: 'order' },
      code: 'OK',
      steps: ['scope', 'run'],
    },
  ];
  for (const { reason, actor, input, scope, code, steps: expected } of ORDER) {
    it(`checks ${reason}`, async () => {
      expect(await codeOf(execute(operation(undefined, scope), platform.context(actor), input))).to.equal(
        code,
      );
      expect(steps).to.deep.equal(expected);
    });
  }

  it('tells in the log who was refused what, and nothing of bad input or success', async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(...chunk.toString('utf8').split('\n').filter(Boolean));
        done();
      },
    });
    const log = createLogger('info', sink);
    const ask = (actor: Actor, input: object, scope?: () => Scope) =>
      codeOf(execute(operation(undefined, scope), { ...platform.context(actor), log }, input));
    const elsewhere = () => {
      throw notFound('Pipeline');
    };
    expect(await ask(user({ team: 'VIEWER' }), { key: 'refused' })).to.equal('FORBIDDEN');
    expect(await ask(user({ team: 'EDITOR' }), { key: 'refused' }, elsewhere)).to.equal('NOT_FOUND');
    expect(await ask(user({ team: 'EDITOR' }), { key: 7 })).to.equal('BAD_REQUEST');
    expect(await ask(user({ team: 'EDITOR' }), { key: 'granted' })).to.equal('OK');
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

  describe('allows', () => {
    const team: Scope = { teamId: 'team', environmentId: 'env' };
    const own: Scope = { teamId: null };
    const git = (environmentId: string): Actor => ({ type: 'git', commit: 'c', author: 'a', environmentId });
    const CASES: { reason: string; actor: Actor; scope: Scope; needed: Access; allowed: boolean }[] = [
      {
        reason: 'a VIEWER to read',
        actor: user({ team: 'VIEWER' }),
        scope: team,
        needed: 'VIEWER',
        allowed: true,
      },
      {
        reason: 'no VIEWER to write',
        actor: user({ team: 'VIEWER' }),
        scope: team,
        needed: 'EDITOR',
        allowed: false,
      },
      {
        reason: 'no EDITOR to administer',
        actor: user({ team: 'EDITOR' }),
        scope: team,
        needed: 'ADMIN',
        allowed: false,
      },
      {
        reason: 'an ADMIN to write',
        actor: user({ team: 'ADMIN' }),
        scope: team,
        needed: 'EDITOR',
        allowed: true,
      },
      {
        reason: 'no ADMIN of another team',
        actor: user({ other: 'ADMIN' }),
        scope: team,
        needed: 'VIEWER',
        allowed: false,
      },
      {
        reason: 'no ADMIN what is a super admin’s',
        actor: user({ team: 'ADMIN' }),
        scope: team,
        needed: 'SUPER_ADMIN',
        allowed: false,
      },
      {
        reason: 'a super admin everything',
        actor: user({}, true),
        scope: team,
        needed: 'SUPER_ADMIN',
        allowed: true,
      },
      { reason: 'anybody what is his own', actor: user(), scope: own, needed: 'VIEWER', allowed: true },
      {
        reason: 'nobody more than that without a team',
        actor: user({ team: 'ADMIN' }),
        scope: own,
        needed: 'EDITOR',
        allowed: false,
      },
      {
        reason: 'git in its own environment',
        actor: git('env'),
        scope: team,
        needed: 'ADMIN',
        allowed: true,
      },
      {
        reason: 'git in no other environment',
        actor: git('other'),
        scope: team,
        needed: 'VIEWER',
        allowed: false,
      },
      {
        reason: 'git no super admin’s rights',
        actor: git('env'),
        scope: team,
        needed: 'SUPER_ADMIN',
        allowed: false,
      },
      {
        reason: 'nobody without a session',
        actor: { type: 'anonymous' },
        scope: own,
        needed: 'VIEWER',
        allowed: false,
      },
    ];
    for (const { reason, actor, scope, needed, allowed } of CASES) {
      it(reason, () => expect(allows(actor, scope, { role: needed })).to.equal(allowed));
    }
  });
});
