/** A super admin takes the link to a provider's account away from somebody: what ends, and what does not bring it back. */
import { expect } from 'chai';
import type { UserSummary } from '../../../schemas/api/identity/people.ts';
import { send } from '../../support/clients/http.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { type Json, type ScimClient, scimOf } from '../../support/scenes/scim/client.ts';
import { CALLBACK, SESSION, useSingleSignOn } from '../../support/scenes/single-sign-on.ts';
import {
  expectRefused,
  makeUser,
  PASSWORD,
  signIn,
  type TestUser,
  trySignIn,
} from '../../support/users/person.ts';
import { Walker } from '../../support/users/walk.ts';

const LINK = '/api/auth/oidc/login?link=1&next=%2Fprofile';

interface Linked {
  id: string;
  email: string;
  /** At the provider. */
  subject: string;
  /** Signed in by the password. */
  person: TestUser;
  /** The same session, in a browser. */
  walker: Walker;
}
const DAY_MS = 86_400_000;

describe('a super admin unlinks somebody from a provider', () => {
  const scene = useSingleSignOn();
  let accounts = 0;

  async function linked(): Promise<Linked> {
    const email = `linked-${++accounts}@example.org`;
    const id = await makeUser(scene.db, { email });
    const person = await signIn(scene.test.url, email, PASSWORD);
    const walker = new Walker({ 'x-forwarded-for': `10.3.0.${accounts & 255}` });
    walker.setCookie(SESSION, person.cookie.split(/[=;]/)[1] ?? '');
    const subject = scene.somebody();
    const { page } = await scene.signIn(subject, { walker, path: LINK });
    expect(page).to.equal('/profile?linked=1');
    return { id, email, subject, person, walker };
  }
  const unlink = (userId: string, by: TestUser = scene.root) =>
    by.call('mutation', 'admin.unlinkProvider', { userId });
  const reset = (userId: string) =>
    scene.root.call<{ temporaryPassword: string }>('mutation', 'admin.resetPassword', { userId });
  const linksOf = (userId: string): Promise<{ subject: string }[]> =>
    scene.db('user_identities').where({ user_id: userId }).select('subject');
  const sessionsOf = (userId: string): Promise<unknown[]> => scene.db('sessions').where({ user_id: userId });
  const set = (id: string, change: object) => scene.db('users').where({ id }).update(change);
  /** Link another account there, up to the way back, which is not gone. */
  async function toCallback({ walker }: Linked, subject: string): Promise<string> {
    scene.provider.person = subject;
    walker.dropCookies('_');
    const { url } = await walker.walk(`${scene.test.url}${LINK}`, {
      stop: (at) => at.startsWith(`${scene.test.url}${CALLBACK}`),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    return url;
  }

  it('ends the link, every session and every personal token; the password signs in', async () => {
    const { id, email, subject, person } = await linked();
    await person.mutate('user.createToken', { name: 'laptop' });
    const there = await scene.signIn(subject);
    expect(there.user?.id).to.equal(id);
    const found = (await scene.root.query<UserSummary[]>('admin.listUsers')).find((user) => user.id === id);
    expect(found?.linkedTo).to.deep.equal([scene.provider.issuer]);
    expect((await unlink(id)).status).to.equal(200);
    expect(await linksOf(id)).to.deep.equal([]);
    expect(await sessionsOf(id)).to.deep.equal([]);
    expect(await scene.db('personal_tokens').where({ user_id: id })).to.deep.equal([]);
    expect((await person.call('query', 'user.me')).status).to.equal(401);
    const again = await scene.signIn(subject);
    expect(again.user?.id, 'somebody new from then on').not.to.equal(id);
    expect((await trySignIn(scene.test.url, email, PASSWORD)).status).to.equal(200);
    const row = await scene
      .db('audit_log')
      .where({ entity_id: id, action: 'user.providerUnlinked' })
      .first('user_email', 'metadata');
    expect(row).to.deep.equal({
      user_email: scene.root.email,
      metadata: {
        ...{ email, name: found?.name, tokensDeleted: 1 },
        identities: [{ issuer: scene.provider.issuer, subject }],
      },
    });
  });

  it('takes back what groups of the sign-in gave', async () => {
    const { id: teamId } = await scene.root.mutate<{ id: string }>('team.create', { name: 'By claim' });
    const { id } = await linked();
    const group = { id: 'claimed', source: 'oidc', display_name: 'claimed' };
    await scene.db('directory_groups').insert(group);
    await scene.db('directory_group_members').insert({ group_id: group.id, user_id: id });
    const map = (mappings: object[]) =>
      scene.root.mutate<object>('settings.updateOidcTeamMappings', {
        ...{ mappings, defaultRole: 'VIEWER', groupSyncEnabled: mappings.length > 0 },
      });
    const role = () => scene.db('team_members').where({ team_id: teamId, user_id: id }).first('role');
    expect(await map([{ group: 'claimed', teamId, role: 'EDITOR' }])).to.include({ added: 1 });
    try {
      expect(await role()).to.deep.equal({ role: 'EDITOR' });
      expect((await unlink(id)).status).to.equal(200);
      expect(await role()).to.equal(undefined);
      expect(await scene.db('directory_group_members').where({ user_id: id })).to.deep.equal([]);
      const { metadata } = await scene
        .db('audit_log')
        .where({ entity_id: id, action: 'user.providerUnlinked' })
        .first('metadata');
      expect(metadata.memberships).to.include({ removed: 1 });
    } finally {
      await map([]);
    }
  });

  it('is for super admins, about others, and about who is there and linked', async () => {
    const { id, person } = await linked();
    expect((await unlink(id, person)).status).to.equal(403);
    const own = await scene.root.query<{ id: string }>('user.me');
    expectRefused(await unlink(own.id), 412, 'under “You”');
    expect((await unlink('none')).status).to.equal(404);
    expect((await unlink(id)).status).to.equal(200);
    expectRefused(await unlink(id), 412, 'No identity provider');
  });

  describe('who could not sign in without it', () => {
    const refusal = async (userId: string): Promise<string> => {
      const before = await linksOf(userId);
      const sessions = (await sessionsOf(userId)).length;
      const { status, fault } = await unlink(userId);
      expect(status).to.equal(412);
      expect(await linksOf(userId)).to.deep.equal(before);
      expect(await sessionsOf(userId), 'nothing has ended').to.have.length(sessions);
      return fault?.message ?? '';
    };

    it('keeps it until the password was reset, where that has ended', async () => {
      const { id, email, subject } = await linked();
      await set(id, { must_change_password: true, password_expires_at: new Date(Date.now() - 1_000) });
      const shown = await scene.signIn(subject);
      expect(shown.user?.id, 'the provider lets them in').to.equal(id);
      expect(await refusal(id)).to.include('has expired: reset it first');
      const { output } = await reset(id);
      expect(await linksOf(id), 'a reset leaves it').to.have.length(1);
      expect((await unlink(id)).status).to.equal(200);
      const temporary = output?.temporaryPassword ?? '';
      expect((await trySignIn(scene.test.url, email, temporary)).status).to.equal(200);
    });

    it('keeps it, the last super admin who can sign in above all', async () => {
      const { id } = await linked();
      await set(id, { is_super_admin: true, password_hash: null });
      const hash = await scene.db('users').where({ email: scene.root.email }).first('password_hash');
      // Who asks is signed in, and could not sign in once more.
      await scene.db('users').where({ email: scene.root.email }).update({ password_hash: null });
      try {
        expect(await refusal(id)).to.include('last super admin');
      } finally {
        await scene.db('users').where({ email: scene.root.email }).update(hash);
        await set(id, { is_super_admin: false });
      }
    });

    it('is told the same where they ask themselves with a temporary password that has ended', async () => {
      const { id, subject } = await linked();
      await set(id, { must_change_password: true, password_expires_at: new Date(Date.now() - 1_000) });
      const { walker } = await scene.signIn(subject);
      const answer = await send(`${scene.test.url}/api/trpc/user.unlinkProvider`, {
        headers: { cookie: walker.cookies },
        body: { json: {} },
      });
      expect(answer.status).to.equal(412);
      expect(await linksOf(id)).to.have.length(1);
    });
  });

  describe('while somebody is on their way', () => {
    it('to link another account: begun before, it comes to nothing after, in a new session either', async () => {
      for (const signsInAgain of [false, true]) {
        const victim = await linked();
        const callback = await toCallback(victim, scene.somebody());
        expect((await unlink(victim.id)).status).to.equal(200);
        if (signsInAgain) {
          const { cookie } = await signIn(scene.test.url, victim.email, PASSWORD);
          victim.walker.setCookie(SESSION, cookie.split(/[=;]/)[1] ?? '');
        }
        const { headers } = await victim.walker.get(callback);
        expect(headers.location).to.equal('/profile?problem=oidc_expired');
        expect(await linksOf(victim.id)).to.deep.equal([]);
      }
    });

    it('to link another account: back from the provider, it waits and finds its session ended', async () => {
      const victim = await linked();
      const callback = await toCallback(victim, scene.somebody());
      const held = await scene.db.transaction();
      await held('users').where({ id: victim.id }).forUpdate().first('id');
      const unlinking = unlink(victim.id);
      await untilWaiting(scene.db, 1);
      const linking = victim.walker.get(callback);
      await untilWaiting(scene.db, 2);
      await held.commit();
      expect((await unlinking).status).to.equal(200);
      expect((await linking).headers.location).to.include('problem=oidc_expired');
      expect(await linksOf(victim.id)).to.deep.equal([]);
    });

    it('to sign in by the link: it waits and finds the link gone', async () => {
      const victim = await linked();
      const { walker, callback } = await scene.comeBack(victim.subject);
      const held = await scene.db.transaction();
      await held('users').where({ id: victim.id }).forUpdate().first('id');
      const unlinking = unlink(victim.id);
      await untilWaiting(scene.db, 1);
      const signingIn = walker.get(callback);
      await untilWaiting(scene.db, 2);
      await held.commit();
      expect((await unlinking).status).to.equal(200);
      expect((await signingIn).status).to.equal(302);
      expect(await sessionsOf(victim.id)).to.deep.equal([]);
      expect(await linksOf(victim.id)).to.deep.equal([]);
    });

    it('to do the same, or to reset the password', async () => {
      const { id } = await linked();
      const answers = await Promise.all([unlink(id), unlink(id), reset(id)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 412]);
      expect(await linksOf(id)).to.deep.equal([]);
      expect(await sessionsOf(id)).to.deep.equal([]);
    });

    it('to say where groups lead, however often they meet', async () => {
      const people = [];
      for (let n = 0; n < 4; n += 1) people.push(await linked());
      const rules = { mappings: [], defaultRole: 'VIEWER', groupSyncEnabled: false };
      const answers = await Promise.all([
        ...people.map(({ id }) => unlink(id)),
        ...people.map(() => scene.root.call('mutation', 'settings.updateOidcTeamMappings', rules)),
      ]);
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    });
  });

  describe('an account whose subject or issuer has changed', () => {
    const unlink = (userId: string, issuer?: string, by: TestUser = scene.root) =>
      by.call('mutation', 'admin.unlinkProvider', { userId, ...(issuer && { issuer }) });
    const linksOf = (userId: string): Promise<{ subject: string }[]> =>
      scene.db('user_identities').where({ user_id: userId }).select('subject');
    const rowOf = (entityId: string, action: string) =>
      scene
        .db('audit_log')
        .where({ entity_id: entityId, action })
        .orderBy('created_at', 'desc')
        .first('metadata');
    /** Somebody who signs in at the provider alone. */
    async function known(claims: object = {}) {
      const subject = scene.somebody({ ...claims });
      const { user, walker } = await scene.signIn(subject);
      return { subject, walker, id: user?.id ?? '', email: user?.email ?? '' };
    }

    it('is joined by the next sign-in with its verified address once a super admin has unlinked it, and only once', async () => {
      const { id, email, walker } = await known();
      const again = scene.somebody({ email });
      expect((await scene.signIn(again)).page, 'not before').to.equal('/sign-in?problem=email_taken');
      expect((await unlink(id)).status).to.equal(200);
      expect(await scene.db('sessions').where({ user_id: id }), 'signed out').to.deep.equal([]);
      expect(walker).not.to.equal(null);
      const { user } = await scene.signIn(again);
      expect(user?.id).to.equal(id);
      expect(await linksOf(id)).to.deep.equal([{ subject: again }]);
      expect((await rowOf(id, 'user.providerLinked')).metadata).to.deep.equal({
        ...{ issuer: scene.provider.issuer, subject: again, by: 'unlinked' },
      });
      const third = await scene.signIn(scene.somebody({ email }));
      expect(third.page).to.equal('/sign-in?problem=email_taken');
    });

    it('is not joined by an address that the provider does not call verified', async () => {
      const { id, email } = await known();
      expect((await unlink(id)).status).to.equal(200);
      for (const email_verified of [false, undefined])
        expect((await scene.signIn(scene.somebody({ email, email_verified }))).page).to.equal(
          '/sign-in?problem=email_unverified',
        );
      expect(await linksOf(id)).to.deep.equal([]);
    });

    it('is not joined for ever: an address may be somebody else’s by then; unlinking once more allows it again', async () => {
      const { id, email } = await known();
      expect((await unlink(id)).status).to.equal(200);
      const at = new Date(Date.now() - 91 * DAY_MS);
      await scene.db('users').where({ id }).update({ relink_allowed_at: at });
      const subject = scene.somebody({ email });
      expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=email_taken');
      expect((await unlink(id)).status).to.equal(200);
      expect((await scene.signIn(subject)).user?.id).to.equal(id);
    });

    it('of a super admin or with a password is opened by no address: they link themselves', async () => {
      const admin = await known();
      await scene.db('users').where({ id: admin.id }).update({ is_super_admin: true });
      expect((await unlink(admin.id)).status).to.equal(200);
      expect((await scene.signIn(scene.somebody({ email: admin.email }))).page).to.include('email_taken');
      const reset = await scene.root.call('mutation', 'admin.resetPassword', { userId: admin.id });
      expect(reset.status, 'a reset lets them in').to.equal(200);
      await scene.db('users').where({ id: admin.id }).update({ is_super_admin: false });
    });

    it('loses the link of one issuer alone where that is named', async () => {
      const { id, subject } = await known();
      const before = 'https://before.example';
      await scene.db('user_identities').insert({ issuer: before, subject: 'other', user_id: id });
      expect((await unlink(id, before)).status).to.equal(200);
      expect(await linksOf(id)).to.deep.equal([{ subject }]);
      expect((await unlink(id, before)).status, 'no more').to.equal(412);
    });

    it('is unlinked with all others of its issuer; who has a password keeps it', async () => {
      const before = 'https://old.example';
      const own = await makeUser(scene.db, { email: 'has-password@example.org' });
      const person = await signIn(scene.test.url, 'has-password@example.org', PASSWORD);
      await scene.db('user_identities').insert({ issuer: before, subject: 'own', user_id: own });
      const { id, email } = await known();
      await scene.db('user_identities').where({ user_id: id }).update({ issuer: before });
      expect((await person.call('mutation', 'admin.unlinkIssuer', { issuer: before })).status).to.equal(403);
      const answer = await scene.root.mutate<object>('admin.unlinkIssuer', { issuer: before });
      expect(answer).to.deep.equal({ unlinked: 2, relinkable: 1 });
      expect((await scene.signIn(scene.somebody({ email }))).user?.id).to.equal(id);
      expect((await scene.signIn(scene.somebody({ email: 'has-password@example.org' }))).user).to.equal(null);
      const twice = await scene.root.call('mutation', 'admin.unlinkIssuer', { issuer: before });
      expect(twice.status).to.equal(412);
      const row = await scene.db('audit_log').where({ action: 'user.issuerUnlinked' }).first('metadata');
      expect(row.metadata).to.include({ issuer: before, unlinked: 2, relinkable: 1 });
    });

    describe('that SCIM keeps', () => {
      let scim: ScimClient;
      before(async () => {
        scim = await scimOf(scene.root);
      });
      async function create(user: Json): Promise<string> {
        const answer = await scim.call('POST', '/Users', {
          ...{ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], active: true },
          ...user,
        });
        expect(answer.status, answer.text).to.equal(201);
        return answer.json<Json>().id;
      }

      it('is joined by a subject that is its externalId, though addresses differ', async () => {
        const subject = scene.somebody({ email: 'new-name@example.org' });
        const id = await create({ userName: 'old-name@example.org', externalId: subject });
        const { user } = await scene.signIn(subject);
        expect(user?.id).to.equal(id);
        expect(user?.email, 'SCIM tells the address').to.equal('old-name@example.org');
        expect((await rowOf(id, 'user.providerLinked')).metadata).to.include({ by: 'externalId' });
      });

      it('is not where two accounts have the externalId, or somebody else is linked to it', async () => {
        const subject = scene.somebody();
        const ids = [
          await create({ userName: 'one@example.org', externalId: subject }),
          await create({ userName: 'two@example.org', externalId: subject }),
        ];
        const { user } = await scene.signIn(subject);
        expect(ids).not.to.include(user?.id);
      });

      it('is linked no more once SCIM has deleted it; brought back, it is linked anew', async () => {
        const subject = scene.somebody({ email: 'leaver@example.org' });
        const id = await create({ userName: 'leaver@example.org' });
        expect((await scene.signIn(subject)).user?.id).to.equal(id);
        expect((await scim.call('DELETE', `/Users/${id}`)).status).to.equal(204);
        expect(await linksOf(id)).to.deep.equal([]);
        expect(await create({ userName: 'leaver@example.org' })).to.equal(id);
        const rehired = scene.somebody({ email: 'leaver@example.org' });
        expect((await scene.signIn(rehired)).user?.id).to.equal(id);
        expect(await linksOf(id)).to.deep.equal([{ subject: rehired }]);
      });

      it('lets nobody in whom SCIM has deleted, as somebody new neither, and says that the account is locked', async () => {
        const subject = scene.somebody({ email: 'other-address@example.org' });
        const id = await create({ userName: 'deleted@example.org', externalId: subject });
        expect((await scene.signIn(subject)).user?.id).to.equal(id);
        expect((await scim.call('DELETE', `/Users/${id}`)).status).to.equal(204);
        expect((await scene.signIn(subject)).page).to.equal('/sign-in?problem=account_locked');
        const byAddress = scene.somebody({ email: 'deleted@example.org' });
        expect((await scene.signIn(byAddress)).page).to.equal('/sign-in?problem=account_locked');
        const unverified = scene.somebody({ email: 'deleted@example.org', email_verified: false });
        expect((await scene.signIn(unverified)).page, 'who only says so').to.equal(
          '/sign-in?problem=email_taken',
        );
        expect(await linksOf(id)).to.deep.equal([]);
      });
    });
  });
});
