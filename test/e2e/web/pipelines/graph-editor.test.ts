/** The graph editor, as somebody draws a pipeline in it: with the pointer, with keys alone, and as text. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { GraphEdge, GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { acceptingEngine } from '../../../support/fixtures/engine-schema/scripted-engine.ts';
import { component, edge } from '../../../support/fixtures/graphs.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { pipelineInGit } from '../../../support/scenes/pipeline-in-git.ts';
import { expectUsable, LOAD, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const ticks = component('ticks', 'demo_logs', 'SOURCE', { format: 'json' });
const discard = component('discard', 'blackhole', 'SINK', {}, { positionX: 300 });
const IDLE = { nodes: [ticks, discard], edges: [edge('ticks', 'discard')] };

describe('the graph editor', function () {
  this.timeout(240_000);
  const engine = acceptingEngine();
  let session: SiteSession;
  let api: ApiClient;
  let gitId: string;
  let page: Page;
  let errors: string[];
  let count = 0;

  before(async () => {
    session = await openSite({ controller: { variables: { HEADGATE_ENGINE_BIN: engine.bin } } });
    page = session.page;
    errors = watchForErrors(page);
    // What a test leaves unsaved may go.
    page.on('dialog', (asked) => void asked.accept());
    api = await session.site.api();
    gitId = await pipelineInGit(session.site);
  });
  after(async () => {
    await session?.close();
    engine.remove();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  /** A pipeline of its own for each test, with a graph where one is given. */
  async function made(graph?: { nodes: GraphNode[]; edges: GraphEdge[] }) {
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
  const isUsable = (where: string) => expectUsable(page, where);

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
    const id = page.url().split('/').at(-2) ?? '';
    await isUsable('the empty editor');
    await button('Add a source').press('Enter');
    await until(async () => (await focused()) === 'Search the catalogue', {
      what: 'the search to have the focus',
    });
    await page.keyboard.type('http_server');
    await page.keyboard.press('Enter');
    await options().getByLabel('address').fill('127.0.0.1:8099');
    await add('remap');
    await drawn('remap').waitFor();
    await page.getByRole('tab', { name: 'YAML' }).press('Enter');
    await options().getByRole('textbox', { name: 'source', exact: true }).click();
    await page.keyboard.type('.a = upcasee("x")');
    await yaml().getByText('.a = upcasee("x")').waitFor();
    await add('blackhole');
    await isUsable('the editor with YAML');
    await page.getByRole('tab', { name: /^Problems/ }).click();
    const problem = page.getByRole('list', { name: 'VRL' }).getByRole('button');
    await problem.waitFor();
    await isUsable('the editor with problems');
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
      ['http_server', { address: '127.0.0.1:8099' }],
      ['remap', { source: '.a = upcase("x")' }],
      ['blackhole', {}],
    ]);
    expect(graph.edges.map((edge) => edge.id)).to.deep.equal(['http_server>remap', 'remap>blackhole']);
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

  it('brings in what others keep: a template, a snippet, and a shared component with its next version', async () => {
    const { teamId, environmentId } = session.site;
    const name = 'Marked by template';
    const mark = component('mark', 'remap', 'TRANSFORM', { source: '.first = 1\n' }, { positionX: 300 });
    const out = { ...discard, positionX: 600 };
    const graph = { nodes: [ticks, mark, out], edges: [edge('ticks', 'mark'), edge('mark', 'discard')] };
    await api.mutate('template.create', { teamId, name, description: '', category: 'Tests', ...graph });
    const snippet = { teamId, name: 'Mark', category: 'Marks', code: '.marked = true' };
    await api.mutate('vrlSnippet.create', snippet);
    const { id } = await made();
    await open(id);
    await page.getByRole('combobox', { name: 'Start from a template' }).selectOption(name);
    await drawn('mark').click();
    await options().getByRole('textbox', { name: 'source', exact: true }).click();
    await page.keyboard.press('Control+End');
    await options().getByLabel('Insert a snippet').selectOption({ label: 'Marks: Mark' });
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const { nodes, edges } = await stored(id);
    expect(nodes.find(({ componentKey }) => componentKey === 'mark')?.config).to.deep.equal({
      source: '.first = 1\n.marked = true\n',
    });
    expect(edges.map((each) => each.id)).to.deep.equal(['ticks>mark', 'mark>discard']);

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

  it('undoes and redoes everything, moves too; duplicates with the inputs, arranges, and switches off', async () => {
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

    for (let step = 0; step < 3; step += 1) await button('Undo').click();
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
    const { id } = await made({ nodes: [ticks], edges: [] });
    await open(id);
    await drawn('ticks').click();
    await add('route');
    await options().locator('[data-option="/route"] > summary').click();
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
    const web = component('web', 'http_server', 'SOURCE', { odd: { kept: [1, 2] } });
    const { id } = await made({ nodes: [web, discard], edges: [edge('web', 'discard')] });
    await open(id);
    await drawn('web').click();
    await options().getByLabel('address').fill('127.0.0.1:8099');
    await options().getByText('More options').last().click();
    await isUsable('options');
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
    await page.getByRole('tab', { name: 'Problems', exact: true }).click();
    await noProblems();
    await page.keyboard.press('Control+s');
    await savedNote().waitFor();
    const { nodes } = await stored(id);
    // Those that were there keep their ids and places.
    expect(nodes.map(({ componentKey }) => componentKey)).to.deep.equal(['ticks', 'discard', 'pick']);
    expect(nodes[1]).to.include({ positionX: 300 });
  });

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
    await dialog.waitFor();
    await isUsable('the dialog of leaving');
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

  it('only shows the graph of a pipeline that git describes, and says where that is', async () => {
    await open(gitId);
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
    await isUsable('the editor of a pipeline in git');
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
    const nodes = [ticks];
    const edges = [];
    for (let at = 1; at < 100; at += 1) {
      const [row, column] = [Math.floor(at / 10), at % 10];
      const place = { positionX: column * 300, positionY: row * 120 };
      nodes.push(
        column === 9
          ? component(`n${at}`, 'blackhole', 'SINK', {}, place)
          : component(`n${at}`, 'dedupe', 'TRANSFORM', {}, place),
      );
      edges.push(edge(column === 0 || at === 1 ? 'ticks' : `n${at - 1}`, `n${at}`));
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

  it('has its panels behind tabs on a phone, none of which scrolls sideways', async () => {
    const { id } = await made(IDLE);
    await open(id);
    await drawn('ticks').click();
    await page.setViewportSize({ width: 390, height: 844 });
    for (const tab of ['Add', 'YAML', 'Problems', 'Component']) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      expect(await page.evaluate<number>('document.documentElement.scrollWidth'), tab).to.be.at.most(390);
    }
    const found = await violationsInBothSchemes(page, 'the editor on a phone');
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
