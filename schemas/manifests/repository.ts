/** `headgate.yaml` at the root of the repository: the format in use and the default policy. */
import Type, { type Static } from 'typebox';
import { manifest, PrintableName, Strict } from './common.ts';
import { policy } from './environment.ts';

export const RepositorySpecSchema = Strict(
  'The format in use, and the policy where an environment says nothing.',
  {
    formatVersion: Type.Literal(1, {
      description: 'The version of the layout and of the manifests. 1 today.',
    }),
    ...policy,
  },
);

export const RepositoryManifest = manifest(
  'Repository',
  'The format version and the default policy of the repository.',
  PrintableName,
  RepositorySpecSchema,
);
export type RepositorySpec = Static<typeof RepositorySpecSchema>;
