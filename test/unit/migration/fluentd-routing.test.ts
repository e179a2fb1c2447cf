/** Routing: what reaches which output is what a plain interpreter of Fluentd's rules says, for random configurations. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parsePattern } from '../../../controller/pipelines/migration/fluentd/tags/pattern.ts';
import { decide } from '../../../controller/pipelines/migration/fluentd/tags/tag-set.ts';
import type { TranslatedComponent } from '../../../controller/pipelines/migration/translation.ts';
import { translateText } from '../../support/fixtures/fluentd-configs.ts';

/** Pattern matching as Fluentd's documentation has it, by parts of a tag. */
function matchesPattern(pattern: string, tag: string): boolean {
  return pattern.split(/\s+/).some((one) => matchesGlob(one, tag));
}
function matchesGlob(pattern: string, tag: string): boolean {
  const braces = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern);
  if (braces) {
    return (braces[2] ?? '').split(',').some((one) => matchesGlob(`${braces[1]}${one}${braces[3]}`, tag));
  }
  const match = (parts: string[], rest: string[]): boolean => {
    const [first, ...more] = parts;
    if (first === undefined) return rest.length === 0;
    if (first === '**') return rest.some((_, at) => match(more, rest.slice(at))) || match(more, []);
    return rest.length > 0 && (first === '*' || first === rest[0]) && match(more, rest.slice(1));
  };
  return match(pattern.split('.'), tag.split('.'));
}

const part = fc.constantFrom('a', 'b', 'c');
const tagOf = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
const globPart = fc.constantFrom('a', 'b', 'c', '*', '{a,b}');
const pattern = fc.oneof(
  fc.constant('**'),
  tagOf,
  fc.array(globPart, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')),
  fc.array(globPart, { minLength: 1, maxLength: 2 }).map((parts) => `${parts.join('.')}.**`),
  fc.array(globPart, { minLength: 1, maxLength: 2 }).map((parts) => `**.${parts.join('.')}`),
  fc.tuple(tagOf, tagOf).map((both) => both.join(' ')),
);

interface Rule {
  kind: 'filter' | 'match' | 'relabel' | 'retag';
  pattern: string;
  /** A label, or a tag. */
  to: string;
}
const rule = (labels: readonly string[]): fc.Arbitrary<Rule> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('filter' as const), pattern, to: fc.constant('') }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('match' as const), pattern, to: fc.constant('') }),
    },
    ...(labels.length > 0
      ? [
          {
            weight: 1,
            arbitrary: fc.record({
              kind: fc.constant('relabel' as const),
              pattern,
              to: fc.constantFrom(...labels),
            }),
          },
        ]
      : []),
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('retag' as const),
        pattern,
        to: tagOf.map((tag) => `new.${tag}`),
      }),
    },
  );
const rules = (labels: readonly string[]) => fc.array(rule(labels), { minLength: 1, maxLength: 5 });
const config = fc.record({
  tags: fc.uniqueArray(tagOf, { maxLength: 2 }),
  label: fc.constantFrom(null, '@X'),
  root: rules(['@X', '@Y']),
  x: rules(['@Y']),
  y: rules([]),
});
type Config = typeof config extends fc.Arbitrary<infer T> ? T : never;

/** Each rule has a number, which its components have in their names. */
function print({ tags, label, root, x, y }: Config): { text: string; scopes: Map<string, Rule[]> } {
  let number = 0;
  const printRules = (list: readonly Rule[]) =>
    list
      .map(({ kind, pattern: written, to }) => {
        number += 1;
        const id = `@id r${number}`;
        if (kind === 'filter')
          return `<filter ${written}>\n@type record_transformer\n${id}\n<record>\nf x\n</record>\n</filter>`;
        const type = { match: 'null', relabel: `relabel\n@label ${to}`, retag: `retag\ntag ${to}` }[kind];
        return `<match ${written}>\n@type ${type}\n${id}\n</match>`;
      })
      .join('\n');
  const text = [
    ...tags.map((tag, at) => `<source>\n@type sample\n@id s${at}\ntag ${tag}\n</source>`),
    `<source>\n@type forward\n@id any\n${label === null ? '' : `@label ${label}`}\n</source>`,
    printRules(root),
    `<label @X>\n${printRules(x)}\n</label>`,
    `<label @Y>\n${printRules(y)}\n</label>`,
  ].join('\n');
  return {
    text,
    scopes: new Map([
      ['@ROOT', root],
      ['@X', x],
      ['@Y', y],
    ]),
  };
}

/** The rules that an event passes, in order. Null for one that Fluentd would send round for ever. */
function interpret(scopes: ReadonlyMap<string, Rule[]>, scope: string, tag: string): string[] | null {
  const numbers = new Map([...scopes.values()].flat().map((one, at) => [one, at + 1]));
  const passed: string[] = [];
  let at = { scope, tag };
  for (let round = 0; round < 20; round += 1) {
    const output = (scopes.get(at.scope) ?? []).find((one) => {
      if (!matchesPattern(one.pattern, at.tag)) return false;
      if (one.kind !== 'relabel') passed.push(`r${numbers.get(one)}`);
      return one.kind !== 'filter';
    });
    if (output?.kind === 'relabel') at = { scope: output.to, tag: at.tag };
    else if (output?.kind === 'retag') at = { scope: at.scope, tag: output.to };
    else return passed;
  }
  return null;
}

