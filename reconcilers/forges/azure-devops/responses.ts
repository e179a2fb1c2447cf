/** What is read of the answers of Azure DevOps. */
import Type, { type Static } from 'typebox';
import { Maybe, Sha, Time } from '../response-schemas.ts';

const Identity = Maybe(Type.Object({ uniqueName: Maybe(Type.String()), displayName: Maybe(Type.String()) }));
const Commit = Maybe(Type.Object({ commitId: Sha }));
export const Pull = Type.Object({
  pullRequestId: Type.Integer(),
  title: Type.String(),
  /** In lists its first 400 characters. */
  description: Maybe(Type.String()),
  status: Type.Enum(['active', 'completed', 'abandoned']),
  isDraft: Maybe(Type.Boolean()),
  sourceRefName: Type.String(),
  targetRefName: Type.String(),
  lastMergeSourceCommit: Commit,
  lastMergeCommit: Commit,
  createdBy: Identity,
  closedBy: Identity,
  creationDate: Time,
  closedDate: Maybe(Time),
  forkSource: Maybe(Type.Object({})),
  autoCompleteSetBy: Maybe(Type.Object({ id: Type.String() })),
});
export type Pull = Static<typeof Pull>;
export const Numbered = Type.Object({ pullRequestId: Type.Integer() });
/** Of each push one, the newest last. */
export const IterationList = Type.Object({
  value: Type.Array(Type.Object({ id: Type.Integer(), sourceRefCommit: Commit })),
});
export const PullList = Type.Object({ value: Type.Array(Type.Unknown()) });
const Comment = Type.Object({
  id: Type.Integer(),
  content: Maybe(Type.String()),
  isDeleted: Maybe(Type.Boolean()),
  author: Maybe(Type.Object({ id: Type.String() })),
});
export const Thread = Type.Object({
  id: Type.Integer(),
  isDeleted: Maybe(Type.Boolean()),
  comments: Maybe(Type.Array(Comment)),
});
export const ThreadList = Type.Object({ value: Type.Array(Thread) });
export const Connection = Type.Object({ authenticatedUser: Type.Object({ id: Type.String() }) });
export const Repository = Type.Object({ isDisabled: Maybe(Type.Boolean()) });
