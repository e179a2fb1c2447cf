/** Who is in a team, as its ADMINs change it in the browser, while those whom it concerns look on. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { trySignIn } from '../../../support/users/person.ts';
import { settles, untilLive } from '../browser.ts';
import { giveCredentials, makePerson, openBrowser } from '../people.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('members of a team', function () {
  this.timeout(240_000);
  const session = useSite();
  const { dialog, note, isUsable } = partsOf(session);
  let api: ApiClient;
  let page: Page;

  before(async () => {
    page = session.page;
    api = await session.site.api();
  });

  const table = (on = page): Locator => on.getByRole('table', { name: 'Members' });
  const row = (name: string, on = page): Locator =>
    table(on).getByRole('row', { name: new RegExp(`^${name} `) });
  const choose = async (name: string, action: string): Promise<void> => {
    await page.getByRole('button', { name: `Actions on ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
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

  it('says what another role means, signs out whoever is demoted while they look, and who looks on follows', async () => {
    const ada = await makePerson(session, 'ada', { role: 'ADMIN' });
    const hers = await openBrowser(session);
    await hers.goto(session.at('settings?tab=members'));
    await giveCredentials(hers, ada);
    await untilLive(hers);
    await hers.getByLabel('Role of edsger').waitFor();
    await page.getByLabel('Role of ada').selectOption('Viewer');
    const form = dialog('Make ada a viewer');
    await form.getByText('Sees everything of the team, and changes nothing.').waitFor();
    // Nothing has changed until it was said.
    expect(await page.getByLabel('Role of ada').inputValue()).to.equal('ADMIN');
    await form.getByRole('button', { name: 'Change the role' }).click();
    await note('ada is a viewer of Ours.');
    await hers.getByRole('form', { name: 'Sign in' }).waitFor();
    await giveCredentials(hers, ada);
    await row('ada', hers).getByText('Viewer', { exact: true }).waitFor();
    expect(await hers.getByRole('button', { name: 'Add a member' }).isDisabled()).to.equal(true);
    expect(await hers.getByLabel(/^Role of/).count()).to.equal(0);
    expect(await hers.getByRole('button', { name: /^Actions on/ }).count()).to.equal(0);
    expect(await hers.getByRole('button', { name: 'Require two-factor' }).isDisabled()).to.equal(true);
    expect(await hers.getByLabel('Name', { exact: true }).isDisabled()).to.equal(true);
    await hers.getByText('Your role here is VIEWER.').waitFor();
    await isUsable('members, for a viewer', hers);

    await untilLive(hers);
    const name = page.getByRole('region', { name: 'Name of the team' });
    await name.getByLabel('Name').fill('Water works');
    await name.getByRole('button', { name: 'Rename the team' }).click();
    await note('The team is called Water works.');
    await hers.getByRole('heading', { name: 'Team Water works' }).waitFor();
    await api.mutate('team.rename', { teamId: session.site.teamId, name: 'Ours' });
    await settles(() => name.getByLabel('Name').inputValue(), 'Ours', 'the form follows others');
    await hers.context().close();
  });

  it('changes nothing before it was confirmed, least of all for oneself', async () => {
    await page.getByLabel('Role of Administrator').selectOption('Editor');
    const form = dialog('Make Administrator an editor');
    await form
      .getByText('That is you: your other sessions end, and you cannot take it back yourself.')
      .waitFor();
    await form.getByRole('button', { name: 'Keep it' }).click();
    await settles(() => page.getByLabel('Role of Administrator').inputValue(), 'ADMIN');
  });

  it('locks somebody out, gives a password that is shown once, and takes them out', async () => {
    const alan = await makePerson(session, 'alan', { role: 'VIEWER' });
    await row('alan').getByText('Active').waitFor();
    await choose('alan', 'Lock the account…');
    await dialog('Lock the account of alan').getByRole('button', { name: 'Lock the account' }).click();
    await row('alan').getByText('Locked by admin').waitFor();
    await isUsable('members with a lock');
    await choose('alan', 'Unlock the account…');
    await dialog('Unlock the account of alan').getByRole('button', { name: 'Unlock the account' }).click();
    await row('alan').getByText('Active').waitFor();

    await choose('alan', 'Reset the password…');
    let form = dialog('Reset the password of alan');
    await form.getByRole('button', { name: 'Make a temporary password' }).click();
    const shown = form.getByRole('region', { name: 'the temporary password' });
    const password = (await shown.locator('pre').innerText()).trim();
    await isUsable('a temporary password');
    await shown.getByRole('button', { name: 'Copy the temporary password' }).click();
    await settles(() => page.evaluate<string>('navigator.clipboard.readText()'), password, 'what was copied');
    await form.getByRole('button', { name: 'Done' }).click();
    await form.waitFor({ state: 'hidden' });
    expect(await page.content()).not.to.include(password);
    const entered = await trySignIn(session.url, alan.email, password);
    expect(entered.json<{ user: { owes: string } }>().user.owes).to.equal('CHANGE_PASSWORD');

    await choose('alan', 'Remove from the team…');
    form = dialog('Remove alan from Ours');
    await form.getByRole('button', { name: 'Remove from the team' }).click();
    await row('alan').waitFor({ state: 'detached' });
  });

  it('requires two-factor only after saying whom that keeps out', async () => {
    const rule = page.getByRole('region', { name: 'Two-factor', exact: true });
    await rule.getByText('Optional').waitFor();
    await rule.getByRole('button', { name: 'Require two-factor' }).click();
    let form = dialog('Require two-factor in Ours');
    await form.getByText(/3 members have none yet/).waitFor();
    await form.getByText(/Administrator.*That includes you\./i).waitFor();
    await isUsable('the dialog that requires two-factor');
    await form.getByRole('button', { name: 'Back' }).click();
    await form.waitFor({ state: 'hidden' });
    // Whoever says so is asked as well: done past the page, so that the page can go on.
    await session.site.db('users').where({ email: 'root@example.org' }).update({ totp_enabled: true });
    await page.reload();
    await rule.getByRole('button', { name: 'Require two-factor' }).click();
    await form.getByText(/2 members have none yet/).waitFor();
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
});
