/** Charts, sparklines, costs and anomalies as a person reads them, over hours that were recorded. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { SettingsView } from '../../../../schemas/api/settings.ts';
import { enrollNode } from '../../../support/agents/agent-client.ts';
import { insertAnomaly } from '../../../support/fixtures/anomalies.ts';
import { soundGraph } from '../../../support/fixtures/graphs.ts';
import { recordHistory } from '../../../support/scenes/recorded-metrics.ts';
import { expectUsable, LOAD, settles, untilLive, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const MINUTE_MS = 60_000;
const ago = (minutes: number): Date => new Date(Date.now() - minutes * MINUTE_MS);
const LONG_AGO = 'from=2020-01-01T00:00:00Z&to=2020-01-01T01:00:00Z';

describe('the pages of metrics', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let environmentId: string;
  let pipelineId: string;
  let idleId: string;
  let nodeId: string;

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    environmentId = session.site.environmentId;
    const { db } = session.site;
    const api = await session.site.api();
    const make = async (name: string) => {
      const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name });
      await api.mutate('pipeline.saveGraph', { pipelineId: id, ...soundGraph() });
      await api.mutate('deploy.agent', { pipelineId: id, changelog: '' });
      return id;
    };
    pipelineId = await make('orders');
    idleId = await make('idle');
    const token = await session.site.enrollmentToken();
    nodeId = (await enrollNode(session.url, token, { hostname: 'edge-1' })).nodeId;
    await recordHistory(db, [{ environmentId, nodeId, pipelineId, eventsPerSecond: 40 }], {
      minutes: 180,
      isSilent: (minutes) => minutes > 20 && minutes < 30,
      exitsAt: [45],
    });
    const deploy = (id: string, version: number, minutes: number, commit: string | null) => ({
      ...{ pipeline_id: id, version, deployed_at: ago(minutes), commit_sha: commit },
    });
    const commit = 'c'.repeat(40);
    await db('pipeline_deploys').insert([
      ...[2, 4].map((version) => deploy(pipelineId, version, 40, commit)),
      ...[3, 5].map((version) => deploy(idleId, version, 40, commit)),
      deploy(idleId, 500, 55, null),
    ]);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const image = (name: RegExp) => page.getByRole('img', { name });
  const chart = (title: string) => image(new RegExp(`^${title}: `));
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const marks = () => page.getByRole('list', { name: 'What happened meanwhile' });
  const anomalies = (on = page): Locator => on.getByRole('region', { name: 'Anomalies', exact: true });
  const anomaly = (text: string, on = page): Locator =>
    anomalies(on).getByRole('listitem').filter({ hasText: text });
  const note = (text: string): Locator => page.getByRole('status', { name: 'Notes' }).getByText(text);
  const searchParam = (name: string) => new URL(page.url()).searchParams.get(name);
  const fail = (procedure: string) =>
    page.route(`**/api/trpc/**${procedure}**`, (route) => route.fulfill({ status: 500, body: '{}' }));
  const openTab = (id = pipelineId, more = '') => page.goto(session.at(`pipelines/${id}?tab=metrics${more}`));
  const isUsable = (where: string) => expectUsable(page, where);

  /** Drags over a tenth of the chart of bytes, and answers the minutes that the address then asks for. */
  async function zoomIn(back: string): Promise<number> {
    const bytes = chart('Bytes');
    await bytes.scrollIntoViewIfNeeded();
    const box = await bytes.boundingBox();
    if (!box) throw new Error('no chart');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.6, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
    await page.mouse.up();
    await button(back).waitFor();
    return (Date.parse(searchParam('to') ?? '') - Date.parse(searchParam('from') ?? '')) / MINUTE_MS;
  }

  it('show what a pipeline moved, with deploy and crash as marks, one crosshair, and that nothing is unusual', async () => {
    await openTab();
    await image(/^Bytes: In 3\.9\d KiB\/s, Out 4\d\d B\/s$/).waitFor();
    for (const title of ['Events', 'Errors and discarded events', 'Latency', 'Utilization'])
      await chart(title).last().waitFor();
    await marks().getByText('Version 1 was deployed').waitFor();
    await marks().getByText('An engine ended').waitFor();
    await anomalies().getByText('Nothing unusual was seen.').waitFor();
    const times = page.getByRole('region', { name: 'Metrics' }).locator('.legend-time');
    const newest = await times.first().textContent();
    await chart('Bytes').hover({ position: { x: 200, y: 80 } });
    await settles(
      async () => {
        const [at, ...others] = new Set(await times.allTextContents());
        return at !== newest && /\d\d:\d\d/.test(at ?? '') && others.length === 0;
      },
      true,
      'another time in all charts',
    );
    expect(await times.count()).to.be.greaterThan(4);
  });

  it('keep range, comparison and parts in the address, and zoom into a time that is dragged over, and back', async () => {
    await button('6 h').click();
    await page.waitForURL(/range=6h/);
    expect(await zoomIn('Back to the last 6 h')).to.be.within(5, 60);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('from'));
    await page.goForward();
    await button('Back to the last 6 h').click();
    await page.waitForURL((url) => !url.searchParams.has('from'));
    await page.getByLabel('Compare with the period before').click();
    await image(/^Bytes: .*In before/).waitFor();
    expect(searchParam('compare')).to.equal('before');
    await button('By component').click();
    await image(/^Events: .*parse/).waitFor();
    await button('By node').click();
    await image(/^Events in: .*edge-1/).waitFor();
    await page.reload();
    await image(/^Events in: .*edge-1/).waitFor();
    await settles(() => button('6 h').getAttribute('aria-pressed'), 'true', 'the range');
  });

  it('show the host of a node and what its pipelines moved, and the last hour in lists', async () => {
    await page.goto(session.at('fleet'));
    await page
      .getByRole('row', { name: /edge-1/ })
      .locator('.spark-line')
      .first()
      .waitFor();
    await page.goto(session.at(`fleet/${nodeId}`));
    await image(/^Processor: Busy 25 %$/).waitFor();
    await image(/^Memory: Used 3\.73 GiB/).waitFor();
    await image(/^Network: Received 1000 B\/s, Sent –$/).waitFor();
    await chart('Events of its pipelines').waitFor();
    await page.goto(session.at('overview'));
    await page.locator('.env-card .spark-line').first().waitFor();
    await page.goto(session.at('pipelines'));
    await page
      .getByRole('row', { name: /orders/ })
      .locator('.spark-line')
      .first()
      .waitFor();
    expect(await page.getByRole('columnheader', { name: 'Anomalies' }).count()).to.equal(0);
  });

  it('show an environment together, by pipeline and by node, with its deployments in one line each moment', async () => {
    await page.goto(session.at('metrics'));
    await chart('Latency').waitFor();
    const many = marks().getByRole('listitem').filter({ hasText: '4 deployments' });
    expect(await many.textContent()).to.match(/^4 deployments: idle v5, orders v4 ccccccc/);
    await isUsable('the metrics of an environment');
    await button('6 h').click();
    await page.getByLabel('Compare with the period before').click();
    await image(/^Bytes: .*In before/).waitFor();
    expect(await zoomIn('Back to the last 6 h')).to.be.within(5, 60);
    expect(searchParam('compare')).to.equal('before');
    await button('By pipeline').click();
    await image(/^Events in: orders/).waitFor();
    await button('By node').click();
    await image(/^Events in: edge-1/).waitFor();
    await button('Back to the last 6 h').click();
    await page.waitForURL((url) => !url.searchParams.has('from') && url.searchParams.get('range') === '6h');
    await marks().getByRole('link', { name: 'Version 500 of idle was deployed' }).click();
    await page.getByRole('heading', { name: 'idle', exact: true }).waitFor();
    expect(searchParam('tab')).to.equal('metrics');
  });

  it('say what to do where nothing was reported', async () => {
    await openTab(idleId, `&${LONG_AGO}`);
    await page.getByText('Nothing was reported in this time').waitFor();
    await page.goto(session.at(`metrics?${LONG_AGO}`));
    await page.getByText('Nothing was reported in this time').waitFor();
  });

  it('say what cannot be shown, and try again', async () => {
    // A time that was not asked for before: what is known already would be shown.
    for (const [path, asked, what] of [
      ['metrics?range=15m', 'dashboard.chartMetrics', 'environment'],
      [`pipelines/${pipelineId}?tab=metrics&range=15m`, 'metrics.getPipelineMetrics', 'pipeline'],
    ] as const) {
      await fail(asked);
      await page.goto(session.at(path));
      await page.getByText(`The metrics of this ${what} could not be shown`).waitFor();
      await page.unrouteAll();
      await button('Try again').click();
      await chart('Bytes').waitFor();
    }
    errors.splice(0);
  });

  it('count anomalies beside the pipeline, and show what was seen and expected, since when, and the deploy before', async () => {
    const of = { environmentId, pipelineId };
    await insertAnomaly(session.site.db, of, {
      ...{ severity: 'critical', value: 40, expected_low: 85, expected_high: 115, sigma: 9 },
      ...{ started_at: ago(20), commit_sha: 'c0ffee0'.padEnd(40, '0'), deployed_at: ago(60) },
    });
    await insertAnomaly(session.site.db, of, {
      ...{ metric: 'latency', direction: 'up', value: 80, expected_low: 1, expected_high: 12.5 },
      ...{ started_at: ago(20), ended_at: ago(10), version: null },
    });
    // Nobody tells open pages of what was written past the controller.
    await page.goto(session.at('pipelines'), LOAD);
    const badge = page.getByRole('link', {
      name: '2 Critical: 2 open anomalies, the worst one is critical, of orders',
    });
    await badge.getByText('2 Critical').waitFor();
    await isUsable('the pipelines with anomalies');
    await fail('anomaly.list');
    await badge.click();
    await anomalies().getByText('The anomalies of this pipeline could not be shown').waitFor();
    await page.unrouteAll();
    await anomalies().getByRole('button', { name: 'Try again' }).click();
    errors.splice(0);
    const row = anomaly('Fewer events in than usual');
    await row.getByText('Critical').waitFor();
    await row.getByText('40/s', { exact: true }).waitFor();
    await row.getByText('85/s to 115/s', { exact: true }).waitFor();
    await row.getByText('Since 20 min ago, and it goes on.').waitFor();
    await row.getByRole('link', { name: 'version 1 c0ffee0' }).waitFor();
    await anomaly('Higher latency than usual').getByText('ended').waitFor();
    await image(/^Events: In /).waitFor();
    await isUsable('the metrics and anomalies of a pipeline');
  });

  it('have anomalies decided on, at once on other pages too, and not by viewers', async () => {
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at('pipelines'));
    await viewer.getByText('2 Critical').waitFor();
    await untilLive(viewer);
    await anomaly('Higher latency').getByRole('button', { name: 'Dismiss' }).click();
    await note('The anomaly is dismissed.').waitFor();
    await settles(() => anomaly('Higher latency').count(), 0, 'the dismissed one to go');
    await viewer.getByText('1 Critical').click();
    for (const name of ['Acknowledge', 'Dismiss'])
      expect(await anomaly('Critical', viewer).getByRole('button', { name }).isDisabled()).to.equal(true);
    await anomalies().getByRole('button', { name: 'Acknowledge' }).click();
    await anomalies(viewer).getByText('No anomaly is open.').waitFor();
    await anomalies().getByText('No anomaly is open.').waitFor();
    await anomalies().getByRole('button', { name: 'All', exact: true }).click();
    await anomalies().getByText('Acknowledged by').waitFor();
    await anomalies().getByText('Dismissed by').waitFor();
    expect(searchParam('anomalies')).to.equal('all');
    await viewer.context().close();
  });

  it('follow settings of anomalies of a super admin', async () => {
    await page.goto(session.at('settings?tab=server'));
    const form = anomalies();
    const save = form.getByRole('button', { name: 'Save the anomaly settings' });
    const days = form.getByLabel('Days that are compared with');
    await settles(() => save.isDisabled(), true, 'nothing to save');
    await days.fill('91');
    await form.getByText('A whole number from 1 to 90.').waitFor();
    await settles(() => save.isDisabled(), true, 'a wrong number');
    await days.fill('28');
    await form.getByLabel('Standard deviations until a warning').fill('3.5');
    await form.getByLabel('Latency').uncheck();
    await isUsable('the settings of anomalies');
    await save.click();
    await note('The anomaly settings are saved.').waitFor();
    const { anomalies: saved } = await (await session.site.api()).query<SettingsView>('settings.get', {});
    expect(saved).to.include({ baselineWindowDays: 28, sigmaThreshold: 3.5 });
    expect(saved.enabledMetrics).to.equal('eventsIn,errors');
    expect(await days.inputValue()).to.equal('28');
    expect(await form.getByLabel('Latency').isChecked()).to.equal(false);
  });

  it('give volumes, costs once a gigabyte has a price, and both as a file', async () => {
    await page.goto(session.at('metrics?tab=costs'));
    await page.getByRole('link', { name: 'Set the price of a gigabyte' }).click();
    await page.getByLabel('Price of a gigabyte that sinks send').fill('2.5');
    await page.getByRole('region', { name: 'General' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('was saved.').waitFor();
    await page.goto(session.at('metrics?tab=costs&range=6h'));
    await page.getByText('90.0 % of what came in').waitFor();
    await chart('Cost per hour').waitFor();
    const table = page.getByRole('table', { name: 'Volumes of pipelines' });
    await table
      .getByRole('row', { name: /orders/ })
      .getByText('90.0 %')
      .waitFor();
    await isUsable('volumes and costs');
    for (const [word, name] of [
      ['Sinks', /orders \/ out/],
      ['Teams', /Ours/],
      ['Environments', /Ours \/ staging/],
    ] as const) {
      await button(word).click();
      await page.getByRole('row', { name }).first().waitFor();
    }
    const download = page.waitForEvent('download');
    await button('Export as CSV').click();
    expect((await download).suggestedFilename()).to.match(/-6h-\d{4}-\d\d-\d\d\.csv$/);
  });
});
