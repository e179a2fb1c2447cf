// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as manifests and configs write them
/** Source, target and what was promoted last, put together field by field. */
import { expect } from 'chai';
import fc from 'fast-check';
import { editsBetween } from '../../../reconcilers/promotions/field-edits.ts';
import { toRelativeReferences, toRootReferences } from '../../../reconcilers/promotions/file-references.ts';
import { mergePromotion, type Promotable } from '../../../reconcilers/promotions/merge-promotion.ts';
import { promotableOf } from '../../../reconcilers/promotions/promoted-fields.ts';
import { parseYamlText } from '../../../reconcilers/source/index.ts';
import { editDocument } from '../../../reconcilers/write-back/index.ts';

const of = (spec: Record<string, unknown>, labels: Record<string, string> = {}): Promotable => ({
  labels,
  spec,
});
const sink = (options: object) => of({ sinks: { out: { type: 'http', inputs: ['a'], ...options } } });

describe('a promotion, put together with what the target has', () => {
  const rows: {
    reason: string;
    base: Promotable | null;
    source: Promotable;
    target: Promotable;
    gives: Promotable;
    conflicts?: string[];
    kept?: string[];
  }[] = [
    {
      reason: 'takes what only the source has changed',
      base: sink({ uri: 'one' }),
      source: sink({ uri: 'two' }),
      target: sink({ uri: 'one' }),
      gives: sink({ uri: 'two' }),
    },
    {
      reason: 'leaves what only the target has changed, and names it',
      base: sink({ uri: 'one' }),
      source: sink({ uri: 'one' }),
      target: sink({ uri: 'production', batch: { max: 5 } }),
      gives: sink({ uri: 'production', batch: { max: 5 } }),
      kept: ['/sinks/out/uri', '/sinks/out/batch'],
    },
    {
      reason: 'takes the value of the source where both have changed it, and names that',
      base: sink({ uri: 'one' }),
      source: sink({ uri: 'two' }),
      target: sink({ uri: 'three' }),
      gives: sink({ uri: 'two' }),
      conflicts: ['/sinks/out/uri'],
    },
    {
      reason: 'says nothing where both have made the same change',
      base: sink({ uri: 'one' }),
      source: sink({ uri: 'two' }),
      target: sink({ uri: 'two' }),
      gives: sink({ uri: 'two' }),
    },
    {
      reason: 'takes out what the source has taken out',
      base: of({ transforms: { a: { type: 'filter' }, b: { type: 'remap' } } }),
      source: of({ transforms: { a: { type: 'filter' } } }),
      target: of({ transforms: { a: { type: 'filter' }, b: { type: 'remap' } } }),
      gives: of({ transforms: { a: { type: 'filter' } } }),
    },
    {
      reason: 'leaves a field out that both sides together have emptied',
      base: of({ sources: { a: { type: 'http' }, b: { type: 'file' } } }),
      source: of({ sources: { b: { type: 'file' } } }),
      target: of({ sources: { a: { type: 'http' } } }),
      gives: of({}),
      kept: ['/sources/b'],
    },
    {
      reason: 'leaves out what the target has taken out of a field that it no longer has',
      base: of({ sources: { a: { type: 'http' }, b: { type: 'file' } } }),
      source: of({ sources: { b: { type: 'file' } } }),
      target: of({}),
      gives: of({}),
      kept: ['/sources/b'],
    },
    {
      reason: 'takes out what the source has taken out and the target has changed, and names that',
      base: of({ transforms: { a: { type: 'filter' }, b: { type: 'remap' } } }),
      source: of({ transforms: { a: { type: 'filter' } } }),
      target: of({ transforms: { a: { type: 'filter' }, b: { type: 'remap', source: '.x = 1' } } }),
      gives: of({ transforms: { a: { type: 'filter' } } }),
      conflicts: ['/transforms/b'],
    },
    {
      reason: 'takes a component whole where the source has made another type of it',
      base: sink({ uri: 'one' }),
      source: of({ sinks: { out: { type: 'file', inputs: ['a'], path: '/x' } } }),
      target: sink({ uri: 'one', batch: 5 }),
      gives: of({ sinks: { out: { type: 'file', inputs: ['a'], path: '/x' } } }),
      conflicts: ['/sinks/out'],
    },
    {
      reason: 'leaves a component of another type that only the target has changed',
      base: sink({ uri: 'one' }),
      source: sink({ uri: 'one' }),
      target: of({ sinks: { out: { type: 'file', inputs: ['a'], path: '/x' } } }),
      gives: of({ sinks: { out: { type: 'file', inputs: ['a'], path: '/x' } } }),
      kept: ['/sinks/out'],
    },
    {
      reason:
        'takes the values of the source where nothing was promoted before, and leaves what only the target has',
      base: null,
      source: sink({ uri: 'two' }),
      target: of({
        sinks: { ...(sink({ uri: 'one', gzip: true }).spec.sinks as object), own: { type: 'file' } },
      }),
      gives: of({
        sinks: { ...(sink({ uri: 'two', gzip: true }).spec.sinks as object), own: { type: 'file' } },
      }),
      kept: ['/sinks/out/gzip', '/sinks/own'],
    },
    {
      reason: 'leaves what the target has made its own by a placeholder where nothing was promoted before',
      base: null,
      source: sink({ uri: 'two' }),
      target: sink({ uri: 'https://${value.host}' }),
      gives: sink({ uri: 'https://${value.host}' }),
      kept: ['/sinks/out/uri'],
    },
    {
      reason: 'knows no order of what feeds a component',
      base: null,
      source: of({ sinks: { out: { type: 'http', inputs: ['a', 'b'] } } }),
      target: of({ sinks: { out: { type: 'http', inputs: ['b', 'a'] } } }),
      gives: of({ sinks: { out: { type: 'http', inputs: ['b', 'a'] } } }),
    },
    {
      reason: 'takes lists whole',
      base: of({ tests: [1], dependsOn: ['x'] }),
      source: of({ tests: [1, 2], dependsOn: ['x'] }),
      target: of({ tests: [1], dependsOn: ['x', 'y'] }),
      gives: of({ tests: [1, 2], dependsOn: ['x', 'y'] }),
      kept: ['/dependsOn'],
    },
    {
      reason: 'merges labels by key',
      base: of({}, { team: 'a' }),
      source: of({}, { team: 'b' }),
      target: of({}, { team: 'a', tier: '1' }),
      gives: of({}, { team: 'b', tier: '1' }),
      kept: ['/metadata/labels/tier'],
    },
  ];
  for (const { reason, base, source, target, gives, conflicts = [], kept = [] } of rows)
    it(reason, () => {
      const merged = mergePromotion({ base, source, target });
      expect(merged.document).to.deep.equal(gives);
      expect(merged.conflicts).to.deep.equal(conflicts);
      expect(merged.retained).to.deep.equal(kept);
    });

  it('takes a reference for the text that it stands for', () => {
    const source = of({ transforms: { a: { type: 'remap', source: '.x = 1\n' } } });
    const target = of({ transforms: { a: { type: 'remap', source: { $file: '/shared/a.vrl' } } } });
    expect(mergePromotion({ base: null, source, target }, () => '.x = 1\n').document).to.deep.equal(target);
    expect(mergePromotion({ base: null, source, target }, () => '.x = 2\n').document).to.deep.equal(source);
  });
});

