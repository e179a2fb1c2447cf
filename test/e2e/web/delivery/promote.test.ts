/** A pipeline is promoted from its page: into an environment that git describes, one that deploys at once, one that asks. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { findPipeline, idleManifest } from '../../../support/fixtures/pipelines.ts';
import { draw, drawAndDeploy, drawnLines } from '../../../support/scenes/drawn.ts';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('promoting a pipeline from its page', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  let env: string;
  let lab: string;
  let asking: string;
  let production: string;
  let clicks: string;

  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  const dialog = (name = 'Promote clicks'): Locator => page.getByRole('dialog', { name });
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).last();
  const open = (query = '') => page.goto(session.at(`pipelines/${clicks}${query}`));
  const history = () => api.query<Promotion[]>('promotion.history', { pipelineId: clicks });
  const into = (id: string) => `?promote=1&to=${id}`;

  before(async () => {
    session = await openSite({ fleet: { pollIntervalMs: 1_000 } });
    ({ page } = session);
    env = session.site.environmentId;
    errors = watchForErrors(page);
    api = await session.site.api();
    const { teamId } = session.site;
    const another = async (name: string) =>
      (await api.mutate<{ id: string }>('environment.create', { name, teamId })).id;
    lab = await another('lab');
    asking = await another('asking');
    production = await another('production');
    await api.mutate('environment.update', { id: asking, requireApproval: true });
    await api.mutate('gitSync.configure', { environmentId: production, mode: 'sync', path: 'production' });
    const git = new GitClient(session.site.cloneUrl());
    try {
      await git.clone();
      await git.commit({ 'production/orders.yaml': idleManifest('orders') });
      const pushed = await git.push();
      expect(pushed.code, pushed.stderr).to.equal(0);
    } finally {
      await git.remove();
    }
    await session.site.agent();
    clicks = await drawAndDeploy(api, env, 'clicks');
  });
  after(async () => {
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('opens by its button, keeps the target in the address, and gives the focus back', async () => {
    await open();
    await button('Promote').click();
    await dialog().getByRole('heading', { name: 'Nothing stands in the way' }).waitFor();
    await dialog().getByLabel('Into').selectOption('lab');
    await settles(async () => new URL(page.url()).searchParams.get('to'), lab);
    await dialog().getByText('Deploys at once to lab on 0 nodes').waitFor();
    await dialog().getByRole('button', { name: 'Deploy to lab' }).waitFor();
    await dialog().getByLabel('Into').selectOption('asking');
    await dialog().getByText('Waits for another member of the team: once somebody else approves').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await settles(async () => new URL(page.url()).search, '');
    await settles(() => page.evaluate<string>('document.activeElement.textContent.trim()'), 'Promote');
  });

  it('says what changes where git describes the target, and leads to its pull request', async () => {
    await open(into(production));
    await dialog().getByText('Production, with 0 nodes.').waitFor();
    await dialog().getByText('Version 1 runs on 1 of 1 node').waitFor();
    await dialog().getByRole('heading', { name: 'clicks is new in production' }).waitFor();
    await dialog().getByText('kind: Pipeline').waitFor();
    await dialog().getByRole('button', { name: 'Engine config' }).click();
    await dialog().getByText('type: demo_logs').waitFor();
    const words = 'Opens a pull request against main of production.';
    await dialog().getByText(words).waitFor();
    const found = [
      ...(await violationsInBothSchemes(page, 'promote')),
      ...(await beyondAPhone(page, 'promote')),
    ];
    expect(found, found.join('\n')).to.deep.equal([]);
    await dialog().getByRole('button', { name: 'Open a pull request' }).click();
    await note('Pull request #1 is open: nothing changes in production').waitFor();
    await page.waitForURL(session.at('promotions/1', production));
    expect(await findPipeline(api, production, 'clicks')).to.equal(undefined);
  });

  it('goes on with the one that waits, and tells of it in its tab', async () => {
    await open('?tab=promotions');
    const waiting = page.getByRole('list', { name: 'Waiting promotions' });
    await waiting.getByText('Waits for its pull request').waitFor();
    await waiting.getByRole('link', { name: '#1 open' }).waitFor();
    const found = [
      ...(await violationsInBothSchemes(page, 'promotions of a pipeline')),
      ...(await beyondAPhone(page, 'promotions of a pipeline')),
    ];
    expect(found, found.join('\n')).to.deep.equal([]);
    await open(into(production));
    await dialog().getByText('Pull request #1 has it as it is: there is nothing new to promote.').waitFor();
    await api.mutate('pipeline.saveGraph', { pipelineId: clicks, ...drawnLines('.seen = "twice"') });
    await dialog().getByText('"twice"').first().waitFor();
    await dialog().getByText('A promotion of it waits already: this one goes on with').waitFor();
    await dialog().getByText('Goes on with pull request #1 against main of production').waitFor();
    await dialog().getByRole('button', { name: 'Update pull request #1' }).click();
    await note('Pull request #1 is brought up to date.').waitFor();
    await page.waitForURL(session.at('promotions/1', production));
    const [first, second] = await history();
    expect(first?.status).to.equal('AWAITING_PR_MERGE');
    expect(second).to.equal(undefined);
  });

  it('cancels one that waits, once it was asked again', async () => {
    await open('?tab=promotions');
    await page
      .getByRole('list', { name: 'Waiting promotions' })
      .getByRole('button', { name: /^Cancel it/ })
      .click();
    const form = dialog('Cancel the promotion of clicks');
    await form.getByText('Pull request #1 is closed').waitFor();
    await form.getByRole('button', { name: 'Cancel the promotion' }).click();
    await note('is cancelled').waitFor();
    await page
      .getByRole('table', { name: 'Earlier promotions' })
      .getByRole('row', { name: /production clicks Cancelled/ })
      .waitFor();
  });

  it('deploys at once where nobody has to approve it, and shows it there', async () => {
    await open(into(lab));
    await dialog().getByRole('heading', { name: 'clicks is new in lab' }).waitFor();
    await dialog().getByRole('button', { name: 'Deploy to lab' }).click();
    await note('It is deployed to lab.').waitFor();
    const there = await findPipeline(api, lab, 'clicks');
    expect(there?.isDraft).to.equal(false);
    await page.waitForURL(session.at(`pipelines/${there?.id}`, lab));
    await page.getByRole('heading', { name: 'clicks', level: 1 }).waitFor();
  });

  it('shows the difference to what is there, and says so where there is none', async () => {
    await open(into(lab));
    await dialog().getByText('clicks is the same in lab: there is nothing to promote.').waitFor();
    await api.mutate('pipeline.saveGraph', { pipelineId: clicks, ...drawnLines('.seen = "thrice"') });
    await dialog().getByRole('heading', { name: 'What changes in lab' }).waitFor();
    await dialog().getByText('was promoted from this pipeline before; it is brought up to date').waitFor();
    await dialog().getByText('"thrice"').first().waitFor();
  });

  it('asks another member of the team where the target wants an approval', async () => {
    await open(into(asking));
    await dialog().getByRole('button', { name: 'Ask for approval' }).click();
    await note('The request waits for another member of the team.').waitFor();
    await page.waitForURL(session.at('promotions?tab=requests', asking));
    const [newest] = await history();
    expect(newest?.status).to.equal('PENDING');
    await open(into(asking));
    await dialog().getByRole('button', { name: 'Renew the request' }).waitFor();
  });

  it('is held up by a namesake until it is called otherwise', async () => {
    const other = await draw(api, lab, 'orders');
    const orders = await draw(api, env, 'orders');
    await page.goto(session.at(`pipelines/${orders}${into(lab)}`));
    const form = dialog('Promote orders');
    await form.getByRole('heading', { name: 'It cannot be promoted yet' }).waitFor();
    await form.getByText('Not running').waitFor();
    const link = form.getByRole('link', { name: 'Look at orders in lab' });
    expect(await link.getAttribute('href')).to.contain(other);
    expect(await form.getByRole('button', { name: 'Deploy to lab' }).isDisabled()).to.equal(true);
    await form.getByLabel('Name there').fill('-');
    await form.getByText('Begin with a letter or digit').waitFor();
    await form.getByLabel('Name there').fill('orders of staging');
    await form.getByRole('heading', { name: 'orders of staging is new in lab' }).waitFor();
    await form.getByRole('button', { name: 'Deploy to lab' }).click();
    await note('It is deployed to lab.').waitFor();
    expect(await findPipeline(api, lab, 'orders of staging')).to.not.equal(undefined);
  });

  it('names the secrets that the target lacks, and leads to where they are made', async () => {
    await api.mutate('secret.create', { environmentId: env, name: 'PATH_OF_IT', value: 'x' });
    const id = await draw(api, env, 'guarded');
    const { nodes, edges } = await api.query<Pipeline>('pipeline.get', { id });
    await api.mutate('pipeline.saveGraph', {
      pipelineId: id,
      nodes: nodes.map(({ id: _, ...node }) =>
        node.componentKey === 'out'
          ? {
              ...node,
              componentType: 'http',
              // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret, as configs write it.
              config: { uri: 'http://127.0.0.1:9/${SVC_SECRET_PATH_OF_IT}', encoding: { codec: 'json' } },
            }
          : node,
      ),
      edges: [
        { sourceNodeId: 'ticks', targetNodeId: 'tidy' },
        { sourceNodeId: 'tidy', targetNodeId: 'out' },
      ],
    });
    expect(edges).to.have.length(2);
    await page.goto(session.at(`pipelines/${id}${into(lab)}`));
    const form = dialog('Promote guarded');
    await form.getByText('lab lacks a secret that it names: SVC_SECRET_PATH_OF_IT.').waitFor();
    expect(await form.getByRole('button', { name: 'Deploy to lab' }).isDisabled()).to.equal(true);
    await api.mutate('secret.create', { environmentId: lab, name: 'PATH_OF_IT', value: 'y' });
    // It is looked at again as soon as the secret is there.
    await settles(() => form.getByRole('button', { name: 'Deploy to lab' }).isDisabled(), false);
  });

  it('is found in the palette, and is not for viewers', async () => {
    await open();
    await button('Promote').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('promote clicks');
    // Enter takes the option that the kit has marked.
    await page
      .getByRole('option', { name: /^Promote clicks/ })
      .and(page.locator('[data-combobox-selected]'))
      .waitFor();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Into').waitFor();
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at(`pipelines/${clicks}?tab=promotions`));
    await viewer.getByRole('table', { name: 'Earlier promotions' }).waitFor();
    for (const name of ['Promote', 'Promote…'])
      expect(await viewer.getByRole('button', { name, exact: true }).isDisabled(), name).to.equal(true);
    expect(await viewer.getByRole('button', { name: /^Cancel it/ }).count()).to.equal(0);
    await viewer.context().close();
  });

  it('shows why it could not be checked, and the refusal of the server', async () => {
    await page.route('**/api/trpc/promotion.preflight*', (route) =>
      route.fulfill({ status: 500, body: '{}' }),
    );
    await open(into(lab));
    await dialog().getByRole('heading', { name: 'What stands in the way could not be shown' }).waitFor();
    await page.unrouteAll();
    await dialog().getByRole('button', { name: 'Try again' }).click();
    await dialog().getByRole('button', { name: 'Deploy to lab' }).waitFor();
    await page.route('**/api/trpc/promotion.initiate', (route) => route.abort());
    await dialog().getByRole('button', { name: 'Deploy to lab' }).click();
    await dialog().getByRole('alert').getByText('The controller did not answer.').waitFor();
    await page.unrouteAll();
  });
});
