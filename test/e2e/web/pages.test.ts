/** The pages of `make run`: a journey through each, and then every page that a link leads to, under the policy it is served with. */
import { expect } from 'chai';
import { signIn } from '../../../controller/demo/client.ts';
import type { PipelineSummary } from '../../../schemas/api/pipelines/pipelines.ts';
import { BROWSER_WAIT_MS } from '../../support/harness/patience.ts';
import { fillPages } from '../../support/scenes/full-site/pages.ts';
import {
  beyondAPhone,
  closeByEscape,
  followLinks,
  LOAD,
  openSession,
  type Session,
  settles,
  violationsInBothSchemes,
  watchForErrors,
} from './browser.ts';
import { formOf, linksOf, untilDrawn, type Watched, watchPolicy } from './crawl.ts';

const FIRST_LOAD_LIMIT_BYTES = 250 * 1024;

describe('the pages', function () {
  this.timeout(240_000);
  let session: Session;
  let errors: string[];

  const at = (path: string): string =>
    `${session.target.url}/e/${session.target.environments.staging}/${path}`;
  /** Opens the first row of a list and gives its name. */
  async function openFirst(list: 'pipelines' | 'fleet', table: string): Promise<string> {
    await session.page.goto(at(list));
    const link = session.page.getByRole('table', { name: table }).getByRole('link').first();
    const name = ((await link.textContent()) ?? '').trim();
    await link.click();
    await session.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    return name;
  }

  before(async () => {
    session = await openSession();
    followLinks(session.page);
    errors = watchForErrors(session.page);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('answers a wrong password with a sentence and stays on the sign-in page', async () => {
    const context = await session.browser.newContext();
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    const page = await context.newPage();
    await page.goto(`${session.target.url}/e/${session.target.environments.staging}/git`);
    await page.getByLabel('Email').fill(session.target.adminEmail);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).not.to.equal('');
    await page.getByLabel('Password').fill(session.target.adminPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Git' }).waitFor();
    await context.close();
  });

  it('loads at most 250 KB of script before the overview, which has a row of every environment', async () => {
    const { page } = session;
    await page.goto(at('overview'), LOAD);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const sizes = await page.evaluate<number[]>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(({ encodedBodySize }) => encodedBodySize)`,
    );
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).to.be.greaterThan(0);
    expect(bytes).to.be.at.most(FIRST_LOAD_LIMIT_BYTES);
    for (const name of ['staging', 'production']) {
      const row = page.getByRole('region', { name });
      await row.getByRole('list', { name: `Nodes of ${name} by health` }).waitFor();
      await row.getByRole('list', { name: `Pipelines of ${name} by status` }).waitFor();
      const points = row
        .getByRole('group', { name: `Gate of ${name}` })
        .getByRole('link', { includeHidden: true });
      await points.first().waitFor();
      expect(await points.count()).to.equal(4);
    }
  });

  it('filters and sorts the pipelines in the address, and walks the rows by keyboard', async () => {
    const { page } = session;
    await page.goto(at('pipelines'));
    const table = page.getByRole('table', { name: 'Pipelines' });
    const name = ((await table.getByRole('link').first().textContent()) ?? '').trim();
    await page.keyboard.press('/');
    await page.keyboard.type(name);
    await page.waitForURL(/[?&]q=/);
    await table.getByRole('link', { name, exact: true }).waitFor();
    await page.reload();
    expect(await page.getByRole('searchbox', { name: 'Filter pipelines' }).inputValue()).to.equal(name);
    await table.getByRole('button', { name: 'Name' }).click();
    await page.waitForURL(/sort=-name/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.goBack();
    await page.waitForURL(/sort=-name/);
  });

  it('walks the gate of a pipeline by arrow keys, and shows its conditions, graph, nodes, versions and config', async () => {
    const { page } = session;
    const name = await openFirst('pipelines', 'Pipelines');
    const gate = page.getByRole('group', { name: `Gate of ${name}` });
    const points = gate.getByRole('link');
    expect(await points.allInnerTexts()).to.have.length(4);
    await points.first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await points.nth(1).getAttribute('aria-label')).to.equal(
      await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`),
    );
    await page.getByRole('tooltip').waitFor();
    await page
      .getByRole('list', { name: `Conditions of ${name}` })
      .getByText('Validated', { exact: true })
      .waitFor();
    await page.getByRole('region', { name: 'Graph of components' }).waitFor();
    await page.getByRole('table', { name: `Nodes of ${name}` }).waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.waitForURL(/tab=versions/);
    await page
      .getByRole('table', { name: 'Versions' })
      .getByRole('button', { name: 'v1', exact: true })
      .click();
    await page.getByRole('region', { name: 'v1', exact: true }).getByRole('textbox').first().waitFor();
    await page.getByRole('tab', { name: 'Config' }).click();
    await page.getByRole('list', { name: 'Levels of validation' }).waitFor();
    await page
      .getByRole('textbox', { name: 'Configuration' })
      .or(page.getByRole('textbox', { name: 'To be deployed' }))
      .waitFor();
  });

  it('shows what a node runs against what it should', async () => {
    const { page } = session;
    const name = await openFirst('fleet', 'Nodes');
    await page.getByRole('table', { name: `Pipelines on ${name}` }).waitFor();
    await page.getByRole('region', { name: 'Host' }).waitFor();
    await page.getByRole('region', { name: 'Logs' }).waitFor();
    await page.goto(at('fleet?view=matrix'));
    await page.getByRole('grid', { name: 'What runs where' }).waitFor();
  });

  it('shows an enrollment token once, in the lines that start an agent', async () => {
    const { page } = session;
    await page.goto(at('fleet'));
    await page.getByRole('button', { name: 'Enroll a node' }).click();
    const dialog = page.getByRole('dialog', { name: 'Enroll a node' });
    await dialog.getByLabel('Labels of the node').fill('role=edge');
    await dialog.getByRole('button', { name: 'Generate token' }).click();
    const lines = await dialog.getByRole('region', { name: 'commands that start the agent' }).textContent();
    expect(lines)
      .to.match(/SVC_URL=http/)
      .and.to.match(/SVC_TOKEN=\S{20}/)
      .and.to.include("SVC_NODE_LABELS='role=edge'");
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Enroll a node' }).click();
    await dialog.getByRole('button', { name: 'Generate token' }).waitFor();
    expect(await dialog.getByText('SVC_TOKEN').count()).to.equal(0);
    await closeByEscape(page);
    await dialog.waitFor({ state: 'hidden' });
  });

  it('tells of the binding, every manifest and the passes, and starts a pass', async () => {
    const { page } = session;
    await page.goto(at('git'));
    await page.getByRole('button', { name: /^Copy clone address/ }).waitFor();
    const manifests = page.getByRole('list', { name: 'Manifests', exact: true });
    await manifests
      .getByRole('button', { name: /^Conditions of Pipeline/ })
      .first()
      .click();
    await manifests
      .getByRole('list', { name: /^Conditions of Pipeline/ })
      .first()
      .waitFor();
    await page.getByRole('tab', { name: 'Passes' }).click();
    const passes = page.getByRole('list', { name: 'Last passes' });
    await passes
      .getByRole('button', { name: /^Report of/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Sync now' }).click();
    await passes
      .getByText(/just now|\d s ago/)
      .first()
      .waitFor();
  });

  it('creates, replaces and deletes a secret, says what is wrong with a name, and never shows its value', async () => {
    const { page } = session;
    await page.goto(at('secrets'));
    await page.getByRole('button', { name: 'Add a secret' }).click();
    let dialog = page.getByRole('dialog', { name: 'Add a secret' });
    await dialog.getByLabel('Name').fill('7up');
    await dialog.getByText('Begin with a letter').waitFor();
    expect(await dialog.getByRole('button', { name: 'Add the secret' }).isDisabled()).to.equal(true);
    await dialog.getByLabel('Name').fill('walk.through');
    await dialog.getByLabel('Value').fill('first value');
    await dialog.getByRole('button', { name: 'Add the secret' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Replace the value of walk.through' }).click();
    dialog = page.getByRole('dialog', { name: 'Replace the value of walk.through' });
    await dialog.getByLabel('New value').fill('second value');
    await dialog.getByRole('button', { name: 'Replace the value' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.content()).not.to.include('second value');
    await page.getByRole('button', { name: 'Delete walk.through' }).click();
    dialog = page.getByRole('dialog', { name: 'Delete walk.through' });
    await dialog.getByText('Nothing that is deployed refers to it.').waitFor();
    await dialog.getByRole('button', { name: 'Delete the secret' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete walk.through' }).waitFor({ state: 'detached' });
  });

  it('goes anywhere by the palette, and switches the environment, with production marked', async () => {
    const { page } = session;
    const name = await openFirst('pipelines', 'Pipelines');
    await page.goto(at('settings'));
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go to anything' });
    await box.fill(name);
    await page.getByRole('option', { name: new RegExp(`${name}.*Pipeline`) }).waitFor();
    await box.press('Enter');
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await page.goto(at('pipelines'));
    await page.getByRole('button', { name: /environment staging/ }).click();
    await page.getByRole('menuitem', { name: /production/ }).click();
    await page.waitForURL(`**/e/${session.target.environments.production}/pipelines`);
    await page.getByRole('button', { name: /environment production/ }).waitFor();
  });

  it('says what happened and with which request when an address leads nowhere', async () => {
    const { page } = session;
    await page.goto(at('pipelines/no-such-pipeline'));
    const alert = page.getByRole('alert');
    await alert.getByRole('button', { name: /^Copy request id/ }).waitFor();
    await alert.getByRole('button', { name: 'Try again' }).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Pipelines' }).click();
    await page.getByRole('table', { name: 'Pipelines' }).waitFor();
  });

  it('shows the shortcuts by ? and remembers the folded rail', async () => {
    const { page } = session;
    await page.goto(at('overview'));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    // The page hears keys as soon as it follows events.
    await page.getByText('Live', { exact: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await closeByEscape(page);
    await page.getByRole('button', { name: 'Fold the rail' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Open the rail' }).click();
    await page.getByRole('button', { name: 'Fold the rail' }).waitFor();
  });

  describe('all of them', () => {
    let watched: Watched;
    /** What axe-core found, and on which forms of pages it looked. */
    const found: string[] = [];
    const looked = new Set<string>();

    before(async () => {
      const { url, adminEmail, adminPassword } = session.target;
      const api = await signIn(url, adminEmail, adminPassword);
      const [team] = await api.query<{ id: string }[]>('team.list');
      await fillPages({ ...session.target, teamId: team?.id ?? '', api: async () => api });
      watched = await watchPolicy(session.page);
    });

    /** Opens it, and waits until all of it is there. */
    async function visit(path: string): Promise<void> {
      const { page, target } = session;
      // Under a dialog the next address would be loaded as a whole.
      const dialog = page.getByRole('dialog');
      if ((await dialog.count()) > 0) await closeByEscape(page);
      await settles(() => dialog.count(), 0, 'the number of dialogs');
      await page.goto(`${target.url}${path}`);
      await page.getByRole('main').first().waitFor();
      await untilDrawn(page, watched, path);
      const form = formOf(path);
      if (!ACCESSIBLE.has(form) || looked.has(form)) return;
      await look(path);
      looked.add(form);
    }
    async function look(where: string): Promise<void> {
      found.push(...(await violationsInBothSchemes(session.page, where)));
      found.push(...(await beyondAPhone(session.page, where)));
    }

    it('break no policy, and are broken by none', async () => {
      const { page, target } = session;
      const home = `/e/${target.environments.staging}`;
      const waiting = ['/docs/api', ...MORE.map((path) => `${home}/${path}`)];
      const visited = new Set<string>();
      const met = new Set<string>();
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        if (visited.has(formOf(path))) continue;
        visited.add(formOf(path));
        await visit(path);
        const kinds = await page.evaluate<string[]>(
          `${JSON.stringify(KINDS)}.filter((kind) => document.querySelector(kind))`,
        );
        for (const kind of kinds) met.add(kind);
        waiting.push(...(await linksOf(page)));
        if (/\/pipelines\/[^/?]+$/.test(path))
          waiting.push(`${path}/edit`, ...TABS.map((tab) => `${path}?tab=${tab}`));
      }
      expect(visited.size).to.be.greaterThan(30);
      expect([...met].sort()).to.deep.equal([...KINDS].sort());
      expect(watched.violations).to.deep.equal([]);
    });

    it('have no violation that axe-core finds, in light and dark, and are no wider than a phone', async () => {
      const { page, target } = session;
      const api = await signIn(target.url, target.adminEmail, target.adminPassword);
      const { staging, production } = target.environments;
      const pipelines = await api.query<PipelineSummary[]>('pipeline.list', { environmentId: staging });
      const idOf = (name: string) => pipelines.find((one) => one.name === name)?.id ?? '';
      const states: [path: string, ready: () => Promise<void>][] = [
        [
          `${staging}/pipelines/${idOf('webhooks')}?tab=logs`,
          () => page.getByRole('log').getByText('ERROR', { exact: true }).first().waitFor(),
        ],
        [
          `${staging}/pipelines/${idOf('checkout')}?tab=logs`,
          () => page.getByRole('log').getByRole('time').first().waitFor(),
        ],
        [`${production}/alerts`, () => page.getByRole('heading', { name: 'No alert rules yet' }).waitFor()],
        [
          `${production}/fleet?view=groups`,
          () => page.getByRole('heading', { name: 'No groups yet' }).waitFor(),
        ],
      ];
      for (const [path, ready] of states) {
        await visit(`/e/${path}`);
        await ready();
        await look(path);
      }
      await visit(`/e/${staging}/fleet`);
      await page.getByRole('button', { name: 'Enroll a node' }).click();
      const dialog = page.getByRole('dialog', { name: 'Enroll a node' });
      await dialog.getByRole('button', { name: 'Generate token' }).waitFor();
      found.push(...(await violationsInBothSchemes(page, 'the enroll dialog')));
      await page.goto(`${target.url}/sign-in`);
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
      await look('/sign-in');
      expect([...looked].sort()).to.deep.equal([...ACCESSIBLE].sort());
      expect(found, found.join('\n')).to.deep.equal([]);
    });

    it('break no policy by dialogs, menus and code that is edited', async () => {
      const { page } = session;
      await page.goto(at('playground'));
      await page.getByRole('textbox').first().click();
      await page.keyboard.type('.level = up');
      await page.keyboard.press('Control+Space');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to anything' }).waitFor();
      await page.keyboard.press('Escape');
      await page.goto(at('secrets'));
      await page.getByRole('button', { name: 'Add a secret' }).click();
      await page.getByRole('dialog', { name: 'Add a secret' }).waitFor();
      // What keeps the page behind it from scrolling is a style of its own, which comes a moment after the dialog.
      const isHeld = () =>
        page.evaluate<boolean>(`getComputedStyle(document.body).overflow.includes('hidden')`);
      await settles(isHeld, true, 'whether the page behind is held');
      expect(watched.violations).to.deep.equal([]);
    });

    it('keep out a style, a script and markup that they were not served with', async () => {
      const { page } = session;
      await page.goto(`${session.target.url}/sign-in`);
      const broken = await page.evaluate<string[]>(`(async () => {
        const broken = [];
        addEventListener('securitypolicyviolation', (event) => broken.push(event.effectiveDirective));
        const style = document.createElement('style');
        style.textContent = 'body { background: red }';
        document.head.append(style);
        try { document.createElement('div').innerHTML = '<img src=x>'; } catch { broken.push('refused markup'); }
        const script = document.createElement('script');
        try { script.src = 'https://elsewhere.example/x.js'; } catch { broken.push('refused script'); }
        await fetch('https://elsewhere.example/').catch(() => {});
        await new Promise((done) => setTimeout(done, 200));
        return [...new Set(broken)].sort();
      })()`);
      expect(broken).to.include.members([
        'connect-src',
        'refused markup',
        'refused script',
        'style-src-elem',
      ]);
      // The browser says so as well.
      expect(errors.splice(0)).not.to.deep.equal([]);
    });
  });
});

/** Opened by a button or a key, and found by no link. */
const MORE = [
  ...['pipelines?new=1', 'promotions?new=1', 'secrets?new=1', 'secrets?tab=certificates'],
  ...['alerts?tab=history', 'alerts?tab=rules&new=1', 'alerts?tab=silences&new=1', 'alerts?tab=silences'],
  ...['playground?tab=config', 'fleet?view=matrix', 'fleet?view=groups', 'git?tab=plan', 'git?tab=settings'],
  ...['library?tab=snippets', 'library?tab=shared', 'settings'],
  ...['environment', 'members', 'assistant', 'access', 'users', 'teams', 'sso', 'scim', 'server'].map(
    (tab) => `settings?tab=${tab}`,
  ),
  ...['overview', 'pipelines'],
];
/** Of a pipeline. */
const TABS = ['versions', 'config', 'logs', 'events', 'metrics', 'settings', 'dependencies', 'rollouts'];
/** What brings styles of its own: editors, graphs, charts, dialogs. */
const KINDS = ['.cm-editor', '.react-flow', '.uplot', '[role=dialog]'];
/** The forms of the pages that axe-core looks at; the tests of other pages look at theirs. */
const ACCESSIBLE = new Set(
  [
    ...['overview', 'pipelines', 'pipelines/:id', 'pipelines/:id?tab=versions', 'pipelines/:id?tab=config'],
    ...['alerts', 'alerts?tab=history', 'alerts?tab=rules', 'alerts?tab=silences', 'git', 'secrets', 'audit'],
    ...['fleet', 'fleet?view=matrix', 'fleet?view=groups', 'fleet/:id', 'fleet/groups/:id', 'settings'],
  ].map((path) => `/e/:id/${path}`),
);
