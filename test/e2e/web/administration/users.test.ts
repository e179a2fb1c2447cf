/** Everybody who has an account, and all teams, as a super admin looks after them in the browser. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { makeGroup } from '../../../support/users/people.ts';
import { trySignIn } from '../../../support/users/person.ts';
import { closeByEscape, LOAD, settles } from '../browser.ts';
import { makePerson, type Somebody } from '../people.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('users and teams', function () {
  this.timeout(240_000);
  const session = useSite();
  const { section, dialog, table, note, isUsable } = partsOf(session);
  let page: Page;
  let grace: Somebody;

  before(async () => {
    page = session.page;
    grace = await makePerson(session, 'grace', { role: 'EDITOR' });
    await makePerson(session, 'edsger');
  });

  /** Closes the dialog that shows it. */
  const shownPassword = async (form: Locator): Promise<string> => {
    const shown = form.getByRole('region', { name: 'the temporary password' });
    const password = (await shown.locator('pre').innerText()).trim();
    await form.getByRole('button', { name: 'Done' }).click();
    await form.waitFor({ state: 'hidden' });
    return password;
  };
  const confirm = async (button: string, form: string, word: string): Promise<void> => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await dialog(form).getByRole('button', { name: word, exact: true }).click();
    await dialog(form).waitFor({ state: 'hidden' });
  };
  const open = async (): Promise<void> => {
    await page.goto(session.at('settings?tab=users'), LOAD);
    await table('Users').getByRole('link', { name: 'grace' }).click();
    await page.getByRole('heading', { name: 'grace', level: 2 }).waitFor();
  };

  it('makes a user in a team, with a password that is shown once, and finds them by state and text', async () => {
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
    const password = await shownPassword(form);
    expect(await page.content()).not.to.include(password);
    expect((await trySignIn(session.url, 'ada@example.org', password)).status).to.equal(200);
    const row = table('Users').getByRole('row', { name: /ada@example.org/ });
    await row.getByText('Temporary password').waitFor();
    await row.getByText('Ours').waitFor();
    await isUsable('users');

    const links = table('Users').getByRole('link');
    await page.goto(session.at('settings?tab=users&state=no-team'));
    await links.filter({ hasText: 'edsger' }).waitFor();
    await settles(() => links.count(), 1);
    const state = page.getByRole('combobox', { name: 'State' });
    await state.selectOption('Super admins');
    await links.filter({ hasText: 'Administrator' }).waitFor();
    await settles(() => links.count(), 1);
    await state.selectOption('Everybody');
    await page.getByRole('searchbox', { name: 'Filter users' }).fill('ours ada');
    await settles(() => links.count(), 1);
    await settles(async () => new URL(page.url()).searchParams.get('q'), 'ours ada');
  });

  it('opens one from the list, who gets roles in teams and of the server, beside those of groups', async () => {
    const { db, teamId } = session.site;
    const userIds = [grace.id];
    await makeGroup(db, { name: 'platform', userIds, teamId, role: 'EDITOR' });
    await makeGroup(db, { name: 'everyone', userIds });
    await (await session.site.api()).mutate('team.create', { name: 'Payments' });
    await open();
    await settles(
      () => page.evaluate<string>('document.activeElement?.textContent ?? ""'),
      'grace',
      'the focus',
    );
    const group = (name: string): Locator =>
      page.getByRole('list', { name: 'Groups of grace' }).getByRole('listitem').filter({ hasText: name });
    await group('platform').getByText('leads to Ours as Editor').waitFor();
    await group('everyone').getByText('Leads nowhere').waitFor();
    await isUsable('one user');

    const teams = section('Teams');
    await teams.getByLabel('Another team').selectOption('Payments');
    await teams.getByRole('button', { name: 'Add to the team' }).click();
    await note('grace is a viewer of Payments.');
    await teams.getByLabel('Role in Payments').selectOption('Admin');
    await dialog('Make grace an admin of Payments').getByRole('button', { name: 'Change the role' }).click();
    await note('grace is an admin of Payments.');
    await confirm('Remove from Payments', 'Remove grace from Payments', 'Remove from the team');
    await settles(() => teams.getByLabel('Role in Payments').count(), 0);

    await confirm('Make a super admin', 'Make grace a super admin', 'Make a super admin');
    await page.getByText('Runs the server: all teams').waitFor();
    await confirm('Take super admin away', 'Take super admin from grace', 'Take it away');
    await page.getByRole('button', { name: 'Make a super admin' }).waitFor();

    await page.goBack();
    await table('Users')
      .getByRole('link', { name: /Administrator/ })
      .click();
    await page.getByText('That is you.').waitFor();
    for (const word of ['Lock the account', 'Reset the password', 'End all sessions', 'Delete Administrator'])
      expect(await page.getByRole('button', { name: word }).isDisabled(), word).to.equal(true);
    await page.goto(session.at('settings?tab=users&user=nobody'));
    await page.getByRole('heading', { name: 'There is no such user' }).waitFor();
  });

  it('locks one, ends second factor, sessions, password and provider, and deletes the user by the address', async () => {
    const { db } = session.site;
    const issuer = 'https://id.example.org';
    await db('users').where({ id: grace.id }).update({ totp_enabled: true });
    await open();
    await page.getByRole('button', { name: 'Reset the password' }).waitFor();
    expect(await page.getByRole('button', { name: /^Unlink/ }).count(), 'not linked').to.equal(0);
    await confirm('Lock the account', 'Lock the account of grace', 'Lock the account');
    await page.getByText('Locked by an administrator: the identity provider cannot lift that.').waitFor();
    await confirm('Unlock the account', 'Unlock the account of grace', 'Unlock the account');
    await page.getByRole('button', { name: 'Lock the account', exact: true }).waitFor();
    await confirm('Reset two-factor', 'Reset the two-factor of grace', 'Reset two-factor');
    await settles(() => page.getByRole('button', { name: 'Reset two-factor' }).isDisabled(), true);

    await confirm('End all sessions', 'End all sessions of grace', 'End all sessions');
    await note('grace is signed out everywhere.');
    await db('oidc_settings').insert({
      ...{ issuer, client_id: 'headgate', token_endpoint_auth_method: 'none', display_name: 'Example ID' },
    });
    await db('user_identities').insert({ issuer, subject: 'somebody else', user_id: grace.id });
    await page.reload();
    await section('Account').getByText('Example ID', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Reset the password' }).click();
    const reset = dialog('Reset the password of grace');
    await reset.getByText('take that away too, by “Unlink from Example ID”').waitFor();
    await reset.getByRole('button', { name: 'Make a temporary password' }).click();
    const password = await shownPassword(reset);
    expect((await trySignIn(session.url, grace.email, password)).status).to.equal(200);
    expect((await trySignIn(session.url, grace.email, grace.password)).status).to.equal(401);
    await page.getByRole('button', { name: 'Unlink from Example ID' }).click();
    const unlink = dialog('Unlink grace from Example ID');
    await unlink.getByText('signed out everywhere, their personal tokens are deleted').waitFor();
    await isUsable('the dialog that unlinks a user');
    await unlink.getByRole('button', { name: 'Unlink from Example ID' }).click();
    await note('grace is not linked to Example ID any more.');
    await settles(() => page.getByRole('button', { name: /^Unlink/ }).count(), 0);
    expect(await db('user_identities').where({ user_id: grace.id })).to.deep.equal([]);

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

  it('makes a team, renames it and gives it an environment, without which alone it is deleted', async () => {
    const choose = async (team: string, action: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions on ${team}` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    const make = async (team: string): Promise<void> => {
      await dialog('Make a team').getByLabel('Name').fill(team);
      await dialog('Make a team').getByRole('button', { name: 'Make the team' }).click();
      await note(`The team ${team} was made.`);
    };
    await page.goto(session.at('settings?tab=teams'));
    await page.getByRole('button', { name: 'Make a team' }).click();
    await make('Archive');
    await choose('Archive', 'Rename…');
    await dialog('Rename Archive').getByLabel('Name').fill('Library');
    await dialog('Rename Archive').getByRole('button', { name: 'Rename the team' }).click();
    const row = table('Teams').getByRole('row', { name: /^Library/ });
    await row.waitFor();
    await isUsable('teams');
    await choose('Library', 'Delete…');
    const end = dialog('Delete Library');
    await end.getByText('1 member').waitFor();
    await end.getByLabel('Type Library to confirm').fill('Library');
    await end.getByRole('button', { name: 'Delete the team' }).click();
    await row.waitFor({ state: 'detached' });

    await page.goto(session.at('settings?tab=teams&new=1'));
    await make('Lab');
    await choose('Lab', 'Make an environment…');
    const environment = dialog('Make an environment in Lab');
    await environment.getByLabel('Name').fill('bench');
    await environment.getByRole('button', { name: 'Make the environment' }).click();
    await environment.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Actions on Lab' }).click();
    await page.getByText('It has 1 environment: delete it first.').waitFor();
    expect(await page.getByRole('menuitem', { name: 'Delete…' }).isDisabled()).to.equal(true);
    await closeByEscape(page);
    await page.getByRole('banner').getByRole('button', { name: /^Team/ }).click();
    await page.getByRole('menuitem', { name: /bench/ }).click();
    await page.getByRole('heading', { name: 'Team Lab' }).waitFor();
  });
});
