/** Sign-in by providers alone, and by a password on the day on which none answers. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { ROOT } from '../../support/harness/controller.ts';
import { userOf, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import { callProcedure, makeUser, PASSWORD, signIn } from '../../support/users/person.ts';

describe('sign-in by providers alone', () => {
  const scene = useSingleSignOn();
  let rootId: string;
  before(async () => {
    ({ id: rootId } = await scene.db('users').where({ email: ROOT.email }).first('id'));
  });
  afterEach(async () => {
    await scene.db('settings').where({ key: 'access' }).delete();
    await scene.db('users').update({ is_break_glass: false });
  });

  const update = (input: object) => scene.root.call('mutation', 'settings.updateAccess', input);
  const signInBy = (email: string, password = PASSWORD) =>
    send(`${scene.test.url}/api/auth/sign-in`, { body: { email, password } });

  it('needs a break-glass account, which is a super admin with a password', async () => {
    const none = await update({ onlyByProvider: true });
    expect([none.status, none.fault?.message]).to.satisfy(
      ([status, message]: [number, string]) =>
        status === 412 && /set a break-glass account first/.test(message),
    );
    const email = 'plain@example.org';
    const id = await makeUser(scene.db, { email });
    expect((await update({ breakGlassUserIds: [id] })).status).to.equal(400);
    expect((await update({ breakGlassUserIds: ['nobody'] })).status).to.equal(404);
    expect((await update({ onlyByProvider: true, breakGlassUserIds: [rootId] })).status).to.equal(200);
    const { breakGlass } = await scene.root.query<{ breakGlass: { email: string }[] }>('settings.get');
    expect(breakGlass.map((one) => one.email)).to.deep.equal([ROOT.email]);
  });

  it('refuses passwords with a sentence, once they are right; those of break-glass accounts open', async () => {
    const email = 'by-password@example.org';
    await makeUser(scene.db, { email });
    const before = await signIn(scene.test.url, email);
    expect((await update({ onlyByProvider: true, breakGlassUserIds: [rootId] })).status).to.equal(200);
    const refused = await signInBy(email);
    expect([refused.status, refused.json<{ error: string }>().error]).to.deep.equal([
      401,
      'Passwords are turned off here: sign in at the identity provider, with its button on the sign-in page',
    ]);
    expect((await signInBy(email, 'wrong password')).json<{ error: string }>().error).to.equal(
      'Email or password is wrong',
    );
    expect((await signInBy(ROOT.email, ROOT.password)).status).to.equal(200);
    const me = await callProcedure(scene.test.url, 'query', 'user.me', {}, { cookie: before.cookie });
    expect(me.status, 'a session that began by a password').to.equal(401);
  });

  it('lets personal tokens rest of those who have a password and no provider', async () => {
    const email = 'token@example.org';
    await makeUser(scene.db, { email });
    const person = await signIn(scene.test.url, email);
    const { token } = await person.mutate<{ token: string }>('user.createToken', { name: 'git' });
    const fetches = () =>
      send(`${scene.test.controller.cloneUrl}/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Basic ${Buffer.from(`git:${token}`).toString('base64')}` },
      });
    const opened = (await fetches()).text;
    await update({ onlyByProvider: true, breakGlassUserIds: [rootId] });
    const resting = await fetches();
    expect([resting.status, resting.text.slice(0, 18)]).to.deep.equal([403, 'Your account rests']);
    await update({ onlyByProvider: false });
    expect((await fetches()).text, 'as before').to.equal(opened);
  });

  it('is told to pages, and ends with the last provider', async () => {
    await update({ onlyByProvider: true, breakGlassUserIds: [rootId] });
    const password = async () =>
      (await send(`${scene.test.url}/api/auth/providers`)).json<{ providers: object[] }>().providers[0];
    expect(await password()).to.deep.equal({
      id: 'password',
      name: 'Email and password',
      isBreakGlass: true,
    });
    const email = 'afterwards@example.org';
    await makeUser(scene.db, { email });
    expect((await signInBy(email)).status).to.equal(401);
    await scene.root.mutate('settings.disableOidc', {});
    expect(await password()).to.deep.equal({ id: 'password', name: 'Email and password' });
    expect((await signInBy(email)).status).to.equal(200);
    await scene.root.mutate('settings.updateOidc', scene.client);
  });

  it('takes the right from no last break-glass account, and shuts nobody out who switches it on', async () => {
    await update({ onlyByProvider: true, breakGlassUserIds: [rootId] });
    expect((await update({ breakGlassUserIds: [] })).status).to.equal(412);
    const other = await scene.signIn(scene.somebody());
    await scene.root.mutate('admin.toggleSuperAdmin', { userId: other.user?.id, isSuperAdmin: true });
    const demoted = await scene.root.call('mutation', 'admin.toggleSuperAdmin', {
      ...{ userId: rootId, isSuperAdmin: false },
    });
    expect([demoted.status, demoted.fault?.message]).to.satisfy(
      ([status, message]: [number, string]) => status === 412 && /last break-glass account/.test(message),
    );
    await update({ onlyByProvider: false });
    const email = 'second@example.org';
    const id = await makeUser(scene.db, { email, isSuperAdmin: true });
    const second = await signIn(scene.test.url, email);
    const own = await second.call('mutation', 'settings.updateAccess', {
      ...{ onlyByProvider: true, breakGlassUserIds: [rootId] },
    });
    expect([own.status, own.fault?.message]).to.satisfy(
      ([status, message]: [number, string]) => status === 412 && /lock yourself out/.test(message),
    );
    await scene.db('users').where({ id }).delete();
    expect(await userOf(scene.test.url, (await scene.signIn(scene.somebody())).walker)).not.to.equal(null);
  });
});
