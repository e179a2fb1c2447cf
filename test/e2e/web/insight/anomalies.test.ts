/** Anomalies as people read them: in charts, below them, beside pipelines; and the settings that they follow. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { enrollNode } from '../../../support/agents/agent-client.ts';
import { insertAnomaly } from '../../../support/fixtures/anomalies.ts';
import { soundGraph } from '../../../support/fixtures/graphs.ts';
import { recordHistory } from '../../../support/scenes/recorded-metrics.ts';
import {
  beyondAPhone,
  LOAD,
  settles,
  untilLive,
  violationsInBothSchemes,
  watchForErrors,
} from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const MINUTE_MS = 60_000;

describe('the pages of anomalies', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let pipelineId: string;
  let environmentId: string;

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    ({ environmentId } = session.site);
    const api = await session.site.api();
    const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name: 'orders' });
    pipelineId = id;
    await api.mutate('pipeline.saveGraph', { pipelineId, ...soundGraph() });
    await api.mutate('deploy.agent', { pipelineId, changelog: '' });
    const token = await session.site.enrollmentToken();
    const { nodeId } = await enrollNode(session.url, token, { hostname: 'edge-1' });
    const flow = { environmentId, nodeId, pipelineId, eventsPerSecond: 40 };
    await recordHistory(session.site.db, [flow], { minutes: 60 });
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const list = (on = page): Locator => on.getByRole('region', { name: 'Anomalies', exact: true });
  const openTab = (on = page, more = '') =>
    on.goto(session.at(`pipelines/${pipelineId}?tab=metrics${more}`), LOAD);
  const insert = (columns: Record<string, unknown>) =>
    insertAnomaly(session.site.db, { environmentId, pipelineId }, columns);
  const isUsable = async (where: string): Promise<void> => {
    const found = await violationsInBothSchemes(page, where);
    found.push(...(await beyondAPhone(page, where)));
    expect(found, found.join('\n')).to.deep.equal([]);
  };

  it('say that nothing is unusual, and what is compared', async () => {
    await openTab();
    await list().getByText('Nothing unusual was seen.').waitFor();
    await page.goto(session.at('pipelines'), LOAD);
    await page.getByRole('row', { name: /orders/ }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Anomalies' }).count()).to.equal(0);
  });

  it('show what was seen, what was expected, since when, and the version and commit before it', async () => {
    const started = new Date(Date.now() - 20 * MINUTE_MS);
    await insert({
      ...{
        severity: 'critical',
        value: 40,
        expected_low: 85,
        expected_high: 115,
        sigma: 9,
        started_at: started,
      },
      ...{ commit_sha: 'c0ffee0'.padEnd(40, '0'), deployed_at: new Date(Date.now() - 60 * MINUTE_MS) },
    });
    await insert({
      ...{ metric: 'latency', direction: 'up', value: 80, expected_low: 1, expected_high: 12.5 },
      ...{ started_at: started, ended_at: new Date(Date.now() - 10 * MINUTE_MS), version: null },
    });
    await openTab();
    const row = list().getByRole('listitem').filter({ hasText: 'Fewer events in than usual' });
    await row.getByText('Critical').waitFor();
    await row.getByText('40/s', { exact: true }).waitFor();
    await row.getByText('85/s to 115/s', { exact: true }).waitFor();
    await row.getByText('Since 20 min ago, and it goes on.').waitFor();
    await row.getByRole('link', { name: 'version 1 c0ffee0' }).waitFor();
    await list()
      .getByRole('listitem')
      .filter({ hasText: 'Higher latency than usual' })
      .getByText('ended')
      .waitFor();
    await page.getByRole('img', { name: /^Events: In / }).waitFor();
    await isUsable('the anomalies of a pipeline');
  });

  it('are counted beside the pipeline, with the worst severity, and lead to the charts', async () => {
    await page.goto(session.at('pipelines'), LOAD);
    const badge = page.getByRole('link', {
      name: '2 Critical: 2 open anomalies, the worst one is critical, of orders',
    });
    await badge.getByText('2 Critical').waitFor();
    await isUsable('the pipelines with anomalies');
    await badge.click();
    await list().getByText('Fewer events in than usual').waitFor();
  });

  it('are acknowledged and dismissed by editors, at once on other pages too', async () => {
    const editor = await session.as('EDITOR');
    await editor.goto(session.at('pipelines'));
    await editor.getByText('2 Critical').waitFor();
    await untilLive(editor);
    const latency = list().getByRole('listitem').filter({ hasText: 'Higher latency' });
    await latency.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('status', { name: 'Notes' }).getByText('The anomaly is dismissed.').waitFor();
    await settles(() => latency.count(), 0, 'the dismissed one to go');
    await editor.getByText('1 Critical').waitFor();
    await openTab(editor);
    await list(editor).getByRole('button', { name: 'Acknowledge' }).click();
    await list(editor).getByText('No anomaly is open.').waitFor();
    await list(editor).getByRole('button', { name: 'All', exact: true }).click();
    await list(editor).getByText('Acknowledged by').waitFor();
    expect(new URL(editor.url()).searchParams.get('anomalies')).to.equal('all');
    await editor.reload();
    await list(editor).getByText('Dismissed by').waitFor();
    const [acknowledged] = await session.site.db('anomalies').where({ metric: 'eventsIn' });
    expect(acknowledged).to.include({ status: 'acknowledged' });
  });

  it('are not decided by viewers', async () => {
    await insert({ severity: 'info' });
    const viewer = await session.as('VIEWER');
    await openTab(viewer);
    const row = list(viewer).getByRole('listitem').filter({ hasText: 'Info' });
    for (const name of ['Acknowledge', 'Dismiss'])
      expect(await row.getByRole('button', { name }).isDisabled()).to.equal(true);
  });

  it('say why they cannot be shown, and try again', async () => {
    let fails = true;
    await page.route('**/api/trpc/**anomaly.list**', (route) =>
      fails ? route.fulfill({ status: 500, body: '{}' }) : route.continue(),
    );
    await openTab();
    await list().getByText('The anomalies of this pipeline could not be shown').waitFor();
    fails = false;
    await list().getByRole('button', { name: 'Try again' }).click();
    await list().getByText('Info').waitFor();
    await page.unroute('**/api/trpc/**anomaly.list**');
    errors.splice(0);
  });

  it('follow settings of a super admin', async () => {
    await page.goto(session.at('settings?tab=server'), LOAD);
    const form = list();
    const save = form.getByRole('button', { name: 'Save the anomaly settings' });
    const field = (label: string) => form.getByLabel(label);
    await settles(() => save.isDisabled(), true, 'nothing to save');
    await field('Days that are compared with').fill('91');
    await form.getByText('A whole number from 1 to 90.').waitFor();
    await settles(() => save.isDisabled(), true, 'a wrong number');
    await field('Days that are compared with').fill('28');
    await field('Standard deviations until a warning').fill('3.5');
    await form.getByLabel('Latency').uncheck();
    await isUsable('the settings of anomalies');
    await save.click();
    await page.getByRole('status', { name: 'Notes' }).getByText('The anomaly settings are saved.').waitFor();
    await page.reload();
    await settles(() => field('Days that are compared with').inputValue(), '28');
    await settles(() => field('Standard deviations until a warning').inputValue(), '3.5');
    expect(await form.getByLabel('Latency').isChecked()).to.equal(false);
    expect(await form.getByLabel('Errors').isChecked()).to.equal(true);
  });
});
