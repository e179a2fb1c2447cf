/** Everybody who has an account, and all teams, as a super admin looks after them in the browser. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { makeGroup } from '../../../support/users/people.ts';
import { trySignIn } from '../../../support/users/person.ts';
import { beyondAPhone, LOAD, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { giveCredentials, makePerson, openBrowser, type Somebody } from '../people.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('users and teams', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let grace: Somebody;
  const opened: Page[] = [];

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    grace = await makePerson(session, 'grace', { role: 'EDITOR' });
    await makePerson(session, 'edsger');
  });
  after(() => session?.close());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.context().close()));
    expect(errors.splice(0)).to.deep.equal([]);
  });

  async function enter(person: Somebody, path: string): Promise<Page> {
    const own = await openBrowser(session);
    opened.push(own);
    await own.goto(session.at(path), LOAD);
    await giveCredentials(own, person);
    return own;
  }
  const table = (name: string): Locator => page.getByRole('table', { name, exact: true });
  const section = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const dialog = (name: string): Locator => page.getByRole('dialog', { name });
  const note = (text: string): Promise<void> =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).waitFor();
  const isSignedOut = (on: Page): Promise<void> => on.getByRole('button', { name: 'Sign in' }).waitFor();
  const isUsable = async (where: string): Promise<void> => {
    const found = await violationsInBothSchemes(page, where);
    found.push(...(await beyondAPhone(page, where)));
    expect(found, found.join('\n')).to.deep.equal([]);
  };
  const confirm = async (button: string, form: string, word: string): Promise<void> => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await dialog(form).getByRole('button', { name: word, exact: true }).click();
    await dialog(form).waitFor({ state: 'hidden' });
  };

  describe('the list', () => {
    it('makes a user in a team, with a password that is shown once', async () => {
      await page.goto(session.at('settings?tab=users'));
      await page.getByRole('button', { name: 'Make a user' }).click();
      const form = dialog('Make a user');
      await form.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
      await form.getByLabel('Email').fill('grace@example.org');
      await form.getByLabel('Team').selectOption('Ours');
      await form.getByLabel('Role').selectOption('Admin');
      await form.getByRole('button', { name: 'Make the user' }).click();
      await form
        .getByRole('alert')
        .getByText(/An account with the address .* exists already/)
        .waitFor();
      await form.getByLabel('Email').fill('ada@example.org');
      await isUsable('the dialog that makes a user');
      await form.getByRole('button', { name: 'Make the user' }).click();
      const shown = form.getByRole('region', { name: 'the temporary password' });
      const password = (await shown.locator('pre').innerText()).trim();
      await form.getByRole('button', { name: 'Done' }).click();
      await form.waitFor({ state: 'hidden' });
      expect(await page.content()).not.to.include(password);
      expect((await trySignIn(session.url, 'ada@example.org', password)).status).to.equal(200);
      const row = table('Users').getByRole('row', { name: /ada@example.org/ });
      await row.getByText('Temporary password').waitFor();
      await row.getByText('Ours').waitFor();
    });

    it('is searched and filtered by its address', async () => {
      await page.goto(session.at('settings?tab=users&state=no-team'));
      await table('Users').getByRole('link', { name: 'edsger' }).waitFor();
      await settles(() => table('Users').getByRole('link').count(), 1);
      await page.getByRole('combobox', { name: 'State' }).selectOption('Super admins');
      await settles(() => table('Users').getByRole('link').count(), 1);
      await table('Users')
        .getByRole('link', { name: /Administrator/ })
        .waitFor();
      await page.getByRole('combobox', { name: 'State' }).selectOption('Everybody');
      await page.getByRole('searchbox', { name: 'Filter users' }).fill('ours ada');
      await settles(() => table('Users').getByRole('link').count(), 1);
      await settles(async () => new URL(page.url()).searchParams.get('q'), 'ours ada');
      await page.getByRole('searchbox', { name: 'Filter users' }).fill('');
      await isUsable('users');
    });

    it('is for super admins alone', async () => {
      const hers = await enter(grace, 'settings?tab=users');
      await hers.getByText('Only a super admin runs the server.').waitFor();
      expect(await hers.getByRole('link', { name: 'Users', exact: true }).count()).to.equal(0);
    });
  });

  describe('one user', () => {
    const open = async (): Promise<void> => {
      await page.goto(session.at('settings?tab=users'), LOAD);
      await table('Users').getByRole('link', { name: 'grace' }).click();
      await page.getByRole('heading', { name: 'grace', level: 2 }).waitFor();
    };

    it('is opened from the list and left by Back', async () => {
      await open();
      await settles(
        () => page.evaluate<string>('document.activeElement?.textContent ?? ""'),
        'grace',
        'the focus',
      );
      await page.goBack();
      await table('Users').waitFor();
      await page.goto(session.at('settings?tab=users&user=nobody'));
      await page.getByRole('heading', { name: 'There is no such user' }).waitFor();
    });

    it('joins a team, gets another role there, and leaves it', async () => {
      const team = await (await session.site.api()).mutate<{ id: string }>('team.create', {
        name: 'Payments',
      });
      await open();
      const teams = section('Teams');
      await teams.getByLabel('Another team').selectOption('Payments');
      await teams.getByRole('button', { name: 'Add to the team' }).click();
      await note('grace is a viewer of Payments.');
      const hers = await enter(grace, 'pipelines');
      await hers.getByRole('heading', { name: 'Pipelines', level: 1 }).waitFor();
      await teams.getByLabel('Role in Payments').selectOption('Admin');
      await dialog('Make grace an admin of Payments')
        .getByRole('button', { name: 'Change the role' })
        .click();
      await note('grace is an admin of Payments.');
      await isSignedOut(hers);
      await confirm('Remove from Payments', 'Remove grace from Payments', 'Remove from the team');
      await settles(() => teams.getByLabel('Role in Payments').count(), 0);
      const members = await session.site.db('team_members').where({ team_id: team.id, user_id: grace.id });
      expect(members).to.deep.equal([]);
    });

    it('shows where groups lead, and those that lead nowhere', async () => {
      await makeGroup(session.site.db, {
        name: 'platform',
        userIds: [grace.id],
        teamId: session.site.teamId,
        role: 'EDITOR',
      });
      await makeGroup(session.site.db, { name: 'everyone', userIds: [grace.id] });
      await open();
      const groups = page.getByRole('list', { name: 'Groups of grace' });
      await groups
        .getByRole('listitem')
        .filter({ hasText: 'platform' })
        .getByText('leads to Ours as Editor')
        .waitFor();
      await groups.getByRole('listitem').filter({ hasText: 'everyone' }).getByText('Leads nowhere').waitFor();
      await isUsable('one user');
    });

    it('is locked while looking, and told apart from a lock of the identity provider', async () => {
      await open();
      const hers = await enter(grace, 'pipelines');
      await hers.getByRole('heading', { name: 'Pipelines', level: 1 }).waitFor();
      await confirm('Lock the account', 'Lock the account of grace', 'Lock the account');
      await isSignedOut(hers);
      await page.getByText('Locked by an administrator: the identity provider cannot lift that.').waitFor();
      await confirm('Unlock the account', 'Unlock the account of grace', 'Unlock the account');
      await page.getByRole('button', { name: 'Lock the account', exact: true }).waitFor();
      await session.site
        .db('users')
        .where({ id: grace.id })
        .update({ locked_at: new Date(), locked_by: 'scim' });
      await page.reload();
      await page.getByText(/Locked by the identity provider, which lifts it/).waitFor();
      await isUsable('a user whom SCIM has locked');
      await confirm('Unlock the account', 'Unlock the account of grace', 'Unlock the account');
    });

    it('loses sessions, second factor and password', async () => {
      await session.site.db('users').where({ id: grace.id }).update({ totp_enabled: true });
      await open();
      await confirm('Reset two-factor', 'Reset the two-factor of grace', 'Reset two-factor');
      await settles(() => page.getByRole('button', { name: 'Reset two-factor' }).isDisabled(), true);
      const hers = await enter(grace, 'pipelines');
      await hers.getByRole('heading', { name: 'Pipelines', level: 1 }).waitFor();
      await confirm('End all sessions', 'End all sessions of grace', 'End all sessions');
      await isSignedOut(hers);
      await page.getByRole('button', { name: 'Reset the password' }).click();
      const form = dialog('Reset the password of grace');
      await form.getByRole('button', { name: 'Make a temporary password' }).click();
      const shown = form.getByRole('region', { name: 'the temporary password' });
      const password = (await shown.locator('pre').innerText()).trim();
      await form.getByRole('button', { name: 'Done' }).click();
      expect((await trySignIn(session.url, grace.email, password)).status).to.equal(200);
      expect((await trySignIn(session.url, grace.email, grace.password)).status).to.equal(401);
    });

    it('is unlinked from the identity provider, to which the reset of the password points', async () => {
      const { db } = session.site;
      const issuer = 'https://id.example.org';
      await open();
      await page.getByRole('button', { name: 'Reset the password' }).waitFor();
      expect(await page.getByRole('button', { name: /^Unlink/ }).count(), 'not linked').to.equal(0);
      await db('oidc_settings').insert({
        ...{ issuer, client_id: 'headgate', token_endpoint_auth_method: 'none', display_name: 'Example ID' },
      });
      await db('user_identities').insert({ issuer, subject: 'somebody else', user_id: grace.id });
      await db('users')
        .where({ id: grace.id })
        .update({ must_change_password: true, password_expires_at: new Date(Date.now() - 1_000) });
      try {
        await page.reload();
        await section('Account').getByText('Example ID', { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Reset the password' }).click();
        const reset = dialog('Reset the password of grace');
        await reset.getByText('take that away too, by “Unlink from Example ID”').waitFor();
        await reset.getByRole('button', { name: 'Back' }).click();
        await page.getByRole('button', { name: 'Unlink from Example ID' }).click();
        const form = dialog('Unlink grace from Example ID');
        await form.getByText('signed out everywhere, their personal tokens are deleted').waitFor();
        await isUsable('the dialog that unlinks a user');
        await form.getByRole('button', { name: 'Unlink from Example ID' }).click();
        await form
          .getByRole('alert')
          .getByText(/has expired: reset it first/)
          .waitFor();
        await form.getByRole('button', { name: 'Back' }).click();
        const { password_hash } = await db('users').where({ email: 'edsger@example.org' }).first();
        await db('users')
          .where({ id: grace.id })
          .update({ password_hash, must_change_password: false, password_expires_at: null });
        const hers = await enter(grace, 'pipelines');
        await hers.getByRole('heading', { name: 'Pipelines', level: 1 }).waitFor();
        await confirm('Unlink from Example ID', 'Unlink grace from Example ID', 'Unlink from Example ID');
        await note('grace is not linked to Example ID any more.');
        await isSignedOut(hers);
        await settles(() => page.getByRole('button', { name: /^Unlink/ }).count(), 0);
        expect(await db('user_identities').where({ user_id: grace.id })).to.deep.equal([]);
      } finally {
        await db('oidc_settings').delete();
      }
    });

    it('becomes a super admin and is one no longer; of oneself the last one stays', async () => {
      await open();
      await confirm('Make a super admin', 'Make grace a super admin', 'Make a super admin');
      await page.getByText('Runs the server: all teams').waitFor();
      await confirm('Take super admin away', 'Take super admin from grace', 'Take it away');
      await page.getByRole('button', { name: 'Make a super admin' }).waitFor();
      await page.goto(session.at('settings?tab=users'));
      await table('Users')
        .getByRole('link', { name: /Administrator/ })
        .click();
      await page.getByText('That is you.').waitFor();
      for (const word of [
        'Lock the account',
        'Reset the password',
        'End all sessions',
        'Delete Administrator',
      ])
        expect(await page.getByRole('button', { name: word }).isDisabled(), word).to.equal(true);
      await page.getByRole('button', { name: 'Take super admin away' }).click();
      const form = dialog('Take super admin from Administrator');
      await form.getByRole('button', { name: 'Take it away' }).click();
      await form
        .getByRole('alert')
        .getByText(/the last super admin who can sign in/)
        .waitFor();
      await form.getByRole('button', { name: 'Back' }).click();
    });

    it('is deleted once its address was typed', async () => {
      await open();
      await page.getByRole('button', { name: 'Delete grace' }).click();
      const form = dialog('Delete grace');
      await form.getByText('the audit log, which names them').waitFor();
      const button = form.getByRole('button', { name: 'Delete the user' });
      expect(await button.isDisabled()).to.equal(true);
      await isUsable('the dialog that deletes a user');
      await form.getByLabel('Type grace@example.org to confirm').fill('grace@example.org');
      await button.click();
      await note('grace was deleted.');
      await table('Users').getByRole('link', { name: 'edsger' }).waitFor();
      await settles(() => table('Users').getByRole('link', { name: 'grace' }).count(), 0);
    });
  });

  describe('teams', () => {
    const row = (name: string): Locator => table('Teams').getByRole('row', { name: new RegExp(`^${name}`) });
    const choose = async (team: string, action: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions on ${team}` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };

    it('are made, renamed and deleted', async () => {
      await page.goto(session.at('settings?tab=teams'));
      await page.getByRole('button', { name: 'Make a team' }).click();
      const form = dialog('Make a team');
      await form.getByLabel('Name').fill('Archive');
      await form.getByRole('button', { name: 'Make the team' }).click();
      await note('The team Archive was made.');
      await choose('Archive', 'Rename…');
      await dialog('Rename Archive').getByLabel('Name').fill('Library');
      await dialog('Rename Archive').getByRole('button', { name: 'Rename the team' }).click();
      await row('Library').waitFor();
      await isUsable('teams');
      await choose('Library', 'Delete…');
      const end = dialog('Delete Library');
      await end.getByText('1 member').waitFor();
      await end.getByLabel('Type Library to confirm').fill('Library');
      await end.getByRole('button', { name: 'Delete the team' }).click();
      await row('Library').waitFor({ state: 'detached' });
    });

    it('get an environment, to which the list of environments leads', async () => {
      await page.goto(session.at('settings?tab=teams&new=1'));
      await dialog('Make a team').getByLabel('Name').fill('Lab');
      await dialog('Make a team').getByRole('button', { name: 'Make the team' }).click();
      await choose('Lab', 'Make an environment…');
      const make = dialog('Make an environment in Lab');
      await make.getByLabel('Name').fill('bench');
      await make.getByRole('button', { name: 'Make the environment' }).click();
      await make.waitFor({ state: 'detached' });
      await page.getByRole('banner').getByRole('button', { name: /^Team/ }).click();
      await page.getByRole('menuitem', { name: /bench/ }).click();
      await page.getByRole('heading', { name: 'Team Lab' }).waitFor();
      await page.goto(session.at('settings?tab=teams'));
    });

    it('cannot be deleted while they have environments, and say so', async () => {
      await page.getByRole('button', { name: 'Actions on Ours' }).click();
      await page.getByText('It has 1 environment: delete it first.').waitFor();
      expect(await page.getByRole('menuitem', { name: 'Delete…' }).isDisabled()).to.equal(true);
    });
  });
});
