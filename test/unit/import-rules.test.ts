/** Who may import whom. A broken rule is printed with the file and the import that breaks it. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

/** Rooms, each with the rooms that it may import. The first that matches a path is its room. */
const ROOMS: readonly { room: string; path: RegExp; may: readonly string[] }[] = [
  { room: 'schemas', path: /^schemas\//, may: [] },
  { room: 'reconcilers/engine', path: /^reconcilers\/engine\//, may: ['schemas'] },
  { room: 'agent', path: /^agent\//, may: ['schemas', 'reconcilers/engine'] },
  { room: 'engine example', path: /^examples\/engine\//, may: [] },
  {
    room: 'platform',
    path: /^controller\/(platform|database)\//,
    may: ['schemas', 'reconcilers/engine', 'platform'],
  },
  {
    room: 'composition',
    path: /^controller\/(main|cli|config|keys|signals)\.ts$|^controller\/(demo|commands)\//,
    may: ['schemas', 'reconcilers/engine', 'platform', 'domain', 'reconcilers', 'api', 'composition'],
  },
  {
    room: 'domain',
    path: /^controller\/[^/]+\//,
    may: ['schemas', 'reconcilers/engine', 'platform', 'domain'],
  },
  {
    room: 'reconcilers',
    path: /^reconcilers\//,
    may: ['schemas', 'reconcilers/engine', 'platform', 'domain', 'reconcilers'],
  },
  { room: 'api', path: /^api\//, may: ['schemas', 'reconcilers/engine', 'platform', 'domain', 'api'] },
  { room: 'web', path: /^web\//, may: ['schemas', 'web'] },
];

const roomOf = (path: string) => ROOMS.find((candidate) => candidate.path.test(path));

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

describe('who may import whom', () => {
  it('keeps every import inside the rooms that its own room may use', () => {
    const broken = imports.flatMap(({ from, to, typeOnly }) => {
      const here = roomOf(from);
      const there = roomOf(to);
      if (!here || !there || here.room === there.room || here.may.includes(there.room)) return [];
      // The UI takes types from the server, and nothing that runs.
      if (here.room === 'web' && there.room === 'api' && typeOnly) return [];
      return [`${from} (${here.room}) imports ${to} (${there.room})`];
    });
    expect(broken, broken.join('\n')).to.deep.equal([]);
  });

  it("lets domains meet only through each other's index", () => {
    const domain = (path: string) => /^controller\/([^/]+)\//.exec(path)?.[1];
    const broken = imports.flatMap(({ from, to }) => {
      const target = domain(to);
      if (!target || roomOf(to)?.room !== 'domain' || to.endsWith('/index.ts')) return [];
      if (domain(from) === target) return [];
      return [`${from} imports ${to}, past controller/${target}/index.ts`];
    });
    expect(broken, broken.join('\n')).to.deep.equal([]);
  });

  it('has no cycle between domains', () => {
    const edges = new Map<string, Set<string>>();
    for (const { from, to, typeOnly } of imports) {
      if (typeOnly || roomOf(from)?.room !== 'domain' || roomOf(to)?.room !== 'domain') continue;
      const [a, b] = [from, to].map((path) => path.split('/')[1] ?? '');
      if (a && b && a !== b) edges.set(a, (edges.get(a) ?? new Set()).add(b));
    }
    const visit = (name: string, trail: string[]): string | null => {
      if (trail.includes(name)) return [...trail.slice(trail.indexOf(name)), name].join(' → ');
      for (const next of edges.get(name) ?? []) {
        const cycle = visit(next, [...trail, name]);
        if (cycle) return cycle;
      }
      return null;
    };
    const cycles = [...edges.keys()].map((name) => visit(name, [])).filter(Boolean);
    expect(cycles, cycles.join('\n')).to.deep.equal([]);
  });

  it('asks the database only from files that end in store.ts or queries.ts', () => {
    const allowed = /[/-](store|queries)\.ts$|^controller\/(platform|database)\//;
    const broken = files
      .filter((file) => /^(controller|api|reconcilers)\//.test(file) && !allowed.test(file))
      .filter((file) => /\.raw(<[^(]*>)?\(|\b(db|tx)\('/.test(readFileSync(join(root, file), 'utf8')));
    expect(broken, broken.join('\n')).to.deep.equal([]);
  });

  it('reads the process environment only in config.ts, the agent and the example engine', () => {
    const allowed =
      /^controller\/(config|cli|platform\/search-path)\.ts$|^controller\/demo\/demo\.ts$|^agent\/|^examples\/engine\/|^web\//;
    const broken = files.filter(
      (file) => !allowed.test(file) && /process\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(broken, broken.join('\n')).to.deep.equal([]);
  });
});
