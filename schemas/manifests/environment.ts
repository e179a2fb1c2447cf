/** The policy of an environment. It can only tighten what the binding in the database allows. */
import Type, { type Static } from 'typebox';
import { MANIFEST_KINDS, manifest, PrintableName, Strict } from './common.ts';

const Percent = (description: string) => Type.Integer({ description, minimum: 0, maximum: 100 });

/** The parts of a policy; what is absent stays as the binding has it. */
export const policy = {
  sync: Type.Optional(
    Strict('How git and the environment are kept the same.', {
      interval: Type.Optional(
        Type.String({
          description:
            'How often git and the environment are compared: a number with s, m or h, such as 60s.',
          maxLength: 16,
          pattern: '^[1-9][0-9]{0,5}[smh]$',
        }),
      ),
      prune: Type.Optional(
        Type.Boolean({ description: 'Whether an object whose manifest left git is deleted.' }),
      ),
      selfHeal: Type.Optional(
        Type.Boolean({ description: "true puts git's state back after drift; false only reports it." }),
      ),
      uiEdits: Type.Optional(
        Type.Enum(['propose', 'refuse', 'commit'], {
          description:
            'What an edit in the web UI or by the API becomes: a pull request, an error, or a commit.',
        }),
      ),
    }),
  ),
  guards: Type.Optional(
    Strict('A change beyond these waits for an ADMIN.', {
      maxDeletes: Type.Optional(
        Type.Integer({ description: 'Most deletions in one pass.', minimum: 0, maximum: 100_000 }),
      ),
      maxDeletePercent: Type.Optional(
        Percent('Most deletions in one pass, in percent of the objects that git owns here.'),
      ),
      maxNodeRestartPercent: Type.Optional(
        Percent('Most nodes whose engines restart in one pass, in percent.'),
      ),
    }),
  ),
  owns: Type.Optional(
    Type.Array(Type.Enum(MANIFEST_KINDS.filter((kind) => kind !== 'Environment' && kind !== 'Repository')), {
      description: 'The kinds that git owns here; the others stay with the web UI.',
      maxItems: MANIFEST_KINDS.length,
    }),
  ),
};

export const EnvironmentSpecSchema = Strict('The policy of the environment.', {
  ...policy,
  autoRevert: Type.Optional(
    Type.Boolean({
      description:
        'false leaves a version on nodes where it does not run; true serves them the version before. A pipeline may say otherwise. Absent: as the environment is set.',
    }),
  ),
});
export const EnvironmentManifest = manifest(
  'Environment',
  'The policy of an environment. It can only tighten what the binding allows.',
  PrintableName,
  EnvironmentSpecSchema,
);
export type EnvironmentSpec = Static<typeof EnvironmentSpecSchema>;