/** Sends an event through the components, and gives the names of the rules that it passes. */
function flow(components: readonly TranslatedComponent[], from: string, tag: string): string[] {
  const passed: string[] = [];
  const visit = (output: string, current: string, depth: number): void => {
    if (depth > 200) throw new Error('the components form a cycle');
    for (const component of components.filter(({ inputs }) => inputs.includes(output))) {
      const { componentKey: key, componentType: type, config: options } = component;
      if (type === 'filter' || type === 'route') {
        const condition = String(
          type === 'filter' ? options.condition : (options.route as { matched: string }).matched,
        );
        const isTrue = holds(condition, current);
        if (type === 'route') visit(`${key}.${isTrue ? 'matched' : '_unmatched'}`, current, depth + 1);
        else if (isTrue) visit(key, current, depth + 1);
        continue;
      }
      passed.push(key.replace(/_\d+$/, ''));
      const retag = /^\._fluentd\.tag = "([a-z.]+)"$/m.exec(String(options.source))?.[1];
      visit(key, retag ?? current, depth + 1);
    }
  };
  visit(`${from}_records`, tag, 0);
  return passed;
}

/** Evaluates the few forms that conditions about tags have. */
function holds(condition: string, tag: string): boolean {
  const code = condition
    .replace(/match\(string!\(\._fluentd\.tag\), r'((?:[^'\\]|\\.)*)'\)/g, (_, source: string) =>
      String(new RegExp(source.replaceAll('\\A', '^').replaceAll('\\z', '$')).test(tag)),
    )
    .replace(/starts_with\(string!\(\._fluentd\.tag\), "([^"]*)"\)/g, (_, prefix: string) =>
      String(tag.startsWith(prefix)),
    )
    .replace(/\._fluentd\.tag == "([^"]*)"/g, (_, text: string) => String(tag === text));
  if (!/^[\s()|truefals]*$/.test(code)) throw new Error(`unknown condition: ${condition}`);
  const parts = code.replace(/[()\s]/g, '').split('||');
  return parts.includes('true');
}

describe('events of a translated configuration', () => {
  it('pass what they pass in Fluentd, with known and with unknown tags', () => {
    fc.assert(
      fc.property(config, fc.array(tagOf, { minLength: 3, maxLength: 3 }), (made, sent) => {
        const { text, scopes } = print(made);
        const components = translateText(text).translations.flatMap((one) => one.components);
        for (const [at, tag] of made.tags.entries()) {
          const passed = interpret(scopes, '@ROOT', tag);
          if (passed) expect(flow(components, `s${at}`, tag), text).to.deep.equal(passed);
        }
        for (const tag of [...sent, 'a', 'a.b.c']) {
          const passed = interpret(scopes, made.label ?? '@ROOT', tag);
          if (passed) expect(flow(components, 'any', tag), text).to.deep.equal(passed);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are decided by their tags alone where these are known', () => {
    const { translations } = translateText(
      '<source>\n@type sample\ntag a.b\n</source>\n<filter a.*>\n@type dedot\n</filter>\n<match b.**>\n@type null\n</match>\n<match a.**>\n@type stdout\n</match>',
    );
    expect(
      translations.flatMap((one) => one.components).map(({ componentKey }) => componentKey),
    ).to.deep.equal([...['sample', 'sample_records', 'dedot', 'stdout_prepare', 'stdout']]);
    expect(translations[2]?.notes[0]?.message).to.match(/No event that comes here/);
  });
});

describe('a tag pattern', () => {
  it('matches what the documentation says', () => {
    fc.assert(
      fc.property(pattern, tagOf, (written, tag) => {
        expect(parsePattern(written).automaton?.matches(tag), `${written} ${tag}`).to.equal(
          matchesPattern(written, tag),
        );
        expect(holds(parsePattern(written).condition ?? '', tag), `${written} ${tag}`).to.equal(
          matchesPattern(written, tag),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('is decided as all tags of a shape are', () => {
    const tags = ['a', 'b', 'c'].flatMap((one) => [
      one,
      ...['a', 'b', 'c'].flatMap((two) => [`${one}.${two}`, `${one}.${two}.a`, `${one}.${two}.q.q`]),
    ]);
    fc.assert(
      fc.property(
        pattern,
        pattern,
        fc.boolean(),
        fc.constantFrom('', 'a.', 'a.b.'),
        (written, fact, isTrue, prefix) => {
          const facts = [{ pattern: parsePattern(fact), matches: isTrue }];
          const verdict = decide({ shape: [prefix, null], facts }, parsePattern(written));
          const answers = tags
            .filter((tag) => tag.startsWith(prefix) && matchesPattern(fact, tag) === isTrue)
            .map((tag) => matchesPattern(written, tag));
          if (answers.includes(true)) expect(verdict).not.to.equal('never');
          if (answers.includes(false)) expect(verdict).not.to.equal('always');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('between slashes is matched by the engine, also where it excludes', () => {
    expect(parsePattern('/a|b/').condition).to.equal(`match(string!(._fluentd.tag), r'\\Aa|b\\n?\\z')`);
    expect(parsePattern('/(?!fluent).*/').condition).to.equal(
      `!match(string!(._fluentd.tag), r'\\A(?:fluent)')`,
    );
    expect(parsePattern('/(?<=a)b/').problem).to.match(/look-behind/);
  });
});

describe('a configuration that is as large as it may be', () => {
  it('is translated within limits, and says so where they are reached', () => {
    const many = (count: number, render: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => render(at)).join('\n');
    const text = `<source>\n@type forward\n</source>\n${many(2_000, (at) => `<filter a.${at}.**>\n@type dedot\n</filter>`)}`;
    const { translations } = translateText(text);
    const components = translations.flatMap((one) => one.components);
    expect(components.length).to.be.within(4_000, 5_010);
    const looped = translateText(
      `<source>\n@type forward\n</source>\n<match **>\n@type retag\nadd_prefix a\n</match>`,
    ).translations[1];
    expect(looped?.notes.map(({ message }) => message).join()).to.match(/dropped after 6 rounds/);
  });
});
