/** Alerts as people see them: one fires, rings the bell, is acknowledged and silenced; rules say what they can do. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { AlertEventPage, AlertSilence } from '../../../../schemas/api/insight/alerts.ts';
import { enrollNode, heartbeat } from '../../../support/agents/agent-client.ts';
import { soundGraph } from '../../../support/fixtures/graphs.ts';
import { until } from '../../../support/harness/until.ts';
import { recordHistory } from '../../../support/scenes/recorded-metrics.ts';
import { beyondAPhone, closeByEscape, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const NAMES = ['edge-1', 'edge-2', 'core-1'] as const;

describe('the page of alerts', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];
  let pipelineId: string;

  before(async () => {
    // A node that is heard once is unreachable three seconds later.
    session = await openSite({ fleet: { pollIntervalMs: 1_000 } });
    page = session.page;
    errors = watchForErrors(page);
    const { environmentId } = session.site;
    const api = await session.site.api();
    const made = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name: 'orders' });
    pipelineId = made.id;
    await api.mutate('pipeline.saveGraph', { pipelineId, ...soundGraph() });
    await api.mutate('deploy.agent', { pipelineId, changelog: '' });
    for (const [index, hostname] of NAMES.entries()) {
      const labels = { rack: hostname.slice(0, 4) };
      const node = await enrollNode(session.url, await session.site.enrollmentToken(), { hostname, labels });
      await node.heartbeat(heartbeat({ labels }));
      if (index > 0) continue;
      const flow = { environmentId, nodeId: node.nodeId, pipelineId, eventsPerSecond: 40 };
      await recordHistory(session.site.db, [flow], { minutes: 180, isSilent: (ago) => ago > 20 && ago < 30 });
    }
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const dialog = (name: string): Locator => page.getByRole('dialog', { name });
  const alerts = (state: 'Firing' | 'Acknowledged' | 'Muted'): Locator =>
    page.getByRole('list', { name: `${state} alerts` }).getByRole('listitem');
  const bell = (label: string): Locator => page.getByRole('button', { name: label, exact: true });
  const rule = async (name: string, metric: string, more: object = {}) => {
    const { environmentId, teamId } = session.site;
    const all = { environmentId, teamId, name, metric, condition: 'eq', threshold: 1, durationSeconds: 0 };
    await (await session.site.api()).mutate('alert.createRule', { ...all, ...more });
  };
  const found: string[] = [];
  const look = async (where: string, ready: Locator): Promise<void> => {
    await ready.waitFor();
    found.push(...(await violationsInBothSchemes(page, where)), ...(await beyondAPhone(page, where)));
  };
  const lastOfTimeline = (): Locator =>
    page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').last();
  const listOpen = async () => {
    const input = { environmentId: session.site.environmentId, status: 'open' };
    return (await (await session.site.api()).query<AlertEventPage>('alert.listEvents', input)).events;
  };
  const silences = async () =>
    (await session.site.api()).query<AlertSilence[]>('alert.listSilences', {
      environmentId: session.site.environmentId,
    });

  it('teaches how the first rule is made, and shows while it is written what it would have done', async () => {
    await page.goto(session.at('alerts'));
    await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor();
    await bell('Alerts: nothing is firing').click();
    await page.getByRole('menu').getByText('Nothing is firing').waitFor();
    await closeByEscape(page);
    await page.getByRole('link', { name: 'New alert rule' }).click();
    const form = dialog('New alert rule');
    const threshold = form.getByLabel('Threshold, per cent');
    const preview = form.getByRole('region', { name: 'What it would have done' });
    await preview
      .getByText('Would not have fired in the last 7 days, over 1 node; firing now on 0.')
      .waitFor();
    expect(new URL(page.url()).searchParams.get('tab')).to.equal('rules');
    await threshold.fill('20');
    await preview.getByText(/^Would have fired (2|3) times on 1 node in the last 7 days/).waitFor();
    await preview.getByRole('list', { name: 'The newest of them' }).getByText('edge-1').first().waitFor();
    await look('new rule', preview);
    await form.getByLabel('Name').fill('A rule');
    await threshold.fill('a lot');
    await preview.getByText('It is computed once the rule is complete.').waitFor();
    expect(await form.getByRole('button', { name: 'Make the rule' }).isDisabled()).to.equal(true);
    const failing = (url: URL) => url.pathname === '/api/trpc/alert.previewRule';
    await page.route(failing, (route) => route.fulfill({ status: 400, json: REFUSAL }));
    await threshold.fill('50');
    await preview
      .getByRole('alert')
      .getByText(/It was not to be/)
      .waitFor();
    await page.unroute(failing);
    await form.getByLabel('Raised when').selectOption('A pipeline has crashed');
    await preview.getByText(/^Crashes on single nodes are recorded for 48 hours/).waitFor();
    await closeByEscape(page);
    await form.waitFor({ state: 'hidden' });
  });

  it('tells a rule that cannot fire from one that does, and why', async () => {
    await rule('Busy CPU', 'cpu_usage', { condition: 'gt', threshold: 90 });
    await rule('Impossible', 'node_unreachable', { condition: 'gt' });
    await page.goto(session.at('alerts?tab=rules'));
    const row = (name: string) =>
      page.getByRole('table', { name: 'Alert rules' }).getByRole('row', { name: new RegExp(name) });
    await row('Busy CPU').getByText('3 series, no value').waitFor();
    await row('Busy CPU').getByText('Cannot fire').hover();
    await page.getByRole('tooltip').getByText('None of the 3 nodes reports this value yet').waitFor();
    await row('Impossible').getByText('Cannot fire').waitFor();
    await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Firing' }).click();
    await page.waitForURL(/state=firing/);
    await page.getByText('0 of 0 rules').or(page.getByText('No rule here.')).first().waitFor();
  });

  it('shows what fires at once, in the list and in the bell, which leads to its timeline and charts', async () => {
    await page.goto(session.at('alerts'));
    await page.getByRole('heading', { name: 'Nothing is firing' }).waitFor();
    await page.getByText('1 rule watches 3 series.').waitFor();
    await rule('Silent nodes', 'node_unreachable');
    await settles(() => alerts('Firing').count(), 3, 'alerts that fire');
    const first = alerts('Firing').filter({ hasText: 'edge-1 is unreachable' });
    await first.getByText('Rule Silent nodes').waitFor();
    await first.getByRole('link', { name: 'edge-1', exact: true }).waitFor();
    await bell('Alerts: 3 alerts firing').click();
    const menu = page.getByRole('menu');
    await menu.getByText('staging', { exact: true }).waitFor();
    await look('bell', menu);
    await menu.getByRole('menuitem', { name: /^edge-2 is unreachable/ }).click();
    await page.getByRole('heading', { level: 1, name: 'edge-2 is unreachable' }).waitFor();
    await look('event', lastOfTimeline().getByText('Fired', { exact: true }));
    const event = (await listOpen()).find(({ nodeName }) => nodeName === 'edge-2');
    expect(new URL(page.url()).searchParams.get('event')).to.equal(event?.id);
    const charts = page.getByRole('link', { name: 'Charts of the node' });
    expect(await charts.getAttribute('href')).to.match(
      new RegExp(`fleet/${event?.nodeId}\\?from=\\d{4}-[^&]*&to=\\d{4}-`),
    );
    await page.getByRole('main').getByRole('link', { name: 'Alerts', exact: true }).click();
    await settles(() => alerts('Firing').count(), 3);
    await page.goto(session.at('alerts?event=01aaaaaaaaaaaaaaaaaaaaaaaa'));
    await page.getByRole('heading', { name: 'This alert could not be shown' }).waitFor();
  });

  it('is acknowledged with a note, which stands in the timeline, and leaves the bell', async () => {
    await page.goto(session.at('alerts'));
    await page.getByRole('button', { name: 'Acknowledge: edge-2 is unreachable' }).click();
    const form = dialog('Acknowledge the alert');
    await look('acknowledge', form);
    await form.getByLabel('Note').fill('Ada looks at the switch');
    await form.getByRole('button', { name: 'Acknowledge' }).click();
    await form.waitFor({ state: 'hidden' });
    const acknowledged = alerts('Acknowledged').getByText('edge-2 is unreachable');
    await look('firing', acknowledged);
    await acknowledged.click();
    await lastOfTimeline().getByText('Acknowledged').waitFor();
    expect(await lastOfTimeline().innerText()).to.include('by root@example.org: Ada looks at the switch');
    await bell('Alerts: 2 alerts firing').waitFor();
  });

  it('is silenced by its own labels or others that exist, until an end that is to come', async () => {
    await page.goto(session.at('alerts'));
    await page.getByRole('button', { name: 'Silence: core-1 is unreachable' }).click();
    const form = dialog('New silence');
    const label = (part: 'Key' | 'Value', place: number) =>
      form.getByRole('combobox', { name: `${part} of label ${place}` });
    await settles(() => label('Value', 1).inputValue(), 'Silent nodes');
    await settles(() => label('Value', 2).inputValue(), 'core-1');
    await form.getByText('Mutes 1 of the 3 open alerts now.').waitFor();
    await form.getByRole('button', { name: 'Remove label 2' }).click();
    await form.getByText('Mutes 3 of the 3 open alerts now.').waitFor();
    await form.getByRole('button', { name: 'Add a label' }).click();
    await label('Key', 2).fill('ra');
    await form.getByRole('option', { name: 'rack' }).click();
    await label('Value', 2).click();
    await form.getByRole('option', { name: 'edge' }).click();
    await form.getByText('Mutes 2 of the 3 open alerts now.').waitFor();
    await label('Value', 2).fill('cor*');
    await form.getByText('Mutes 1 of the 3 open alerts now.').waitFor();
    const submit = form.getByRole('button', { name: 'Silence the alerts' });
    expect(await submit.isDisabled(), 'a reason is missing').to.equal(true);
    await form.getByLabel('Reason').fill('The core moves');
    await form.getByRole('button', { name: 'Until…' }).click();
    await form.getByLabel('Ends at').fill('2020-01-01T00:00');
    await look('new silence', form.getByText('It lies in the past.'));
    await form.getByRole('button', { name: '1 week' }).click();
    await submit.click();
    await form.waitFor({ state: 'hidden' });
    const muted = alerts('Muted').filter({ hasText: 'core-1 is unreachable' });
    await muted.getByText('Muted by a silence:').waitFor();
    await bell('Alerts: 1 alert firing').waitFor();
    const [silence] = await silences();
    expect(silence?.matchers).to.deep.equal({ rule: 'Silent nodes', rack: 'cor*' });
    expect(new Date(silence?.endsAt ?? 0).getTime() - Date.now()).to.be.within(
      6.9 * 86_400_000,
      7 * 86_400_000,
    );
    await muted.getByRole('link', { name: 'The core moves' }).click();
  });

  it('fires again once the silence is ended that mutes it, also on the overview, in the place of the silent node', async () => {
    const row = page.getByRole('table', { name: 'Silences' }).getByRole('row', { name: /The core moves/ });
    await row.getByRole('link', { name: '1', exact: true }).waitFor();
    await look('silences', row.getByText('Active'));
    await page.getByRole('button', { name: 'End now: The core moves' }).click();
    const form = dialog('End the silence');
    await form.getByText('1 alert that it mutes is sent then.', { exact: false }).waitFor();
    await form.getByRole('button', { name: 'End it now' }).click();
    await form.waitFor({ state: 'hidden' });
    await row.getByText('Ended').waitFor();
    await bell('Alerts: 2 alerts firing').waitFor();
    await page.goto(session.at('overview'));
    const wrong = page.getByRole('list', { name: 'Wrong in staging' });
    await wrong.getByRole('link', { name: /core-1 is unreachable Rule Silent nodes/ }).waitFor();
    await settles(() => wrong.getByRole('link', { name: /core-1 is unreachable/ }).count(), 1);
    await wrong.getByRole('link', { name: /core-1 is unreachable/ }).click();
    await page.getByRole('heading', { level: 1, name: 'core-1 is unreachable' }).waitFor();
  });

  it('is kept in the history once it is over, found by filters in the address', async () => {
    const event = (await listOpen()).find(({ nodeName }) => nodeName === 'edge-2');
    await (await session.site.api()).mutate('fleet.delete', { id: event?.nodeId });
    await until(async () => (await listOpen()).length === 2, {
      ...{ what: 'it to end', timeoutMs: 60_000, everyMs: 200 },
    });
    await page.goto(session.at('alerts?tab=history'));
    const rows = page.getByRole('table', { name: 'Alerts, newest first' }).getByRole('row');
    await settles(() => rows.count(), 4, 'the head and three alerts');
    await look('history', rows.first());
    await page.getByLabel('Status', { exact: true }).selectOption('Resolved');
    await page.waitForURL(/status=resolved/);
    await settles(() => rows.count(), 2);
    await page.getByRole('link', { name: 'edge-2 is unreachable' }).click();
    await lastOfTimeline().getByText('Resolved').waitFor();
    expect(await lastOfTimeline().innerText()).to.match(/after \d+ (s|min).*: it is not watched any more/);
    await page.getByRole('main').getByRole('link', { name: 'Alerts', exact: true }).click();
    await page.waitForURL(/tab=history&status=resolved/);
  });

  it('lets a viewer look and change nothing', async () => {
    const viewer = await session.as('VIEWER');
    const areDisabled = async (...names: string[]): Promise<void> => {
      for (const name of names)
        await settles(() => viewer.getByRole('button', { name }).isDisabled(), true, name);
    };
    await viewer.goto(session.at('alerts'));
    await areDisabled('Acknowledge: edge-1 is unreachable', 'Silence: edge-1 is unreachable');
    await viewer.goto(session.at('alerts?tab=silences&new=1'));
    await areDisabled('New silence');
    await settles(() => viewer.getByRole('dialog').count(), 0);
    await viewer.goto(session.at('alerts?tab=rules'));
    await areDisabled('New alert rule', 'Change Busy CPU', 'Delete Busy CPU');
    await viewer.context().close();
  });

  it('goes to its parts by the palette, and walks what fires by keyboard', async () => {
    await page.goto(session.at('overview'));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go to anything' });
    await box.fill('silences of');
    await box.press('Enter');
    await page.waitForURL(/tab=silences/);
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await settles(() => alerts('Firing').count(), 2);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/event=/);
  });

  it('can be used by everybody, in both schemes and on a phone', () => {
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});

const REFUSAL = {
  error: {
    json: {
      message: 'It was not to be.',
      code: -32_600,
      data: { code: 'BAD_REQUEST', httpStatus: 400, requestId: 'r' },
    },
  },
};
