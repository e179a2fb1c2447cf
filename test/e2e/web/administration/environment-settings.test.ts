/** An environment as it is set up in the browser: its name, its store of secrets, its tokens and keys, its end. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { enrollNode, heartbeat } from '../../../support/agents/agent-client.ts';
import { until } from '../../../support/harness/until.ts';
import { VaultServer } from '../../../support/servers/vault-server.ts';
import {
  beyondAPhone,
  closeByEscape,
  LOAD,
  settles,
  violationsInBothSchemes,
  watchForErrors,
} from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const PROGRAM = join(import.meta.dirname, '../../../support/fixtures/exec-secrets.sh');
const VAULT_TOKEN = 'hvs.root-of-the-test';

describe('the settings of an environment', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let vault: VaultServer;
  let page: Page;
  let errors: string[];

  before(async () => {
    vault = await VaultServer.start();
    session = await openSite({ controller: { variables: { HEADGATE_EXEC_SECRET_COMMANDS: PROGRAM } } });
    page = session.page;
    errors = watchForErrors(page);
  });
  after(async () => {
    await session?.close();
    await vault?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const section = (name: string, on = page): Locator => on.getByRole('region', { name, exact: true });
  const dialog = (name: string): Locator => page.getByRole('dialog', { name });
  const note = (text: string): Locator => page.getByRole('status', { name: 'Notes' }).getByText(text);

  describe('in general', () => {
    it('renames it, asks for approval and limits its nodes, and other pages follow', async () => {
      await page.goto(session.at('settings?tab=environment'));
      const general = section('General');
      await settles(
        () => general.getByRole('button', { name: 'Save' }).isDisabled(),
        true,
        'nothing to save',
      );
      await general.getByLabel('Name').fill('test bench');
      await general.getByLabel('needs the approval of a second person').check();
      await general.getByLabel('Limit of nodes').fill('0');
      await general.getByText('A whole number from 1 to 1,000,000, or nothing.').waitFor();
      await general.getByLabel('Limit of nodes').fill('3');
      await general.getByLabel('Archive nodes after so many silent days').fill('3651');
      await general.getByText('A whole number of days from 0 to 3,650.').waitFor();
      await general.getByLabel('Archive nodes after so many silent days').fill('14');
      await general.getByRole('button', { name: 'Save' }).click();
      await note('test bench was saved.').waitFor();
      await page.getByRole('button', { name: /environment test bench/ }).waitFor();
      await page.reload();
      await settles(() => general.getByLabel('Limit of nodes').inputValue(), '3');
      await settles(() => general.getByLabel('Archive nodes after so many silent days').inputValue(), '14');
      await settles(() => general.getByLabel('needs the approval of a second person').isChecked(), true);
    });

    it('leaves approval and the limit to an ADMIN, and everything to nobody who only looks', async () => {
      const editor = await session.as('EDITOR');
      await editor.goto(session.at('settings?tab=environment'));
      const general = section('General', editor);
      await settles(() => general.getByLabel('Name').isDisabled(), false);
      await settles(() => general.getByLabel('Limit of nodes').isDisabled(), true);
      await settles(() => editor.getByRole('button', { name: 'Delete test bench' }).isDisabled(), true);
      await editor.goto(session.at('settings?tab=access'));
      await editor.getByText('Only an ADMIN of the team sees them.').waitFor();
      await editor.context().close();
      const viewer = await session.as('VIEWER');
      await viewer.goto(session.at('settings?tab=environment'));
      await settles(() => section('General', viewer).getByLabel('Name').isDisabled(), true);
      await settles(() => viewer.getByLabel('Secrets are kept in').isDisabled(), true);
      await viewer.goto(session.at('secrets'));
      await settles(() => viewer.getByRole('button', { name: 'Add a secret' }).isDisabled(), true);
      await viewer.context().close();
    });
  });

  describe('its store of secrets', () => {
    const store = (): Locator => section('Secret store');
    const save = (): Promise<void> =>
      store().getByRole('button', { name: 'Test and save the store' }).click();

    it('says what a store answers that refuses, and takes it once it does not', async () => {
      await page.goto(session.at('settings?tab=environment'));
      await store().getByLabel('Secrets are kept in').selectOption('Vault or OpenBao');
      await store().getByLabel('Address', { exact: true }).fill(vault.url);
      await store().getByLabel('Folder').fill('shop');
      await store().getByLabel('Token', { exact: true }).fill('hvs.wrong');
      await save();
      await store()
        .getByRole('alert')
        .getByText(/Vault answers 403/)
        .waitFor();
      await store().getByLabel('Token', { exact: true }).fill(VAULT_TOKEN);
      await save();
      await note('are kept in Vault or OpenBao').waitFor();
      await store().getByText('Set', { exact: true }).waitFor();
      await page.reload();
      await store().getByRole('button', { name: 'Replace Token' }).waitFor();
      expect(await page.content()).not.to.include(VAULT_TOKEN);
    });

    it('writes a new secret into the store, and registers one that is there', async () => {
      vault.put('secret/shop/search-key', { value: 'kept outside' });
      await page.goto(session.at('secrets'));
      await section('Store').getByText('Answers', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Add a secret' }).first().click();
      let form = dialog('Add a secret');
      await form.getByLabel('Name').fill('db-password');
      await form.getByLabel('Value').fill('made here');
      await form.getByText('It is written to Vault or OpenBao first.').waitFor();
      await form.getByRole('button', { name: 'Add the secret' }).click();
      await form.waitFor({ state: 'hidden' });
      expect(vault.get('secret/shop/db-password')).to.deep.equal({ value: 'made here' });

      await page.getByRole('button', { name: 'Register a name' }).click();
      form = dialog('Register a name');
      await form.getByLabel('Name in the store').fill('no-such-key');
      await form.getByRole('button', { name: 'Register the name' }).click();
      await form
        .getByRole('alert')
        .getByText(/no-such-key/)
        .waitFor();
      await form.getByLabel('Name in the store').fill('search-key');
      await form.getByRole('button', { name: 'Register the name' }).click();
      await form.waitFor({ state: 'hidden' });
      await page.getByRole('table', { name: 'Secrets' }).getByText('search-key', { exact: true }).waitFor();
      expect(await page.content()).not.to.match(/kept outside|made here/);
    });

    it('tells of a secret that could not be fetched, and keeps a credential that is left out', async () => {
      await page.goto(session.at('settings?tab=environment'));
      await store().getByLabel('Field', { exact: true }).fill('password');
      await save();
      // What is registered is read before the store is taken.
      await store()
        .getByText(/VAULT has none of the 2 registered secrets/)
        .waitFor();
      vault.put('secret/shop/db-password', { value: 'kept outside', password: 'kept outside' });
      await save();
      await note('are kept in Vault or OpenBao').waitFor();
      await page.goto(session.at('secrets'));
      await section('Store').getByRole('button', { name: 'Look now' }).click();
      await note('The store is looked at now.').waitFor();
      await section('Store').getByText('Failing', { exact: true }).waitFor();
      await section('Store').getByText('1 secret could not be fetched.').waitFor();
      const row = page.getByRole('table', { name: 'Secrets' }).getByRole('row', { name: /search-key/ });
      await row.getByText('Not fetched').waitFor();
      const found = await violationsInBothSchemes(page, 'secrets of a store that fails');
      found.push(...(await beyondAPhone(page, 'secrets of a store that fails')));
      expect(found, found.join('\n')).to.deep.equal([]);
    });

    it('moves a secret in the store, and says what is not there before anything is changed', async () => {
      vault.put('secret/elsewhere', { key: 'kept outside' });
      await page.goto(session.at('secrets'));
      await page.getByRole('button', { name: 'Say where the store has search-key' }).click();
      const form = dialog('Where the store has search-key');
      await form.getByLabel('Path').fill('elsewhere');
      await form.getByRole('button', { name: 'Read it from there' }).click();
      await form
        .getByRole('alert')
        .getByText(/has no text in the field "password"; its fields are: key/)
        .waitFor();
      const found = await violationsInBothSchemes(page, 'the dialog where a secret is');
      expect(found, found.join('\n')).to.deep.equal([]);
      await form.getByLabel('Field').fill('key');
      await form.getByRole('button', { name: 'Read it from there' }).click();
      await form.waitFor({ state: 'hidden' });
      const row = page.getByRole('table', { name: 'Secrets' }).getByRole('row', { name: /search-key/ });
      await row.getByText('elsewhere → key').waitFor();
    });

    it('lets a name go without deleting it in the store', async () => {
      await page.goto(session.at('secrets'));
      await page.getByRole('button', { name: 'Delete search-key' }).click();
      const form = dialog('Delete search-key');
      await form.getByText('It stays in Vault or OpenBao, and can be registered again.').waitFor();
      await form.getByRole('button', { name: 'Delete the secret' }).click();
      await form.waitFor({ state: 'hidden' });
      expect(vault.get('secret/shop/search-key')).to.deep.equal({ value: 'kept outside' });
    });

    it('only registers names where a program keeps the secrets', async () => {
      await page.goto(session.at('settings?tab=environment'));
      await store().getByLabel('Secrets are kept in').selectOption('A program on the controller');
      await store().getByLabel('Program', { exact: true }).selectOption(PROGRAM);
      await save();
      await note('are kept in a program on the controller').waitFor();
      await page.goto(session.at('secrets'));
      await page.getByRole('button', { name: 'Register a name' }).waitFor();
      await settles(() => page.getByRole('button', { name: 'Add a secret' }).count(), 0);
      expect(
        await page.getByRole('button', { name: 'Replace the value of db-password' }).isDisabled(),
      ).to.equal(true);
    });

    it('goes back to Headgate itself, which keeps the last good values', async () => {
      await page.goto(session.at('settings?tab=environment'));
      await store().getByLabel('Secrets are kept in').selectOption('Headgate itself, encrypted');
      await store().getByText('The last good values stay as the values.').waitFor();
      await store().getByRole('button', { name: 'Save the store' }).click();
      await note('are kept in Headgate itself').waitFor();
      await page.goto(session.at('secrets'));
      await page.getByRole('table', { name: 'Secrets' }).getByText('db-password', { exact: true }).waitFor();
      await settles(() => section('Store').count(), 0);
    });
  });

  describe('what gets in', () => {
    it('generates an enrollment token for two nodes, shows it once, and revokes it', async () => {
      await page.goto(session.at('settings?tab=access'));
      const tokens = section('Enrollment token');
      await tokens.getByText('There is none: no node can join now.').waitFor();
      await tokens.getByRole('button', { name: 'Generate a token' }).click();
      const form = dialog('Generate an enrollment token');
      await form.getByLabel('For how many nodes').fill('2');
      await form.getByRole('button', { name: 'Generate the token' }).click();
      const token = await form.getByRole('region', { name: 'the enrollment token' }).innerText();
      await form.getByRole('button', { name: 'Done' }).click();
      await tokens.getByText('0 of 2 nodes').waitFor();
      const node = await enrollNode(session.url, token.split('\n')[0]?.trim() ?? '', { hostname: 'edge-1' });
      await node.heartbeat(heartbeat());
      await page.reload();
      await tokens.getByText('1 of 2 nodes').waitFor();
      expect(await page.content()).not.to.include(token.split('\n')[0]?.trim());
      await tokens.getByRole('button', { name: 'Revoke the token' }).click();
      await dialog('Revoke the enrollment token').getByRole('button', { name: 'Revoke it' }).click();
      await tokens.getByText('There is none: no node can join now.').waitFor();
    });

    it('makes a service account whose key works, is shown once, and ends', async () => {
      await page.goto(session.at('settings?tab=access'));
      // What stands above it has come, so that the button does not move away under the click.
      await section('Enrollment token').getByText('There is none: no node can join now.').waitFor();
      await page.getByRole('button', { name: 'New service account' }).click();
      const form = dialog('New service account');
      await form.getByLabel('Name', { exact: true }).fill('deploys from CI');
      await settles(
        () => form.getByRole('button', { name: 'Make the key' }).isDisabled(),
        true,
        'no permission',
      );
      await form.getByRole('checkbox', { name: /^pipelines\.read/ }).check();
      await form.getByRole('button', { name: 'Make the key' }).click();
      const key = (
        (await form.getByRole('region', { name: 'the key' }).innerText()).split('\n')[0] ?? ''
      ).trim();
      expect(key).to.match(/^svc_/);
      await form.getByRole('button', { name: 'Done' }).click();
      const ask = () =>
        fetch(`${session.url}/api/v1/pipelines`, { headers: { authorization: `Bearer ${key}` } });
      expect((await ask()).status).to.equal(200);
      const row = page.getByRole('list', { name: 'Service accounts' }).getByRole('listitem');
      await row.getByText('pipelines.read').waitFor();
      expect(await page.content()).not.to.include(key);
      await row.getByRole('button', { name: 'Revoke deploys from CI' }).click();
      await dialog('Revoke deploys from CI').getByRole('button', { name: 'Revoke the key' }).click();
      await row.getByText('Revoked', { exact: true }).waitFor();
      expect((await ask()).status).to.equal(401);
      await row.getByRole('button', { name: 'Delete deploys from CI' }).click();
      await dialog('Delete deploys from CI').getByRole('button', { name: 'Delete the account' }).click();
      await row.waitFor({ state: 'detached' });
    });
  });

  describe('what follows a person', () => {
    it('takes theme and rail to another browser, and the later choice back', async () => {
      await page.goto(session.at('settings'));
      await page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'Dark' }).click();
      await page.getByRole('button', { name: 'Fold the rail' }).click();
      const keys = async () =>
        (await session.site.db('user_preferences').select<{ key: string }[]>('key')).map(({ key }) => key);
      await until(async () => (await keys()).includes('ui.rail') && (await keys()).includes('ui.theme'), {
        what: 'the choices to be kept',
      });
      const other = await session.another();
      await other.goto(session.at('settings'));
      await other.getByRole('button', { name: 'Open the rail' }).waitFor();
      const theme = (on: Page) => on.getByRole('group', { name: 'Theme' }).locator('[aria-pressed="true"]');
      await theme(other).getByText('Dark').waitFor();
      await other.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'Light' }).click();
      await until(
        async () =>
          /light/.test(
            (await session.site.db('user_preferences').where({ key: 'ui.theme' }).first('value'))?.value,
          ),
        { what: 'the later choice to be kept' },
      );
      await other.context().close();
      await page.reload();
      await theme(page).getByText('Light').waitFor();
      await page.getByRole('button', { name: 'Open the rail' }).click();
    });
  });

  describe('saved filters of the matrix', () => {
    const matrix = (): Locator => page.getByRole('grid', { name: 'What runs where' });
    const menu = (): Locator => page.getByRole('button', { name: /^Saved filters/ });

    it('keeps the present filters under a name, and begins with them', async () => {
      const { token } = await (await session.site.api()).mutate<{ token: string }>(
        'environment.generateEnrollmentToken',
        { environmentId: session.site.environmentId },
      );
      const node = await enrollNode(session.url, token, { hostname: 'archive-1' });
      await node.heartbeat(heartbeat());
      await page.goto(session.at('fleet?view=matrix'));
      await matrix().getByRole('link', { name: 'archive-1' }).waitFor();
      await page.getByRole('searchbox', { name: 'Filter nodes' }).fill('edge');
      await matrix().getByRole('link', { name: 'archive-1' }).waitFor({ state: 'detached' });
      await menu().click();
      await page.getByRole('menuitem', { name: 'Save these filters' }).click();
      const form = dialog('Save these filters');
      await form.getByLabel('Name').fill('At the edge');
      await form.getByLabel('The page begins with it').check();
      expect(await violationsInBothSchemes(page, 'saving filters')).to.deep.equal([]);
      await form.getByRole('button', { name: 'Save the filters' }).click();
      await form.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Saved filters: At the edge' }).waitFor();
      await page.goto(session.at('fleet?view=matrix'), LOAD);
      await page.waitForURL(/node=edge/);
      await matrix().getByRole('link', { name: 'edge-1' }).waitFor();
      await settles(() => matrix().getByRole('link', { name: 'archive-1' }).count(), 0);
    });

    it('puts them aside for good in an address without filters', async () => {
      await menu().click();
      await page.getByRole('menuitem', { name: 'No filters' }).click();
      await matrix().getByRole('link', { name: 'archive-1' }).waitFor();
      await page.reload();
      await matrix().getByRole('link', { name: 'archive-1' }).waitFor();
    });

    it('renames one, takes other filters into it, and deletes it', async () => {
      await page.goto(session.at('fleet?view=matrix&node=archive'));
      await matrix().getByRole('link', { name: 'edge-1' }).waitFor({ state: 'detached' });
      await matrix().getByRole('link', { name: 'archive-1' }).waitFor();
      await menu().click();
      await page.getByRole('menuitem', { name: 'Manage saved filters' }).click();
      const list = dialog('Saved filters');
      await list.getByRole('button', { name: 'Take the present filters into At the edge' }).click();
      await list.getByText('node=archive').waitFor();
      await list.getByRole('button', { name: 'Rename At the edge' }).click();
      await list.getByLabel('New name of At the edge').fill('Archives');
      await list.getByRole('button', { name: 'Rename', exact: true }).click();
      await list.getByRole('button', { name: 'Rename Archives' }).waitFor();
      await settles(() => list.getByLabel('The page begins with Archives').isChecked(), true);
      await list.getByLabel('The page begins with Archives').click();
      await until(async () => !(await list.getByLabel('The page begins with Archives').isChecked()), {
        what: 'the page to begin without filters',
      });
      expect(await violationsInBothSchemes(page, 'saved filters')).to.deep.equal([]);
      await list.getByRole('button', { name: 'Delete Archives' }).click();
      await list.getByText('None is left.').waitFor();
      await closeByEscape(page);
    });
  });

  describe('as a whole', () => {
    it('tells on the overview what was changed last, by whom', async () => {
      await page.goto(session.at('overview'));
      const changes = page.getByRole('list', { name: 'Last changes' });
      await changes.getByText('Filter preset Archives deleted').waitFor();
      await changes.getByText('root@example.org').first().waitFor();
      await page
        .getByRole('list', { name: 'Nodes to look at first' })
        .getByRole('link', { name: 'edge-1' })
        .waitFor();
    });

    it('has no violation that axe-core finds on its tabs, and is no wider than a phone', async () => {
      const found: string[] = [];
      for (const [path, ready] of [
        ['settings', 'Account'],
        ['settings?tab=environment', 'General'],
        ['settings?tab=access', 'Service accounts'],
      ] as const) {
        await page.goto(session.at(path));
        await section(ready).waitFor();
        found.push(...(await violationsInBothSchemes(page, path)));
        found.push(...(await beyondAPhone(page, path)));
      }
      await page.getByRole('button', { name: 'New service account' }).click();
      await dialog('New service account').waitFor();
      found.push(...(await violationsInBothSchemes(page, 'a new service account')));
      await closeByEscape(page);
      await page.goto(session.at('settings?tab=environment'));
      for (const backend of ['Vault or OpenBao', 'AWS Secrets Manager', 'A program on the controller']) {
        await page.getByLabel('Secrets are kept in').selectOption(backend);
        found.push(...(await violationsInBothSchemes(page, backend)));
        found.push(...(await beyondAPhone(page, backend)));
      }
      expect(found, found.join('\n')).to.deep.equal([]);
    });

    it('is deleted only with its name typed, says what goes with it, and leads to another one', async () => {
      const { id } = await (await session.site.api()).mutate<{ id: string }>('environment.create', {
        name: 'next',
        teamId: session.site.teamId,
      });
      await page.goto(session.at('settings?tab=environment'));
      await page.getByRole('button', { name: 'Delete test bench' }).click();
      const form = dialog('Delete test bench');
      await form.getByText('0 pipelines and their versions, 2 nodes, 1 secret and 0 alert rules').waitFor();
      const button = form.getByRole('button', { name: 'Delete the environment' });
      await settles(() => button.isDisabled(), true);
      expect(await violationsInBothSchemes(page, 'deleting an environment')).to.deep.equal([]);
      await form.getByLabel('Type test bench to confirm').fill('test bench');
      await button.click();
      await note('test bench was deleted, with 0 pipelines and 2 nodes.').waitFor();
      await page.waitForURL(`**/e/${id}/**`);
      await page.getByRole('button', { name: /environment next/ }).waitFor();
    });
  });
});
