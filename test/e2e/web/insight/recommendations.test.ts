/** Recommendations that lower costs, as a person finds, applies and dismisses them. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { soundGraph } from '../../../support/fixtures/graphs.ts';
import { idleManifest, namedPipeline } from '../../../support/fixtures/pipelines.ts';
import { until } from '../../../support/harness/until.ts';
import { moveHours } from '../../../support/scenes/moved-hours.ts';
import { beyondAPhone, LOAD, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const LARGE = { bytesIn: 1e9, bytesOut: 0.98e9, eventsIn: 1e6 };

describe('recommendations on the page of costs', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let git: GitClient;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  let drawnId: string;

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    const { site } = session;
    const { environmentId, db } = site;
    api = await site.api();
    git = new GitClient(site.cloneUrl());
    await git.clone();
    await git.commit({ 'staging/orders.yaml': idleManifest('orders') });
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
    await until(async () => (await api.query<object[]>('pipeline.list', { environmentId })).length > 0, {
      what: 'orders to be applied',
    });
    const orders = await namedPipeline(api, environmentId, 'orders');
    const sink = /sinks:\s+(\w+)/.exec(idleManifest('orders'))?.[1] ?? 'out';
    await moveHours(db, { environmentId, pipelineId: orders.id }, { ...LARGE, sink });
    drawnId = (await api.mutate<{ id: string }>('pipeline.create', { environmentId, name: 'drawn' })).id;
    await api.mutate('pipeline.saveGraph', { pipelineId: drawnId, ...soundGraph() });
    await api.mutate('deploy.agent', { pipelineId: drawnId, changelog: '' });
    await moveHours(db, { environmentId, pipelineId: drawnId }, LARGE);
  });
  after(async () => {
    await git?.remove();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const open = (of: Page = page, more = '') => of.goto(session.at(`metrics?tab=costs${more}`));
  const part = (of: Page = page): Locator => of.getByRole('region', { name: 'Recommendations' });
  const card = (name: string, of: Page = page): Locator => part(of).getByRole('listitem', { name });
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).last();

  it('are found when an administrator asks, and nothing is there before', async () => {
    await open();
    await part().getByText('Nothing to recommend').waitFor();
    await part().getByText('Not analyzed yet').waitFor();
    await part().getByRole('button', { name: 'Analyze now' }).click();
    await note('2 deployed pipelines were analyzed: 2 new recommendations.').waitFor();
    const orders = card('Low reduction: orders');
    await orders.getByRole('heading', { name: 'Sends 98 % of the bytes that come in' }).waitFor();
    await orders.getByText(/^63\d GB a month$/).waitFor();
    await part()
      .getByText(/^Up to 1\.3 TB a month to save/)
      .waitFor();
    expect(await violationsInBothSchemes(page, 'recommendations')).to.deep.equal([]);
    expect(await beyondAPhone(page, 'recommendations')).to.deep.equal([]);
  });

  it('show the change as a diff, and become a pull request where git describes the pipeline', async () => {
    await card('Low reduction: orders').getByRole('button', { name: 'Apply…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Apply to orders' });
    await dialog.getByText('type: sample').waitFor();
    await dialog.getByText('Nothing changes before it is merged').waitFor();
    expect(await violationsInBothSchemes(page, 'applying a recommendation')).to.deep.equal([]);
    expect(await beyondAPhone(page, 'applying a recommendation')).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Open a pull request' }).click();
    await note(/Proposed as pull request #1/).waitFor();
    const orders = card('Low reduction: orders');
    await orders.getByText('In review').waitFor();
    expect(await orders.getByRole('button', { name: 'Apply…' }).count()).to.equal(0);
    await orders.getByRole('link', { name: 'Pull request #1' }).click();
    await page
      .getByRole('heading', { name: /^#1 Put sample before .* in the pipeline orders \(saves about/ })
      .waitFor();
    await page
      .getByRole('region', { name: 'Description' })
      .getByText(/Estimated saving: 63\d GB in 30 days/)
      .waitFor();
  });

  it('are applied once the pull request is merged', async () => {
    const pull = await session.site.db('pull_requests').where({ number: 1 }).first();
    for (const args of [
      ['fetch', 'origin', String(pull?.branch)],
      ['merge', '--no-edit', 'FETCH_HEAD'],
    ])
      expect((await git.run(...args)).code).to.equal(0);
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
    await open(page, '&recommendations=APPLIED');
    const orders = card('Low reduction: orders');
    await orders.getByText('Applied', { exact: true }).waitFor();
    await orders.getByText('Merged', { exact: true }).waitFor();
    await orders.getByText(/by Headgate/).waitFor();
    await part().getByRole('button', { name: 'Applied (1)' }).waitFor();
  });

  it('become a version where the UI owns the pipeline', async () => {
    await open();
    await card('Low reduction: drawn').getByRole('button', { name: 'Apply…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Apply to drawn' });
    await dialog.getByRole('button', { name: 'Save as a version' }).click();
    await note('Saved as version 2 of drawn: deploy it to make it run.').waitFor();
    await part().getByText('Nothing to recommend').waitFor();
    await part().getByRole('button', { name: 'Applied (2)' }).click();
    await page.waitForURL(/recommendations=APPLIED/);
    await card('Low reduction: drawn').getByRole('link', { name: 'Version 2' }).click();
    await page.waitForURL(/tab=versions/);
  });

  it('are dismissed, or marked as applied', async () => {
    const { db, environmentId } = session.site;
    await db('cost_recommendations').delete();
    await moveHours(db, { environmentId, pipelineId: drawnId }, { eventsIn: 1_000, errors: 100 });
    await api.mutate('costRecommendation.triggerAnalysis', { environmentId });
    await open();
    const failing = card('High error rate: drawn');
    await failing.getByRole('heading', { name: '10 % of its events end in errors' }).waitFor();
    expect(await failing.getByRole('button', { name: 'Apply…' }).count(), 'no change to make').to.equal(0);
    await failing.getByRole('button', { name: 'Dismiss' }).click();
    await note(/Dismissed: drawn gets no such recommendation for 30 days/).waitFor();
    await part().getByRole('button', { name: 'Dismissed (1)' }).click();
    await failing.getByText('Dismissed', { exact: true }).waitFor();
    await db('cost_recommendations')
      .where({ status: 'DISMISSED' })
      .update({ status: 'PENDING', resolved_at: null });
    // Nobody tells open pages of what was written past the controller.
    await page.goto(session.at('metrics?tab=costs'), LOAD);
    await failing.getByRole('button', { name: 'Mark as applied' }).click();
    await note(/Marked as applied/).waitFor();
  });

  it('are shown to a viewer without what they may not do, and say why they cannot be shown', async () => {
    const { db } = session.site;
    await db('cost_recommendations').update({ status: 'PENDING', resolved_at: null });
    const viewer = await session.as('VIEWER');
    await viewer.route('**/api/trpc/**costRecommendation.list**', (route) =>
      route.fulfill({ status: 500, body: '{}' }),
    );
    await open(viewer);
    await part(viewer).getByText('Recommendations could not be shown').waitFor();
    await viewer.unrouteAll();
    await part(viewer).getByRole('button', { name: 'Try again' }).click();
    await card('High error rate: drawn', viewer).waitFor();
    expect(
      await part(viewer)
        .getByRole('button', { name: /Analyze|Apply…|Mark|Dismiss$/ })
        .count(),
    ).to.equal(0);
  });
});
