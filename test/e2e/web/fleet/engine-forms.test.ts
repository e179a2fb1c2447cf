/** The form of every component that Vector 0.57 has, opened in the editor by somebody who draws. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { CatalogueEntry } from '../../../../schemas/api/pipelines/engine.ts';
import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { scriptedEngine } from '../../../support/fixtures/engine-schema/scripted-engine.ts';
import { watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

/** Opens every group, and answers how many fields there are, and how many of them are YAML. */
const UNFOLD = `(() => {
  const options = document.querySelector('section[aria-label="Options"]');
  for (const group of options.querySelectorAll('details')) group.open = true;
  const yaml = [...options.querySelectorAll('[aria-label$=" as YAML"]')].map((field) => field.getAttribute('aria-label'));
  return { fields: options.querySelectorAll('[data-option]').length, yaml };
})()`;

describe('the forms of an engine’s components', function () {
  this.timeout(240_000);
  const engine = scriptedEngine();
  let session: SiteSession;
  let page: Page;
  let api: ApiClient;
  let errors: string[];

  before(async () => {
    session = await openSite({ controller: { variables: { HEADGATE_ENGINE_BIN: engine.bin } } });
    page = session.page;
    errors = watchForErrors(page);
    page.on('dialog', (asked) => void asked.accept());
    api = await session.site.api();
  });
  after(async () => {
    await session?.close();
    engine.remove();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  async function drawn(name: string, nodes: GraphNode[]): Promise<string> {
    const { environmentId } = session.site;
    const { id } = await api.mutate<{ id: string }>('pipeline.create', { environmentId, name });
    await api.mutate('pipeline.saveGraph', { pipelineId: id, nodes, edges: [] });
    await page.goto(session.at(`pipelines/${id}/edit`));
    await page.getByRole('region', { name: 'Canvas' }).waitFor();
    return id;
  }
  const node = ({ kind, type }: CatalogueEntry, at: number): GraphNode => ({
    componentKey: `c${at}`,
    kind,
    componentType: type,
    config: {},
    positionX: (at % 10) * 280,
    positionY: Math.floor(at / 10) * 120,
    disabled: false,
  });
  const options = () => page.getByRole('region', { name: 'Options' });
  const select = (at: number) =>
    page.getByRole('region', { name: 'Canvas' }).getByRole('group', { name: new RegExp(`^\\w+ c${at},`) });

  it('all open, with fields and hardly any YAML', async () => {
    const { components } = await api.query<{ components: CatalogueEntry[] }>('engine.catalogue', {});
    expect(components).to.have.length(80);
    await drawn('all components', components.map(node));
    let fields = 0;
    const yaml: string[] = [];
    for (const [at, { type }] of components.entries()) {
      await select(at).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('group', { name: `Options of c${at}`, exact: true }).waitFor();
      const found = (await page.evaluate(UNFOLD)) as { fields: number; yaml: string[] };
      fields += found.fields;
      yaml.push(...found.yaml.map((label) => `${type}: ${label}`));
    }
    expect(yaml.length, yaml.join('\n')).to.be.at.most(10);
    expect(fields).to.be.greaterThan(1_000);
  });

  it('of a condition is a program', async () => {
    const id = await drawn('a condition', [
      node({ kind: 'TRANSFORM', type: 'filter', title: '', description: '' }, 0),
    ]);
    await select(0).click();
    await options().getByRole('textbox', { name: 'condition', exact: true }).click();
    await page.keyboard.type('.level == "error"');
    await page.keyboard.press('Control+s');
    await page
      .getByRole('status')
      .filter({ hasText: /^Saved, not deployed/ })
      .waitFor();
    const { nodes } = await api.query<Pipeline>('pipeline.get', { id });
    expect(nodes[0]?.config).to.deep.equal({ condition: '.level == "error"' });
  });

  it('offers the words of a time zone beside any other', async () => {
    await drawn('a time zone', [node({ kind: 'TRANSFORM', type: 'remap', title: '', description: '' }, 0)]);
    await select(0).click();
    const field = options().getByRole('combobox', { name: /^timezone/ });
    await page.getByRole('group', { name: 'Options of c0', exact: true }).waitFor();
    await page.evaluate(UNFOLD);
    await field.fill('Europe/Vienna');
    const words = await page.evaluate(
      `[...document.querySelector('section[aria-label="Options"] input[value="Europe/Vienna"]').list.options].map(({ value }) => value)`,
    );
    expect(words).to.deep.equal(['local']);
  });
});
