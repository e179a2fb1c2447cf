import { expect } from 'chai';
import { BROWSER_WAIT_MS } from '../../support/harness/patience.ts';
import {
  beyondAPhone,
  closeByEscape,
  openSession,
  type Session,
  violationsInBothSchemes,
  watchForErrors,
} from './browser.ts';

const FIRST_LOAD_LIMIT_BYTES = 250 * 1024;

describe('the pages', function () {
  this.timeout(240_000);
  let session: Session;
  let errors: string[];

  const at = (path: string): string =>
    `${session.target.url}/e/${session.target.environments.staging}/${path}`;
  /** Opens the first row of a list and gives its name. */
  async function openFirst(list: 'pipelines' | 'fleet', table: string): Promise<string> {
    await session.page.goto(at(list));
    const link = session.page.getByRole('table', { name: table }).getByRole('link').first();
    const name = ((await link.textContent()) ?? '').trim();
    await link.click();
    await session.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    return name;
  }

  before(async () => {
    session = await openSession();
    errors = watchForErrors(session.page);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('answers a wrong password with a sentence and stays on the sign-in page', async () => {
    const context = await session.browser.newContext();
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    const page = await context.newPage();
    await page.goto(`${session.target.url}/e/${session.target.environments.staging}/git`);
    await page.getByLabel('Email').fill(session.target.adminEmail);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).not.to.equal('');
    await page.getByLabel('Password').fill(session.target.adminPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Git' }).waitFor();
    await context.close();
  });

  it('shows a row of every environment with its gate, nodes and pipelines on the overview', async () => {
    const { page } = session;
    await page.goto(at('overview'));
    for (const name of ['staging', 'production']) {
      const row = page.getByRole('region', { name });
      await row.getByRole('list', { name: `Nodes of ${name} by health` }).waitFor();
      await row.getByRole('list', { name: `Pipelines of ${name} by status` }).waitFor();
      const points = row
        .getByRole('group', { name: `Gate of ${name}` })
        .getByRole('link', { includeHidden: true });
      await points.first().waitFor();
      expect(await points.count()).to.equal(4);
    }
  });

  it('loads at most 250 KB of script before the first page', async () => {
    const { page } = session;
    await page.goto(at('overview'));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const sizes = await page.evaluate<number[]>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(({ encodedBodySize }) => encodedBodySize)`,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).to.be.greaterThan(0);
    expect(bytes).to.be.at.most(FIRST_LOAD_LIMIT_BYTES);
  });

  it('filters and sorts the pipelines in the address, and walks the rows by keyboard', async () => {
    const { page } = session;
    await page.goto(at('pipelines'));
    const table = page.getByRole('table', { name: 'Pipelines' });
    const name = ((await table.getByRole('link').first().textContent()) ?? '').trim();
    await page.keyboard.press('/');
    await page.keyboard.type(name);
    await page.waitForURL(/[?&]q=/);
    await table.getByRole('link', { name, exact: true }).waitFor();
    await page.reload();
    expect(await page.getByRole('searchbox', { name: 'Filter pipelines' }).inputValue()).to.equal(name);
    await table.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL(/sort=-name/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.goBack();
    await page.waitForURL(/sort=-name/);
  });

  it('unfolds the gate of a pipeline into conditions, and shows its graph, nodes, versions and config', async () => {
    const { page } = session;
    const name = await openFirst('pipelines', 'Pipelines');
    const gate = page.getByRole('group', { name: `Gate of ${name}` });
    expect(await gate.getByRole('link').allInnerTexts()).to.have.length(4);
    await page
      .getByRole('list', { name: `Conditions of ${name}` })
      .getByText('Validated', { exact: true })
      .waitFor();
    await page.getByRole('region', { name: 'Graph of components' }).waitFor();
    await page.getByRole('table', { name: `Nodes of ${name}` }).waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.waitForURL(/tab=versions/);
    await page
      .getByRole('table', { name: 'Versions' })
      .getByRole('button', { name: 'v1', exact: true })
      .click();
    await page.getByRole('region', { name: 'v1', exact: true }).getByRole('textbox').first().waitFor();
    await page.getByRole('tab', { name: 'Config' }).click();
    await page.getByRole('list', { name: 'Levels of validation' }).waitFor();
    await page
      .getByRole('textbox', { name: 'Configuration' })
      .or(page.getByRole('textbox', { name: 'To be deployed' }))
      .waitFor();
  });

  it('walks a gate strip with the arrow keys as one stop', async () => {
    const { page } = session;
    const name = await openFirst('pipelines', 'Pipelines');
    const links = page.getByRole('group', { name: `Gate of ${name}` }).getByRole('link');
    await links.first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await links.nth(1).getAttribute('aria-label')).to.equal(
      await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`),
    );
    await page.getByRole('tooltip').waitFor();
  });

  it('shows what a node runs against what it should', async () => {
    const { page } = session;
    const name = await openFirst('fleet', 'Nodes');
    await page.getByRole('table', { name: `Pipelines on ${name}` }).waitFor();
    await page.getByRole('region', { name: 'Host' }).waitFor();
    await page.getByRole('region', { name: 'Logs' }).waitFor();
    await page.goto(at('fleet?view=matrix'));
    await page.getByRole('grid', { name: 'What runs where' }).waitFor();
  });

  it('shows an enrollment token once, in the lines that start an agent', async () => {
    const { page } = session;
    await page.goto(at('fleet'));
    await page.getByRole('button', { name: 'Enroll a node' }).click();
    const dialog = page.getByRole('dialog', { name: 'Enroll a node' });
    await dialog.getByLabel('Labels of the node').fill('role=edge');
    await dialog.getByRole('button', { name: 'Generate token' }).click();
    const lines = await dialog.getByRole('region', { name: 'commands that start the agent' }).textContent();
    expect(lines)
      .to.match(/SVC_URL=http/)
      .and.to.match(/SVC_TOKEN=\S{20}/)
      .and.to.include("SVC_NODE_LABELS='role=edge'");
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Enroll a node' }).click();
    await dialog.getByRole('button', { name: 'Generate token' }).waitFor();
    expect(await dialog.getByText('SVC_TOKEN').count()).to.equal(0);
    await closeByEscape(page);
    await dialog.waitFor({ state: 'hidden' });
  });

  it('tells of the binding, every manifest and the passes, and starts a pass', async () => {
    const { page } = session;
    await page.goto(at('git'));
    await page.getByRole('button', { name: /^Copy clone address/ }).waitFor();
    const manifests = page.getByRole('list', { name: 'Manifests', exact: true });
    await manifests
      .getByRole('button', { name: /^Conditions of Pipeline/ })
      .first()
      .click();
    await manifests
      .getByRole('list', { name: /^Conditions of Pipeline/ })
      .first()
      .waitFor();
    await page.getByRole('tab', { name: 'Passes' }).click();
    const passes = page.getByRole('list', { name: 'Last passes' });
    await passes
      .getByRole('button', { name: /^Report of/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Sync now' }).click();
    await passes
      .getByText(/just now|\d s ago/)
      .first()
      .waitFor();
  });

  it('creates, replaces and deletes a secret, and never shows its value', async () => {
    const { page } = session;
    await page.goto(at('secrets'));
    await page.getByRole('button', { name: 'Add a secret' }).click();
    let dialog = page.getByRole('dialog', { name: 'Add a secret' });
    await dialog.getByLabel('Name').fill('walk.through');
    await dialog.getByLabel('Value').fill('first value');
    await dialog.getByRole('button', { name: 'Add the secret' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Replace the value of walk.through' }).click();
    dialog = page.getByRole('dialog', { name: 'Replace the value of walk.through' });
    await dialog.getByLabel('New value').fill('second value');
    await dialog.getByRole('button', { name: 'Replace the value' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.content()).not.to.include('second value');
    await page.getByRole('button', { name: 'Delete walk.through' }).click();
    dialog = page.getByRole('dialog', { name: 'Delete walk.through' });
    await dialog.getByText('Nothing that is deployed refers to it.').waitFor();
    await dialog.getByRole('button', { name: 'Delete the secret' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete walk.through' }).waitFor({ state: 'detached' });
  });

  it('says why a secret was refused, in the dialog', async () => {
    const { page } = session;
    await page.goto(at('secrets'));
    await page.getByRole('button', { name: 'Add a secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a secret' });
    await dialog.getByLabel('Name').fill('7up');
    await dialog.getByText('Begin with a letter').waitFor();
    expect(await dialog.getByRole('button', { name: 'Add the secret' }).isDisabled()).to.equal(true);
    await closeByEscape(page);
  });

  it('goes anywhere by the palette', async () => {
    const { page } = session;
    const name = await openFirst('pipelines', 'Pipelines');
    await page.goto(at('settings'));
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go to anything' });
    await box.fill(name);
    await page.getByRole('option', { name: new RegExp(`${name}.*Pipeline`) }).waitFor();
    await box.press('Enter');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  });

  it('switches the environment, with production marked', async () => {
    const { page } = session;
    await page.goto(at('pipelines'));
    await page.getByRole('button', { name: /environment staging/ }).click();
    await page.getByRole('menuitem', { name: /production/ }).click();
    await page.waitForURL(`**/e/${session.target.environments.production}/pipelines`);
    await page.getByRole('button', { name: /environment production/ }).waitFor();
  });

  it('says what happened and with which request when an address leads nowhere', async () => {
    const { page } = session;
    await page.goto(at('pipelines/no-such-pipeline'));
    const alert = page.getByRole('alert');
    await alert.getByRole('button', { name: /^Copy request id/ }).waitFor();
    await alert.getByRole('button', { name: 'Try again' }).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Pipelines' }).click();
    await page.getByRole('table', { name: 'Pipelines' }).waitFor();
  });

  it('shows the shortcuts by ? and remembers the folded rail', async () => {
    const { page } = session;
    await page.goto(at('overview'));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    // The page hears keys as soon as it follows events.
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await closeByEscape(page);
    await page.getByRole('button', { name: 'Fold the rail' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Open the rail' }).click();
    await page.getByRole('button', { name: 'Fold the rail' }).waitFor();
  });

  it('has no violation that axe-core finds, in light and dark, and is no wider than a phone', async () => {
    const { page } = session;
    const pipeline = await openFirst('pipelines', 'Pipelines');
    const pipelineUrl = page.url().replace(/\?.*/, '');
    await openFirst('fleet', 'Nodes');
    const nodeUrl = page.url();
    const production = at('').replace(
      session.target.environments.staging,
      session.target.environments.production,
    );
    const visits: [url: string, ready: () => Promise<void>][] = [
      [at('overview'), () => page.getByRole('list', { name: 'Pipelines of production by status' }).waitFor()],
      [at('pipelines'), () => page.getByRole('table', { name: 'Pipelines' }).waitFor()],
      [pipelineUrl, () => page.getByRole('table', { name: `Nodes of ${pipeline}` }).waitFor()],
      [`${pipelineUrl}?tab=versions`, () => page.getByRole('textbox').last().waitFor()],
      [`${pipelineUrl}?tab=config`, () => page.getByRole('textbox').last().waitFor()],
      [at('alerts'), () => page.getByRole('heading', { name: 'Nothing is firing' }).waitFor()],
      [at('alerts?tab=history'), () => page.getByRole('tab', { name: 'History', selected: true }).waitFor()],
      [at('alerts?tab=rules'), () => page.getByRole('table', { name: 'Alert rules' }).waitFor()],
      [at('alerts?tab=silences'), () => page.getByRole('heading', { name: 'Nothing is silenced' }).waitFor()],
      [at('fleet'), () => page.getByRole('table', { name: 'Nodes' }).waitFor()],
      [`${pipelineUrl}?tab=logs`, () => page.getByRole('log').or(page.getByText('No line yet')).waitFor()],
      [`${production}alerts`, () => page.getByRole('heading', { name: 'No alert rules yet' }).waitFor()],
      [
        `${production}fleet?view=groups`,
        () => page.getByRole('heading', { name: 'No groups yet' }).waitFor(),
      ],
      [at('fleet?view=matrix'), () => page.getByRole('grid', { name: 'What runs where' }).waitFor()],
      [nodeUrl, () => page.getByRole('region', { name: 'Logs' }).waitFor()],
      [at('git'), () => page.getByRole('list', { name: 'Manifests', exact: true }).waitFor()],
      [at('secrets'), () => page.getByRole('button', { name: 'Add a secret' }).first().waitFor()],
      [at('audit'), () => page.getByRole('table', { name: 'Events, newest first' }).waitFor()],
      [at('settings'), () => page.getByRole('region', { name: 'Account' }).waitFor()],
      [`${session.target.url}/sign-in`, () => page.getByRole('form', { name: 'Sign in' }).waitFor()],
    ];
    const found: string[] = [];
    for (const [url, ready] of visits) {
      await page.goto(url);
      await ready();
      const { pathname } = new URL(url);
      found.push(...(await violationsInBothSchemes(page, pathname)));
      found.push(...(await beyondAPhone(page, pathname)));
    }
    await page.goto(at('fleet'));
    await page.getByRole('button', { name: 'Enroll a node' }).click();
    await page
      .getByRole('dialog', { name: 'Enroll a node' })
      .getByRole('button', { name: 'Generate token' })
      .waitFor();
    found.push(...(await violationsInBothSchemes(page, 'the enroll dialog')));
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
