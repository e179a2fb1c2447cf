/** Events of a pipeline that runs: the built agent, the reference engine, and a page that looks into it. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { ENGINE, type NodeAgent } from '../../../support/agents/node-agent.ts';
import { component, edge } from '../../../support/fixtures/graphs.ts';
import { untilRunning } from '../../../support/fixtures/pipelines.ts';
import { patient } from '../../../support/harness/patience.ts';
import { enginesOf } from '../../../support/harness/processes.ts';
import { until } from '../../../support/harness/until.ts';
import { settles, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const GRAPH = {
  nodes: [
    component('requests', 'demo_logs', 'SOURCE', { format: 'json', interval: 0.1 }),
    component('judge', 'remap', 'TRANSFORM', {
      source: '. = { "read": parse_json!(.message), "api_key": "sk-canary-1" }',
    }),
    component('out', 'blackhole', 'SINK'),
  ],
  edges: [edge('requests', 'judge'), edge('judge', 'out')],
};

describe('events of a pipeline that runs', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let agent: NodeAgent;
  let page: Page;
  let errors: string[];
  let pipelineId: string;

  before(async () => {
    session = await openSite({ controller: { variables: { HEADGATE_ENGINE_BIN: ENGINE } } });
    page = session.page;
    errors = watchForErrors(page);
    api = await session.site.api();
    agent = await session.site.agent();
    const { environmentId } = session.site;
    pipelineId = (await api.mutate<{ id: string }>('pipeline.create', { environmentId, name: 'orders' })).id;
    await api.mutate('pipeline.saveGraph', { pipelineId, ...GRAPH });
    await api.mutate('deploy.agent', { pipelineId, changelog: 'first' });
    await untilRunning(api, pipelineId, 1);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const tab = (view: string, component: string): string =>
    session.at(`pipelines/${pipelineId}?tab=events&view=${view}&component=${component}`);
  const live = (key: string): Locator => page.getByRole('region', { name: `Live events of ${key}` });
  const taps = (): number[] => tapsUnder(agent.pid() ?? 0);

  it('is checked by the engine before it is deployed again', async () => {
    await page.goto(session.at(`pipelines/${pipelineId}?deploy=1`));
    const levels = page
      .getByRole('dialog', { name: 'Deploy orders' })
      .getByRole('list', { name: 'Levels of validation' });
    await settles(() => levels.getByText('passed').count(), 6);
  });

  it('shows the event before and after a transform, without the values of hidden keys, and knows its fields', async () => {
    await page.goto(`${tab('samples', 'judge')}&beside=requests`);
    const samples = page.getByRole('region', { name: 'Samples of requests and judge' });
    await samples.getByRole('button', { name: 'Take samples' }).click();
    await samples.getByText(/^From /).waitFor({ timeout: patient(30_000) });
    await samples
      .getByRole('region', { name: 'requests', exact: true })
      .getByText('"message"')
      .first()
      .waitFor();
    const after = samples.getByRole('region', { name: 'judge', exact: true });
    await after.getByText('"read"', { exact: true }).first().waitFor();
    await after.getByText('[redacted]', { exact: true }).first().waitFor();
    expect(await page.content()).not.to.include('sk-canary');

    await page.goto(tab('fields', 'judge'));
    await page
      .getByRole('table', { name: 'Fields of judge' })
      .getByRole('row', { name: /\.read\.\w+/ })
      .first()
      .waitFor();
  });

  it('shows events live, and no process listens once the tab is left', async () => {
    const engines = enginesOf(pipelineId);
    await page.goto(tab('live', 'judge'));
    await live('judge').getByRole('button', { name: 'Watch judge live' }).click();
    const rows = live('judge').getByRole('list', { name: 'Events of judge' }).getByRole('listitem');
    await until(async () => (await rows.count()) > 5, { what: 'events in the page', timeoutMs: 30_000 });
    expect(await rows.first().textContent()).to.include('[redacted]');
    await until(() => taps().length === 1, { what: 'one process to tap' });
    await page.getByRole('tab', { name: 'Nodes' }).click();
    await until(() => taps().length === 0, { what: 'the tap to be gone', timeoutMs: 20_000 });
    expect(enginesOf(pipelineId), 'the pipeline runs on as it did').to.deep.equal(engines);
  });

  it('shows what comes into a sink, and ends when the page is closed', async () => {
    const own = await page.context().newPage();
    await own.goto(tab('live', 'out'));
    const region = own.getByRole('region', { name: 'Live events of out' });
    await region.getByRole('button', { name: 'Watch out live' }).click();
    await region.getByText(/^[\d,.]+\/s · \d+ seen/).waitFor();
    await until(async () => (await region.getByRole('listitem').count()) > 2, {
      what: 'events in the page',
      timeoutMs: 30_000,
    });
    await own.close();
    await until(() => taps().length === 0, { what: 'the tap to be gone', timeoutMs: 40_000 });
  });

  it('says that the stream has broken while the controller is away, and goes on by itself', async () => {
    await page.goto(tab('live', 'judge'));
    await live('judge').getByRole('button', { name: 'Watch judge live' }).click();
    const seen = async (): Promise<number> => {
      const figures = await live('judge')
        .getByText(/\d seen/)
        .textContent();
      return Number(/([\d,]+) seen/.exec(figures ?? '')?.[1]?.replaceAll(',', '') ?? -1);
    };
    await until(async () => (await seen()) > 5, { what: 'events in the page', timeoutMs: 30_000 });
    const { controller } = session.site;
    await controller.end('SIGTERM');
    await live('judge').getByText('Reconnecting').waitFor();
    const before = await seen();
    expect(before, 'what was seen stays').to.be.greaterThan(5);
    await session.site.serve({
      port: Number(new URL(controller.url).port),
      variables: { HEADGATE_ENGINE_BIN: ENGINE },
    });
    await live('judge')
      .getByText(/^Live from/)
      .waitFor({ timeout: patient(30_000) });
    await until(async () => (await seen()) > before, { what: 'events to go on', timeoutMs: 60_000 });
    await live('judge').getByRole('button', { name: 'Stop' }).click();
    await until(() => taps().length === 0, { what: 'the tap to be gone', timeoutMs: 20_000 });
  });
});

/** Pids of the processes that a process has started and that tap. */
function tapsUnder(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        // The name in front, in brackets, may have spaces.
        const [, ppid] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ');
        return (
          Number(ppid) === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('tap')
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}
