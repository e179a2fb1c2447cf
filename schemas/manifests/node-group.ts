/** A named set of nodes, by their labels. */
import Type, { type Static } from 'typebox';
import { labels, manifest, PrintableName, Strict, type WithDefaults } from './common.ts';

export const NodeGroupSpecSchema = Strict('Which nodes belong to the group, and what it gives them.', {
  criteria: labels('A node belongs to the group when it carries every one of these labels.'),
  labelTemplate: Type.Optional(
    Type.Record(Type.String({ pattern: '^.{1,128}$' }), Type.String({ maxLength: 256 }), {
      description: 'Labels that every node of the group is given.',
      maxProperties: 64,
      additionalProperties: false,
      default: {},
    }),
  ),
  requiredLabels: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      description: 'Labels that a node of the group must have; a node without one is reported.',
      maxItems: 64,
      default: [],
    }),
  ),
});

export const NodeGroupManifest = manifest(
  'NodeGroup',
  'A named set of nodes.',
  PrintableName,
  NodeGroupSpecSchema,
);
export type NodeGroupSpec = WithDefaults<
  Static<typeof NodeGroupSpecSchema>,
  'labelTemplate' | 'requiredLabels'
>;
