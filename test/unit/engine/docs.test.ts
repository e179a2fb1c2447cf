/** docs/engine.md names every component, and its pipeline is one that the engine runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { SINKS } from '../../../examples/engine/sinks/index.ts';
import { SOURCES } from '../../../examples/engine/sources/index.ts';
import { TRANSFORMS } from '../../../examples/engine/transforms/index.ts';
import { compileTransforms } from '../../../examples/engine/vrl/compile-transforms.ts';
import { compileYaml } from './support.ts';

const ROOT = join(import.meta.dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/engine.md'), 'utf8');
const readme = readFileSync(join(ROOT, 'examples/engine/README.md'), 'utf8');

describe('the documentation of the engine', () => {
  it('lists every component, and none that is not there', () => {
    const listed = [...page.matchAll(/^\| ((?:source|transform|sink) `\w+`) \|/gm)].map(([, name]) => name);
    const known = Object.entries({ source: SOURCES, transform: TRANSFORMS, sink: SINKS }).flatMap(
      ([kind, registry]) => Object.keys(registry).map((type) => `${kind} \`${type}\``),
    );
    expect(listed).to.have.members(known);
    expect(known.filter((name) => !readme.includes(name.split(' ')[1]!))).to.deep.equal([]);
  });

  it('names every option of each component', () => {
    const rows = new Map(
      [...page.matchAll(/^\| (\w+ `\w+`) \| (.*) \|$/gm)].map(([, name, row]) => [name, row]),
    );
    const silent = Object.entries({ source: SOURCES, transform: TRANSFORMS, sink: SINKS }).flatMap(
      ([kind, registry]) =>
        Object.entries(registry).flatMap(([type, { options }]) =>
          Object.keys(options)
            .filter((option) => !new RegExp(`\`${option}[\`.]`).test(rows.get(`${kind} \`${type}\``) ?? ''))
            .map((option) => `${kind} ${type}: ${option}`),
        ),
    );
    expect(silent).to.deep.equal([]);
  });

  it('shows a pipeline that runs', async () => {
    const [, example] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const { spec }: { spec: object } = parse(example ?? '');
    const compiled = compileYaml(JSON.stringify(spec));
    expect(compiled.warnings).to.deep.equal([]);
    expect(await compileTransforms(compiled)).to.have.keys('tidy', 'thin');
  });
});
