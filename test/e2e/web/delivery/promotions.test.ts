/** The Promotions page, and a promotion from staging to production as in life: asked for, reviewed, merged, watched. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { namedPipeline, untilRunning } from '../../../support/fixtures/pipelines.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openPromotionScene, PLANNED_MS, type PromotionScene, testedManifest } from './promotion-scene.ts';

describe('the promotions page', function () {
  this.timeout(240_000);
  let scene: PromotionScene;
  /** Of the one who asks: the super admin. */
  let page: Page;
  /** Of an EDITOR, who reviews. */
  let reviewer: Page;
  /** An environment without git, which asks for an approval. */
  let live: string;
  let errors: string[];

  const waiting = (of: Page, text: string): Locator =>
    of
      .getByRole('list', { name: 'Waiting promotions' })
      .getByRole('listitem')
      .filter({ hasText: text })
      .first();
  const initiate = (targetEnvironmentId: string, name?: string) =>
    scene.api.mutate<{ requestId: string; status: string; pullRequest: { number: number } | null }>(
      'promotion.initiate',
      { pipelineId: scene.ordersId, targetEnvironmentId, ...(name ? { name } : {}) },
    );
  const found: string[] = [];
  const look = async (of: Page, where: string): Promise<void> => {
    found.push(...(await violationsInBothSchemes(of, where)), ...(await beyondAPhone(of, where)));
  };

  before(async () => {
    scene = await openPromotionScene();
    page = scene.session.page;
    errors = watchForErrors(page);
    reviewer = await scene.session.as('EDITOR');
    const made = await scene.api.mutate<{ id: string }>('environment.create', {
      name: 'live-by-hand',
      teamId: scene.session.site.teamId,
    });
    live = made.id;
    await scene.api.mutate('environment.update', { id: live, requireApproval: true });
  });
  after(() => scene?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('teaches how a pull request and a promotion come about, also where proposals had their address, and is found in the palette', async () => {
    await page.goto(scene.at('git?tab=proposals'));
    await page.waitForURL(/\/promotions$/);
    await page.getByRole('heading', { name: 'No pull request is open' }).waitFor();
    await page.getByText('git push origin my-change').waitFor();
    await look(page, 'no pull request');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('requests to promote');
    await page.keyboard.press('Enter');
    await page.waitForURL(/tab=requests/);
    await page.getByRole('heading', { name: 'Nothing was promoted yet' }).waitFor();
    await page.goto(scene.at('git?tab=proposals&focus=7'));
    await page.waitForURL(/\/promotions\/7$/);
    await page.getByRole('alert').getByText('Pull request #7 could not be shown').waitFor();
    await page.getByRole('alert').getByText('Request').first().waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Promotions' }).click();
    await page.waitForURL(/\/promotions$/);
    await page.goto(scene.session.at('promotions', live));
    await page.getByRole('heading', { name: 'This environment is not bound to git' }).waitFor();
    expect(await page.getByRole('button', { name: 'Open a pull request' }).isDisabled()).to.equal(true);
  });

  it('takes a pipeline from staging to production: reviewed, approved, merged by squash, and watched until it runs', async () => {
    const { requestId, status, pullRequest } = await initiate(scene.production);
    expect(status).to.equal('AWAITING_PR_MERGE');
    const number = pullRequest?.number ?? 0;
    await scene.untilChecked(number);

    await reviewer.goto(scene.at('overview'));
    await reviewer.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await reviewer.keyboard.press('g');
    await reviewer.keyboard.press('r');
    const row = reviewer
      .getByRole('table', { name: 'Pull requests' })
      .getByRole('row')
      .filter({ hasText: 'orders' });
    await row.getByText('Passes').waitFor();
    await look(reviewer, 'pull requests');
    await reviewer.keyboard.press('j');
    await reviewer.keyboard.press('Enter');
    await reviewer.waitForURL(new RegExp(`/promotions/${number}$`));
    await reviewer.getByRole('heading', { name: new RegExp(`^#${number} .*orders`), level: 1 }).waitFor();

    // Plan, difference, tests and nodes beside each other.
    const plan = reviewer.getByRole('region', { name: 'Plan for production' });
    await plan.getByText('1 created').waitFor();
    await plan.getByText('1 passed').waitFor();
    await plan.getByText(/It touches 1 node: starts on 1/).waitFor();
    const file = reviewer.getByRole('region', { name: 'production/pipelines/orders.yaml' });
    await file.getByText('Added', { exact: true }).waitFor();
    await file.getByText('marks every event').waitFor();
    await reviewer
      .getByRole('region', { name: 'Promotion' })
      .getByText('Waits for its pull request')
      .waitFor();
    await reviewer
      .getByRole('list', { name: 'What cannot be done now' })
      .getByText(/0 of 1 approvals/)
      .waitFor();
    expect(await reviewer.getByRole('button', { name: 'Merge…' }).isDisabled()).to.equal(true);
    await look(reviewer, 'a pull request');

    await reviewer.keyboard.press('c');
    await reviewer.keyboard.type('Looks **right**: the test says so.');
    await reviewer.keyboard.press('Control+Enter');
    await reviewer.getByRole('list', { name: 'Conversation' }).getByText('right', { exact: true }).waitFor();
    await reviewer.getByRole('heading', { level: 1 }).click();

    await reviewer.keyboard.press('a');
    const approval = reviewer.getByRole('dialog', { name: `Approve #${number}` });
    await approval.getByLabel('A word to it').fill('Go');
    await reviewer.keyboard.press('Control+Enter');
    await approval.waitFor({ state: 'hidden' });
    await reviewer.getByRole('list', { name: 'Conversation' }).getByText('Approved').waitFor();
    await settles(() => reviewer.getByRole('button', { name: 'Merge…' }).isDisabled(), false);

    await reviewer.keyboard.press('m');
    const merge = reviewer.getByRole('dialog', { name: `Merge #${number} into main` });
    await merge.getByText(/1 created\. It touches 1 node/).waitFor();
    await merge.getByRole('radio', { name: 'Squash' }).check();
    expect(await merge.getByRole('button', { name: 'Merge into main' }).isDisabled(), 'production').to.equal(
      true,
    );
    await look(reviewer, 'the merge of a pull request');
    await merge.getByLabel('Type production to confirm').fill('production');
    await merge.getByRole('button', { name: 'Merge into main' }).click();
    await merge.waitFor({ state: 'hidden', timeout: patient(PLANNED_MS) });

    await reviewer
      .getByRole('heading', { name: 'production runs what was merged' })
      .waitFor({ timeout: patient(PLANNED_MS) });
    await reviewer.getByRole('group', { name: 'Gate of orders' }).waitFor();
    await reviewer
      .getByRole('region', { name: 'Promotion' })
      .getByText('Deployed', { exact: true })
      .waitFor({ timeout: patient(PLANNED_MS) });
    await look(reviewer, 'a merged pull request');
    const { id } = await namedPipeline(scene.api, scene.production, 'orders');
    await untilRunning(scene.api, id, 1);
    const done = await scene.promotion(requestId);
    expect(done).to.include({ status: 'DEPLOYED', targetPipelineId: id, targetVersion: 1 });
    expect(done.pullRequest).to.include({ number, state: 'merged' });
    const history = await scene.git.run('ls-remote', 'origin', 'refs/heads/headgate/*');
    expect(history.stdout, 'the branch is deleted').to.equal('');
  });

  it('lists it on both sides as done, and keeps tab and state in the address', async () => {
    await page.goto(scene.session.at('promotions?tab=requests', scene.staging));
    const row = page
      .getByRole('table', { name: 'Earlier promotions' })
      .getByRole('row')
      .filter({ hasText: 'orders' });
    await row.getByText('Deployed').waitFor();
    await row.getByRole('link', { name: /#\d+/ }).waitFor();
    await page.goto(scene.at('promotions'));
    await page.getByRole('heading', { name: 'No pull request is open' }).waitFor();
    await page.getByRole('tab', { name: 'Requests', exact: true }).click();
    await page.waitForURL(/tab=requests/);
    await page.goBack();
    await page.getByRole('button', { name: 'Merged' }).click();
    await page.waitForURL(/state=merged/);
    await page.getByRole('table', { name: 'Pull requests' }).getByText('Merged').last().waitFor();
  });

  it('lets another member decide on a request where git does not, and nobody decide on their own', async () => {
    const first = await initiate(live);
    expect(first.status).to.equal('PENDING');
    await page.goto(scene.session.at('promotions?tab=requests', live));
    await waiting(page, 'orders')
      .getByText('You asked for it: another member of the team decides.')
      .waitFor();
    expect(
      await waiting(page, 'orders')
        .getByRole('button', { name: /^Approve/ })
        .isDisabled(),
    ).to.equal(true);

    await reviewer.goto(scene.session.at('promotions?tab=requests', live));
    await waiting(reviewer, 'orders').getByText('Waits for approval').waitFor();
    await look(reviewer, 'requests');
    await waiting(reviewer, 'orders')
      .getByRole('button', { name: /^Reject/ })
      .click();
    const rejection = reviewer.getByRole('dialog', { name: 'Reject orders for live-by-hand' });
    await rejection.getByLabel('Why').fill('Not before the audit');
    await rejection.getByRole('button', { name: 'Reject it' }).click();
    await rejection.waitFor({ state: 'hidden' });
    // The one who asked sees it without a click.
    const rejected = page
      .getByRole('table', { name: 'Earlier promotions' })
      .getByRole('row')
      .filter({ hasText: 'Rejected' });
    await rejected.getByText('Not before the audit').waitFor();

    await initiate(live);
    await waiting(reviewer, 'orders')
      .getByRole('button', { name: /^Approve/ })
      .click();
    const approval = reviewer.getByRole('dialog', { name: 'Approve orders for live-by-hand' });
    await approval.getByText(/starts on every node/).waitFor();
    await look(reviewer, 'the approval of a request');
    await approval.getByLabel('Type live-by-hand to confirm').fill('live-by-hand');
    await approval.getByRole('button', { name: 'Approve and deploy it' }).click();
    await approval.waitFor({ state: 'hidden', timeout: patient(PLANNED_MS) });
    await reviewer.getByRole('table', { name: 'Earlier promotions' }).getByText('Deployed').waitFor();
    await until(async () => (await namedPipeline(scene.api, live, 'orders')).deployedVersionNumber === 1, {
      what: 'orders to be deployed',
    });
  });

  it('lets the one who asked call it off, and closes its pull request with it', async () => {
    const { requestId, pullRequest } = await initiate(scene.production, 'orders-eu');
    await page.goto(scene.at('promotions?tab=requests'));
    const row = waiting(page, 'orders-eu');
    await row.getByRole('link', { name: `#${pullRequest?.number} open` }).waitFor();
    await row.getByRole('button', { name: /^Cancel it/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel the promotion of orders' });
    await dialog.getByText(`Pull request #${pullRequest?.number} is closed`).waitFor();
    await dialog.getByRole('button', { name: 'Cancel the promotion' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await scene.promotion(requestId)).status).to.equal('CANCELLED');
    await until(async () => (await scene.pull(pullRequest?.number ?? 0)).state === 'closed', {
      what: 'its pull request to be closed',
    });
  });

  it('rebuilds a promotion that conflicts with what was merged meanwhile, by one click', async () => {
    const { git } = scene;
    const path = 'production/pipelines/orders.yaml';
    await git.run('pull', '--quiet', 'origin', 'main');
    await scene.push({ 'staging/orders.yaml': testedManifest('orders', 'two') }, 'Say two');
    await until(
      async () => (await namedPipeline(scene.api, scene.staging, 'orders')).deployedVersionNumber === 2,
      { what: 'the second version', timeoutMs: PLANNED_MS, everyMs: 50 },
    );
    const { pullRequest } = await initiate(scene.production);
    const number = pullRequest?.number ?? 0;
    const before = await readFile(join(git.folder, path), 'utf8');
    const beside = before.replace(/^( +)description: .*$/m, '$&\n$1nodeSelector: { name: production-node }');
    expect(beside).to.not.equal(before);
    await scene.push({ [path]: beside }, 'Only on that node');

    await page.goto(scene.at(`promotions/${number}`));
    const banner = page.getByRole('status').filter({ hasText: 'It conflicts with main in 1 file' });
    await banner.waitFor({ timeout: patient(PLANNED_MS) });
    await page.getByRole('button', { name: 'Bring in main' }).click();
    await banner.waitFor({ state: 'detached', timeout: patient(PLANNED_MS) });
    expect(await page.getByText('New commits were pushed: look again').count(), 'its own').to.equal(0);
    await page.getByRole('region', { name: path }).getByText('two').first().waitFor();
    expect((await scene.untilChecked(number)).state).to.equal('success');
    await git.run('fetch', '--quiet', 'origin');
    const merged = await git.run('show', `origin/${(await scene.pull(number)).branch}:${path}`);
    expect(merged.stdout).to.include('nodeSelector: { name: production-node }').and.to.include('two');
  });

  it('shows a VIEWER everything and no button to decide with', async () => {
    await initiate(live, 'second');
    const viewer = await scene.session.as('VIEWER');
    await viewer.goto(scene.session.at('promotions?tab=requests', live));
    await waiting(viewer, 'second')
      .getByText(/Your role in the team of live-by-hand is VIEWER/)
      .waitFor();
    expect(await waiting(viewer, 'second').getByRole('button').count()).to.equal(0);
    await viewer.goto(scene.at('promotions?state=merged'));
    await viewer
      .getByRole('table', { name: 'Pull requests' })
      .getByRole('link', { name: /orders/ })
      .waitFor();
    expect(await viewer.getByRole('button', { name: 'Open a pull request' }).isDisabled()).to.equal(true);
    await viewer.context().close();
  });

  it('can be used by everybody, in both schemes and on a phone', () => {
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
