/** What a person looks after themselves, the frame of the settings, and the pages of whoever has no environment. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { SettingsView } from '../../../../schemas/api/settings.ts';
import { trySignIn } from '../../../support/users/person.ts';
import { closeByEscape, settles, untilLive, watchForErrors } from '../browser.ts';
import {
  codeOf,
  giveCredentials,
  makePerson,
  openBrowser,
  type Somebody,
  setUpTwoFactor,
  shownCodes,
} from '../people.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('an account', function () {
  this.timeout(240_000);
  const session = useSite();
  const { section, dialog, note, isUsable } = partsOf(session);
  let api: ApiClient;
  let watched: string[][] = [];
  const opened: Page[] = [];

  before(async () => {
    api = await session.site.api();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((page) => page.context().close()));
    const errors = watched.flat();
    watched = [];
    expect(errors).to.deep.equal([]);
  });

  /** A browser of theirs, at a page that they come to once they are signed in. */
  async function enter(person: Omit<Somebody, 'id'>, path: string): Promise<Page> {
    const page = await openBrowser(session);
    opened.push(page);
    watched.push(watchForErrors(page));
    await page.goto(path);
    await giveCredentials(page, person);
    return page;
  }

  describe('of oneself', () => {
    let person: Somebody;
    before(async () => {
      person = await makePerson(session, 'ada', { role: 'VIEWER' });
    });

    it('has another name, sessions that end elsewhere, and another password', async () => {
      const page = await enter(person, session.at('settings'));
      const account = section('Account', page);
      await account.getByText(person.email).waitFor();
      await account.getByText('Role in Ours').waitFor();
      const save = account.getByRole('button', { name: 'Save' });
      await settles(() => save.isDisabled(), true, 'nothing to save');
      await account.getByLabel('Name').fill('Ada Lovelace');
      await save.click();
      await note('Your name was saved.', page);
      await page.getByRole('banner').getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menu').getByText('Ada Lovelace').waitFor();
      await closeByEscape(page);
      await isUsable('one’s own settings', page);

      const other = await enter(person, session.at('settings'));
      await section('Sessions', other).getByText('This one').waitFor();
      for (const agent of ['curl/8.14.1', 'wget/1.25'])
        await trySignIn(session.url, person.email, person.password, { 'user-agent': agent });
      await page.reload();
      const list = section('Sessions', page).getByRole('listitem');
      await settles(() => list.count(), 4);
      await list.first().getByText('This one').waitFor();
      await list.first().getByText('Chrome on Linux').waitFor();
      expect(await list.first().getByRole('button').count(), 'to sign out is the way').to.equal(0);
      await list.getByRole('button', { name: /^End it.*curl/ }).click();
      await note('The session of curl has ended.', page);
      await settles(() => list.count(), 3);
      await section('Sessions', page).getByRole('button', { name: 'End the 2 others' }).click();
      await note('2 sessions ended.', page);
      await settles(() => list.count(), 1);
      await other.goto(session.at('git'));
      await other.getByRole('form', { name: 'Sign in' }).waitFor();

      await giveCredentials(other, person);
      await other.getByRole('heading', { level: 1, name: 'Git' }).waitFor();
      await untilLive(other);
      await page.getByRole('button', { name: 'Change the password' }).click();
      const form = dialog('Change your password', page);
      await form.getByLabel('Current password').fill('something else');
      await form.getByLabel('New password', { exact: true }).fill('a better one, of mine');
      await form.getByLabel('New password once more').fill('a better one, of mine');
      await form.getByRole('button', { name: 'Change the password' }).click();
      await form.getByRole('alert').getByText('The current password is wrong').waitFor();
      await isUsable('a password to change', page);
      await form.getByLabel('Current password').fill(person.password);
      await form.getByRole('button', { name: 'Change the password' }).click();
      await form.waitFor({ state: 'hidden' });
      await note('Your password was changed', page);
      await settles(
        () => page.evaluate<string>('document.activeElement.textContent'),
        'Change the password',
        'the focus',
      );
      await other.getByRole('form', { name: 'Sign in' }).waitFor();
      person = { ...person, password: 'a better one, of mine' };
      await page.reload();
      await account.waitFor();
    });

    it('sets up two-factor, renews the backup codes with one of them, and turns it off', async () => {
      const page = await enter(person, session.at('settings'));
      const ways = page.getByRole('list', { name: 'Ways to sign in' });
      await ways.getByRole('button', { name: 'Set up two-factor' }).click();
      const setUp = dialog('Set up two-factor', page);
      await session.site
        .db('sessions')
        .where({ user_id: person.id })
        .update({ confirmed_at: new Date(Date.now() - 11 * 60_000) });
      await setUp.getByRole('button', { name: 'Show the code to scan' }).click();
      await setUp.getByLabel('Current password').fill('not that one');
      await setUp.getByRole('button', { name: 'Show the code to scan' }).click();
      await setUp
        .getByRole('alert')
        .getByText(/The current password is wrong/)
        .waitFor();
      await isUsable('the password before a second factor', page);
      await setUp.getByLabel('Current password').fill(person.password);
      const { secret, backupCodes } = await setUpTwoFactor(setUp);
      await isUsable('backup codes in a dialog', page);
      await setUp.getByLabel('I have kept them').check();
      await setUp.getByRole('button', { name: 'Done' }).click();
      await setUp.waitFor({ state: 'hidden' });
      await ways.getByText('10 backup codes left').waitFor();

      await ways.getByRole('button', { name: 'New backup codes' }).click();
      const renew = dialog('New backup codes', page);
      await renew.getByLabel('Code', { exact: true }).fill('000000');
      await renew.getByRole('button', { name: 'Make new codes' }).click();
      await renew
        .getByRole('alert')
        .getByText(/The code is wrong/)
        .waitFor();
      await renew.getByRole('button', { name: 'Use a backup code' }).click();
      await renew.getByLabel('Backup code').fill(backupCodes[3] ?? '');
      await renew.getByRole('button', { name: 'Make new codes' }).click();
      const next = await shownCodes(renew);
      expect(next).to.have.length(10);
      expect(next).not.to.include(backupCodes[0]);
      await renew.getByLabel('I have kept them').check();
      await renew.getByRole('button', { name: 'Done' }).click();
      await renew.waitFor({ state: 'hidden' });
      expect(await page.content()).not.to.include(next[0]);

      await ways.getByRole('button', { name: 'Turn off two-factor' }).click();
      const off = dialog('Turn two-factor off', page);
      await off.getByLabel('Code', { exact: true }).fill(codeOf(secret, 1));
      await off.getByRole('button', { name: 'Turn two-factor off' }).click();
      await off.waitFor({ state: 'hidden' });
      await ways.getByRole('button', { name: 'Set up two-factor' }).waitFor();
      expect((await trySignIn(session.url, person.email, person.password)).status).to.equal(200);
    });
  });

  it('keeps the part in the address, walks by keyboard, and is reached by menu, keys and palette', async () => {
    const { page } = session;
    await page.goto(session.at('settings'));
    const general = page.getByRole('link', { name: 'General' });
    await general.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(session.at('settings?tab=environment'));
    await section('General', page).waitFor();
    expect(await general.getAttribute('aria-current')).to.equal('page');
    await page.goBack();
    await section('Account', page).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByLabel('Settings of').selectOption({ label: 'Access' });
    await page.waitForURL(session.at('settings?tab=access'));
    await section('Enrollment token', page).waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });

    for (const [entry, address] of [
      ['Your settings', 'settings'],
      ['Members of Ours', 'settings?tab=members'],
      ['Server settings', 'settings?tab=users'],
    ] as const) {
      await page.getByRole('banner').getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
      await page.waitForURL(session.at(address));
    }
    for (const [text, address] of [
      ['your account', 'settings'],
      ['scim', 'settings?tab=scim'],
    ] as const) {
      await page.keyboard.press('Control+k');
      const box = page.getByRole('combobox', { name: 'Go to anything' });
      await box.fill(text);
      await box.press('Enter');
      await page.waitForURL(session.at(address));
    }
    for (const [key, address] of [
      ['y', 'settings'],
      ['m', 'settings?tab=members'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL(session.at(address));
    }
    await page.goto(`${session.url}/settings?tab=members`);
    await page.waitForURL(session.at('settings?tab=members'));
  });

  describe('without an environment', () => {
    it('says whom to ask, leads to one’s own settings and to no others, and goes on by itself in a team', async () => {
      const person = await makePerson(session, 'alone');
      const page = await enter(person, session.url);
      await page.getByRole('heading', { name: 'You are in no team yet' }).waitFor();
      await page.getByRole('button', { name: /^Copy your address/ }).click();
      await settles(() => page.evaluate<string>('navigator.clipboard.readText()'), person.email);
      await isUsable('in no team', page);
      await page.getByRole('link', { name: 'Your settings' }).click();
      await section('Sessions', page).getByText('This one').waitFor();
      expect(await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').count()).to.equal(1);
      await isUsable('settings in no team', page);
      await page.goto(`${session.url}/settings?tab=users`);
      await page.getByText('Only a super admin runs the server.').waitFor();
      await page.getByRole('link', { name: 'Your settings' }).click();
      await section('Sessions', page).waitFor();
      await page.goto(`${session.url}/settings?tab=members`);
      await page.getByText('You are in no team that this could be about.').waitFor();
      await page.goto(session.url);
      await page.getByRole('heading', { name: 'You are in no team yet' }).waitFor();
      await untilLive(page);
      await api.mutate('team.addMember', {
        teamId: session.site.teamId,
        email: person.email,
        role: 'VIEWER',
      });
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    });

    it('lets a super admin of a server without teams run it, and make a team and its first environment', async () => {
      await api.mutate('environment.delete', { id: session.site.environmentId });
      await api.mutate('team.delete', { teamId: session.site.teamId });
      const person = await makePerson(session, 'runs', { isSuperAdmin: true });
      const page = await enter(person, session.url);
      await page.getByRole('link', { name: 'Server settings' }).click();
      await page.waitForURL(`${session.url}/settings?tab=users`);
      await page.getByText('ada@example.org').waitFor();
      await page.getByRole('link', { name: 'Headgate' }).click();
      // The first set-up asks how long the audit log is kept.
      const retention = page.getByRole('group', { name: 'Keep the audit log' });
      await retention.getByRole('button', { name: 'For a year', pressed: true }).waitFor();
      await retention.getByRole('button', { name: 'For 7 years' }).click();
      await isUsable('the first set-up', page);
      await page.getByLabel('Name').fill('Theirs');
      await page.getByRole('button', { name: 'Create the team' }).click();
      await page.getByRole('heading', { name: 'Theirs has no environment yet' }).waitFor();
      const { audit } = await api.query<SettingsView>('settings.get', {});
      expect(audit).to.deep.equal({ retentionDays: 2_555, isChosen: true });
      await page.getByRole('link', { name: 'Members of Theirs' }).click();
      await page.getByText(person.email).first().waitFor();
      await page.getByRole('link', { name: 'Headgate' }).click();
      await page.getByRole('button', { name: 'Create the environment' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.getByRole('button', { name: /Theirs.*environment staging/ }).waitFor();
    });
  });
});
