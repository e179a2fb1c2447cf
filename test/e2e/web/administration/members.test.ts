/** Who is in a team, as its ADMINs change it in the browser, while those whom it concerns look on. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { PASSWORD, trySignIn } from '../../../support/users/person.ts';
import {
  beyondAPhone,
  closeByEscape,
  settles,
  untilLive,
  violationsInBothSchemes,
  watchForErrors,
} from '../browser.ts';
import { giveCredentials, makePerson, openBrowser, type Somebody } from '../people.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('members of a team', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  const opened: Page[] = [];

  before(async () => {
    session = await openSite();
    api = await session.site.api();
    page = session.page;
    errors = watchForErrors(page);
  });
  after(() => session?.close());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.context().close()));
    expect(errors.splice(0)).to.deep.equal([]);
  });

  async function enter(person: Somebody, path = 'settings?tab=members'): Promise<Page> {
    const own = await openBrowser(session);
    opened.push(own);
    await own.goto(session.at(path));
    await giveCredentials(own, person);
    await untilLive(own);
    return own;
  }
  const table = (on = page): Locator => on.getByRole('table', { name: 'Members' });
  const row = (name: string, on = page): Locator =>
    table(on).getByRole('row', { name: new RegExp(`^${name} `) });
  const dialog = (name: string, on = page): Locator => on.getByRole('dialog', { name });
  const note = (text: string): Promise<void> =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).waitFor();
  const choose = async (name: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions on ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  const isSignedOut = (on: Page): Promise<void> => on.getByRole('button', { name: 'Sign in' }).waitFor();
  const isUsable = async (where: string, on = page): Promise<void> => {
    const found = await violationsInBothSchemes(on, where);
    found.push(...(await beyondAPhone(on, where)));
    expect(found, found.join('\n')).to.deep.equal([]);
  };

  it('adds somebody by address and role, and says who cannot be added', async () => {
    await makePerson(session, 'edsger');
    await page.goto(session.at('settings?tab=members'));
    await page.getByRole('button', { name: 'Add a member' }).click();
    const form = dialog('Add a member to Ours');
    await form.getByLabel('Email').fill('nobody@example.org');
    await form.getByRole('button', { name: 'Add the member' }).click();
    await form
      .getByRole('alert')
      .getByText(/No account has the address/)
      .waitFor();
    await form.getByLabel('Email').fill('Edsger@example.org');
    await form.getByLabel('Role').selectOption('Editor');
    await form.getByText('Makes and deploys pipelines').waitFor();
    await isUsable('the dialog that adds a member');
    await form.getByRole('button', { name: 'Add the member' }).click();
    await form.waitFor({ state: 'hidden' });
    await settles(() => page.getByLabel('Role of edsger').inputValue(), 'EDITOR');
    await row('edsger').getByText('By hand').waitFor();
    await settles(
      () => page.evaluate<string>('document.activeElement?.textContent?.trim() ?? ""'),
      'Add a member',
      'the focus',
    );
  });

  it('says what another role means, and signs out whoever is demoted while they look', async () => {
    const ada = await makePerson(session, 'ada', { role: 'ADMIN' });
    const hers = await enter(ada);
    await hers.getByLabel('Role of edsger').waitFor();
    await page.getByLabel('Role of ada').selectOption('Viewer');
    const form = dialog('Make ada a viewer');
    await form.getByText('Sees everything of the team, and changes nothing.').waitFor();
    // Nothing has changed until it was said.
    expect(await page.getByLabel('Role of ada').inputValue()).to.equal('ADMIN');
    await form.getByRole('button', { name: 'Change the role' }).click();
    await note('ada is a viewer of Ours.');
    await isSignedOut(hers);
    await giveCredentials(hers, ada);
    await row('ada', hers).getByText('Viewer', { exact: true }).waitFor();
    expect(await hers.getByRole('button', { name: 'Add a member' }).isDisabled()).to.equal(true);
    expect(await hers.getByLabel(/^Role of/).count()).to.equal(0);
    expect(await hers.getByRole('button', { name: /^Actions on/ }).count()).to.equal(0);
    expect(await hers.getByRole('button', { name: 'Require two-factor' }).isDisabled()).to.equal(true);
    expect(await hers.getByLabel('Name', { exact: true }).isDisabled()).to.equal(true);
    await hers.getByText('Your role here is VIEWER.').waitFor();
    await isUsable('members, for a viewer', hers);
  });

  it('keeps the last ADMIN who can sign in', async () => {
    await page.getByLabel('Role of Administrator').selectOption('Editor');
    const form = dialog('Make Administrator an editor');
    await form
      .getByText('That is you: your other sessions end, and you cannot take it back yourself.')
      .waitFor();
    await form.getByRole('button', { name: 'Change the role' }).click();
    await form
      .getByRole('alert')
      .getByText(/is the last ADMIN of/)
      .waitFor();
    await form.getByRole('button', { name: 'Keep it' }).click();
    await settles(() => page.getByLabel('Role of Administrator').inputValue(), 'ADMIN');
  });

  it('locks somebody out at once, tells everybody who sees the list, and lets them in again', async () => {
    const alan = await makePerson(session, 'alan', { role: 'VIEWER' });
    const grace = await makePerson(session, 'grace', { role: 'EDITOR' });
    const his = await enter(alan, 'pipelines');
    await his.getByRole('heading', { name: 'Pipelines', level: 1 }).waitFor();
    const hers = await enter(grace);
    await row('alan', hers).getByText('Active').waitFor();
    await page.reload();
    await choose('alan', 'Lock the account…');
    await dialog('Lock the account of alan').getByRole('button', { name: 'Lock the account' }).click();
    await isSignedOut(his);
    await row('alan', hers).getByText('Locked by admin').waitFor();
    await giveCredentials(his, alan);
    await his
      .getByRole('alert')
      .getByText(/Email or password is wrong/)
      .waitFor();
    await isUsable('members with a lock');

    await choose('alan', 'Unlock the account…');
    await dialog('Unlock the account of alan').getByRole('button', { name: 'Unlock the account' }).click();
    await row('alan').getByText('Active').waitFor();
    await giveCredentials(his, alan);
    await his.getByRole('heading', { name: 'Pipelines', level: 1 }).waitFor();
  });

  it('gives a temporary password, which is shown once and replaces the other', async () => {
    await choose('alan', 'Reset the password…');
    const form = dialog('Reset the password of alan');
    await form.getByRole('button', { name: 'Make a temporary password' }).click();
    const shown = form.getByRole('region', { name: 'the temporary password' });
    const password = (await shown.locator('pre').innerText()).trim();
    await isUsable('a temporary password');
    await shown.getByRole('button', { name: 'Copy the temporary password' }).click();
    await settles(() => page.evaluate<string>('navigator.clipboard.readText()'), password, 'what was copied');
    await form.getByRole('button', { name: 'Done' }).click();
    await form.waitFor({ state: 'hidden' });
    expect(await page.content()).not.to.include(password);
    expect((await trySignIn(session.url, 'alan@example.org', PASSWORD)).status).to.equal(401);
    const entered = await trySignIn(session.url, 'alan@example.org', password);
    expect(entered.json<{ user: { owes: string } }>().user.owes).to.equal('CHANGE_PASSWORD');
  });

  it('says why an account is out of reach, and why somebody cannot be taken out', async () => {
    const katherine = await makePerson(session, 'katherine', { role: 'ADMIN' });
    await session.site.db('team_members').where({ user_id: katherine.id }).update({ source: 'group' });
    const hers = await enter(katherine);
    await hers.getByRole('button', { name: 'Actions on Administrator' }).click();
    await hers.getByText('This is a super admin: only another super admin may do that').waitFor();
    const item = (name: string) => hers.getByRole('menuitem', { name });
    expect(await item('Lock the account…').isDisabled()).to.equal(true);
    expect(await item('Reset the password…').isDisabled()).to.equal(true);
    expect(await item('Remove from the team…').isDisabled()).to.equal(false);
    await closeByEscape(hers);
    await row('katherine', hers).getByText('By group').waitFor();
    await hers.getByRole('button', { name: 'Actions on katherine' }).click();
    await hers.getByText('A group of the identity provider leads here').waitFor();
    expect(await item('Remove from the team…').isDisabled()).to.equal(true);
    await isUsable('the menu of a member', hers);
  });

  it('takes somebody out of the team, who loses it at once', async () => {
    const grace = { id: '', email: 'grace@example.org', password: PASSWORD };
    const hers = await enter(grace);
    await row('grace', hers).waitFor();
    await page.reload();
    await choose('grace', 'Remove from the team…');
    await dialog('Remove grace from Ours').getByRole('button', { name: 'Remove from the team' }).click();
    await row('grace').waitFor({ state: 'detached' });
    await isSignedOut(hers);
  });

  it('requires two-factor only after saying whom that keeps out', async () => {
    const rule = page.getByRole('region', { name: 'Two-factor', exact: true });
    await rule.getByText('Optional').waitFor();
    await rule.getByRole('button', { name: 'Require two-factor' }).click();
    let form = dialog('Require two-factor in Ours');
    await form.getByText(/5 members have none yet/).waitFor();
    await form.getByText(/Administrator, alan.*That includes you\./i).waitFor();
    await isUsable('the dialog that requires two-factor');
    await form.getByRole('button', { name: 'Back' }).click();
    await form.waitFor({ state: 'hidden' });
    // Whoever says so is asked as well: done past the page, so that the page can go on.
    await session.site.db('users').where({ email: 'root@example.org' }).update({ totp_enabled: true });
    await page.reload();
    await rule.getByRole('button', { name: 'Require two-factor' }).click();
    await form.getByText(/4 members have none yet/).waitFor();
    await form.getByRole('button', { name: 'Require it' }).click();
    await note('Ours requires two-factor.');
    await rule.getByText('Required', { exact: true }).waitFor();
    await rule.getByText(/can do nothing but set one up/).waitFor();
    await rule.getByRole('button', { name: 'Stop requiring two-factor' }).click();
    form = dialog('Stop requiring two-factor in Ours');
    await form.getByRole('button', { name: 'Stop requiring it' }).click();
    await rule.getByText('Optional').waitFor();
    await session.site.db('users').where({ email: 'root@example.org' }).update({ totp_enabled: false });
  });

  it('renames the team, and other pages follow', async () => {
    const ada = { id: '', email: 'ada@example.org', password: PASSWORD };
    const hers = await enter(ada);
    await hers.getByRole('heading', { name: 'Team Ours' }).waitFor();
    const name = page.getByRole('region', { name: 'Name of the team' });
    await name.getByLabel('Name').fill('Water works');
    await name.getByRole('button', { name: 'Rename the team' }).click();
    await note('The team is called Water works.');
    await hers.getByRole('heading', { name: 'Team Water works' }).waitFor();
    await api.mutate('team.rename', { teamId: session.site.teamId, name: 'Ours' });
    await settles(() => name.getByLabel('Name').inputValue(), 'Ours', 'the form follows others');
  });
});
