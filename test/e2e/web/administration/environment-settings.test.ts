/** An environment as it is set up in the browser: its name, its store of secrets, its tokens and keys, its end. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { enrollNode, heartbeat } from '../../../support/agents/agent-client.ts';
import { until } from '../../../support/harness/until.ts';
import { use } from '../../../support/harness/use.ts';
import { VaultServer } from '../../../support/servers/vault-server.ts';
import { closeByEscape, LOAD, settles, violationsInBothSchemes } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

const PROGRAM = join(import.meta.dirname, '../../../support/fixtures/exec-secrets.sh');
const VAULT_TOKEN = 'hvs.root-of-the-test';

const firstLine = async (shown: Locator): Promise<string> =>
  ((await shown.innerText()).split('\n')[0] ?? '').trim();

describe('the settings of an environment', function () {
  this.timeout(240_000);
  const session = useSite({ controller: { variables: { HEADGATE_EXEC_SECRET_COMMANDS: PROGRAM } } });
  const { section, dialog, note, isUsable } = partsOf(session);
  const vault = use(
    () => VaultServer.start(),
    (server) => server.close(),
  );
  let page: Page;
  before(() => {
    page = session.page;
  });

  const secret = (name: string): Locator =>
    page.getByRole('table', { name: 'Secrets' }).getByRole('row', { name: new RegExp(name) });
  const store = (): Locator => section('Secret store');
  const saveStore = (): Promise<void> =>
    store().getByRole('button', { name: 'Test and save the store' }).click();

  it('renames it, asks for approval and limits its nodes, and other pages follow', async () => {
    await page.goto(session.at('settings?tab=environment'));
    const general = section('General');
    const save = general.getByRole('button', { name: 'Save' });
    await settles(() => save.isDisabled(), true, 'nothing to save');
    await general.getByLabel('Name').fill('test bench');
    await general.getByLabel('needs the approval of a second person').check();
    await general.getByLabel('Limit of nodes').fill('0');
    await settles(() => save.isDisabled(), true, 'a wrong number');
    await general.getByLabel('Limit of nodes').fill('3');
    await general.getByLabel('Archive nodes after so many silent days').fill('14');
    await save.click();
    await note('test bench was saved.');
    await page.getByRole('button', { name: /environment test bench/ }).waitFor();
    await page.reload();
    await settles(() => general.getByLabel('Limit of nodes').inputValue(), '3');
    await settles(() => general.getByLabel('Archive nodes after so many silent days').inputValue(), '14');
    await settles(() => general.getByLabel('needs the approval of a second person').isChecked(), true);
  });

  it('leaves approval and the limit to an ADMIN, and everything to nobody who only looks', async () => {
    const theirs = await session.as('VIEWER');
    const general = section('General', theirs);
    await theirs.goto(session.at('settings?tab=environment'));
    await settles(() => general.getByLabel('Name').isDisabled(), true);
    await settles(() => theirs.getByLabel('Secrets are kept in').isDisabled(), true);
    await theirs.goto(session.at('secrets'));
    await settles(() => theirs.getByRole('button', { name: 'Add a secret' }).isDisabled(), true);
    await session.site.db('team_members').where({ role: 'VIEWER' }).update({ role: 'EDITOR' });
    await theirs.goto(session.at('settings?tab=environment'), LOAD);
    await settles(() => general.getByLabel('Name').isDisabled(), false);
    await settles(() => general.getByLabel('Limit of nodes').isDisabled(), true);
    await settles(() => theirs.getByRole('button', { name: 'Delete test bench' }).isDisabled(), true);
    await theirs.goto(session.at('settings?tab=access'));
    await theirs.getByText('Only an ADMIN of the team sees them.').waitFor();
    await theirs.context().close();
  });

  it('keeps secrets in a store that lets Headgate in: they are written into it, and registered where they are there', async () => {
    await page.goto(session.at('settings?tab=environment'));
    for (const backend of ['AWS Secrets Manager', 'A program on the controller', 'Vault or OpenBao']) {
      await store().getByLabel('Secrets are kept in').selectOption(backend);
      await isUsable(backend);
    }
    await store().getByLabel('Address', { exact: true }).fill(vault.url);
    await store().getByLabel('Folder').fill('shop');
    await store().getByLabel('Token', { exact: true }).fill('hvs.wrong');
    await saveStore();
    await store()
      .getByRole('alert')
      .getByText(/Vault answers 403/)
      .waitFor();
    await store().getByLabel('Token', { exact: true }).fill(VAULT_TOKEN);
    await saveStore();
    await note('are kept in Vault or OpenBao');
    await store().getByText('Set', { exact: true }).waitFor();
    await store().getByRole('button', { name: 'Replace Token' }).waitFor();
    expect(await page.content()).not.to.include(VAULT_TOKEN);

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
    await form.getByLabel('Name in the store').fill('search-key');
    await form.getByRole('button', { name: 'Register the name' }).click();
    await form.waitFor({ state: 'hidden' });
    await secret('search-key').waitFor();
    expect(await page.content()).not.to.match(/kept outside|made here/);
  });

  it('tells of a secret that the store does not give, which is moved there, and let go without being deleted', async () => {
    vault.put('secret/shop/db-password', { value: 'kept outside', password: 'kept outside' });
    vault.put('secret/elsewhere', { key: 'kept outside' });
    await page.goto(session.at('settings?tab=environment'));
    await store().getByLabel('Field', { exact: true }).fill('password');
    // The token is left out, and stays.
    await saveStore();
    await note('are kept in Vault or OpenBao');
    await page.goto(session.at('secrets'));
    await section('Store').getByRole('button', { name: 'Look now' }).click();
    await note('The store is looked at now.');
    await section('Store').getByText('Failing', { exact: true }).waitFor();
    await section('Store').getByText('1 secret could not be fetched.').waitFor();
    await secret('search-key').getByText('Not fetched').waitFor();
    await isUsable('secrets of a store that fails');

    await page.getByRole('button', { name: 'Say where the store has search-key' }).click();
    let form = dialog('Where the store has search-key');
    await form.getByLabel('Path').fill('elsewhere');
    await form.getByRole('button', { name: 'Read it from there' }).click();
    await form
      .getByRole('alert')
      .getByText(/has no text in the field "password"; its fields are: key/)
      .waitFor();
    await isUsable('the dialog where a secret is');
    await form.getByLabel('Field').fill('key');
    await form.getByRole('button', { name: 'Read it from there' }).click();
    await form.waitFor({ state: 'hidden' });
    await secret('search-key').getByText('elsewhere → key').waitFor();

    await page.getByRole('button', { name: 'Delete search-key' }).click();
    form = dialog('Delete search-key');
    await form.getByText('It stays in Vault or OpenBao, and can be registered again.').waitFor();
    await form.getByRole('button', { name: 'Delete the secret' }).click();
    await form.waitFor({ state: 'hidden' });
    expect(vault.get('secret/shop/search-key')).to.deep.equal({ value: 'kept outside' });
  });

  it('keeps them in a program, in which names are only registered, and in Headgate itself again', async () => {
    await page.goto(session.at('settings?tab=environment'));
    await store().getByLabel('Secrets are kept in').selectOption('A program on the controller');
    await store().getByLabel('Program', { exact: true }).selectOption(PROGRAM);
    await saveStore();
    await note('are kept in a program on the controller');
    await page.goto(session.at('secrets'));
    await page.getByRole('button', { name: 'Register a name' }).waitFor();
    await settles(() => page.getByRole('button', { name: 'Add a secret' }).count(), 0);
    const replace = page.getByRole('button', { name: 'Replace the value of db-password' });
    expect(await replace.isDisabled()).to.equal(true);
    await page.goto(session.at('settings?tab=environment'));
    await store().getByLabel('Secrets are kept in').selectOption('Headgate itself, encrypted');
    await store().getByRole('button', { name: 'Save the store' }).click();
    await note('are kept in Headgate itself');
    await page.goto(session.at('secrets'));
    await secret('db-password').waitFor();
    await settles(() => section('Store').count(), 0);
  });

  it('lets nodes in by a token and programs by a key: each is shown once, works, and ends', async () => {
    await page.goto(session.at('settings?tab=access'));
    const tokens = section('Enrollment token');
    await tokens.getByText('There is none: no node can join now.').waitFor();
    await isUsable('what gets in');
    await tokens.getByRole('button', { name: 'Generate a token' }).click();
    let form = dialog('Generate an enrollment token');
    await form.getByLabel('For how many nodes').fill('2');
    await form.getByRole('button', { name: 'Generate the token' }).click();
    const token = await firstLine(form.getByRole('region', { name: 'the enrollment token' }));
    await form.getByRole('button', { name: 'Done' }).click();
    await tokens.getByText('0 of 2 nodes').waitFor();
    const node = await enrollNode(session.url, token, { hostname: 'edge-1' });
    await node.heartbeat(heartbeat());
    await page.reload();
    await tokens.getByText('1 of 2 nodes').waitFor();
    expect(await page.content()).not.to.include(token);
    await tokens.getByRole('button', { name: 'Revoke the token' }).click();
    await dialog('Revoke the enrollment token').getByRole('button', { name: 'Revoke it' }).click();
    await tokens.getByText('There is none: no node can join now.').waitFor();

    await page.getByRole('button', { name: 'New service account' }).click();
    form = dialog('New service account');
    await form.getByLabel('Name', { exact: true }).fill('deploys from CI');
    const make = form.getByRole('button', { name: 'Make the key' });
    await settles(() => make.isDisabled(), true, 'no permission');
    await form.getByRole('checkbox', { name: /^pipelines\.read/ }).check();
    expect(await violationsInBothSchemes(page, 'a new service account')).to.deep.equal([]);
    await make.click();
    const key = await firstLine(form.getByRole('region', { name: 'the key' }));
    await form.getByRole('button', { name: 'Done' }).click();
    const ask = async () => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${session.url}/api/v1/pipelines`, { headers })).status;
    };
    expect(await ask()).to.equal(200);
    const row = page.getByRole('list', { name: 'Service accounts' }).getByRole('listitem');
    await row.getByText('pipelines.read').waitFor();
    expect(await page.content()).not.to.include(key);
    await row.getByRole('button', { name: 'Revoke deploys from CI' }).click();
    await dialog('Revoke deploys from CI').getByRole('button', { name: 'Revoke the key' }).click();
    await row.getByText('Revoked', { exact: true }).waitFor();
    expect(await ask()).to.equal(401);
    await row.getByRole('button', { name: 'Delete deploys from CI' }).click();
    await dialog('Delete deploys from CI').getByRole('button', { name: 'Delete the account' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('takes theme and rail to another browser, and the later choice back', async () => {
    const kept = (key: string, text: string) =>
      until(
        async () =>
          ((await session.site.db('user_preferences').where({ key }).first('value'))?.value ?? '').includes(
            text,
          ),
        { what: `${key} to be kept` },
      );
    const theme = (on: Page): Locator => on.getByRole('group', { name: 'Theme' });
    await page.goto(session.at('settings'));
    await theme(page).getByRole('button', { name: 'Dark' }).click();
    await page.getByRole('button', { name: 'Fold the rail' }).click();
    await kept('ui.theme', 'dark');
    await kept('ui.rail', '');
    const other = await session.another();
    await other.goto(session.at('settings'));
    await other.getByRole('button', { name: 'Open the rail' }).waitFor();
    await theme(other).locator('[aria-pressed="true"]').getByText('Dark').waitFor();
    await theme(other).getByRole('button', { name: 'Light' }).click();
    await kept('ui.theme', 'light');
    await other.context().close();
    await page.reload();
    await theme(page).locator('[aria-pressed="true"]').getByText('Light').waitFor();
    await page.getByRole('button', { name: 'Open the rail' }).click();
  });

  it('keeps filters of the matrix under a name, begins with them, and puts them aside', async () => {
    const matrix = page.getByRole('grid', { name: 'What runs where' });
    const archive = matrix.getByRole('link', { name: 'archive-1' });
    const edge = matrix.getByRole('link', { name: 'edge-1' });
    const menu = page.getByRole('button', { name: /^Saved filters/ });
    const { environmentId } = session.site;
    const { token } = await (await session.site.api()).mutate<{ token: string }>(
      'environment.generateEnrollmentToken',
      { environmentId },
    );
    const node = await enrollNode(session.url, token, { hostname: 'archive-1' });
    await node.heartbeat(heartbeat());
    await page.goto(session.at('fleet?view=matrix'));
    await archive.waitFor();
    await page.getByRole('searchbox', { name: 'Filter nodes' }).fill('edge');
    await archive.waitFor({ state: 'detached' });
    await menu.click();
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
    await edge.waitFor();
    await settles(() => archive.count(), 0);
    await menu.click();
    await page.getByRole('menuitem', { name: 'No filters' }).click();
    await archive.waitFor();
    await page.reload();
    await archive.waitFor();

    await page.goto(session.at('fleet?view=matrix&node=archive'));
    await edge.waitFor({ state: 'detached' });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Manage saved filters' }).click();
    const list = dialog('Saved filters');
    await list.getByRole('button', { name: 'Take the present filters into At the edge' }).click();
    await list.getByText('node=archive').waitFor();
    await list.getByRole('button', { name: 'Rename At the edge' }).click();
    await list.getByLabel('New name of At the edge').fill('Archives');
    await list.getByRole('button', { name: 'Rename', exact: true }).click();
    const begins = list.getByLabel('The page begins with Archives');
    await settles(() => begins.isChecked(), true);
    await begins.click();
    await settles(() => begins.isChecked(), false, 'the page to begin without filters');
    expect(await violationsInBothSchemes(page, 'saved filters')).to.deep.equal([]);
    await list.getByRole('button', { name: 'Delete Archives' }).click();
    await list.getByText('None is left.').waitFor();
    await closeByEscape(page);

    await page.goto(session.at('overview'));
    const changes = page.getByRole('list', { name: 'Last changes' });
    await changes.getByText('Filter preset Archives deleted').waitFor();
    await changes.getByText('root@example.org').first().waitFor();
    await page
      .getByRole('list', { name: 'Nodes to look at first' })
      .getByRole('link', { name: 'edge-1' })
      .waitFor();
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
    await note('test bench was deleted, with 0 pipelines and 2 nodes.');
    await page.waitForURL(`**/e/${id}/**`);
    await page.getByRole('button', { name: /environment next/ }).waitFor();
  });
});
