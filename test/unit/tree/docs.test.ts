/** The documentation names what there is: files, variables, procedures, conditions, make targets. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { appRouter } from '../../../api/procedures/router.ts';
import { REST_ROWS } from '../../../api/rest/rows.ts';
import { ERROR_CODES } from '../../../schemas/api/error-codes.ts';
import { PERMISSIONS } from '../../../schemas/api/identity/service-accounts.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();

const allMatches = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? match[0])),
];
/** Words of `wanted` that the page does not have as words of their own. */
const missing = (page: string, wanted: readonly string[]): string[] => {
  const words = new Set(read(page).match(/[\w.]+/g));
  return wanted.filter((word) => !words.has(word) && !words.has(`${word}.`));
};
/** Fenced blocks, indented blocks, and what stands in backticks. */
const code = (text: string): string => allMatches(text, /```[\s\S]*?```|^ {4,}\S.*$|`[^`\n]+`/gm).join('\n');

const withoutFences = (text: string) => text.replaceAll(/```[\s\S]*?```|`[^`\n]+`/g, '');
/** As the common hosts make the anchor of a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
const anchorsOf = (page: string) => allMatches(read(page), /^#+ (.+)$/gm).map(anchor);

describe('the documentation', () => {
  it('has the pages that a newcomer looks for', () => {
    expect(pages).to.include.members(['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/README.md']);
  });

  for (const page of pages) {
    it(`leads from ${page} to files and headings that exist`, () => {
      const links = allMatches(withoutFences(read(page)), /\]\(([^)\s]+)\)/g);
      const broken = links
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [path = '', heading] = link.split('#');
          const target = path === '' ? page : join(dirname(page), path);
          if (!existsSync(join(root, target))) return true;
          return heading !== undefined && !anchorsOf(target).includes(heading);
        });
      expect(broken, 'broken links').to.deep.equal([]);
    });
  }

  it('names tests that exist', () => {
    const gone = pages.flatMap((page) =>
      allMatches(read(page), /`(?:test\/)?((?:unit|integration|e2e)\/[\w./-]+)`/g)
        .filter((path) => !existsSync(join(root, 'test', path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(gone).to.deep.equal([]);
  });

  for (const page of globSync('{agent,api,controller,reconcilers}/**/README.md', { cwd: root }).sort())
    it(`names files in ${page} that exist`, () => {
      const named = allMatches(read(page), /`([\w./-]+\.ts)`/g);
      const gone = named.filter(
        (name) =>
          !existsSync(join(root, name)) &&
          globSync(`**/${name}`, { cwd: join(root, dirname(page)) }).length === 0,
      );
      expect(gone).to.deep.equal([]);
    });

  it('lists every page of docs/ in docs/README.md', () => {
    const index = read('docs/README.md');
    const unlisted = pages.filter(
      (page) =>
        page.startsWith('docs/') && page !== 'docs/README.md' && !index.includes(`(${page.slice(5)})`),
    );
    expect(unlisted).to.deep.equal([]);
  });

  it('explains every variable of the controller in docs/running.md', () => {
    const files = ['controller/config.ts', ...globSync('controller/config/*.ts', { cwd: root })];
    const variables = allMatches(files.map(read).join('\n'), /'(HEADGATE_[A-Z_]*[A-Z])'/g);
    expect(variables).to.include('HEADGATE_PORT');
    expect(missing('docs/running.md', variables)).to.deep.equal([]);
  });

  it('explains every variable of the agent in docs/agents.md', () => {
    const variables = allMatches(read('agent/config.ts'), /\bSVC_[A-Z_]*[A-Z]\b/g);
    expect(variables).to.include('SVC_URL');
    expect(missing('docs/agents.md', variables)).to.deep.equal([]);
  });

  it('lists every procedure in docs/api.md, and none that is not there', () => {
    const procedures = Object.keys(appRouter._def.procedures).sort();
    expect(procedures).to.include('gitSync.status');
    const listed = allMatches(read('docs/api.md'), /^\| `(\w+\.\w+)` \| (?:query|mutation) \|/gm).sort();
    expect(listed).to.deep.equal(procedures);
  });

  it('lists every row of REST in docs/api.md with its permission, and what each permission opens', () => {
    const rows = REST_ROWS.map(
      ({ method, path, operation }) =>
        `${method} ${path.replace(/\{(\w+)\}/, '<$1>')} ${operation.permission}`,
    );
    const page = read('docs/api.md');
    const listed = [...page.matchAll(/^\| `([A-Z]+ \/\S+)` \| `([a-z.]+)` \|/gm)].map(
      ([, row, permission]) => `${row} ${permission}`,
    );
    expect(listed.sort()).to.deep.equal(rows.sort());
    const explained = allMatches(
      page,
      /^\| `([a-z]+\.[a-z]+)` \| (?=[^|`]*`(?:GET|POST|PATCH)|nothing yet)/gm,
    );
    expect(explained.sort()).to.deep.equal([...PERMISSIONS].sort());
  });

  it('lists every code of an error of REST in docs/api.md, with its status', () => {
    const listed = [...read('docs/api.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)];
    const codes = Object.entries(ERROR_CODES).map(([code, [status]]) => [code, String(status)]);
    expect(listed.map(([, code, status]) => [code, status])).to.deep.equal(codes);
  });

  it('explains every reason of a condition in docs/when-something-goes-wrong.md', () => {
    const notReasons = new Set(['Pipeline', 'Pruned', 'True', 'False', 'Unknown']);
    const ofNodes = /^export function rolloutConditions[\s\S]*?^}/m.exec(
      read('controller/fleet/status/gate/gate-conditions.ts'),
    );
    const sources = `${read('reconcilers/git/record/outcome.ts')}\n${ofNodes?.[0] ?? ''}`;
    const reasons = allMatches(sources, /'([A-Z][a-z]+(?:[A-Z][a-z]+)*)'/g);
    expect(reasons).to.include.members(['SchemaInvalid', 'NodesUnreachable']);
    const wanted = reasons.filter((reason) => !notReasons.has(reason));
    expect(missing('docs/when-something-goes-wrong.md', wanted)).to.deep.equal([]);
  });

  it('quotes messages of git and of its servers as they are said', () => {
    const sources = globSync('{controller/{delivery/repository,platform},reconcilers/{git,source}}/**/*.ts', {
      cwd: root,
    })
      .map(read)
      .join('\n');
    const rows = allMatches(
      read('docs/when-something-goes-wrong.md'),
      /^\| (\*\*Git\*\*: .*?|import error: .*?|a manifest is kept: .*?) \|/gm,
    );
    expect(rows.length).to.be.greaterThan(25);
    const words = rows.flatMap((row) => allMatches(row, /`([^`]+)`/g)).flatMap((text) => text.split('…'));
    const unsaid = words.map((text) => text.trim()).filter((text) => text !== '' && !sources.includes(text));
    expect(unsaid).to.deep.equal([]);
  });

  it('explains every stage of an import error in docs/manifests.md', () => {
    const union = /export type Stage =([^;]+);/.exec(read('reconcilers/source/types.ts'))?.[1] ?? '';
    const stages = allMatches(union, /'(\w+)'/g);
    expect(stages).to.include('schema');
    const rows = allMatches(read('docs/manifests.md'), /^\| (\w+) \|/gm);
    expect(stages.filter((stage) => !rows.includes(stage))).to.deep.equal([]);
  });

  it('names only make targets that exist', () => {
    const targets = allMatches(read('Makefile'), /^([a-z-]+):/gm);
    const broken = pages.flatMap((page) =>
      allMatches(code(read(page)), /(?:^\s*|`|&& |run: )make ([a-z-]+)\b/gm)
        .filter((target) => !targets.includes(target))
        .map((target) => `${page}: make ${target}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('names only folders and files of this repository that exist', () => {
    const path =
      /`((?:schemas|controller|reconcilers|api|agent|web|examples|test|docs)\/[\w./-]*(?:\/|\.ts|\.md))`/g;
    const broken = pages.flatMap((page) =>
      allMatches(read(page), path)
        // What the make targets write is not there before they ran.
        .filter((name) => !name.startsWith('test/.artifacts/') && !existsSync(join(root, name)))
        .map((name) => `${page}: ${name}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('keeps ARCHITECTURE.md short enough to be read', () => {
    expect(read('ARCHITECTURE.md').trimEnd().split('\n').length).to.be.at.most(150);
  });
});
