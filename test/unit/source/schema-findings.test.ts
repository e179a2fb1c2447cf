import { expect } from 'chai';
import { readManifests } from '../../support/clients/read-manifests.ts';

function document(kind: string, spec: string, metadata = '{ name: one }'): string {
  return `apiVersion: headgate/v1\nkind: ${kind}\nmetadata: ${metadata}\nspec:\n${spec}`;
}

type Fault = [
  what: string,
  content: string,
  message: string,
  hint: string,
  at: [line: number, column: number],
];
const FAULTS: Fault[] = [
  [
    'an unknown field that is nearly a known one',
    document('Pipeline', '  deployed: true\n  nodeSelctor: { role: edge }\n'),
    '`nodeSelctor` is not a known field of spec',
    'Did you mean `nodeSelector`?',
    [6, 3],
  ],
  [
    'an unknown field that is like no other',
    document('NodeGroup', '  criteria: { a: b }\n  color: red\n'),
    '`color` is not a known field of spec',
    'Known fields: criteria, labelTemplate, requiredLabels.',
    [6, 3],
  ],
  [
    'a missing field, at what lacks it',
    document('Pipeline', '  sinks:\n    out: { type: console }\n'),
    '`spec.sinks.out.inputs` is required',
    'At least one',
    [6, 5],
  ],
  [
    'no inputs',
    document('Pipeline', '  sinks:\n    out:\n      type: console\n      inputs: []\n'),
    '`spec.sinks.out.inputs` needs at least 1',
    'At least one',
    [8, 7],
  ],
  [
    'a word for true or false',
    document('Pipeline', '  deployed: yes\n'),
    '`spec.deployed` must be true or false, here it is text',
    'draft',
    [5, 3],
  ],
  [
    'a number where a label wants text, shown as it was typed',
    document('Pipeline', '  nodeSelector: { version: 1.10 }\n'),
    '`spec.nodeSelector.version` must be text, here it is a number',
    'Put it in quotes: "1.10".',
    [5, 19],
  ],
  [
    'a word that is nearly an allowed one',
    document('Pipeline', '  logLevel: debugg\n'),
    '`spec.logLevel` must be one of trace, debug, info, warn, error',
    'Did you mean `debug`?',
    [5, 3],
  ],
  [
    'a component key that the engine cannot have',
    document('Pipeline', '  sources:\n    1st: { type: file }\n'),
    '`1st` cannot be a key of spec.sources',
    'beginning with a letter or _',
    [6, 5],
  ],
  [
    'a list as a value',
    document('Pipeline', '  values: { hosts: [a, b] }\n'),
    '`spec.values.hosts` must be text, a number, true or false',
    'published schema',
    [5, 13],
  ],
  [
    'a pipeline name with a slash',
    document('Pipeline', '  {}\n', '{ name: a/b }'),
    '`metadata.name` is not written as it must be',
    'Letters, digits, spaces, _ and -',
    [3, 13],
  ],
  [
    'a name of 101 characters',
    document(
      'AlertRule',
      '  { metric: cpu_usage, condition: gt, threshold: 1 }\n',
      `{ name: ${'x'.repeat(101)} }`,
    ),
    '`metadata.name` is too long: 100 is the most',
    '1 to 100 characters',
    [3, 13],
  ],
  [
    'a rollout without a window',
    document('Pipeline', '  rollout:\n    strategy: canary\n    canarySelector: { ring: "0" }\n'),
    '`spec.rollout.healthCheckWindowMinutes` is required',
    'in minutes',
    [5, 3],
  ],
  [
    'an unknown kind',
    document('Pipelin', '  {}\n'),
    '`Pipelin` is not a known kind',
    'Did you mean `Pipeline`?',
    [2, 1],
  ],
  [
    'another apiVersion',
    'apiVersion: apps/v1\nkind: Deployment\n',
    '`apiVersion` must be headgate/v1',
    '.headgateignore',
    [1, 1],
  ],
  [
    'a YAML file of something else',
    '# compose\nservices:\n  web: { image: nginx }\n',
    'this document is no manifest',
    '.headgateignore',
    [2, 1],
  ],
  ['a list', '- a\n- b\n', 'this document is no manifest', '.headgateignore', [1, 1]],
  [
    'an interval without a unit',
    document('Environment', '  sync: { interval: "60" }\n'),
    '`spec.sync.interval` is not written as it must be',
    'such as 60s',
    [5, 11],
  ],
  [
    'a silence without labels',
    document('Silence', '  matchers: {}\n  reason: r\n  endsAt: 2030-01-01T00:00:00Z\n'),
    '`spec.matchers` needs at least 1',
    'carries every one of these labels',
    [5, 3],
  ],
  [
    'a label of a silence that is no text',
    document('Silence', '  matchers: { rack: 7 }\n  reason: r\n  endsAt: 2030-01-01T00:00:00Z\n'),
    '`spec.matchers.rack` must be text, here it is a number',
    'Put it in quotes: "7".',
    [5, 15],
  ],
  [
    'a silence for a reason that nobody sees',
    document('Silence', '  matchers: { a: b }\n  reason: "  "\n  endsAt: 2030-01-01T00:00:00Z\n'),
    '`spec.reason` is not written as it must be',
    'on one line',
    [6, 3],
  ],
  [
    'a silence without an end',
    document('Silence', '  matchers: { a: b }\n  reason: r\n'),
    '`spec.endsAt` is required',
    'such as "2026-12-24T18:00:00Z"',
    [4, 1],
  ],
  ...[
    ['tomorrow', 'a time in words'],
    ['2030-01-01', 'a day'],
    ['2030-01-01T00:00:00', 'a time without its offset'],
    ['2030-02-30T00:00:00Z', 'a day that no month has'],
    ['2030-12-31T23:59:60Z', 'a leap second'],
    ['2030-01-01 00:00:00Z', 'a blank for the T'],
    ['3030-01-01T00:00:00Z', 'another millennium'],
    ['2030-01-01T00:00:00+24:00', 'an offset of a day'],
  ].map(
    ([time, what]): Fault => [
      `${what} as the end of a silence`,
      document('Silence', `  matchers: { a: b }\n  reason: r\n  endsAt: ${time}\n`),
      '`spec.endsAt` is not written as it must be',
      'A time with its offset, such as "2026-12-24T18:00:00Z".',
      [7, 3],
    ],
  ),
  [
    'a repository of a later format',
    document('Repository', '  formatVersion: 2\n'),
    '`spec.formatVersion` must be 1',
    '1 today',
    [5, 3],
  ],
];

describe('What a schema has against a manifest', () => {
  for (const [what, content, message, hint, at] of FAULTS) {
    it(`tells of ${what}`, () => {
      const { problems, manifests } = readManifests(content);
      expect(manifests).to.deep.equal([]);
      expect(problems).to.have.length(1);
      const [found] = problems;
      expect(found?.stage).to.equal('schema');
      expect(found?.message).to.include(message);
      expect(found?.hint).to.include(hint);
      expect([found?.line, found?.column]).to.deep.equal(at);
    });
  }

  it('names every fault of a document', () => {
    const { problems } = readManifests(
      document('Pipeline', '  deployd: true\n  logLevel: loud\n  suspend: 1\n'),
    );
    expect(problems.map(({ line }) => line)).to.have.members([5, 6, 7]);
  });

  it('keeps kind and name of what it refuses, so that the object is known', () => {
    const { documents } = readManifests(
      document('Pipeline', '  deployd: true\n', '{ name: Checkout, uid: u1 }'),
    );
    expect(documents[0]?.claim).to.deep.equal({ kind: 'Pipeline', name: 'Checkout', uid: 'u1' });
    expect(documents[0]?.identity).to.equal('Pipeline\0checkout');
  });
});
