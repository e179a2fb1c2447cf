/** A second factor that a team requires, of whoever signs in at an identity provider. */
import { expect } from 'chai';
import { type SignedIn, userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { codeOf } from '../../support/users/authenticator.ts';
import { callProcedure, expectRefused } from '../../support/users/person.ts';

describe('the second factor of whoever signs in at an identity provider', () => {
  const scene = useSingleSignOn();
  let teamId: string;
  before(async () => {
    ({ id: teamId } = await scene.root.mutate<{ id: string }>('team.create', { name: 'careful' }));
    await scene.db('teams').where({ id: teamId }).update({ require_two_factor: true });
    // Who makes a team is in it.
    await scene.db('team_members').where({ team_id: teamId }).delete();
  });

  const say = (secondFactor: string) =>
    scene.root.mutate('settings.updateOidc', { ...scene.client, options: { secondFactor } });
  const member = async (): Promise<string> => {
    const subject = scene.somebody();
    const { user } = await scene.signIn(subject);
    await scene.root.mutate('admin.assignToTeam', { userId: user?.id, teamId, role: 'EDITOR' });
    return subject;
  };
  const call = ({ walker }: SignedIn, name: string, input: object = {}) =>
    callProcedure(scene.test.url, 'mutation', name, input, { cookie: walker.cookies });
  const owes = async ({ walker }: SignedIn) => (await userOf(scene.test.url, walker))?.owes;

  it('is asked for here unless told: set up at first, and given at each sign-in from then on', async () => {
    await say('ASK');
    const subject = await member();
    const first = await scene.signIn(subject);
    expect(await owes(first)).to.equal('SET_UP_TWO_FACTOR');
    const { output } = await call(first, 'user.setupTotp');
    const { secret, backupCodes } = output as { secret: string; backupCodes: string[] };
    expect((await call(first, 'user.verifyAndEnableTotp', { code: codeOf(secret) })).status).to.equal(200);
    expect(await owes(first), 'in the session that set it up').to.equal(null);
    const second = await scene.signIn(subject);
    expect(await owes(second)).to.equal('PROVE_TWO_FACTOR');
    expect((await call(second, 'user.updateProfile', { name: 'Ada' })).status).to.equal(403);
    expect((await call(second, 'user.proveTwoFactor', { code: '000000' })).status).to.equal(400);
    expect((await call(second, 'user.proveTwoFactor', { code: backupCodes[0] })).status).to.equal(200);
    expect(await owes(second)).to.equal(null);
    expect((await call(second, 'user.updateProfile', { name: 'Ada' })).status).to.equal(200);
  });

  it('is met by what the provider says of it, where that counts: RFC 8176', async () => {
    await say('CLAIMS');
    const subject = await member();
    for (const [claims, owed] of [
      [{ amr: ['pwd', 'mfa'] }, null],
      [{ acr: 'mfa' }, null],
      [{ amr: ['pwd'] }, 'SET_UP_TWO_FACTOR'],
      [{}, 'SET_UP_TWO_FACTOR'],
    ] as const) {
      scene.provider.changes = { idToken: (told) => ({ ...told, ...claims }) };
      expect(await owes(await scene.signIn(subject)), JSON.stringify(claims)).to.equal(owed);
    }
  });

  it('is left to the provider, where that is said', async () => {
    await say('PROVIDER');
    expect(await owes(await scene.signIn(await member()))).to.equal(null);
  });

  it('is set up here by nobody without a password of whom no team asks for it', async () => {
    await say('ASK');
    const free = await scene.signIn(scene.somebody());
    expectRefused(
      await call(free, 'user.setupTotp'),
      412,
      /your identity provider asks for the second factor/,
    );
  });
});
