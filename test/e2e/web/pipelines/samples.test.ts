/** Events of a pipeline as people look at them, with a node that says what the test has it say. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { PushMessage } from '../../../../schemas/agent/protocol.ts';
import { enrollNode, heartbeat, type TestNode } from '../../../support/agents/agent-client.ts';
import type { OpenStream } from '../../../support/clients/http.ts';
import { acceptingEngine } from '../../../support/fixtures/engine-schema/scripted-engine.ts';
import { component, edge } from '../../../support/fixtures/graphs.ts';
import { until } from '../../../support/harness/until.ts';
import { expectUsable, settles, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const place = (at: number) => ({ positionX: at * 300 });
const GRAPH = {
  nodes: [
    component('ticks', 'demo_logs', 'SOURCE', { format: 'json' }),
    component('judge', 'remap', 'TRANSFORM', { source: '.level = "info"' }, place(1)),
    component('split', 'route', 'TRANSFORM', { route: { errors: '.level == "error"' } }, place(2)),
    component('rest', 'blackhole', 'SINK', {}, place(3)),
  ],
  edges: [edge('ticks', 'judge'), edge('judge', 'split'), edge('split', 'rest', 'errors')],
};
const EVENT = {
  message: 'payment taken',
  user: { name: 'ada', password: 'hunter2' },
  tags: ['shop', 'eu'],
  amount: 12.5,
};
const SCHEMA = [
  { path: '.message', type: 'string', sample: 'payment taken' },
  { path: '.tags[]', type: 'string', sample: 'shop' },
  { path: '.user.password', type: 'string', sample: 'hunter2' },
];

type SampleMessage = Extract<PushMessage, { type: 'sample_request' }>;
type TapMessage = Extract<PushMessage, { type: 'tap_start' }>;

describe('events of a pipeline in the browser', function () {
  this.timeout(240_000);
  const engine = acceptingEngine();
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let node: TestNode;
  let pushed: OpenStream;
  let errors: string[];
  let pipelineId: string;
  let draftId: string;

  before(async () => {
    // One heartbeat holds for the whole test.
    session = await openSite({
      fleet: { pollIntervalMs: 600_000 },
      controller: { variables: { HEADGATE_ENGINE_BIN: engine.bin } },
    });
    page = session.page;
    errors = watchForErrors(page);
    api = await session.site.api();
    pipelineId = await deployed('orders');
    draftId = (await create('idle')).id;
    node = await enrollNode(session.site.controller.url, await session.site.enrollmentToken(), {
      hostname: 'edge-1',
    });
    await report('RUNNING');
    pushed = await node.push();
  });
  after(async () => {
    pushed?.close();
    await session?.close();
    engine.remove();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const create = async (name: string) => {
    const made = await api.mutate<{ id: string }>('pipeline.create', {
      environmentId: session.site.environmentId,
      name,
    });
    await api.mutate('pipeline.saveGraph', { pipelineId: made.id, ...GRAPH });
    return made;
  };
  async function deployed(name: string): Promise<string> {
    const { id } = await create(name);
    await api.mutate('deploy.agent', { pipelineId: id, changelog: 'first' });
    return id;
  }
  async function report(status: string): Promise<void> {
    const metric = { receivedEvents: 40, sentEvents: 40, receivedBytes: 4_000, errorsTotal: 2 };
    const componentMetrics = [{ componentId: 'judge', componentKind: 'transform', ...metric }];
    await node.heartbeat(heartbeat({ pipelines: [{ pipelineId, version: 1, status, componentMetrics }] }));
    await until(
      async () => {
        const { statuses } = await api.query<{ statuses: { status: string }[] }>('pipeline.get', {
          id: pipelineId,
        });
        return statuses[0]?.status === status;
      },
      { what: `the pipeline to be ${status}` },
    );
  }

  /** The newest message of a type that came after the first `known` ones. */
  async function told<M extends PushMessage>(type: M['type'], known: number): Promise<M> {
    await until(() => pushed.events(type).length > known, { what: `a ${type}` });
    return pushed.events<M>(type)[known] as M;
  }
  async function during<M extends PushMessage>(type: M['type'], act: () => Promise<void>): Promise<M> {
    const known = pushed.events(type).length;
    await act();
    return told<M>(type, known);
  }
  const answer = async ({ requestId }: SampleMessage, componentKey: string, more: object = {}) => {
    const result = { requestId, componentKey, events: [EVENT], schema: SCHEMA, ...more };
    expect((await node.samples({ results: [result] })).status).to.equal(200);
  };
  const emit = (tap: TapMessage, more: object) =>
    node.tapEvents({
      requestId: tap.requestId,
      pipelineId,
      componentId: tap.componentId,
      ...more,
    });

  const open = async (search: string, on = page, id = pipelineId): Promise<void> => {
    await on.goto(session.at(`pipelines/${id}?tab=events${search}`));
    await on.getByRole('tab', { name: 'Events', selected: true }).waitFor();
  };
  const samplesOf = (names: string, on = page): Locator =>
    on.getByRole('region', { name: `Samples of ${names}`, exact: true });
  const part = (key: string): Locator =>
    page.getByRole('region', { name: /^Samples of/ }).getByRole('region', { name: key, exact: true });
  const live = (key: string): Locator =>
    page.getByRole('region', { name: `Live events of ${key}`, exact: true });

  const isUsable = (where: string) => expectUsable(page, where);

  describe('a component of the graph', () => {
    it('is chosen by keys or a click and let go, and leads to its events, as the palette does', async () => {
      await page.goto(session.at(`pipelines/${pipelineId}`));
      await page.getByRole('tab', { name: 'Nodes', selected: true }).waitFor();
      const panel = (key: string) => page.getByRole('region', { name: `Component ${key}` });
      const ticks = page.getByLabel(/^source ticks/);
      // Until the graph has measured it, it is hidden and takes no focus.
      await ticks.waitFor();
      await ticks.focus();
      await page.keyboard.press('Enter');
      await panel('ticks').waitFor();
      await page.getByLabel(/^sink rest/).click();
      await panel('rest').getByRole('button', { name: 'Close rest' }).click();
      await panel('rest').waitFor({ state: 'detached' });
      expect(await panel('ticks').count()).to.equal(0);
      expect(page.url()).not.to.include('component=');
      const judge = page.getByLabel(/^transform judge/);
      await judge.click();
      await panel('judge').waitFor();
      await judge.focus();
      await page.keyboard.press('Escape');
      await panel('judge').waitFor({ state: 'detached' });

      await judge.click();
      await panel('judge').getByText('remap').waitFor();
      await panel('judge').getByText('In since the start').waitFor();
      await panel('judge').getByRole('textbox', { name: 'Options of judge' }).waitFor();
      await page.waitForURL(/component=judge/);
      await isUsable('the panel of a component');
      await panel('judge').getByRole('link', { name: 'See its events' }).click();
      await samplesOf('judge').waitFor();
      await settles(() => page.getByLabel('Component', { exact: true }).inputValue(), 'judge');
      await panel('judge').waitFor({ state: 'detached' });

      await page.goto(session.at('overview'));
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      const box = page.getByRole('combobox', { name: 'Go to anything' });
      await box.fill('events of');
      // Of pipelines that are deployed.
      await settles(() => page.getByRole('option').count(), 1);
      await box.press('Enter');
      await samplesOf('ticks').waitFor();
    });
  });

  it('chooses a component in the tab that was asked for last, and leads back to no page that is drawn still', async () => {
    await open('&component=rest');
    const ticks = page.getByLabel(/^source ticks/);
    await ticks.waitFor();
    /** In one task: nothing is drawn in between. */
    const leaveAndChoose = (path: string) =>
      page.evaluate(`
        history.pushState(null, '', ${JSON.stringify(path)});
        dispatchEvent(new PopStateEvent('popstate', { state: null }));
        document
          .querySelector('[aria-label^="source ticks"]')
          .dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      `);
    await leaveAndChoose(`${new URL(page.url()).pathname}?tab=versions`);
    await page.getByRole('region', { name: 'Component ticks' }).waitFor();
    await page.getByRole('tab', { name: 'Versions', selected: true }).waitFor();
    await page
      .getByRole('region', { name: 'Component ticks' })
      .getByRole('button', { name: 'Close ticks' })
      .click();
    await page.getByRole('region', { name: 'Component ticks' }).waitFor({ state: 'detached' });
    await leaveAndChoose(new URL(session.at('overview')).pathname);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(page.url()).to.equal(session.at('overview'));
  });

  describe('samples', () => {
    it('are taken of two components side by side, shown as they come, and kept under their address', async () => {
      await open('&component=judge');
      await samplesOf('judge').waitFor();
      await page.getByLabel('Beside it').selectOption('ticks');
      const asked = await during<SampleMessage>('sample_request', () =>
        samplesOf('ticks and judge').getByRole('button', { name: 'Take samples' }).click(),
      );
      expect(asked.componentKeys).to.deep.equal(['ticks', 'judge']);
      await page.getByText('Waiting for edge-1: 0 of 2 components answered.').waitFor();
      await answer(asked, 'ticks');
      await part('ticks').getByText('"payment taken"', { exact: true }).waitFor();
      await part('judge').getByText('Listening…').waitFor();
      await answer(asked, 'judge', {
        events: [
          { ...EVENT, level: 'info' },
          { level: 'warn', message: 'word '.repeat(200) },
        ],
      });
      await part('judge').getByText('2 events').waitFor();
      await page.getByText(/^From edge-1/).waitFor();
      await isUsable('samples');
      await page.reload();
      await part('ticks').getByText('"payment taken"', { exact: true }).waitFor();
    });

    it('fold, are searched, copied, and tried with VRL without leaving the browser', async () => {
      const judge = part('judge');
      const list = judge.getByRole('list', { name: 'Samples of judge' });
      await judge.getByRole('button', { name: 'user, 2 fields' }).click();
      await judge.getByText('"ada"', { exact: true }).waitFor({ state: 'detached' });
      await list.getByRole('button', { name: 'Event 2', exact: true }).focus();
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await settles(
        () => list.getByRole('button', { name: 'Event 1', exact: true }).getAttribute('aria-expanded'),
        'false',
      );
      await page.getByRole('searchbox', { name: 'Text in the event' }).fill('WARN');
      await settles(() => list.getByRole('listitem').count(), 1);
      await page.getByRole('searchbox', { name: 'Text in the event' }).fill('');
      await list.getByRole('button', { name: 'Copy event 1' }).click();
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(JSON.parse(copied)).to.include({ amount: 12.5, level: 'info' });
      await list.getByRole('link', { name: 'Try VRL on event 1' }).click();
      await page.getByRole('textbox', { name: 'Event as JSON' }).getByText('payment taken').waitFor();
      expect(page.url()).not.to.include('payment');
    });

    it('show hidden values as such, and nothing of what they were', async () => {
      await page.goBack();
      await part('ticks').getByText('[redacted]', { exact: true }).waitFor();
      await part('ticks').getByText('[redacted]', { exact: true }).hover();
      await page.getByRole('tooltip').getByText('set under Settings, Environment').waitFor();
      expect(await page.content()).not.to.include('hunter2');
    });

    it('say why a component had nothing, that nobody has answered in time, and that they are no longer kept', async () => {
      await open('&component=split');
      const asked = await during<SampleMessage>('sample_request', () =>
        samplesOf('split.errors').getByRole('button', { name: 'Take samples' }).click(),
      );
      await answer(asked, 'split.errors', { events: [], schema: [], error: 'the engine refused the tap' });
      await part('split.errors').getByText('The engine refused the tap.').waitFor();
      const { requestId } = await during<SampleMessage>('sample_request', () =>
        samplesOf('split.errors').getByRole('button', { name: 'Take new samples' }).click(),
      );
      await page.getByText('Waiting for edge-1').waitFor();
      await session.site
        .db('sample_requests')
        .where({ id: requestId })
        .update({ created_at: session.site.db.raw(`created_at - interval '5 minutes'`) });
      await page.getByText('edge-1 did not answer for every component in time.').waitFor();
      await part('split.errors').getByText('It did not answer.').waitFor();
      await open('&component=ticks&request=gone');
      await page.getByRole('heading', { name: 'These samples are no longer kept' }).waitFor();
    });

    it('refuse a count that is none, are there for nobody of a draft, and say what to do where no node can be asked', async () => {
      await open('', page, draftId);
      await page.getByRole('heading', { name: 'A draft has no events' }).waitFor();
      await page.getByRole('tabpanel').getByRole('link', { name: 'Deploy it' }).waitFor();
      await open('&component=ticks');
      const form = samplesOf('ticks');
      await form.getByLabel('Events of each').fill('51');
      await form.getByText('1 to 50').waitFor();
      expect(await form.getByRole('button', { name: 'Take samples' }).isDisabled()).to.equal(true);
      await form.getByLabel('Events of each').fill('50');
      await report('CRASHED');
      await form.getByRole('button', { name: 'Take samples' }).click();
      await form.getByRole('alert').getByText('edge-1 reports that the engine has crashed').waitFor();
      await open('&component=ticks&view=live');
      await live('ticks').getByRole('button', { name: 'Watch ticks live' }).click();
      await live('ticks')
        .getByRole('alert')
        .getByText('edge-1 reports that the engine has crashed')
        .waitFor();
      await live('ticks').getByRole('button', { name: 'Watch again' }).waitFor();
      await report('RUNNING');
    });
  });

  describe('fields', () => {
    it('are listed with type and path, which a click copies as VRL writes it', async () => {
      await open('&component=ticks&view=fields');
      const table = page.getByRole('table', { name: 'Fields of ticks' });
      await table.getByRole('row', { name: /\.tags\[\].*string/ }).waitFor();
      await isUsable('fields');
      await page.getByRole('searchbox', { name: 'Filter fields of ticks' }).fill('tags');
      await settles(() => table.getByRole('row').count(), 2);
      await table.getByRole('button', { name: /^Copy path/ }).click();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).to.equal('.tags[0]');
      expect(await page.content()).not.to.include('hunter2');
    });

    it('are offered while a program is written that takes such events in', async () => {
      await page.goto(session.at(`pipelines/${pipelineId}/edit?component=judge`));
      const program = page.getByRole('textbox', { name: 'source' });
      await program.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('\n.x = .us');
      await page.getByRole('option', { name: /^\.user\.password/ }).waitFor();
      page.once('dialog', (asked) => void asked.accept());
    });
  });

  describe('live', () => {
    const start = async (): Promise<TapMessage> => {
      const button = live('ticks').getByRole('button', { name: /^Watch/ });
      const tap = await during<TapMessage>('tap_start', () => button.click());
      await live('ticks').getByText('Live from edge-1').waitFor();
      return tap;
    };
    const list = (): Locator => live('ticks').getByRole('list', { name: 'Events of ticks' });
    const numbered = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ n: from + index }));
    const stopped = (known: number) => told<PushMessage>('tap_stop', known);

    it('shows events as they come, newest last, with what was left out and the time left', async () => {
      await open('&component=ticks&view=live');
      await isUsable('live, before it is started');
      const tap = await start();
      await live('ticks').getByRole('heading', { name: 'Waiting for the next event' }).waitFor();
      await emit(tap, { events: numbered(0, 3), dropped: 7 });
      await list().getByText('{"n":2}').waitFor();
      await live('ticks').getByText('3 seen · 7 left out').waitFor();
      await live('ticks')
        .getByText(/^(5 min|4 min \d+ s) left$/)
        .waitFor();
    });

    it('stands still while it is paused or an event is read, goes on after, and is cleared', async () => {
      const tap = pushed.events<TapMessage>('tap_start').at(-1) as TapMessage;
      await live('ticks').getByRole('button', { name: 'Pause' }).click();
      await emit(tap, { events: numbered(3, 2) });
      await live('ticks').getByRole('button', { name: '2 new events' }).click();
      await list().getByText('{"n":4}').waitFor();
      await list().getByRole('button', { name: 'Event 5', exact: true }).click();
      await emit(tap, { events: numbered(5, 1) });
      await live('ticks').getByRole('button', { name: '1 new event' }).waitFor();
      await isUsable('live');
      expect(await list().getByText('{"n":5}').count()).to.equal(0);
      await live('ticks').getByRole('button', { name: '1 new event' }).click();
      await list().getByText('{"n":5}').waitFor();
      await page.getByRole('searchbox', { name: 'Text in the event' }).fill('"n":4');
      await settles(() => list().getByRole('listitem').count(), 1);
      await page.getByRole('searchbox', { name: 'Text in the event' }).fill('');
      await live('ticks').getByRole('button', { name: 'Clear' }).click();
      await list().waitFor({ state: 'detached' });
    });

    it('stays at the end of a list that is longer than its frame', async () => {
      const tap = pushed.events<TapMessage>('tap_start').at(-1) as TapMessage;
      await emit(tap, { events: numbered(100, 60) });
      await list().getByText('{"n":159}').waitFor();
      await settles(
        () =>
          page.evaluate<boolean>(
            `(() => { const log = document.querySelector('[role=log]'); return log.scrollHeight > 2 * log.clientHeight && log.scrollHeight - log.scrollTop - log.clientHeight < 24; })()`,
          ),
        true,
      );
    });

    it('ends on the node when it is stopped, and is watched again', async () => {
      const known = pushed.events('tap_stop').length;
      await live('ticks').getByRole('button', { name: 'Stop' }).click();
      await live('ticks').getByText('You stopped it.').waitFor();
      await stopped(known);
      const tap = await start();
      await emit(tap, { status: 'stopped', reason: 'the engine has restarted' });
      await live('ticks').getByText('the engine has restarted').waitFor();
      await live('ticks').getByRole('button', { name: 'Watch again' }).waitFor();
    });

    it('ends with the component and the page that showed it', async () => {
      const leave: (() => Promise<unknown>)[] = [
        () => page.getByLabel('Component', { exact: true }).selectOption('judge'),
        () => page.goto('about:blank'),
      ];
      for (const go of leave) {
        await open('&component=ticks&view=live');
        await start();
        const known = pushed.events('tap_stop').length;
        await go();
        await until(() => pushed.events('tap_stop').length > known, {
          what: `the tap to end after ${String(go)}`,
          timeoutMs: 10_000,
        });
      }
    });

    it('ends when the page is out of sight for a minute, and says so', async () => {
      const known = pushed.events('tap_stop').length;
      const own = await page.context().newPage();
      await own.clock.install();
      await open('&component=ticks&view=live', own);
      const region = own.getByRole('region', { name: 'Live events of ticks' });
      await region.getByRole('button', { name: 'Watch ticks live' }).click();
      await region.getByText('Live from edge-1').waitFor();
      await own.evaluate(`
        Object.defineProperty(document, 'hidden', { get: () => true });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
      // The clock goes on by itself as well, and a slow machine takes seconds for a look.
      await own.clock.fastForward('00:45');
      await region.getByText('Live from edge-1').waitFor();
      await own.clock.fastForward('00:16');
      await region.getByText('out of sight for a minute').waitFor();
      // Whoever closes a page at once takes the request that ends the tap with it.
      await stopped(known);
      await own.close();
    });
  });

  it('lets somebody who only looks see samples, and says why he takes none', async () => {
    const asked = await during<SampleMessage>('sample_request', async () => {
      await open('&component=rest');
      await samplesOf('rest').getByRole('button', { name: 'Take samples' }).click();
    });
    expect(asked.sinkKeys).to.deep.equal(['rest']);
    await answer(asked, 'rest');
    await part('rest').getByText('"payment taken"', { exact: true }).waitFor();
    const viewer = await session.as('VIEWER');
    await viewer.goto(page.url());
    const shown = samplesOf('rest', viewer);
    await shown.getByText('"payment taken"', { exact: true }).waitFor();
    expect(await shown.getByRole('button', { name: 'Take new samples' }).isDisabled()).to.equal(true);
    await viewer.getByText('Your role here is VIEWER').waitFor();
    await open('&component=rest&view=live', viewer);
    await settles(() => viewer.getByRole('button', { name: 'Watch rest live' }).isDisabled(), true);
    await viewer.context().close();
  });

  describe('hidden keys', () => {
    const keys = (on = page): Locator => on.getByRole('region', { name: 'Hidden keys' });
    const settings = () => session.at('settings?tab=environment');

    it('are edited, hold for the next sample, and go back to those of Headgate', async () => {
      await page.goto(settings());
      await keys().getByText('as Headgate has them').waitFor();
      await isUsable('the settings with hidden keys');
      const count = await keys().getByRole('listitem').count();
      expect(count).to.be.greaterThan(5);
      await keys().getByRole('button', { name: 'Add a pattern' }).click();
      await keys().getByText('A pattern is empty').waitFor();
      expect(await keys().getByRole('button', { name: 'Save the keys' }).isDisabled()).to.equal(true);
      await keys()
        .getByLabel(`Pattern ${count + 1}`, { exact: true })
        .fill('amount');
      await keys().getByRole('button', { name: 'Save the keys' }).click();
      await keys().getByText('of this environment’s own').waitFor();
      await open('&component=ticks');
      const asked = await during<SampleMessage>('sample_request', () =>
        samplesOf('ticks').getByRole('button', { name: 'Take samples' }).click(),
      );
      await answer(asked, 'ticks');
      await settles(() => part('ticks').getByText('[redacted]', { exact: true }).count(), 2);
      await page.goto(settings());
      await keys().getByRole('button', { name: 'Back to Headgate’s own keys' }).click();
      await keys().getByText('as Headgate has them').waitFor();
      await settles(() => keys().getByRole('listitem').count(), count);
    });

    it('are left to an ADMIN', async () => {
      const editor = await session.as('EDITOR');
      await editor.goto(settings());
      await keys(editor).getByText('changed by an ADMIN of the team').waitFor();
      await settles(() => keys(editor).getByRole('button', { name: 'Add a pattern' }).isDisabled(), true);
      await editor.context().close();
    });
  });
});
