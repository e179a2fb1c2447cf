/** Who may import whom. A broken rule is printed with the file and the import that breaks it. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../../..');

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

/** Layers, from the lowest to the highest, each with the layers that it may import. The first that matches a path is its layer. */
const LAYERS: readonly { layer: string; path: RegExp; may: readonly string[] }[] = [
  { layer: 'schemas', path: /^schemas\//, may: [] },
  { layer: 'loops', path: /^reconcilers\/loops\//, may: ['schemas'] },
  { layer: 'agent', path: /^agent\//, may: ['schemas', 'loops'] },
  { layer: 'engine example', path: /^examples\/engine\//, may: [] },
  { layer: 'platform', path: /^controller\/(platform|database)\//, may: ['schemas', 'loops'] },
  {
    layer: 'composition',
    path: /^controller\/(main|cli|config)\.ts$|^controller\/(compose|config|demo|cli)\//,
    may: ['schemas', 'loops', 'platform', 'domain', 'reconcilers', 'api', 'package'],
  },
  {
    layer: 'domain',
    path: /^controller\/(identity|pipelines|fleet|delivery|secrets|insight|backups)\//,
    may: ['schemas', 'loops', 'platform', 'package'],
  },
  {
    layer: 'reconcilers',
    path: /^reconcilers\//,
    may: ['schemas', 'loops', 'platform', 'domain'],
  },
  { layer: 'api', path: /^api\//, may: ['schemas', 'loops', 'platform', 'domain', 'package'] },
  { layer: 'web', path: /^web\//, may: ['schemas'] },
  { layer: 'package', path: /^package\.json$/, may: [] },
];

/**
 * Folders that are domains of their own inside a group. What else lies in a group is one domain, with its index at the
 * group's root: `controller/pipelines/index.ts`.
 */
const SUBDOMAINS: Readonly<Record<string, readonly string[]>> = {
  identity: ['access', 'administration', 'directory', 'oidc', 'scim', 'teams'],
  pipelines: ['assistant', 'engine', 'migration', 'order', 'playground', 'snippets', 'templates'],
  fleet: ['engines', 'environments', 'groups', 'logs', 'releases', 'samples', 'settings', 'status'],
  delivery: ['bindings', 'ownership', 'promotions', 'pull-requests', 'repository', 'rollouts'],
  secrets: ['certificates'],
  backups: [],
  insight: [
    ...['alerts', 'analytics', 'anomalies', 'audit', 'dashboard', 'notifications', 'preferences'],
    ...['recommendations', 'streams', 'telemetry'],
  ],
};

/** Folders of which each may import only those before it. What lies beside them in the parent may be imported by all. */
const ORDERS: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  reconcilers: [
    'loops',
    'source',
    'kinds',
    'write-back',
    'merge',
    'git',
    'plan-view',
    'forges',
    'pull-requests',
    'promotions',
    ['alerts', 'notifications', 'rollouts', 'secrets', 'streams', 'without-server'],
  ],
  'reconcilers/source': ['git', 'yaml', 'manifest', 'scope'],
  'reconcilers/write-back': ['yaml', 'manifest', 'commit', 'propose'],
  'reconcilers/git': ['read', 'plan', 'act', 'record', 'push-report'],
  'reconcilers/pull-requests': ['mirror', 'merge', 'check', 'commits'],
  'reconcilers/forges': ['transport', ['azure-devops', 'bitbucket', 'gitea', 'github', 'gitlab']],
};

const layerOf = (path: string) => LAYERS.find((candidate) => candidate.path.test(path));

/** `identity/access`, or `pipelines` for what lies in no domain of its own. Null outside of the domains. */
function domainOf(path: string): string | null {
  const [top, group = '', folder = ''] = path.split('/');
  const own = SUBDOMAINS[group];
  if (top !== 'controller' || !own) return null;
  return own.includes(folder) ? `${group}/${folder}` : group;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found: Import[] = [];
  const statement =
    /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|import\('(\.[^']+)'\)/g;
  for (const match of text.matchAll(statement)) {
    const target = match[2] ?? match[3] ?? '';
    found.push({ from: file, to: normalize(join(dirname(file), target)), typeOnly: match[1] !== undefined });
  }
  return found;
}

const files = ['schemas', 'reconcilers', 'controller', 'api', 'agent', 'examples/engine', 'web']
  .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }))
  .filter((file) => !file.includes('node_modules'));
const imports = files.flatMap(importsOf);

const nothing = (broken: readonly string[]) => expect(broken, broken.join('\n')).to.deep.equal([]);

/** Trails along which names lead back to themselves. */
function cyclesIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>();
  const visit = (name: string, trail: string[]): string[] => {
    if (trail.includes(name)) return [[...trail.slice(trail.indexOf(name)), name].join(' → ')];
    if (done.has(name)) return [];
    const found = [...(edges.get(name) ?? [])].flatMap((next) => visit(next, [...trail, name]));
    done.add(name);
    return found;
  };
  return [...edges.keys()].flatMap((name) => visit(name, []));
}

describe('who may import whom', () => {
  it('finds a layer for every file', () => {
    nothing(files.filter((file) => !layerOf(file)));
  });

  it('keeps every import inside the layers that its own layer may use', () => {
    const broken = imports.flatMap(({ from, to, typeOnly }) => {
      const here = layerOf(from);
      const there = layerOf(to);
      if (!here) return [];
      if (here === there || (there && here.may.includes(there.layer))) return [];
      // The UI takes types from the server, and nothing that runs.
      if (here.layer === 'web' && (there?.layer === 'api' || !/\.tsx?$/.test(to)) && (typeOnly || !there))
        return [];
      return [`${from} (${here.layer}) imports ${to} (${there?.layer ?? 'no layer'})`];
    });
    nothing(broken);
  });

  it("lets domains meet only through each other's index", () => {
    const broken = imports.flatMap(({ from, to }) => {
      const target = domainOf(to);
      if (!target || to === `controller/${target}/index.ts` || domainOf(from) === target) return [];
      return [`${from} imports ${to}, past controller/${target}/index.ts`];
    });
    nothing(broken);
  });

  it('loads nothing of other domains into a thread, which starts for one piece of work', () => {
    const loadedBy = (file: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(file)) return seen;
      seen.add(file);
      for (const { from, to, typeOnly } of imports) if (from === file && !typeOnly) loadedBy(to, seen);
      return seen;
    };
    const scripts = files.filter((file) => file.endsWith('-worker.ts'));
    expect(scripts).to.include('controller/pipelines/migration/analysis-worker.ts');
    const broken = scripts.flatMap((script) =>
      [...loadedBy(script)]
        .filter((file) => ![null, domainOf(script)].includes(domainOf(file)))
        .map((file) => `${script} loads ${file}`),
    );
    nothing(broken);
  });

  it('has no cycle between domains, types included', () => {
    const edges = new Map<string, Set<string>>();
    for (const { from, to } of imports) {
      const [a, b] = [domainOf(from), domainOf(to)];
      if (a && b && a !== b) edges.set(a, (edges.get(a) ?? new Set()).add(b));
    }
    nothing(cyclesIn(edges));
  });

  it('has no cycle between files, types aside, but of fields of forms that hold fields', () => {
    const edges = new Map<string, Set<string>>();
    for (const { from, to, typeOnly } of imports)
      if (!typeOnly) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    nothing(cyclesIn(edges).filter((cycle) => !/^web\/src\/ui\/schema-form\//.test(cycle)));
  });

  for (const [parent, order] of Object.entries(ORDERS))
    it(`keeps the order of the folders in ${parent}, types included`, () => {
      const rank = new Map(
        order.flatMap((names, index) => [names].flat().map((name) => [name, index] as const)),
      );
      const folderOf = (path: string) => {
        const rest = path.startsWith(`${parent}/`) ? path.slice(parent.length + 1).split('/') : [];
        return rest.length > 1 ? (rest[0] ?? null) : null;
      };
      const broken = imports.flatMap(({ from, to }) => {
        const [here, there] = [folderOf(from), folderOf(to)];
        if (here !== null && !rank.has(here)) return [`${from}: ${here} has no place in the order`];
        if (here === null || there === null || here === there) return [];
        return (rank.get(there) ?? Infinity) < (rank.get(here) ?? 0) ? [] : [`${from} imports ${to}`];
      });
      nothing(broken);
    });

  it('asks the database only from files that end in store.ts or queries.ts', () => {
    const allowed = /[/-](store|queries)\.ts$|^controller\/(platform|database)\//;
    const broken = files
      .filter((file) => /^(controller|api|reconcilers)\//.test(file) && !allowed.test(file))
      .filter((file) => /\.raw(<[^(]*>)?\(|\b(db|tx)\('/.test(readFileSync(join(root, file), 'utf8')));
    nothing(broken);
  });

  it('reads the process environment only in config.ts, the agent and the example engine', () => {
    const allowed =
      /^controller\/(config|cli|platform\/runtime\/search-path)\.ts$|^controller\/demo\/demo\.ts$|^agent\/|^examples\/engine\/|^web\//;
    const broken = files.filter(
      (file) => !allowed.test(file) && /process\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    nothing(broken);
  });

  it('keeps folders small enough to be read at a glance', () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    const broken = [...counts]
      // Migrations only grow.
      .filter(([folder, count]) => count > 20 && folder !== 'controller/database/migrations')
      .map(([folder, count]) => `${folder} holds ${count} files; 20 are enough`);
    nothing(broken);
  });
});