const word = fc.constantFrom('a', 'b', 'c', 'd');
const leaf = fc.oneof(
  word,
  fc.integer({ min: 0, max: 3 }),
  fc.boolean(),
  fc.array(word, { maxLength: 2 }),
  word.map((name) => ({ $file: `/shared/${name}.vrl` })),
  word.map((name) => `\${value.${name}}`),
);
const options = fc.dictionary(word, fc.oneof(leaf, fc.dictionary(word, leaf, { minKeys: 1, maxKeys: 2 })), {
  maxKeys: 3,
});
const component = fc
  .tuple(fc.constantFrom('http', 'file'), options)
  .map(([type, more]) => ({ type, ...more }));
const section = fc.dictionary(word, component, { minKeys: 1, maxKeys: 3 });
const promotable: fc.Arbitrary<Promotable> = fc
  .tuple(
    fc.record(
      { sources: section, sinks: section, logLevel: fc.constantFrom('warn', 'debug') },
      { requiredKeys: [] },
    ),
    fc.dictionary(word, word, { maxKeys: 2 }),
  )
  .map(([spec, labels]) => promotableOf({ metadata: { labels }, spec }));
const base = fc.option(promotable);

describe('whatever a promotion brings', () => {
  const json = (value: unknown) => JSON.parse(JSON.stringify(value));

  it('changes nothing where the source has not changed', () => {
    fc.assert(
      fc.property(promotable, promotable, (source, target) => {
        const merged = mergePromotion({ base: source, source, target });
        expect(merged.document).to.deep.equal(target);
        expect(merged.conflicts).to.deep.equal([]);
      }),
    );
  });

  it('gives the source where the target has not changed', () => {
    fc.assert(
      fc.property(promotable, promotable, (before, source) => {
        expect(mergePromotion({ base: before, source, target: before }).document).to.deep.equal(source);
      }),
    );
  });

  it('gives nothing more when it is done again', () => {
    fc.assert(
      fc.property(base, promotable, promotable, (before, source, target) => {
        const { document } = mergePromotion({ base: before, source, target });
        expect(mergePromotion({ base: before, source, target: document }).document).to.deep.equal(document);
        expect(mergePromotion({ base: source, source, target: document }).document).to.deep.equal(document);
      }),
    );
  });

  it('becomes edits that make exactly that of the file, keep its comments, and touch no field of the environment', () => {
    const path = 'environments/production/pipelines/a.yaml';
    fc.assert(
      fc.property(base, promotable, promotable, (before, source, target) => {
        const { document } = mergePromotion({ base: before, source, target });
        const written = toRelativeReferences(json(target), path);
        const text = `# Owned by the platform team
apiVersion: headgate/v1
kind: Pipeline
metadata:
  name:  orders # two blanks
  annotations: { headgate/prune: never }
  labels: ${JSON.stringify(written.labels)}
spec:
  deployed: false # not yet
  nodeSelector: { role:   edge }
  values: { host: "x" } # ours
  suspend: true
${Object.entries(written.spec)
  .map(([field, value]) => `  # about ${field}\n  ${field}: ${JSON.stringify(value)}\n`)
  .join('')}`;
        const edits = editsBetween(target, document, path);
        const after = editDocument(text, 0, edits, { overwrite: true });
        const read = promotableOf(parseYamlText(after).documents[0]?.value);
        const found = { ...read, spec: toRootReferences(read.spec, path) };
        const clean = ({ labels, spec }: Promotable) =>
          promotableOf({ metadata: { labels }, spec: json(spec) });
        expect(json(found)).to.deep.equal(json(clean(document)));
        expect(after.split('\n').slice(0, 6)).to.deep.equal(text.split('\n').slice(0, 6));
        for (const line of text
          .split('\n')
          .filter((one) => /deployed|nodeSelector|values:|suspend|# about/.test(one)))
          if (!line.includes('# about') || Object.hasOwn(document.spec, line.split(' ').at(-1) ?? ''))
            expect(after.split('\n')).to.include(line);
        if (edits.length === 0) expect(after).to.equal(text);
        expect(editsBetween(found, document, path)).to.deep.equal([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('references between manifests of different folders', () => {
  it('lead to the same files from there', () => {
    const spec = { a: { $file: '../../../shared/x.vrl' }, b: [{ $file: '../own.vrl' }] };
    const root = toRootReferences(spec, 'environments/staging/pipelines/p.yaml');
    expect(root).to.deep.equal({
      a: { $file: '/shared/x.vrl' },
      b: [{ $file: '/environments/staging/own.vrl' }],
    });
    expect(toRelativeReferences(root, 'prod/p.yaml')).to.deep.equal({
      a: { $file: '../shared/x.vrl' },
      b: [{ $file: '../environments/staging/own.vrl' }],
    });
  });
  it('become what they stand for where the target may not read them', () => {
    const spec = { a: { $file: '../own.vrl' } };
    const moved = toRootReferences(
      spec,
      'staging/pipelines/p.yaml',
      (path) => path.startsWith('shared/'),
      (pointer) => `text at ${pointer}`,
    );
    expect(moved).to.deep.equal({ a: 'text at /a' });
  });
});
