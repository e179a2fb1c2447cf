/** Charts, sparklines and costs as a person reads them, over hours that were recorded. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { enrollNode } from '../../../support/agents/agent-client.ts';
import { soundGraph } from '../../../support/fixtures/graphs.ts';
import { recordHistory } from '../../../support/scenes/recorded-metrics.ts';
import { beyondAPhone, LOAD, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

describe('the pages of metrics', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let pipelineId: string;
  let idleId: string;
  let nodeId: string;

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    const { environmentId } = session.site;
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
    await recordHistory(session.site.db, [{ environmentId, nodeId, pipelineId, eventsPerSecond: 40 }], {
      minutes: 180,
      isSilent: (ago) => ago > 20 && ago < 30,
      exitsAt: [45],
    });
  });
  after(() => session?.close());
  afterEach(() => {
    expect(errors.splice(0)).to.deep.equal([]);
  });

  const chart = (title: string) => page.getByRole('img', { name: new RegExp(`^${title}: `) });
  const openTab = async (id = pipelineId, more = '') => {
    await page.goto(session.at(`pipelines/${id}?tab=metrics${more}`), LOAD);
  };

  it('shows what a pipeline moved, with the deploy and the crash as marks', async () => {
    await openTab();
    await page.getByRole('img', { name: /^Bytes: In 3\.9\d KiB\/s, Out 4\d\d B\/s$/ }).waitFor();
    for (const title of ['Events', 'Errors and discarded events', 'Latency', 'Utilization'])
      await chart(title).last().waitFor();
    const marks = page.getByRole('list', { name: 'What happened meanwhile' });
    await marks.getByText('Version 1 was deployed').waitFor();
    await marks.getByText('An engine ended').waitFor();
  });

  it('keeps range, parts and comparison in the address', async () => {
    await page.getByRole('group', { name: 'Time range' }).getByRole('button', { name: '6 h' }).click();
    await page.getByLabel('Compare with the period before').click();
    await page.getByRole('img', { name: /^Bytes: .*In before/ }).waitFor();
    expect(new URL(page.url()).search).to.include('range=6h').and.include('compare=before');
    await page.getByRole('group', { name: 'Parts' }).getByRole('button', { name: 'By component' }).click();
    await page.getByRole('img', { name: /^Events: .*parse/ }).waitFor();
    await page.getByRole('group', { name: 'Parts' }).getByRole('button', { name: 'By node' }).click();
    await page.getByRole('img', { name: /^Events in: .*edge-1/ }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: /^Events in: .*edge-1/ }).waitFor();
  });

  /** Drags over a tenth of the chart of bytes, and answers the minutes that the address then asks for. */
  async function zoomIn(back: string): Promise<number> {
    const bytes = chart('Bytes');
    await bytes.waitFor();
    await bytes.scrollIntoViewIfNeeded();
    const box = await bytes.boundingBox();
    if (!box) throw new Error('no chart');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.6, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: back }).waitFor();
    const { searchParams } = new URL(page.url());
    return (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 60_000;
  }

  it('zooms into a time that is dragged over, and back', async () => {
    await openTab(pipelineId, '&range=6h');
    expect(await zoomIn('Back to the last 6 h')).to.be.within(5, 60);
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('from'));
    await page.goForward();
    await page.getByRole('button', { name: 'Back to the last 6 h' }).click();
    await page.waitForURL((url) => !url.searchParams.has('from'));
  });

  it('moves one crosshair over all charts', async () => {
    const bytes = chart('Bytes');
    const times = page.getByRole('region', { name: 'Metrics' }).locator('.legend-time');
    const newest = await times.first().textContent();
    await bytes.hover({ position: { x: 200, y: 80 } });
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

  it('says what to do where nothing was reported', async () => {
    await openTab(
      idleId,
      `&from=${encodeURIComponent('2020-01-01T00:00:00Z')}&to=${encodeURIComponent('2020-01-01T01:00:00Z')}`,
    );
    await page.getByText('Nothing was reported in this time').waitFor();
  });

  it('says why charts cannot be shown, and tries again', async () => {
    let fails = true;
    await page.route('**/api/trpc/**metrics.getPipelineMetrics**', (route) =>
      fails ? route.fulfill({ status: 500, body: '{}' }) : route.continue(),
    );
    await openTab();
    const tab = page.getByRole('region', { name: 'Metrics' });
    await tab.getByText('The metrics of this pipeline could not be shown').waitFor();
    fails = false;
    await tab.getByRole('button', { name: 'Try again' }).click();
    await chart('Bytes').waitFor();
    await page.unroute('**/api/trpc/**metrics.getPipelineMetrics**');
    errors.splice(0);
  });

  it('shows the host of a node and what its pipelines moved', async () => {
    await page.goto(session.at(`fleet/${nodeId}`));
    await page.getByRole('img', { name: /^Processor: Busy 25 %$/ }).waitFor();
    await page.getByRole('img', { name: /^Memory: Used 3\.73 GiB/ }).waitFor();
    await page.getByRole('img', { name: /^Network: Received 1000 B\/s, Sent –$/ }).waitFor();
    await chart('Events of its pipelines').waitFor();
  });

  it('shows an environment together, by pipeline and by node', async () => {
    await page.goto(session.at('metrics'));
    await chart('Bytes').waitFor();
    await page.getByRole('button', { name: 'By pipeline' }).click();
    await page.getByRole('img', { name: /^Events in: orders/ }).waitFor();
    await page.getByRole('button', { name: 'By node' }).click();
    await page.getByRole('img', { name: /^Events in: edge-1/ }).waitFor();
  });

  const meanwhile = () => page.getByRole('list', { name: 'What happened meanwhile' });

  it('marks what was deployed in an environment: many at once in one line, each with its way there', async () => {
    const at = new Date(Date.now() - 40 * 60_000);
    await session.site.db('pipeline_deploys').insert(
      Array.from({ length: 200 }, (_, place) => ({
        ...{ pipeline_id: place % 2 ? idleId : pipelineId, deployed_at: at, version: place + 2 },
        commit_sha: 'c'.repeat(40),
      })),
    );
    await session.site.db('pipeline_deploys').insert({
      ...{ pipeline_id: idleId, deployed_at: new Date(at.getTime() - 5 * 60_000), version: 500 },
      commit_sha: null,
    });
    await page.goto(session.at('metrics?by=pipeline'), LOAD);
    const many = meanwhile().getByRole('listitem').filter({ hasText: '200 deployments' });
    expect(await many.textContent()).to.match(/^200 deployments: idle v201, orders v200 ccccccc/);
    await page.getByRole('button', { name: 'All together' }).click();
    await chart('Latency').waitFor();
    await meanwhile().getByRole('link', { name: 'Version 500 of idle was deployed' }).click();
    await page.getByRole('heading', { name: 'idle', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('tab')).to.equal('metrics');
  });

  it('zooms into the charts of an environment, compares, and keeps both in the address', async () => {
    await page.goto(session.at('metrics?range=6h'), LOAD);
    expect(await zoomIn('Back to the last 6 h')).to.be.within(5, 60);
    await page.getByLabel('Compare with the period before').click();
    await page.getByRole('img', { name: /^Bytes: .*In before/ }).waitFor();
    await page.reload();
    await page.getByRole('img', { name: /^Bytes: .*In before/ }).waitFor();
    await page.getByRole('button', { name: 'By pipeline' }).click();
    await page.getByRole('img', { name: /^Events in: orders/ }).waitFor();
    await page.getByRole('button', { name: 'Back to the last 6 h' }).click();
    await page.waitForURL((url) => !url.searchParams.has('from') && url.searchParams.get('range') === '6h');
  });

  it('says what to do where an environment reported nothing, and why its charts cannot be shown', async () => {
    const past = ['from=2020-01-01T00:00:00Z', 'to=2020-01-01T01:00:00Z'].map(encodeURI).join('&');
    await page.goto(session.at(`metrics?${past}`), LOAD);
    await page.getByText('Nothing was reported in this time').waitFor();
    let fails = true;
    await page.route('**/api/trpc/**dashboard.chartMetrics**', (route) =>
      fails ? route.fulfill({ status: 500, body: '{}' }) : route.continue(),
    );
    await page.goto(session.at('metrics'), LOAD);
    await page.getByText('The metrics of this environment could not be shown').waitFor();
    fails = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await chart('Bytes').waitFor();
    await page.unroute('**/api/trpc/**dashboard.chartMetrics**');
    errors.splice(0);
  });

  it('draws the last hour beside pipelines, nodes and environments at once', async () => {
    for (const [path, row] of [
      ['pipelines', 'orders'],
      ['fleet', 'edge-1'],
    ] as const) {
      await page.goto(session.at(path));
      await page
        .getByRole('row', { name: new RegExp(row) })
        .locator('.spark-line')
        .first()
        .waitFor();
    }
    await page.goto(session.at('overview'));
    await page.locator('.env-card .spark-line').first().waitFor();
  });

  it('tells volumes, and costs once a gigabyte has a price', async () => {
    await page.goto(session.at('metrics?tab=costs'), LOAD);
    await page.getByRole('link', { name: 'Set the price of a gigabyte' }).click();
    await page.getByLabel('Price of a gigabyte that sinks send').fill('2.5');
    await page.getByRole('region', { name: 'General' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('was saved.').waitFor();
    await page.goto(session.at('metrics?tab=costs'), LOAD);
    await page.getByText('90.0 % of what came in').waitFor();
    await chart('Cost per hour').waitFor();
    const table = page.getByRole('table', { name: 'Volumes of pipelines' });
    await table
      .getByRole('row', { name: /orders/ })
      .getByText('90.0 %')
      .waitFor();
    await page.getByRole('button', { name: 'Sinks' }).click();
    await page.getByRole('row', { name: /orders \/ out/ }).waitFor();
    for (const [word, name] of [
      ['Teams', /site|Site|team/i],
      ['Environments', / \/ /],
    ] as const) {
      await page.getByRole('button', { name: word, exact: true }).click();
      await page.getByRole('row', { name }).first().waitFor();
    }
  });

  it('exports a file', async () => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    expect((await download).suggestedFilename()).to.match(/-1d-\d{4}-\d\d-\d\d\.csv$/);
  });

  it('has no violation of accessibility in either scheme, and fits a phone', async () => {
    for (const path of [
      ...[`pipelines/${pipelineId}?tab=metrics&range=6h`, 'metrics?range=6h', 'metrics?by=pipeline'],
      'metrics?tab=costs',
    ]) {
      await page.goto(session.at(path));
      await page.locator('figure.time-chart').first().waitFor();
      expect(await violationsInBothSchemes(page, path)).to.deep.equal([]);
      expect(await beyondAPhone(page, path)).to.deep.equal([]);
    }
  });
});
