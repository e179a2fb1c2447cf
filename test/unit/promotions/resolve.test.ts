/** Manifests that a promotion's branch and its base both changed, put together by what they say. */
import { expect } from 'chai';
import { resolveManifests } from '../../../reconcilers/promotions/resolve-conflict.ts';

const PATH = 'environments/production/pipelines/a.yaml';
const pipeline = (name: string, spec: string, metadata = '') => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name}${metadata} } # kept
spec:
${spec}`;
const base = pipeline(
  'a',
  `  logLevel: info
  nodeSelector: { role: edge }
  sources:
    in: { type: demo_logs, format: json, interval: 1 } # in
  sinks:
    out: { type: blackhole, inputs: [in] }
`,
);
const group = `---
apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: g }
spec: { criteria: { role: edge } }
`;

describe('a branch of a promotion whose base has moved on', () => {
  it('takes the text of the base, with the fields that the branch has changed', () => {
    const ours = base.replace('interval: 1', 'interval: 2').replace('logLevel: info', 'logLevel: warn');
    const theirs = base
      .replace('# in', '# from the base')
      .replace('format: json', 'format: shuffle')
      .replace('role: edge', 'role: core');
    expect(resolveManifests(PATH, { base, ours, theirs })).to.equal(
      theirs.replace('interval: 1', 'interval: 2').replace('logLevel: info', 'logLevel: warn'),
    );
  });

  it('takes the value of the branch where both have changed one that travels', () => {
    const ours = base.replace('interval: 1', 'interval: 2');
    const theirs = base.replace('interval: 1', 'interval: 3');
    expect(resolveManifests(PATH, { base, ours, theirs })).to.equal(ours);
  });

  it('takes over what a reviewer has changed of the environment’s own, unless the base has changed that too', () => {
    const ours = base.replace('role: edge', 'role: core').replace('interval: 1', 'interval: 2');
    const theirs = base.replace('format: json', 'format: shuffle');
    expect(resolveManifests(PATH, { base, ours, theirs })).to.equal(
      ours.replace('format: json', 'format: shuffle'),
    );
    expect(
      resolveManifests(PATH, { base, ours, theirs: base.replace('role: edge', 'role: other') }),
    ).to.equal(null);
  });

  it('leaves the other documents of the file as the base has them', () => {
    const ours = base.replace('interval: 1', 'interval: 2') + group;
    const theirs = base + group.replace('role: edge', 'role: core');
    expect(resolveManifests(PATH, { base: base + group, ours, theirs })).to.equal(
      ours.replace(group, group.replace('role: edge', 'role: core')),
    );
  });

  for (const [reason, path, sides] of [
    ['a file that is no manifest', 'notes.md', { base, ours: `${base}# a`, theirs: `${base}# b` }],
    ['a file that one side has deleted', PATH, { base, ours: base, theirs: null }],
    ['a document that has come', PATH, { base, ours: base + group, theirs: base.replace('json', 'shuffle') }],
    [
      'another name',
      PATH,
      { base, ours: base.replace('name: a', 'name: b'), theirs: base.replace('json', 'x') },
    ],
    ['a document that is no YAML', PATH, { base, ours: `${base}\n  - [`, theirs: base.replace('json', 'x') }],
    [
      'a change of both of what is no pipeline',
      PATH,
      { base: group, ours: group.replace('edge', 'a'), theirs: group.replace('edge', 'b') },
    ],
  ] as const)
    it(`leaves ${reason} to people`, () => {
      expect(resolveManifests(path, sides)).to.equal(null);
    });
});
