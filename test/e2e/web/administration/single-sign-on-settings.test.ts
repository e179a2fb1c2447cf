/** The identity provider and what its groups lead to, set up in the browser against a real provider. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { use } from '../../../support/harness/use.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
} from '../../../support/servers/identity-provider.ts';
import { makeGroup } from '../../../support/users/people.ts';
import { LOAD, settles } from '../browser.ts';
import { makePerson } from '../people.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('the settings of single sign-on', function () {
  this.timeout(240_000);
  const session = useSite({ controller: { variables: { HEADGATE_PRIVATE_TARGETS: '127.0.0.1' } } });
  const { section, note, isUsable } = partsOf(session);
  const provider = use(
    () => startIdentityProvider({ headgate: session.url }),
    (server) => server.stop(),
  );
  let page: Page;
  before(() => {
    page = session.page;
  });

  describe('the provider', () => {
    const form = (): Locator => section('Identity provider');
    const found = (): Locator => form().getByRole('region', { name: 'What the test found' });
    const test = (): Promise<void> => form().getByRole('button', { name: 'Test the issuer' }).click();
    const save = (): Locator => form().getByRole('button', { name: 'Save the provider' });

    it('is tested before it is saved: what was found, what is wrong with it; its secret is never shown again', async () => {
      await page.goto(session.at('settings?tab=sso'));
      await form().getByText('Off', { exact: true }).waitFor();
      await form()
        .getByRole('region', { name: 'the redirect URI' })
        .getByText(`${session.url}/api/auth/oidc/callback`)
        .waitFor();
      await form().getByLabel('Issuer').fill(`${provider.issuer}/nothing-here`);
      await test();
      await found().getByText('Does not work').waitFor();
      await found().getByRole('list', { name: 'Problems' }).getByRole('listitem').first().waitFor();
      await isUsable('a test that failed');
      await form().getByLabel('Issuer').fill(provider.issuer);
      // What was found was of another address.
      await found().waitFor({ state: 'hidden' });
      await test();
      await found().getByText('Works', { exact: true }).waitFor();
      await found().getByText(`${provider.issuer}/auth`).waitFor();

      await form().getByText('Give the client id.').waitFor();
      await form().getByLabel('Client id').fill(CLIENT_ID);
      await form().getByText('Give the client secret.').waitFor();
      expect(await save().isDisabled()).to.equal(true);
      await form().getByLabel('Client secret').fill(CLIENT_SECRET);
      await form().getByLabel('Name on the sign-in page').fill('Water works account');
      await save().click();
      await note(/The identity provider is saved/);
      await form().getByText('On', { exact: true }).waitFor();
      await form().getByRole('button', { name: 'Replace the client secret' }).waitFor();
      await page.reload();
      await settles(() => form().getByLabel('Issuer').inputValue(), provider.issuer);
      await form().getByText('Set', { exact: true }).waitFor();
      expect(await page.content()).not.to.include(CLIENT_SECRET);
      const offered = await fetch(`${session.url}/api/auth/providers`);
      expect(await offered.text()).to.include('Water works account');
    });
  });

  describe('groups', () => {
    const form = (): Locator => section('Groups lead to teams');
    const save = (): Promise<void> => form().getByRole('button', { name: 'Save the groups' }).click();
    const groups = async (): Promise<string[]> => {
      const inputs = await form()
        .getByLabel(/^Group of mapping/)
        .all();
      return Promise.all(inputs.map((input) => input.inputValue()));
    };

    it('lead to teams: mappings are added and taken away by the keyboard, and have no order', async () => {
      await page.goto(session.at('settings?tab=sso'));
      await form().getByText('None yet: groups are known and lead nowhere.').waitFor();
      const add = form().getByRole('button', { name: 'Add a mapping' });
      await add.focus();
      await page.keyboard.press('Enter');
      await form().getByLabel('Group of mapping 1').waitFor();
      await settles(
        () => page.evaluate<string | null>('document.activeElement?.getAttribute("aria-label")'),
        'Group of mapping 1',
        'the focus',
      );
      await page.keyboard.type('editors');
      await add.click();
      await form().getByLabel('Group of mapping 2').fill('editors');
      await form().getByText('This group leads to this team already.').waitFor();
      await settles(() => form().getByRole('button', { name: 'Save the groups' }).isDisabled(), true);
      await form().getByLabel('Group of mapping 2').fill('admins');
      await form().getByLabel('Role of mapping 2').selectOption('Admin');
      await form().getByLabel('Role of mapping 1').selectOption('Editor');
      expect(await groups()).to.deep.equal(['editors', 'admins']);
      await add.click();
      const places = ['Group of mapping 3', 'Team of mapping 3', 'Role of mapping 3', 'Remove mapping 3'];
      for (const [step, place] of places.entries()) {
        // The form itself gives the first one the focus, a moment after it has come.
        if (step > 0) await page.keyboard.press('Tab');
        await settles(
          () => page.evaluate<string | null>('document.activeElement?.getAttribute("aria-label")'),
          place,
          'the focus',
        );
      }
      await page.keyboard.press('Enter');
      await settles(
        () => page.evaluate<string>('document.activeElement?.textContent?.trim() ?? ""'),
        'Add a mapping',
        'the focus',
      );
      await isUsable('mappings of groups');
    });

    it('are followed by memberships, come with a claim, and whoever matches nothing has a team', async () => {
      const grace = await makePerson(session, 'grace');
      await makeGroup(session.site.db, { name: 'admins', userIds: [grace.id] });
      await save();
      await note('1 membership was added.');
      await form().getByLabel('Role of mapping 2').selectOption('Viewer');
      await save();
      await note('1 membership was changed.');
      expect(await groups()).to.deep.equal(['editors', 'admins']);
      await form().getByLabel('Read groups at every sign-in').check();
      await form().getByLabel('Claim with the groups').fill('groups');
      await form().getByLabel('Scope that asks for it').fill('groups');
      await form().getByLabel('Default team, for users without a matching group').selectOption('Ours');
      await save();
      await note(/Groups are saved\./);
      const roles = section('Roles in the default team');
      await roles.getByText(/^In Ours, people of these groups/).waitFor();
      await roles.getByLabel('Groups of editors').fill('writers, authors');
      await roles.getByRole('button', { name: 'Save the roles' }).click();
      await note(/Roles by group are saved\./);
      await page.goto(session.at('settings'));
      await page.goto(session.at('settings?tab=sso'));
      await settles(() => roles.getByLabel('Groups of editors').inputValue(), 'writers, authors');
      await settles(() => form().getByLabel('Scope that asks for it').inputValue(), 'groups');
    });
  });

  describe('leavers and tokens', () => {
    it('are ruled by days, with the address for back-channel logout', async () => {
      await page.goto(session.at('settings?tab=sso'));
      const form = section('Leavers and tokens');
      await form.getByText(`${session.url}/api/auth/oidc/backchannel-logout`).waitFor();
      await form.getByLabel('Days without confirmation').fill('0');
      await form.getByText('A whole number from 1 to 365.').waitFor();
      await form.getByLabel('Days without confirmation').fill('14');
      await form.getByLabel('Days that a personal token').fill('60');
      await form.getByText('Tokens that would last longer end in 60 days.').waitFor();
      await form.getByLabel('Ask the provider every hour').check();
      await form.getByRole('button', { name: 'Save these rules' }).click();
      await note('The rules for leavers and tokens are saved.');
      await page.reload();
      expect(await form.getByLabel('Days without confirmation').inputValue()).to.equal('14');
    });

    it('are ended: accounts that rest say so, all of an issuer are unlinked, and the provider is switched off', async () => {
      const { db } = session.site;
      const { id } = await makePerson(session, 'leaver');
      const confirmed_at = new Date(Date.now() - 20 * 86_400_000);
      await db('users').where({ id }).update({ password_hash: null, auth_method: 'OIDC' });
      await db('user_identities').insert({
        ...{ issuer: 'https://old.example', subject: 'leaver', user_id: id, confirmed_at },
      });
      // Nobody tells open pages of what was written past the controller.
      await page.goto(session.at(`settings?tab=users&user=${id}`), LOAD);
      await page.getByText('has not confirmed this person for too long').waitFor();
      await isUsable('a user who rests');
      await page.goto(session.at('settings?tab=sso'));
      await page.getByRole('button', { name: 'Unlink all of https://old.example' }).click();
      await page.getByRole('dialog', { name: 'Unlink all accounts of an issuer' }).waitFor();
      await isUsable('the dialog that unlinks an issuer');
      await page.getByRole('button', { name: 'Unlink 1 account' }).click();
      await note('1 account unlinked; 1 of them are joined by the next sign-in.');
      expect(await db('user_identities').where({ user_id: id })).to.deep.equal([]);

      await page.getByRole('button', { name: 'Switch it off' }).click();
      const form = page.getByRole('dialog', { name: 'Switch single sign-on off' });
      await form.getByText('Users without a password here cannot sign in any more').waitFor();
      await form.getByRole('button', { name: 'Switch it off' }).click();
      await section('Identity provider').getByText('Off', { exact: true }).waitFor();
      await settles(() => page.getByRole('button', { name: 'Switch it off' }).count(), 0);
    });
  });
});
