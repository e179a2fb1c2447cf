/**
 * Saves a picture of every page in both schemes at two widths into test/.artifacts/screenshots/.
 * Names of pages as arguments take those alone. Needs HEADGATE_URL, HEADGATE_EMAIL and HEADGATE_PASSWORD; HEADGATE_CHROMIUM may name another browser.
 */
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [1440, 390] as const;
const HEIGHT = 900;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Long enough for the first live samples, so that sparklines have something to show. */
const SETTLE_MS = 2_500;
/** For charts, which are redrawn in the other scheme. */
const REPAINT_MS = 250;

const folder = fileURLToPath(new URL('../test/.artifacts/screenshots/', import.meta.url));

function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`Set ${name}: the pictures are taken of a running Headgate, for example of "make run".`);
  return value;
}

async function signIn(context: BrowserContext, base: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${base}/sign-in`);
  await page.getByLabel('Email').fill(required('HEADGATE_EMAIL'));
  await page.getByLabel('Password').fill(required('HEADGATE_PASSWORD'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

/** The address of the row with that name, of the first where there is none; null on an empty list. */
async function rowHref(page: Page, table: string, name?: string): Promise<string | null> {
  const links = page.getByRole('table', { name: table }).getByRole('link');
  await links
    .first()
    .waitFor({ timeout: 5_000 })
    .catch(() => undefined);
  const named = links.filter({ hasText: name ?? '' });
  const link = (await named.count()) > 0 ? named : links;
  return (await link.count()) > 0 ? link.first().getAttribute('href') : null;
}

/** The first page of an environment that is not `env`; null where there is but one. */
async function otherEnvironment(page: Page, base: string, env: string): Promise<string | null> {
  await page.goto(`${base}${env}/overview`);
  await page
    .getByRole('list', { name: /^Nodes of .* by health$/ })
    .nth(1)
    .waitFor({ timeout: 5_000 })
    .catch(() => undefined);
  const hrefs = await page
    .getByRole('main')
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  const other = hrefs.find((href) => href.startsWith('/e/') && !href.startsWith(`${env}/`));
  return other ? other.split('/').slice(0, 3).join('/') : null;
}

/** Every page of the first environment, and those of the second that are empty there. */
async function addresses(page: Page, base: string): Promise<[name: string, path: string][]> {
  const env = new URL(page.url()).pathname.split('/').slice(0, 3).join('/');
  const rowOf = async (list: string, table: string, name?: string): Promise<string | null> => {
    await page.goto(`${base}${env}/${list}`);
    return rowHref(page, table, name);
  };
  const pipeline = await rowOf('pipelines?sort=nodes', 'Pipelines', 'checkout');
  const byHand = await rowOf('pipelines?q=invoices', 'Pipelines', 'invoices');
  const rollout = await rowOf('pipelines?q=visits', 'Pipelines', 'visits');
  const snippet = await rowOf('library?tab=snippets', 'Snippets');
  const shared = await rowOf('library?tab=shared', 'Shared components');
  const drawn = await rowOf('pipelines?q=webshop', 'Pipelines', 'webshop');
  const crashed = await rowOf('pipelines?status=crashed', 'Pipelines');
  const node = await rowOf('fleet?sort=-pipelines', 'Nodes');
  const pullRequest = await rowOf('promotions', 'Pull requests');
  const silent = await rowOf('fleet?health=UNREACHABLE', 'Nodes');
  const group = await rowOf('fleet?view=groups', 'Groups', 'edge');
  const alert = await rowOf('alerts?tab=history', 'Alerts, newest first');
  const user = await rowOf('settings?tab=users', 'Users', 'Katherine Johnson');
  const other = await otherEnvironment(page, base, env);
  const list: [string, string | null][] = [
    ['overview', `${env}/overview`],
    ['pipelines', `${env}/pipelines`],
    ['pipeline', pipeline],
    ['pipeline-component', pipeline && `${pipeline}?component=judge`],
    ['pipeline-events', pipeline && `${pipeline}?tab=events&component=judge&beside=requests`],
    ['pipeline-live', pipeline && `${pipeline}?tab=events&component=judge&view=live`],
    ['pipeline-logs', pipeline && `${pipeline}?tab=logs`],
    ['pipeline-versions', pipeline && `${pipeline}?tab=versions`],
    ['pipeline-config', pipeline && `${pipeline}?tab=config`],
    ['pipeline-new', `${env}/pipelines?new=1`],
    ['pipeline-by-hand', byHand && `${byHand}?tab=versions`],
    ['pipeline-deploy', byHand && `${byHand}?deploy=1`],
    ['pipeline-canary', byHand && `${byHand}?deploy=canary`],
    ['pipeline-rollout', rollout],
    ['pipeline-rollouts', rollout && `${rollout}?tab=rollouts`],
    ['pipeline-promote', rollout && `${rollout}?promote=1`],
    ['pipeline-promotions', rollout && `${rollout}?tab=promotions`],
    ['pipeline-deploy-refused', drawn && `${drawn}?deploy=1`],
    ['pipeline-dependencies', byHand && `${byHand}?tab=dependencies`],
    ['pipeline-settings', byHand && `${byHand}?tab=settings`],
    ['library', `${env}/library`],
    ['library-snippets', `${env}/library?tab=snippets`],
    ['library-snippet', snippet],
    ['library-shared', `${env}/library?tab=shared`],
    ['library-shared-component', shared],
    ['playground', `${env}/playground`],
    ['playground-config', `${env}/playground?tab=config`],
    ['graph-editor', drawn && `${drawn}/edit?component=split`],
    ['graph-editor-yaml', drawn && `${drawn}/edit?component=alarms&panel=yaml`],
    ['graph-editor-git', pipeline && `${pipeline}/edit`],
    ['pipeline-crashed', crashed && `${crashed}?tab=logs&level=ERROR`],
    ['fleet', `${env}/fleet`],
    ['fleet-matrix', `${env}/fleet?view=matrix`],
    ['fleet-groups', `${env}/fleet?view=groups`],
    ['fleet-groups-empty', other && `${other}/fleet?view=groups`],
    ['group', group],
    ['group-none', `${env}/fleet/groups/__ungrouped__`],
    ['node', node],
    ['node-silent', silent],
    ['git', `${env}/git`],
    ['git-plan', `${env}/git?tab=plan`],
    ['git-drift', `${env}/git?tab=drift&all=1`],
    ['git-holds', `${env}/git?tab=holds`],
    ['git-passes', `${env}/git?tab=passes`],
    ['git-settings', `${env}/git?tab=settings`],
    ['git-other', other && `${other}/git`],
    ['git-other-plan', other && `${other}/git?tab=plan`],
    ['promotions', `${env}/promotions`],
    ['promotions-requests', `${env}/promotions?tab=requests`],
    ['promotions-empty', other && `${other}/promotions?state=closed`],
    ['pull-request', pullRequest],
    ['pull-request-new', `${env}/promotions?new=1`],
    ['alerts', `${env}/alerts`],
    ['alerts-empty', other && `${other}/alerts`],
    ['alerts-history', `${env}/alerts?tab=history`],
    ['alerts-event', alert],
    ['alerts-rules', `${env}/alerts?tab=rules`],
    ['alerts-rules-new', `${env}/alerts?tab=rules&new=1`],
    ['alerts-silences', `${env}/alerts?tab=silences`],
    ['alerts-silences-new', `${env}/alerts?tab=silences&new=1`],
    ['alerts-endpoints', `${env}/alerts?tab=endpoints`],
    ['secrets', `${env}/secrets`],
    ['secrets-new', `${env}/secrets?new=1`],
    ['certificates', `${env}/secrets?tab=certificates`],
    ['certificates-new', `${env}/secrets?tab=certificates&new=1`],
    ['audit', `${env}/audit`],
    ['audit-none', `${env}/audit?q=nowhere`],
    ['settings', `${env}/settings`],
    ['settings-environment', `${env}/settings?tab=environment`],
    ['settings-access', `${env}/settings?tab=access`],
    ['settings-members', `${env}/settings?tab=members`],
    ['settings-users', `${env}/settings?tab=users`],
    ['settings-user', user],
    ['settings-teams', `${env}/settings?tab=teams`],
    ['settings-sso', `${env}/settings?tab=sso`],
    ['settings-scim', `${env}/settings?tab=scim`],
    ['settings-server', `${env}/settings?tab=server`],
    ['not-found', `${env}/pipelines/no-such-pipeline`],
    ['sign-in', '/sign-in'],
    ['sign-in-problem', '/sign-in?problem=email_taken'],
    ['api-docs', '/docs/api'],
    ['api-docs-operation', '/docs/api?q=deploy#deployPipeline'],
  ];
  return list.filter((entry): entry is [string, string] => entry[1] !== null);
}

async function takeAll(only: readonly string[]): Promise<void> {
  const base = required('HEADGATE_URL').replace(/\/$/, '');
  await mkdir(folder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.HEADGATE_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: FLAGS,
  });
  try {
    for (const width of WIDTHS) {
      const context = await browser.newContext({ viewport: { width, height: HEIGHT } });
      const page = await signIn(context, base);
      for (const [name, path] of await addresses(page, base)) {
        if (only.length > 0 && !only.includes(name)) continue;
        await page.setViewportSize({ width, height: HEIGHT });
        await page.goto(base + path);
        await page.waitForTimeout(SETTLE_MS);
        // The window grows to the page's height, so that what is fixed to its edges stays there in the picture.
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        await page.setViewportSize({ width, height: Math.max(height, HEIGHT) });
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await page.waitForTimeout(REPAINT_MS);
          await page.screenshot({ path: `${folder}${name}-${colorScheme}-${width}.png` });
        }
      }
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

await takeAll(process.argv.slice(2));
