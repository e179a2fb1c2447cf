/** Ways in, and what somebody has to do before anything else. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { ROOT } from '../../../support/harness/controller.ts';
import { trySignIn } from '../../../support/users/person.ts';
import { settles, watchForErrors } from '../browser.ts';
import {
  codeOf,
  giveCredentials,
  makePerson,
  openBrowser,
  type Somebody,
  scan,
  secretOf,
  shownCodes,
} from '../people.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('signing in', function () {
  this.timeout(240_000);
  const session = useSite();
  let api: ApiClient;
  let page: Page;
  let errors: string[] = [];

  before(async () => {
    api = await session.site.api();
  });
  beforeEach(async () => {
    page = await openBrowser(session);
    errors = watchForErrors(page);
  });
  afterEach(async () => {
    await page.context().close();
    expect(errors).to.deep.equal([]);
  });

  const heading = (name: string, on = page): Locator => on.getByRole('heading', { level: 1, name });
  const alert = (text: string | RegExp, on = page): Promise<void> =>
    on.getByRole('alert').getByText(text).waitFor();
  const { isUsable } = partsOf({
    get page() {
      return page;
    },
  });

  describe('with a temporary password', () => {
    let given: Somebody;

    before(async () => {
      const email = 'newcomer@example.org';
      const { id, password } = await api.mutate<{ id: string; password: string }>('admin.createUser', {
        email,
        name: 'New Comer',
        teamId: session.site.teamId,
        role: 'EDITOR',
      });
      given = { id, email, password };
    });

    it('asks for one of their own on every page, with a way out, and goes where they wanted once there is one', async () => {
      await page.goto(session.at('fleet'));
      await giveCredentials(page, given);
      await heading('Choose a password of your own').waitFor();
      await settles(() => page.getByRole('navigation').count(), 0, 'no way to other pages');
      for (const path of ['/settings?tab=members', '/e/elsewhere/git']) {
        await page.goto(session.url + path);
        await heading('Choose a password of your own').waitFor();
      }
      await page.getByText('Signed in as newcomer@example.org').waitFor();
      await isUsable('a password of their own');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
      await page.goto(session.at('fleet'));
      await giveCredentials(page, given);
      const change = page.getByRole('button', { name: 'Change the password' });
      await page.getByLabel('The password that you were given').fill('not this one');
      await page.getByLabel('New password', { exact: true }).fill('short');
      await page.getByText('At least 8 characters; 3 more.').waitFor();
      await page.getByLabel('New password', { exact: true }).fill('of my own, and long');
      await page.getByLabel('New password once more').fill('of my own, and lond');
      await page.getByText('It is not the same as above.').waitFor();
      expect(await change.isDisabled()).to.equal(true);
      await page.getByLabel('New password once more').fill('of my own, and long');
      await change.click();
      await alert(/The current password is wrong/);
      await page.getByLabel('The password that you were given').fill(given.password);
      await change.click();
      await heading('Fleet').waitFor();
      const { status } = await trySignIn(session.url, given.email, given.password);
      expect(status, 'the temporary one').to.equal(401);
    });
  });

  describe('where a team asks for a second factor', () => {
    let person: Somebody;
    let secret: string;
    let backupCodes: string[];

    before(async () => {
      person = await makePerson(session, 'second', { role: 'VIEWER' });
      // Who asks others for it has one.
      await api.mutate('user.confirmPassword', { currentPassword: ROOT.password });
      const own = await api.mutate<{ secret: string }>('user.setupTotp', {});
      await api.mutate('user.verifyAndEnableTotp', { code: codeOf(own.secret) });
    });
    after(() =>
      api.mutate('team.updateRequireTwoFactor', { teamId: session.site.teamId, requireTwoFactor: false }),
    );

    it('leads from the page that is open to the set-up, lets nobody go before it, and then where they wanted', async () => {
      await page.goto(session.at('pipelines'));
      await giveCredentials(page, person);
      await heading('Pipelines').waitFor();
      await api.mutate('team.updateRequireTwoFactor', {
        teamId: session.site.teamId,
        requireTwoFactor: true,
      });
      await heading('Set up two-factor sign-in').waitFor();
      await page.getByText('Ours asks for a second factor').waitFor();
      // Neither another address nor another sign-in leads around it.
      await page.goto(`${session.url}/settings`);
      await heading('Set up two-factor sign-in').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
      await page.goto(session.at('settings'));
      await giveCredentials(page, person);
      await heading('Set up two-factor sign-in').waitFor();
      await page.getByRole('button', { name: 'Show the code to scan' }).click();
      const picture = page.getByRole('img', { name: /^QR code/ });
      const uri = await scan(picture);
      expect(uri).to.match(/^otpauth:\/\/totp\//);
      expect(decodeURIComponent(uri)).to.include(person.email);
      secret = secretOf(uri);
      const typed = await page.getByRole('button', { name: /^Copy the secret/ }).innerText();
      expect(typed.replaceAll(/Copy the secret|\s/g, '')).to.equal(secret);
      await isUsable('a second factor to scan');

      await page.getByLabel('Code', { exact: true }).fill('000000');
      await page.getByRole('button', { name: 'Turn two-factor on' }).click();
      await alert(/The code is wrong/);
      await settles(() => page.getByLabel('Code', { exact: true }).inputValue(), '', 'an empty field');
      await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
      await page.getByLabel('Code', { exact: true }).press('Enter');
      backupCodes = await shownCodes(page);
      expect(backupCodes).to.have.length(10);
      await isUsable('backup codes');
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download them as a file' }).click();
      const file = await readFile(await (await download).path(), 'utf8');
      for (const code of backupCodes) expect(file).to.include(code);
      await page.getByRole('button', { name: 'Copy the backup codes' }).click();
      await settles(
        () => page.evaluate<string>('navigator.clipboard.readText()'),
        backupCodes.join('\n'),
        'what was copied',
      );
      const done = page.getByRole('button', { name: 'Done' });
      expect(await done.isDisabled()).to.equal(true);
      await page.getByLabel('I have kept them').check();
      await done.click();
      await heading('Settings').waitFor();
      expect(await page.content()).not.to.include(backupCodes[0]);
      await page.getByText('Ours requires it.').waitFor();
      await settles(
        () => page.getByRole('button', { name: 'Turn off two-factor' }).isDisabled(),
        true,
        'the team requires it',
      );
    });

    it('asks for a code after the password: a wrong one, the right one, and a backup code by the keyboard alone', async () => {
      await page.goto(session.at('git'));
      await giveCredentials(page, person);
      const code = page.getByLabel('Code', { exact: true });
      await code.waitFor();
      await isUsable('the second step');
      await code.fill('123456');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await alert(/The code is wrong/);
      await page.getByRole('button', { name: 'As somebody else' }).click();
      await settles(() => page.getByLabel('Password').inputValue(), '', 'no password');
      await giveCredentials(page, person);
      await code.fill(codeOf(secret, 1));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await heading('Git').waitFor();

      await page.getByRole('banner').getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
      await page.getByLabel('Email').focus();
      await page.keyboard.type(person.email);
      await page.keyboard.press('Tab');
      await page.keyboard.type(person.password);
      await page.keyboard.press('Enter');
      await code.waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByLabel('Backup code').waitFor();
      await page.keyboard.type((backupCodes[0] ?? '').toLowerCase());
      await page.keyboard.press('Enter');
      await page.getByRole('banner').waitFor();
    });
  });

  it('says until when an account rests after ten wrong passwords', async () => {
    const person = await makePerson(session, 'forgetful', { role: 'VIEWER' });
    for (let index = 0; index < 9; index += 1) await trySignIn(session.url, person.email, `wrong ${index}`);
    await page.goto(`${session.url}/sign-in`);
    await giveCredentials(page, { ...person, password: 'wrong again' });
    await alert('Email or password is wrong');
    await giveCredentials(page, person);
    await alert(/Too many failed sign-ins.*The next one is looked at from .*\d:\d\d.* on\./);
  });
});
