import type { Side } from '../../scenes/two-teams.ts';
import { NOTHING } from '../../users/person.ts';
import { CONFIG_YAML, GRAPH } from './drafts.ts';
import { fresh, type Rows } from './row.ts';

const templateOf = ({ teamId }: Side, n: number) => ({
  teamId,
  ...{ name: `template ${n}`, description: 'to begin with', category: 'Basics' },
  ...GRAPH,
});
const snippetOf = ({ teamId }: Side, n: number) => ({
  ...{ teamId, name: `snippet ${n}`, description: 'a piece', category: 'Parsing', code: '.a = 1' },
});

export const LIBRARY: Rows = {
  'validator.validate': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, yaml: CONFIG_YAML }),
  },
  'template.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'template.get': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'template.create', templateOf(side, n)) }),
  },
  'template.create': { names: 'scope', input: templateOf },
  'template.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'template.create', templateOf(side, n)) }),
  },
  'engine.catalogue': { names: 'own', input: () => NOTHING },
  'engine.componentSchema': { names: 'own', input: () => ({ kind: 'TRANSFORM', type: 'remap' }) },
  'vrl.test': { names: 'own', input: () => ({ source: '.a = 1', input: '{"message": "hello"}' }) },
  'vrlSnippet.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'vrlSnippet.create': { names: 'scope', input: snippetOf },
  'vrlSnippet.update': {
    names: 'object',
    input: async (side, n, root) => ({
      ...{ name: `renamed ${n}`, description: 'another', category: 'Other', code: '.b = 2' },
      id: await fresh(root, 'vrlSnippet.create', snippetOf(side, n)),
    }),
  },
  'vrlSnippet.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'vrlSnippet.create', snippetOf(side, n)) }),
  },
};
