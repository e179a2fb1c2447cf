/** Forms of components of Vector 0.57 in the editor. `test/unit/web/schema-form/engine-fields.test.ts` has the fields of all. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { CatalogueEntry } from '../../../../schemas/api/pipelines/engine.ts';
import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { scriptedEngine } from '../../../support/fixtures/engine-schema/scripted-engine.ts';
import { component, drawPipeline } from '../../../support/fixtures/graphs.ts';
import { watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

/** Between them they have fields of each kind, in sections, lists, maps and alternatives of each kind. */
const DRAWN = [
  ...['SOURCE http_client', 'SOURCE static_metrics', 'SINK aws_s3', 'TRANSFORM reduce', 'TRANSFORM filter'],
  ...['TRANSFORM route', 'TRANSFORM remap'],
];

/** Opens every group, and answers how many fields there are. */
const UNFOLD = `(() => {
  const options = document.querySelector('section[aria-label="Options"]');
  for (const group of options.querySelectorAll('details')) group.open = true;
  return options.querySelectorAll('[data-option]').length;
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

  it('open with their fields, of which a condition is a program and a time zone has words beside any other', async () => {
    const { components } = await api.query<{ components: CatalogueEntry[] }>('engine.catalogue', {});
    expect(components).to.have.length(80);
    const offered = components.map(({ kind, type }) => `${kind} ${type}`);
    expect(offered).to.include.members(DRAWN);
    const nodes = DRAWN.map((drawn, at) => {
      const [kind, type] = drawn.split(' ') as [GraphNode['kind'], string];
      return component(type, type, kind, {}, { positionX: at * 280 });
    });
    const { id } = await drawPipeline(api, session.site.environmentId, { nodes, edges: [] });
    await page.goto(session.at(`pipelines/${id}/edit`));
    await page.getByRole('region', { name: 'Canvas' }).waitFor();
    const options = page.getByRole('region', { name: 'Options' });
    const select = async (key: string): Promise<void> => {
      const node = page.getByRole('region', { name: 'Canvas' }).getByRole('group', {
        name: new RegExp(`^\\w+ ${key},`),
      });
      await node.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('group', { name: `Options of ${key}`, exact: true }).waitFor();
    };
    for (const { componentKey } of nodes) {
      await select(componentKey);
      expect(await page.evaluate<number>(UNFOLD), componentKey).to.be.greaterThan(0);
    }

    const zone = options.getByRole('combobox', { name: /^timezone/ });
    await zone.fill('Europe/Vienna');
    const words = await page.evaluate(
      `[...document.querySelector('section[aria-label="Options"] input[value="Europe/Vienna"]').list.options].map(({ value }) => value)`,
    );
    expect(words).to.deep.equal(['local']);
    await select('filter');
    await options.getByRole('textbox', { name: 'condition', exact: true }).click();
    await page.keyboard.type('.level == "error"');
    await page.keyboard.press('Control+s');
    await page
      .getByRole('status')
      .filter({ hasText: /^Saved, not deployed/ })
      .waitFor();
    const saved = (await api.query<Pipeline>('pipeline.get', { id })).nodes;
    const configOf = (key: string) => saved.find(({ componentKey }) => componentKey === key)?.config;
    expect(configOf('filter')).to.deep.equal({ condition: '.level == "error"' });
    expect(configOf('remap')).to.deep.equal({ timezone: 'Europe/Vienna' });
  });
});
