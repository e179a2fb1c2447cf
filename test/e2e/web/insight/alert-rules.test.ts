/** Alert rules as people make, change and delete them, beside one that git describes. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { GitClient } from '../../../support/clients/git-client.ts';
import { idleManifest } from '../../../support/fixtures/pipelines.ts';
import { until } from '../../../support/harness/until.ts';
import { closeByEscape, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const RULE = `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: From git }
spec: { metric: memory_usage, condition: gt, threshold: 80 }
`;

describe('the page of alert rules', function () {
  this.timeout(180_000);
  let session: SiteSession;
  let git: GitClient;
  let page: Page;
  let errors: string[];

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    git = new GitClient(session.site.cloneUrl());
    await git.clone();
    await git.commit({
      'staging/orders.yaml': idleManifest('orders'),
      'staging/alerts/memory.yaml': RULE,
    });
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
  });
  after(async () => {
    await git?.remove();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const rules = (): Locator => page.getByRole('table', { name: 'Alert rules' });
  const row = (name: string): Locator => rules().getByRole('row', { name: new RegExp(name) });
  const dialog = (name: string): Locator => page.getByRole('dialog', { name });

  const isUsable = async (where: string): Promise<void> => {
    const found = await violationsInBothSchemes(page, where);
    expect(found, found.join('\n')).to.deep.equal([]);
  };

  async function make(name: string, change?: (form: Locator) => Promise<void>): Promise<Locator> {
    await page.getByRole('button', { name: 'New alert rule' }).click();
    const form = dialog('New alert rule');
    await form.getByLabel('Name').fill(name);
    await change?.(form);
    await form.getByRole('button', { name: 'Make the rule' }).click();
    return form;
  }

  it('makes a rule, says in words what it means before it is made, and shows why another is refused', async () => {
    await page.goto(session.at('alerts?tab=rules'));
    await make('Busy CPU', async (form) => {
      await form.getByLabel('Threshold, per cent').fill('95.5');
      await form.getByLabel('For how long, in seconds').fill('300');
      await form
        .getByText('Raised when: CPU usage above 95.5 % for 5 min, in the whole environment.')
        .waitFor();
    });
    await row('Busy CPU').getByText('CPU usage above 95.5 % for 5 min').waitFor();
    await row('Busy CPU').getByText('the UI', { exact: true }).waitFor();
    const form = await make('busy cpu');
    await form
      .getByRole('alert')
      .getByText(/exists already/)
      .waitFor();
    await closeByEscape(page);
    await form.waitFor({ state: 'hidden' });
  });

  it('asks a rule about a fact for no number, and narrows the rules to those of its pipeline, in the address', async () => {
    await make('Orders crash', async (form) => {
      await form.getByLabel('Watches').selectOption('orders');
      await form.getByLabel('Raised when').selectOption('A pipeline has crashed');
      await settles(() => form.getByLabel(/^Threshold/).count(), 0);
    });
    await row('Orders crash').getByText('Pipeline has crashed for 60 s').waitFor();
    await row('Orders crash').getByRole('link', { name: 'orders' }).waitFor();
    await page.getByLabel('Watches').selectOption('orders');
    await page.waitForURL(/pipeline=/);
    await row('Busy CPU').waitFor({ state: 'detached' });
    await page.reload();
    await row('Orders crash').waitFor();
    await settles(() => rules().getByRole('row').count(), 2, 'the head and one rule');
    await page.getByLabel('Watches').selectOption('Whole environment');
    await row('Busy CPU').waitFor();
    await settles(() => row('Orders crash').count(), 0);
    await page.getByLabel('Watches').selectOption('Every pipeline');
  });

  it('changes a rule and keeps it silent', async () => {
    await page.getByRole('button', { name: 'Change Busy CPU' }).click();
    const form = dialog('Change Busy CPU');
    await settles(() => form.getByLabel('Watches').count(), 0, 'what it watches stays');
    await isUsable('the change of a rule');
    await form.getByLabel('Threshold, per cent').fill('ninety');
    await form.getByText('A number, for example 90 or 0.5.').waitFor();
    await settles(() => form.getByRole('button', { name: 'Save the rule' }).isDisabled(), true);
    await form.getByLabel('Threshold, per cent').fill('70');
    await form.getByLabel('Enabled').uncheck();
    await form.getByRole('button', { name: 'Save the rule' }).click();
    await form.waitFor({ state: 'hidden' });
    await row('Busy CPU').getByText('CPU usage above 70 % for 5 min').waitFor();
    await row('Busy CPU').getByText('Silent', { exact: true }).waitFor();
  });

  it('keeps the dialog open until the answer, which may be a refusal', async () => {
    const saving = '**/api/trpc/alert.updateRule*';
    const answer = Promise.withResolvers<void>();
    await page.route(saving, async (route) => {
      await answer.promise;
      await route.abort();
    });
    await page.getByRole('button', { name: 'Change Busy CPU' }).click();
    const form = dialog('Change Busy CPU');
    await form.getByLabel('Threshold, per cent').fill('71');
    await form.getByRole('button', { name: 'Save the rule' }).click();
    await settles(() => form.getByRole('button', { name: 'Cancel' }).isDisabled(), true);
    await settles(() => form.getByRole('button', { name: 'Close' }).isDisabled(), true);
    await page.keyboard.press('Escape');
    answer.resolve();
    await form.getByRole('alert').waitFor();
    await page.unroute(saving);
    expect(await form.getByLabel('Threshold, per cent').inputValue()).to.equal('71');
    await closeByEscape(page);
    await form.waitFor({ state: 'hidden' });
  });

  it('says what nothing watches any more before a rule is deleted', async () => {
    await page.getByRole('button', { name: 'Delete Orders crash' }).click();
    const form = dialog('Delete Orders crash');
    await form.getByText('Pipeline has crashed for 60 s, for orders').waitFor();
    await isUsable('the deletion of a rule');
    await form.getByRole('button', { name: 'Delete the rule' }).click();
    await form.waitFor({ state: 'hidden' });
    await row('Orders crash').waitFor({ state: 'detached' });
  });

  it('gives the place of a rule that git describes instead of buttons', async () => {
    const link = row('From git').getByRole('link', { name: 'In git at staging/alerts/memory.yaml:1' });
    await link.waitFor();
    await settles(() => page.getByRole('button', { name: /^(Change|Delete) From git$/ }).count(), 0);
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Git' }).waitFor();
  });

  it('opens the dialog from the palette, and once only', async () => {
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go to anything' });
    await box.fill('new alert rule');
    await box.press('Enter');
    const form = dialog('New alert rule');
    await form.waitFor();
    await closeByEscape(page);
    await form.waitFor({ state: 'hidden' });
    expect(new URL(page.url()).search).to.equal('?tab=rules');
  });

  it('hides a column, and hides it in another browser of the same person too', async () => {
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Watches' }).click();
    await rules().getByRole('columnheader', { name: 'Watches' }).waitFor({ state: 'detached' });
    await until(async () => (await session.site.db('user_preferences').select('key')).length > 0, {
      what: 'the choice to be kept for other browsers',
    });
    const other = await session.another();
    await other.goto(session.at('alerts?tab=rules'));
    const header = other.getByRole('table', { name: 'Alert rules' }).getByRole('columnheader');
    await header.filter({ hasText: 'Name' }).waitFor();
    await header.filter({ hasText: 'Watches' }).waitFor({ state: 'detached' });
    await other.getByRole('button', { name: 'Columns' }).click();
    await other.getByRole('menuitemcheckbox', { name: 'Watches' }).click();
    await header.filter({ hasText: 'Watches' }).waitFor();
    await other.context().close();
  });
});
