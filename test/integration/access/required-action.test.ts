/**
 * Whoever has to change a password or to set up a second factor can do that and nothing else: by procedure, stream, tap or
 * git.
 */
import { expect } from 'chai';
import { setTemporaryPassword } from '../../../controller/identity/access/index.ts';
import type { RequiredAction } from '../../../controller/platform/operation/context.ts';
import { runGit, withCredentials } from '../../support/clients/git-client.ts';
import { type OpenStream, openStream, send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';
import { useSampled } from '../../support/scenes/sampled.ts';
import { callProcedure, makeUser, signIn, type TestUser } from '../../support/users/person.ts';

const OPEN: Record<RequiredAction, string[]> = {
  CHANGE_PASSWORD: ['user.changePassword', 'user.me'],
  SET_UP_TWO_FACTOR: ['user.confirmPassword', 'user.me', 'user.setupTotp', 'user.verifyAndEnableTotp'],
  PROVE_TWO_FACTOR: ['user.me', 'user.proveTwoFactor'],
};
const SAYS: Record<RequiredAction, RegExp> = {
  CHANGE_PASSWORD: /Change your password first/,
  SET_UP_TWO_FACTOR: /Set up two-factor sign-in first/,
  PROVE_TWO_FACTOR: /Give the code of your authenticator first/,
};

describe('somebody who owes something', () => {
  const test = useController();
  const at = useSampled(test);
  let users = 0;
  const open: OpenStream[] = [];

  const join = async (): Promise<TestUser & { id: string; token: string }> => {
    const email = `owing-${++users}@example.org`;
    const id = await makeUser(test.db, { email, teams: { [at.teamId]: 'EDITOR' } });
    const person = await signIn(test.url, email);
    const { token } = await person.mutate<{ token: string }>('user.createToken', { name: 'git' });
    return { ...person, id, token };
  };
  const begin = async (owes: RequiredAction, { id }: { id: string }) => {
    if (owes === 'PROVE_TWO_FACTOR') {
      await test.db('users').where({ id }).update({ totp_enabled: true });
      await test.db('sessions').where({ user_id: id }).update({ method: 'oidc', second_factor: null });
    }
    if (owes !== 'CHANGE_PASSWORD')
      await test.db('teams').where({ id: at.teamId }).update({ require_two_factor: true });
    else {
      const { password_hash: passwordHash } = await test.db('users').where({ id }).first('password_hash');
      await setTemporaryPassword(test.db, id, { passwordHash, expiresAt: new Date(Date.now() + 60_000) });
    }
  };
  const stream = async (path: string, { cookie }: TestUser) => {
    const made = await openStream(`${test.url}${path}`, { cookie });
    open.push(made);
    return made;
  };

  before(async () => {
    await at.root.mutate('gitSync.configure', { environmentId: at.environmentId, mode: 'sync', path: 'x' });
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    await test.db('teams').update({ require_two_factor: false });
  });

  for (const owes of ['CHANGE_PASSWORD', 'SET_UP_TWO_FACTOR', 'PROVE_TWO_FACTOR'] as const) {
    describe(owes, () => {
      it('is told so by the session, and by every procedure but those that help', async () => {
        const person = await join();
        await begin(owes, person);
        const session = await send(`${test.url}/api/auth/session`, { headers: { cookie: person.cookie } });
        expect(session.json<{ user: object }>().user).to.include({ owes });
        // Each call begins with the same look at what its operation says: some show that.
        const open = [...OPERATIONS.values()].filter((one) => one.allowedBefore?.includes(owes));
        expect(open.map(({ name }) => name).sort()).to.deep.equal(OPEN[owes]);
        for (const [index, [name, kind]] of [...PROCEDURE_KINDS].entries()) {
          const helps = OPEN[owes].includes(name);
          if (!helps && index % 20 > 0) continue;
          const { cookie } = person;
          const { status, fault } = await callProcedure(test.url, kind, name, { nonsense: true }, { cookie });
          expect(status === 403, name).to.equal(!helps);
          if (helps) continue;
          expect(fault?.data, name).to.include({ code: 'FORBIDDEN', owes });
          expect(fault?.message, name).to.match(SAYS[owes]);
        }
      });

      it('may open no stream and watch no tap, and what is open ends', async () => {
        const person = await join();
        const started = await person.mutate<{ tapId: string }>('pipeline.startTap', {
          pipelineId: at.pipelineId,
          componentKey: 'lines',
        });
        const [events, tap] = [
          await stream('/api/events', person),
          await stream(`/api/taps/${started.tapId}`, person),
        ];
        expect([events.status, tap.status]).to.deep.equal([200, 200]);
        await begin(owes, person);
        const { bus } = test.controller.systemContext('test').services;
        await bus.publish(test.db, { type: 'user', userId: person.id });
        await until(() => events.ended() && tap.ended(), { what: 'both to end' });
        for (const path of ['/api/events', `/api/taps/${started.tapId}`]) {
          const refused = await stream(path, person);
          expect(refused.status, path).to.equal(403);
          await until(() => refused.ended(), { what: 'the answer' });
          expect(JSON.parse(refused.text()), path).to.include({ owes });
        }
      });

      it('neither fetches nor pushes, and git says why', async () => {
        // Tokens are made in a session that owes nothing.
        if (owes === 'PROVE_TWO_FACTOR') return;
        const person = await join();
        const url = withCredentials(test.controller.cloneUrl, 'git', person.token);
        expect((await runGit(['ls-remote', url])).code).to.equal(0);
        await begin(owes, person);
        const { code, stderr } = await runGit(['ls-remote', url]);
        expect(code).not.to.equal(0);
        expect(stderr).to.match(SAYS[owes]);
        expect(stderr).not.to.include(person.token);
        const push = await send(`${test.controller.cloneUrl}/info/refs?service=git-receive-pack`, {
          headers: { authorization: `Basic ${Buffer.from(`git:${person.token}`).toString('base64')}` },
        });
        expect([push.status, push.text]).to.satisfy(
          ([status, text]: [number, string]) => status === 403 && SAYS[owes].test(text),
        );
      });

      it('may sign out', async () => {
        const person = await join();
        await begin(owes, person);
        const headers = { cookie: person.cookie };
        expect((await send(`${test.url}/api/auth/sign-out`, { body: {}, headers })).status).to.equal(200);
        expect((await send(`${test.url}/api/auth/session`, { headers })).status).to.equal(401);
      });
    });
  }
});
