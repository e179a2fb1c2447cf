/** A rollout by stages as people watch it: real agents take the canary, and the buttons of the page end it. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { RolloutSummary } from '../../../../schemas/api/delivery/rollouts.ts';
import type { NodeSummary } from '../../../../schemas/api/fleet/fleet.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { idleManifest, namedPipeline, onNodes } from '../../../support/fixtures/pipelines.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { draw, drawAndDeploy, drawnLines } from '../../../support/scenes/drawn.ts';
import {
  beyondAPhone,
  LOAD,
  settles,
  untilLive,
  violationsInBothSchemes,
  watchForErrors,
} from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const NAMES = ['one', 'two'] as const;

describe('a rollout by stages', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  let env: string;
  let clicks: string;

  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).last();
  const panel = (version: number): Locator =>
    page.getByRole('region', { name: `Rollout of version ${version}` });
  const tab = (name: string): Promise<void> => page.getByRole('tab', { name, exact: true }).click();
  const open = (query = '', id = clicks) => page.goto(session.at(`pipelines/${id}${query}`));

  /** `one 2, two 1`: what each node runs. */
  async function running(): Promise<string> {
    const nodes = await onNodes(api, clicks);
    return nodes
      .map(({ nodeName, status, version }) => `${nodeName} ${status === 'RUNNING' ? version : status}`)
      .sort()
      .join(', ');
  }
  const untilRuns = (one: number, two: number) =>
    settles(running, `one ${one}, two ${two}`, 'what the nodes run');
  const change = (source: string) =>
    api.mutate('pipeline.saveGraph', { pipelineId: clicks, ...drawnLines(source) });
  const last = async (): Promise<RolloutSummary | undefined> =>
    (await api.query<RolloutSummary[]>('stagedRollout.list', { pipelineId: clicks }))[0];
  async function begin(more: object = {}): Promise<string> {
    const { rolloutId } = await api.mutate<{ rolloutId: string }>('stagedRollout.create', {
      pipelineId: clicks,
      canarySelector: { name: 'one' },
      healthCheckWindowMinutes: 30,
      changelog: 'by hand',
      ...more,
    });
    return rolloutId;
  }

  before(async () => {
    session = await openSite({ fleet: { pollIntervalMs: 1_000 } });
    ({ page } = session);
    env = session.site.environmentId;
    errors = watchForErrors(page);
    api = await session.site.api();
    // Before anything is drawn: the first plan of an environment that holds something waits for an approval.
    const git = new GitClient(session.site.cloneUrl());
    try {
      await git.clone();
      await git.commit({ 'staging/orders.yaml': idleManifest('orders') });
      const pushed = await git.push();
      expect(pushed.code, pushed.stderr).to.equal(0);
    } finally {
      await git.remove();
    }
    for (const name of NAMES) await session.site.agent({ name });
    for (const { id, labels } of await api.query<NodeSummary[]>('fleet.list', { environmentId: env }))
      await api.mutate('fleet.update', { id, name: labels.name });
    clicks = await drawAndDeploy(api, env, 'clicks');
    await untilRuns(1, 1);
  });
  after(async () => {
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('tells while it is chosen which nodes would try it, and takes no selector of none', async () => {
    await change('.seen = "again"');
    await open('?deploy=1');
    const form = dialog('Deploy clicks');
    await form.getByRole('button', { name: 'Canary first' }).click();
    await form.getByText('Give the labels of the nodes that try the version first.').waitFor();
    const submit = form.getByRole('button', { name: /^Try version 2/ });
    expect(await submit.isDisabled()).to.equal(true);
    await form.getByLabel('Key of label 1').fill('name');
    await form.getByLabel('Value of label 1').fill('nobody');
    await form.getByText('No node of this pipeline carries these labels').waitFor();
    await form.getByRole('button', { name: 'name=one 1 node' }).click();
    await form.getByText('1 node of 2 tries it first: one. 1 node goes on as it is until then.').waitFor();
    await form.getByLabel('Minutes that they are watched').fill('0');
    await form.getByText('A whole number of minutes, from 1 to 10,080.').waitFor();
    expect(await submit.isDisabled()).to.equal(true);
    const found = [
      ...(await violationsInBothSchemes(page, 'canary')),
      ...(await beyondAPhone(page, 'canary')),
    ];
    expect(found, found.join('\n')).to.deep.equal([]);
  });

  it('begins on the canary alone, and shows live how far it is', async () => {
    const form = dialog('Deploy clicks');
    await form.getByLabel('Minutes that they are watched').fill('30');
    await form.getByLabel('What changed, and why').fill('Sees it again');
    await form.getByRole('button', { name: 'Try version 2 on 1 node' }).click();
    await note('The canary nodes take the version').waitFor();
    await settles(() => dialog('Deploy clicks').count(), 0);
    const stages = panel(2).getByRole('list', { name: 'Stages of the rollout' });
    await stages.getByText('1 of 1 node runs it').waitFor();
    await stages.getByText(/left of 30 min$/).waitFor();
    await stages.getByRole('progressbar', { name: 'Of the window' }).waitFor();
    await stages.getByText('1 more node, if it stays healthy').waitFor();
    await panel(2).getByText('Sees it again').waitFor();
    await untilRuns(2, 1);
    const rows = page.getByRole('table', { name: 'Nodes of clicks' });
    await rows.getByRole('row', { name: /^one canary/ }).waitFor();
    expect(await rows.getByText('canary').count()).to.equal(1);
    const nodes = panel(2).getByRole('table', { name: 'Nodes by stage' });
    await nodes.getByRole('row', { name: /^one canary v2 Running/ }).waitFor();
    await nodes.getByRole('row', { name: /^two after it v1 Running/ }).waitFor();
    const figures = panel(2).getByRole('table', { name: /^Canary against the other nodes/ });
    await figures.getByRole('row', { name: /^Nodes 1 1$/ }).waitFor();
    // It is compared as events come in, without a look from anybody.
    await settles(
      async () => (await figures.getByRole('row', { name: /^Events in 0 0$/ }).count()) === 0,
      true,
    );
    const found = [
      ...(await violationsInBothSchemes(page, 'a rollout')),
      ...(await beyondAPhone(page, 'a rollout')),
    ];
    expect(found, found.join('\n')).to.deep.equal([]);
  });

  it('has a deploy and an undeploy say that they would end it', async () => {
    await button('Deploy').click();
    const form = dialog('Deploy clicks');
    await form.getByText('Version 2 is being tried on 1 node: its rollout is under way.').waitFor();
    const submit = form.getByRole('button', { name: 'Deploy version 3 to 2 nodes' });
    expect(await submit.isDisabled()).to.equal(true);
    await form.getByLabel('End that rollout: this deploy takes its place').check();
    await settles(() => submit.isDisabled(), false);
    await form.getByRole('button', { name: 'Cancel' }).click();
    await settles(() => page.evaluate<string>('document.activeElement.textContent.trim()'), 'Deploy');
    await button('Actions on clicks').click();
    await page.getByRole('menuitem', { name: 'Undeploy' }).first().click();
    await dialog('Undeploy clicks')
      .getByText('Undeploying ends the rollout of version 2, which is under way.')
      .waitFor();
    await page.keyboard.press('Escape');
    await settles(() => dialog('Undeploy clicks').count(), 0);
  });

  it('is watched by everybody, broadened by editors after it said what that touches, and seen to end without being asked', async () => {
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at(`pipelines/${clicks}`));
    const seen = viewer.getByRole('region', { name: 'Rollout of version 2' });
    await seen.getByText('1 of 1 node runs it').waitFor();
    for (const name of ['Broaden to all nodes', 'Roll back'])
      expect(await seen.getByRole('button', { name }).isDisabled(), name).to.equal(true);
    await untilLive(viewer);
    await panel(2).getByRole('button', { name: 'Broaden to all nodes' }).click();
    const form = dialog('Broaden version 2 to all nodes');
    await form.getByText('This restarts 1 process on 1 node: it goes from version 1 to version 2.').waitFor();
    await form.getByRole('button', { name: 'Broaden to all nodes' }).click();
    await note('Version 2 goes to all nodes.').waitFor();
    await settles(() => panel(2).count(), 0);
    await settles(() => seen.count(), 0);
    await viewer.context().close();
    await untilRuns(2, 2);
    await tab('Rollouts');
    await page
      .getByRole('table', { name: 'Rollouts' })
      .getByRole('row', { name: /^v2 On all nodes/ })
      .waitFor();
    const found = [
      ...(await violationsInBothSchemes(page, 'rollouts')),
      ...(await beyondAPhone(page, 'rollouts')),
    ];
    expect(found, found.join('\n')).to.deep.equal([]);
  });

  it('waits for a person where it is told to, and says why', async () => {
    await change('.seen = "once more"');
    const rolloutId = await begin({ onPass: 'hold' });
    await until(async () => (await last())?.healthStartedAt !== null, { what: 'the window to begin' });
    // Nobody waits half an hour.
    await session.site.db.raw(
      `UPDATE rollouts SET health_started_at = health_started_at - interval '31 minutes' WHERE id = ?`,
      [rolloutId],
    );
    await panel(3)
      .getByText('Waits for a decision')
      .waitFor({ timeout: patient(30_000) });
    await panel(3).getByText('Broaden it, or roll it back.').waitFor();
    await panel(3).getByText('30 min are over').waitFor();
  });

  it('asks for the name in production, shows a refusal, and takes the version back', async () => {
    await api.mutate('environment.update', { id: env, name: 'production' });
    await page.goto(session.at(`pipelines/${clicks}`), LOAD);
    await panel(3).getByRole('button', { name: 'Roll back' }).click();
    const form = dialog('Roll version 3 back');
    await form
      .getByText('This restarts 1 process on 1 node: it goes from version 3 back to version 2.')
      .waitFor();
    const submit = form.getByRole('button', { name: 'Roll back to version 2' });
    expect(await submit.isDisabled()).to.equal(true);
    await form.getByLabel('Type clicks to confirm').fill('clicks');
    await page.route('**/api/trpc/stagedRollout.rollback', (route) => route.abort());
    await submit.click();
    await form.getByRole('alert').getByText('The controller did not answer.').waitFor();
    await page.unroute('**/api/trpc/stagedRollout.rollback');
    await submit.click();
    await note('Version 3 is taken back').waitFor();
    await settles(() => panel(3).count(), 0);
    await untilRuns(2, 2);
    await tab('Rollouts');
    await page
      .getByRole('table', { name: 'Rollouts' })
      .getByRole('row', { name: /^v3 Rolled back/ })
      .waitFor();
    await api.mutate('environment.update', { id: env, name: 'staging' });
  });

  it('leads to the lines of the manifest where git describes the pipeline', async () => {
    const { id } = await namedPipeline(api, env, 'orders');
    await open('?tab=rollouts', id);
    await page
      .getByRole('region', { name: 'lines for the manifest' })
      .getByText('strategy: canary')
      .waitFor();
    await open('?deploy=canary', id);
    const form = dialog('Deploy orders');
    await form.getByRole('button', { name: 'name=two 1 node' }).click();
    await form.getByText('canarySelector: { name: two }').waitFor();
    expect(await form.getByRole('button', { name: /^Try version/ }).isDisabled()).to.equal(true);
  });

  it('teaches how one is made where there was none, and says so where it could not be read', async () => {
    const draft = await draw(api, env, 'drafted');
    await page.route('**/api/trpc/stagedRollout.list*', (route) =>
      route.fulfill({ status: 500, body: '{}' }),
    );
    await open('?tab=rollouts', draft);
    await page.getByRole('heading', { name: 'Rollouts could not be shown' }).waitFor();
    await page.unrouteAll();
    await button('Try again').click();
    await page.getByRole('heading', { name: 'No version went out by stages yet' }).waitFor();
    await page.getByRole('link', { name: 'Deploy it to a canary first' }).click();
    await dialog('Deploy drafted').getByLabel('Key of label 1').waitFor();
  });
});
