/** The graph editor, as somebody draws a pipeline in it: with the pointer, with keys alone, and as text. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { idleManifest, namedPipeline } from '../../../support/fixtures/pipelines.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { beyondAPhone, LOAD, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const ENGINE = join(import.meta.dirname, '../../../../dist/headgate-engine');

/** Of one component on the canvas. */
const node = (
  componentKey: string,
  kind: GraphNode['kind'],
  componentType: string,
  at: number,
): GraphNode => ({
  componentKey,
  kind,
  componentType,
  config: componentType === 'demo_logs' ? { format: 'json' } : {},
  positionX: at * 300,
  positionY: 0,
  disabled: false,
});
const IDLE = {
  nodes: [node('ticks', 'SOURCE', 'demo_logs', 0), node('discard', 'SINK', 'blackhole', 1)],
  edges: [{ sourceNodeId: 'ticks', targetNodeId: 'discard' }],
};

describe('the graph editor', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let git: GitClient;
  let page: Page;
  let errors: string[];
  let count = 0;

  before(async () => {
    session = await openSite({ controller: { variables: { HEADGATE_ENGINE_BIN: ENGINE } } });
    page = session.page;
    errors = watchForErrors(page);
    // What a test leaves unsaved may go.
    page.on('dialog', (asked) => void asked.accept());
    api = await session.site.api();
    git = new GitClient(session.site.cloneUrl());
    await git.clone();
    await git.commit({ 'staging/orders.yaml': idleManifest('orders') });
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
  });
  after(async () => {
    await git?.remove();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  /** A pipeline of its own for each test, with a graph where one is given. */
  async function made(graph?: {
    nodes: GraphNode[];
    edges: { sourceNodeId: string; targetNodeId: string }[];
  }) {
    const { environmentId } = session.site;
    count += 1;
    const name = `drawn ${count}`;
    const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name });
    if (graph) await api.mutate('pipeline.saveGraph', { pipelineId: id, ...graph });
    return { id, name };
  }
  const stored = (id: string) => api.query<Pipeline>('pipeline.get', { id });

  async function open(id: string, on: Page = page): Promise<void> {
    await on.goto(session.at(`pipelines/${id}/edit`), LOAD);
    await on.getByRole('region', { name: 'Canvas' }).waitFor();
  }
  const canvas = (): Locator => page.getByRole('region', { name: 'Canvas' });
  const drawn = (key: string): Locator => canvas().getByRole('group', { name: new RegExp(`^\\w+ ${key},`) });
  const search = (): Locator => page.getByRole('searchbox', { name: 'Search the catalogue' });
  const options = (): Locator => page.getByRole('region', { name: 'Options' });
  const yaml = (): Locator => page.getByRole('textbox', { name: 'Engine config as YAML' });
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
  /** Enter takes the first entry that was found: there is none before the catalogue has come, which is after the canvas. */
  const offered = (type: string, on: Page = page): Promise<void> =>
    on.getByRole('region', { name: 'Catalogue' }).getByText(type, { exact: true }).first().waitFor();

  async function add(type: string): Promise<void> {
    await search().fill(type);
    await offered(type);
    await search().press('Enter');
    await search().fill('');
  }
  const focused = () => page.evaluate<string>(`document.activeElement?.getAttribute('aria-label') ?? ''`);
  const noProblems = () => page.getByRole('heading', { name: 'No problems' }).waitFor();
  const savedNote = () => page.getByRole('status').filter({ hasText: /^Saved, not deployed/ });

  /** Between what stands still: the canvas may have moved its view just before. */
  async function drag(from: Locator, to: Locator): Promise<void> {
    await to.hover();
    await from.hover();
    const end = await to.boundingBox();
    if (!end) throw new Error('not on the canvas');
    const [x, y] = [end.x + end.width / 2, end.y + end.height / 2];
    await page.mouse.down();
    await page.mouse.move(x - 20, y, { steps: 4 });
    await page.mouse.move(x, y, { steps: 2 });
    await page.mouse.up();
  }

  it('leaves the address alone when it opens, which somebody may be leaving for another page', async () => {
    const { id } = await made();
    await page.goto(session.at('pipelines'), LOAD);
    await page.evaluate(`(() => {
      const change = history.replaceState.bind(history);
      window.replaced = [];
      history.replaceState = (...given) => { window.replaced.push(given[2]); change(...given); };
    })()`);
    await page.goto(session.at(`pipelines/${id}/edit`));
    await page.getByRole('heading', { name: 'Draw a pipeline' }).waitFor();
    await page.getByRole('region', { name: 'Sources' }).waitFor();
    expect(await page.evaluate('window.replaced')).to.deep.equal([]);
  });

  it('draws a pipeline from nothing by keys alone, fills forms, sees the YAML, mends a problem and saves', async () => {
    const { id } = await made();
    await open(id);
    await page.getByRole('heading', { name: 'Draw a pipeline' }).waitFor();
    await page.getByRole('region', { name: 'Sources' }).waitFor();
    await button('Add a source').press('Enter');
    await until(async () => (await focused()) === 'Search the catalogue', {
      what: 'the search to have the focus',
    });
    await page.keyboard.type('demo');
    await page.keyboard.press('Enter');
    await options().getByLabel('format').selectOption('json');
    await add('remap');
    await drawn('remap').waitFor();
    await page.getByRole('tab', { name: 'YAML' }).press('Enter');
    await options().getByRole('textbox', { name: 'source', exact: true }).click();
    await page.keyboard.type('.a = upcasee("x")');
    await yaml().getByText('.a = upcasee("x")').waitFor();
    await add('blackhole');
    await page.getByRole('tab', { name: /^Problems/ }).click();
    const problem = page.getByRole('list', { name: 'VRL' }).getByRole('button');
    await problem.waitFor();
    expect(await problem.textContent()).to.match(/^remap:1:\d+.*upcase/);
    await problem.press('Enter');
    await until(async () => (await focused()) === 'source', { what: 'the program to have the focus' });
    await page.keyboard.press('Control+a');
    await page.keyboard.type('.a = upcase("x")');
    await noProblems();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const graph = await stored(id);
    expect(graph.nodes.map(({ componentKey, config }) => [componentKey, config])).to.deep.equal([
      ['demo_logs', { format: 'json' }],
      ['remap', { source: '.a = upcase("x")' }],
      ['blackhole', {}],
    ]);
    expect(graph.edges.map((edge) => edge.id)).to.deep.equal(['demo_logs>remap', 'remap>blackhole']);
    await savedNote().getByRole('link', { name: 'deploy' }).click();
    await page.waitForURL(/\?deploy=1/);
  });

  it('draws by pointer: drops a component, connects ports, and says why others do not go together', async () => {
    const { id } = await made(IDLE);
    await open(id);
    await page
      .getByRole('button', { name: 'Filter filter' })
      .dragTo(canvas(), { targetPosition: { x: 260, y: 90 } });
    await drawn('filter').waitFor();
    const port = (name: string): Locator => canvas().getByRole('img', { name, exact: true });
    await drag(port('Output of ticks'), port('Input of filter'));
    await page.getByRole('list', { name: 'Inputs' }).getByText('ticks', { exact: true }).waitFor();
    await drag(port('Output of filter'), port('Input of discard'));
    await page.getByRole('list', { name: 'Output' }).getByText('discard', { exact: true }).waitFor();
    await drag(port('Output of ticks'), port('Input of discard'));
    await page.getByText('“ticks” feeds “discard” already.').waitFor();
    await drag(port('Output of filter'), drawn('ticks'));
    await page.getByText('“ticks” is a source: it takes no input.').waitFor();
    // An edge is selected where it runs, between two ports.
    const [from, to] = [
      await port('Output of ticks').boundingBox(),
      await port('Input of filter').boundingBox(),
    ];
    if (!from || !to) throw new Error('no ports');
    await page.mouse.click((from.x + to.x) / 2 + 6, (from.y + to.y) / 2 + 6);
    await page.getByRole('region', { name: 'Connection', exact: true }).getByText('ticks → filter').waitFor();
    await page.keyboard.press('Delete');
    await drawn('filter').click();
    await page.getByText('Nothing feeds it.').waitFor();
  });

  it('refuses to close a circle, in the lists as well', async () => {
    const { id } = await made({
      nodes: [node('a', 'TRANSFORM', 'remap', 0), node('b', 'TRANSFORM', 'remap', 1)],
      edges: [{ sourceNodeId: 'a', targetNodeId: 'b' }],
    });
    await open(id);
    // Once its problems are listed below, the drawing is fitted into what is left of the canvas.
    await page.getByRole('heading', { name: /problems?$/ }).waitFor();
    await drag(
      canvas().getByRole('img', { name: 'Output of b' }),
      canvas().getByRole('img', { name: 'Input of a' }),
    );
    await page.getByText('That would close a circle: b → a → b.').waitFor();
    await drawn('a').click();
    await settles(() => page.getByRole('combobox', { name: 'Add an input' }).count(), 0);
  });

  it('puts a snippet of the team into a program, where the cursor is', async () => {
    const { teamId } = session.site;
    const snippet = { teamId, name: 'Mark', category: 'Marks', code: '.marked = true' };
    const { id: snippetId } = await api.mutate<{ id: string }>('vrlSnippet.create', snippet);
    const { id } = await made({
      nodes: [
        node('ticks', 'SOURCE', 'demo_logs', 0),
        { ...node('mark', 'TRANSFORM', 'remap', 1), config: { source: '.first = 1\n' } },
        node('discard', 'SINK', 'blackhole', 2),
      ],
      edges: [
        { sourceNodeId: 'ticks', targetNodeId: 'mark' },
        { sourceNodeId: 'mark', targetNodeId: 'discard' },
      ],
    });
    await open(id);
    await drawn('mark').click();
    await options().getByRole('textbox', { name: 'source', exact: true }).click();
    await page.keyboard.press('Control+End');
    await options().getByLabel('Insert a snippet').selectOption({ label: 'Marks: Mark' });
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const { nodes } = await stored(id);
    expect(nodes.find(({ componentKey }) => componentKey === 'mark')?.config).to.deep.equal({
      source: '.first = 1\n.marked = true\n',
    });
    await api.mutate('vrlSnippet.delete', { id: snippetId });
  });

  it('undoes and redoes everything, moves too', async () => {
    const { id } = await made(IDLE);
    await open(id);
    await drawn('discard').click();
    const key = page.getByLabel('Key', { exact: true });
    await key.fill('sink');
    await drawn('sink').waitFor();
    const before = await drawn('sink').boundingBox();
    await drawn('sink').press('ArrowDown');
    await until(async () => ((await drawn('sink').boundingBox())?.y ?? 0) > (before?.y ?? 0), {
      what: 'a move',
    });
    await button('Delete sink').click();
    await drawn('sink').waitFor({ state: 'detached' });
    await page.getByText('Unsaved changes').waitFor();
    await page.keyboard.press('Control+z');
    await drawn('sink').waitFor();
    await page.keyboard.press('Control+z');
    await until(async () => (await drawn('sink').boundingBox())?.y === before?.y, {
      what: 'the move to be undone',
    });
    await button('Undo').click();
    await drawn('discard').waitFor();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    await settles(() => button('Undo').isDisabled(), true);
    await page.keyboard.press('Control+Shift+z');
    await drawn('sink').waitFor();
    await button('Redo').click();
    await page.keyboard.press('Control+y');
    await drawn('sink').waitFor({ state: 'detached' });
    await settles(() => button('Redo').isDisabled(), true);
  });

  it('duplicates with the inputs, arranges, and switches off', async () => {
    const { id } = await made(IDLE);
    await open(id);
    await drawn('discard').click();
    await page.keyboard.press('Control+d');
    await drawn('discard_2').waitFor();
    await page.getByRole('list', { name: 'Inputs' }).getByText('ticks', { exact: true }).waitFor();
    await page.getByLabel('Part of the config').uncheck();
    await canvas()
      .getByRole('group', { name: /discard_2, blackhole, switched off/ })
      .waitFor();
    await button('Arrange').click();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const { nodes, edges } = await stored(id);
    expect(nodes.map(({ componentKey, disabled }) => [componentKey, disabled])).to.deep.equal([
      ['ticks', false],
      ['discard', false],
      ['discard_2', true],
    ]);
    expect(edges).to.have.length(2);
  });

  it('makes outputs of routes, which take their connections along when they are renamed', async () => {
    const { id } = await made({ nodes: [IDLE.nodes[0] as GraphNode], edges: [] });
    await open(id);
    await drawn('ticks').click();
    await add('route');
    const entry = options().getByRole('textbox', { name: 'New entry of route' });
    await entry.fill('errors');
    await entry.press('Enter');
    await options().getByRole('textbox', { name: 'errors', exact: true }).click();
    await page.keyboard.type('.status == 500');
    await add('blackhole');
    await page.getByRole('combobox', { name: 'Add an input' }).selectOption('route.errors');
    await drawn('route').click();
    await canvas().getByRole('img', { name: 'Output errors of route' }).waitFor();
    const name = options().getByRole('textbox', { name: 'Name of errors in route' });
    await name.fill('failures');
    await name.press('Enter');
    await page
      .getByRole('list', { name: 'Output failures' })
      .getByText('blackhole', { exact: true })
      .waitFor();
    await noProblems();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const { nodes, edges } = await stored(id);
    expect(nodes[1]?.config).to.deep.equal({ route: { failures: '.status == 500' } });
    expect(edges.map((edge) => edge.id)).to.deep.equal(['ticks>route', 'route.failures>blackhole']);
  });

  it('fills sections, lists and choices, and keeps options that the schema does not know', async () => {
    const { id } = await made({
      nodes: [
        { ...node('web', 'SOURCE', 'http_server', 0), config: { odd: { kept: [1, 2] } } },
        IDLE.nodes[1] as GraphNode,
      ],
      edges: [{ sourceNodeId: 'web', targetNodeId: 'discard' }],
    });
    await open(id);
    await drawn('web').click();
    await options().getByLabel('address').fill('127.0.0.1:8099');
    await options().getByLabel('framing').selectOption('newline_delimited');
    await options().getByText('newline_delimited', { exact: true }).last().click();
    const length = options().getByLabel('max_length');
    await length.fill('many');
    await options().getByText('A number, or a variable').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Not saved. max_length: A number').waitFor();
    await length.fill('1024');
    await options().getByText('headers', { exact: true }).click();
    await options().getByRole('button', { name: 'Add to headers' }).click();
    await options().getByRole('textbox', { name: 'headers 1' }).fill('X-Request-Id');
    await options().getByLabel('strict_path').selectOption('false');
    expect(await options().getByRole('textbox', { name: 'Other options as YAML' }).textContent()).to.include(
      'kept',
    );
    await options().getByRole('button', { name: 'YAML' }).click();
    const whole = options().getByRole('textbox', { name: 'Options of web as YAML' });
    await whole.getByText('X-Request-Id').waitFor();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    expect((await stored(id)).nodes[0]?.config).to.deep.equal({
      odd: { kept: [1, 2] },
      address: '127.0.0.1:8099',
      framing: { method: 'newline_delimited', newline_delimited: { max_length: 1024 } },
      headers: ['X-Request-Id'],
      strict_path: false,
    });
    await whole.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('type: file');
    await options().getByText('“type” is not written here').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('addr');
    await page.getByRole('option', { name: /^address/ }).click();
    await page.keyboard.type('127.0.0.1:8100');
    await page.keyboard.press('Control+s');
    await until(async () => (await stored(id)).nodes[0]?.config.address === '127.0.0.1:8100', {
      what: 'another address',
    });
    expect((await stored(id)).nodes[0]?.config).to.deep.equal({ address: '127.0.0.1:8100' });
  });

  it('applies YAML to the drawing, and shows what is wrong with it at its line', async () => {
    const { id } = await made(IDLE);
    await open(id);
    await page.getByRole('tab', { name: 'YAML' }).click();
    await yaml().getByText('discard').waitFor();
    const text = (more: string) =>
      `sources:\n  ticks:\n    type: demo_logs\n    format: json\ntransforms:\n  pick:\n    type: filter\n    inputs: [ticks]\n    condition: .status == 500\nsinks:\n  discard:\n    type: blackhole\n    inputs: [pick]\n${more}`;
    const paste = async (content: string): Promise<void> => {
      await yaml().click();
      await page.keyboard.press('Control+a');
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(content)})`);
      await page.keyboard.press('Control+v');
    };
    await paste(text('  other:\n    inputs: [pick]\n'));
    await button('Apply to the drawing').click();
    await page.getByRole('alert').getByText('"other" lacks its type').waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'line 14, column 3' }).click();
    expect(await focused()).to.equal('Engine config as YAML');
    await paste(text(''));
    await yaml().press('Control+Enter');
    await drawn('pick').waitFor();
    await page.getByText('Follows the drawing').waitFor();
    await button('Undo').click();
    await drawn('pick').waitFor({ state: 'detached' });
    await button('Redo').click();
    await noProblemsIn();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const { nodes } = await stored(id);
    // Those that were there keep their ids and places.
    expect(nodes.map(({ componentKey }) => componentKey)).to.deep.equal(['ticks', 'discard', 'pick']);
    expect(nodes[1]).to.include({ positionX: 300 });
  });

  async function noProblemsIn(): Promise<void> {
    await page.getByRole('tab', { name: 'Problems', exact: true }).click();
    await noProblems();
  }

  it('lets whoever comes second load the other drawing and keep theirs as text, or overwrite it', async () => {
    const { id } = await made(IDLE);
    const other = await session.another();
    await open(id);
    await open(id, other);
    await other.getByRole('searchbox', { name: 'Search the catalogue' }).fill('stdin');
    await offered('stdin', other);
    await other.keyboard.press('Enter');
    await drawn('discard').click();
    await page.getByLabel('Key', { exact: true }).fill('mine');
    await other.keyboard.press('Control+s');
    await other
      .getByRole('status')
      .filter({ hasText: /^Saved/ })
      .waitFor();
    await page.keyboard.press('Control+s');
    const dialog = page.getByRole('dialog', { name: 'Somebody else has saved this graph' });
    await dialog.getByRole('textbox', { name: 'Yours, as drawn' }).waitFor();
    expect(await violationsInBothSchemes(page, 'the dialog of a conflict')).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Load theirs, keep mine as text' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await drawn('stdin').waitFor();
    await yaml().getByText('mine').waitFor();
    await button('Apply to the drawing').click();
    await drawn('mine').waitFor();
    await other.getByLabel('Key', { exact: true }).fill('theirs');
    await other.keyboard.press('Control+s');
    await until(async () => (await stored(id)).nodes.some(({ componentKey }) => componentKey === 'theirs'), {
      what: 'theirs to be saved',
    });
    await page.getByText('Somebody else has saved this graph since you began.').waitFor();
    await button('Compare').click();
    await dialog.getByRole('button', { name: 'Overwrite theirs with mine' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await until(async () => (await stored(id)).nodes.some(({ componentKey }) => componentKey === 'mine'), {
      what: 'mine to be saved',
    });
    // Who has nothing to save gets what others save.
    await other.getByRole('group', { name: /mine/ }).waitFor();
    await other.context().close();
  });

  it('asks before a drawing is left that is not saved', async () => {
    const { id, name } = await made(IDLE);
    await page.goto(session.at(`pipelines/${id}`), LOAD);
    await page.getByRole('link', { name: 'Edit graph' }).click();
    await drawn('ticks').click();
    await page.getByLabel('Title', { exact: true }).fill('Every second');
    const asked = page.waitForEvent('dialog');
    await page.reload();
    expect((await asked).type()).to.equal('beforeunload');
    await drawn('ticks').click();
    await page.getByLabel('Title', { exact: true }).fill('Every second');
    await page.goBack();
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Fleet' }).click();
    await dialog.getByRole('button', { name: 'Save and leave' }).click();
    await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
    expect((await stored(id)).nodes[0]?.displayName).to.equal('Every second');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: `Edit ${name}` }).waitFor();
    await drawn('ticks').click();
    await page.getByLabel('Title', { exact: true }).fill('Never');
    await page.goBack();
    await dialog.getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    expect((await stored(id)).nodes[0]?.displayName).to.equal('Every second');
  });

  it('shares a component, accepts its next version, and lets go of it', async () => {
    const { environmentId } = session.site;
    const { id } = await made(IDLE);
    await open(id);
    await drawn('ticks').click();
    await button('Share this component').click();
    const dialog = page.getByRole('dialog', { name: 'Share ticks' });
    await dialog.getByLabel('Name').fill('Ticks for all');
    expect(await violationsInBothSchemes(page, 'the dialog of sharing')).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Share and link' }).click();
    await page.getByText('Linked to “Ticks for all”, version 1.').waitFor();
    await settles(() => options().getByLabel('format').isDisabled(), true);
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const shared = await api.query<{ id: string; name: string }[]>('sharedComponent.list', { environmentId });
    const shareId = shared.find(({ name }) => name === 'Ticks for all')?.id;
    await api.mutate('sharedComponent.update', {
      id: shareId,
      environmentId,
      config: { format: 'json', interval: 5 },
    });
    await button('Accept version 2').click();
    await page.getByText('Linked to “Ticks for all”, version 2.').waitFor();
    await page.keyboard.press('Control+s');
    await until(async () => (await stored(id)).nodes[0]?.sharedComponentVersion === 2, { what: 'version 2' });
    await button('Unlink').click();
    await options().getByLabel('interval').fill('7');
    await page.keyboard.press('Control+s');
    await until(async () => (await stored(id)).nodes[0]?.config.interval === 7, { what: 'its own interval' });
    expect((await stored(id)).nodes[0]?.sharedComponentId).to.equal(undefined);
    await page
      .getByRole('region', { name: 'Shared components' })
      .getByRole('button', { name: /Ticks for all/ })
      .waitFor();
  });

  it('only shows the graph of a pipeline that git describes, and says where that is', async () => {
    const { environmentId } = session.site;
    await until(async () => (await namedPipeline(api, environmentId, 'orders').catch(() => null)) !== null, {
      what: 'the pushed pipeline',
      timeoutMs: 30_000,
    });
    const { id } = await namedPipeline(api, environmentId, 'orders');
    await open(id);
    await page.getByText('This pipeline is described in git at').waitFor();
    await page.getByRole('link', { name: /staging\/orders\.yaml:\d+/ }).waitFor();
    await settles(() => button(/^Save/).count(), 0);
    await settles(() => search().count(), 0);
    await drawn('ticks').click();
    await settles(() => page.getByLabel('Key', { exact: true }).isEditable(), false);
    await settles(() => options().getByLabel('format').isDisabled(), true);
    await page.keyboard.press('Delete');
    await drawn('ticks').waitFor();
    await page.getByRole('tab', { name: 'YAML' }).click();
    await yaml().getByText('demo_logs').waitFor();
    expect(await violationsInBothSchemes(page, 'the editor of a pipeline in git')).to.deep.equal([]);
  });

  it('only shows the graph to a VIEWER', async () => {
    const { id } = await made(IDLE);
    const viewer = await session.as('VIEWER');
    const refused: string[] = [];
    viewer.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()));
    await open(id, viewer);
    await viewer.getByText('Your role here is VIEWER').waitFor();
    await settles(() => viewer.getByRole('button', { name: /^Save/ }).count(), 0);
    await viewer.getByRole('group', { name: /source ticks/ }).click();
    await viewer.getByRole('region', { name: 'Options' }).getByLabel('format').waitFor();
    await viewer.getByRole('textbox', { name: 'Engine config as YAML' }).getByText('blackhole').waitFor();
    expect(refused).to.deep.equal([]);
    await viewer.context().close();
  });

  it('starts from a template', async () => {
    const { teamId } = session.site;
    const name = 'Idle by template';
    await api.mutate('template.create', { teamId, name, description: '', category: 'Tests', ...IDLE });
    const { id } = await made();
    await open(id);
    await page.getByRole('combobox', { name: 'Start from a template' }).selectOption(name);
    await drawn('ticks').waitFor();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    expect((await stored(id)).edges.map((edge) => edge.id)).to.deep.equal(['ticks>discard']);
  });

  it('goes on without the engine’s catalogue: any type can be added, and its options are YAML', async () => {
    const { id } = await made();
    await page.route('**/api/trpc/engine.*', (route) => route.abort());
    await open(id);
    await page.getByRole('region', { name: 'Catalogue' }).getByRole('alert').waitFor();
    await search().fill('kafka');
    await button('Add kafka as source').click();
    await options().getByRole('textbox', { name: 'Options of kafka as YAML' }).click();
    await page.keyboard.type('topics: [a]');
    await page.unroute('**/api/trpc/engine.*');
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    expect((await stored(id)).nodes[0]).to.deep.include({
      componentType: 'kafka',
      config: { topics: ['a'] },
    });
  });

  it('draws a hundred components with a map, and stays quick', async () => {
    const nodes = [node('ticks', 'SOURCE', 'demo_logs', 0)];
    const edges = [];
    for (let at = 1; at < 100; at += 1) {
      nodes.push({
        ...node(
          `n${at}`,
          at % 10 === 9 ? 'SINK' : 'TRANSFORM',
          at % 10 === 9 ? 'blackhole' : 'dedupe',
          at % 10,
        ),
        positionY: Math.floor(at / 10) * 120,
      });
      edges.push({
        sourceNodeId: at % 10 === 0 || at === 1 ? 'ticks' : `n${at - 1}`,
        targetNodeId: `n${at}`,
      });
    }
    const { id } = await made({ nodes, edges });
    await open(id);
    await page.getByRole('img', { name: 'Map of the graph' }).waitFor();
    await drawn('n42').click();
    const startedAt = Date.now();
    await page.getByLabel('Title', { exact: true }).fill('The forty-second');
    await canvas().getByText('The forty-second').waitFor();
    expect(Date.now() - startedAt).to.be.lessThan(patient(4_000));
    await button('Arrange').click();
    await button('Undo').click();
  });

  it('has no violation that axe-core finds, in light and dark, and is no wider than a phone', async () => {
    const { id } = await made();
    const found: string[] = [];
    await open(id);
    await page.getByRole('region', { name: 'Sources' }).waitFor();
    found.push(...(await violationsInBothSchemes(page, 'the empty editor')));
    await add('http_server');
    await options().getByLabel('address').waitFor();
    await options().getByText('More options').last().click();
    await page.getByRole('list', { name: 'Structure' }).waitFor();
    found.push(...(await violationsInBothSchemes(page, 'the editor with problems')));
    found.push(...(await beyondAPhone(page, 'the editor with problems')));
    await add('route');
    await page.getByRole('tab', { name: 'YAML' }).click();
    await yaml().getByText('route').first().waitFor();
    found.push(...(await violationsInBothSchemes(page, 'the editor with YAML')));
    await page.getByRole('link', { name: 'Pipeline', exact: true }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    found.push(...(await violationsInBothSchemes(page, 'the dialog of leaving')));
    await button('Stay').click();
    await page.setViewportSize({ width: 390, height: 844 });
    for (const tab of ['Add', 'Component', 'YAML', /^Problems/]) {
      await page.getByRole('tab', { name: tab }).click();
      found.push(...(await violationsInBothSchemes(page, `a phone, ${tab}`)));
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > 390) found.push(`a phone, ${tab}: scrolls sideways (${wide})`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
