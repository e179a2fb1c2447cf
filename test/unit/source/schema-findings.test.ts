import { expect } from 'chai';
import { readManifests } from '../../support/clients/read-manifests.ts';

function document(kind: string, spec: string, metadata = '{ name: one }'): string {
  return `apiVersion: headgate/v1\nkind: ${kind}\nmetadata: ${metadata}\nspec:\n${spec}`;
}

interface Fault {
  what: string;
  content: string;
  message: string;
  hint: string;
  at: [line: number, column: number];
}

const FAULTS: Fault[] = [
  {
    what: 'an unknown field that is nearly a known one',
    content: document('Pipeline', '  deployed: true\n  nodeSelctor: { role: edge }\n'),
    message: '`nodeSelctor` is not a known field of spec',
    hint: 'Did you mean `nodeSelector`?',
    at: [6, 3],
  },
  {
    what: 'an unknown field that is like no other',
    content: document('NodeGroup', '  criteria: { a: b }\n  color: red\n'),
    message: '`color` is not a known field of spec',
    hint: 'Known fields: criteria, labelTemplate, requiredLabels.',
    at: [6, 3],
  },
  {
    what: 'a missing field, at what lacks it',
    content: document('Pipeline', '  sinks:\n    out: { type: console }\n'),
    message: '`spec.sinks.out.inputs` is required',
    hint: 'At least one',
    at: [6, 5],
  },
  {
    what: 'no inputs',
    content: document('Pipeline', '  sinks:\n    out:\n      type: console\n      inputs: []\n'),
    message: '`spec.sinks.out.inputs` needs at least 1',
    hint: 'At least one',
    at: [8, 7],
  },
  {
    what: 'a word for true or false',
    content: document('Pipeline', '  deployed: yes\n'),
    message: '`spec.deployed` must be true or false, here it is text',
    hint: 'draft',
    at: [5, 3],
  },
  {
    what: 'a number where a label wants text, shown as it was typed',
    content: document('Pipeline', '  nodeSelector: { version: 1.10 }\n'),
    message: '`spec.nodeSelector.version` must be text, here it is a number',
    hint: 'Put it in quotes: "1.10".',
    at: [5, 19],
  },
  {
    what: 'a word that is nearly an allowed one',
    content: document('Pipeline', '  logLevel: debugg\n'),
    message: '`spec.logLevel` must be one of trace, debug, info, warn, error',
    hint: 'Did you mean `debug`?',
    at: [5, 3],
  },
  {
    what: 'a component key that the engine cannot have',
    content: document('Pipeline', '  sources:\n    1st: { type: file }\n'),
    message: '`1st` cannot be a key of spec.sources',
    hint: 'beginning with a letter or _',
    at: [6, 5],
  },
  {
    what: 'a list as a value',
    content: document('Pipeline', '  values: { hosts: [a, b] }\n'),
    message: '`spec.values.hosts` must be text, a number, true or false',
    hint: 'published schema',
    at: [5, 13],
  },
  {
    what: 'a pipeline name with a slash',
    content: document('Pipeline', '  {}\n', '{ name: a/b }'),
    message: '`metadata.name` is not written as it must be',
    hint: 'Letters, digits, spaces, _ and -',
    at: [3, 13],
  },
  {
    what: 'a name of 101 characters',
    content: document(
      'AlertRule',
      '  { metric: cpu_usage, condition: gt, threshold: 1 }\n',
      `{ name: ${'x'.repeat(101)} }`,
    ),
    message: '`metadata.name` is too long: 100 is the most',
    hint: '1 to 100 characters',
    at: [3, 13],
  },
  {
    what: 'a rollout without a window',
    content: document('Pipeline', '  rollout:\n    strategy: canary\n    canarySelector: { ring: "0" }\n'),
    message: '`spec.rollout.healthCheckWindowMinutes` is required',
    hint: 'in minutes',
    at: [5, 3],
  },
  {
    what: 'an unknown kind',
    content: document('Pipelin', '  {}\n'),
    message: '`Pipelin` is not a known kind',
    hint: 'Did you mean `Pipeline`?',
    at: [2, 1],
  },
  {
    what: 'another apiVersion',
    content: 'apiVersion: apps/v1\nkind: Deployment\n',
    message: '`apiVersion` must be headgate/v1',
    hint: '.headgateignore',
    at: [1, 1],
  },
  {
    what: 'a YAML file of something else',
    content: '# compose\nservices:\n  web: { image: nginx }\n',
    message: 'this document is no manifest',
    hint: '.headgateignore',
    at: [2, 1],
  },
  {
    what: 'a list',
    content: '- a\n- b\n',
    message: 'this document is no manifest',
    hint: '.headgateignore',
    at: [1, 1],
  },
  {
    what: 'an interval without a unit',
    content: document('Environment', '  sync: { interval: "60" }\n'),
    message: '`spec.sync.interval` is not written as it must be',
    hint: 'such as 60s',
    at: [5, 11],
  },
  {
    what: 'a repository of a later format',
    content: document('Repository', '  formatVersion: 2\n'),
    message: '`spec.formatVersion` must be 1',
    hint: '1 today',
    at: [5, 3],
  },
];

describe('What a schema has against a manifest', () => {
  for (const { what, content, message, hint, at } of FAULTS) {
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
