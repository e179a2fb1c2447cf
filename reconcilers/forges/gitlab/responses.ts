/** What is read of GitLab's answers. */
import Type from 'typebox';
import { Maybe, Sha, Time, WebAddress } from '../response-schemas.ts';

const User = Maybe(Type.Object({ username: Type.String() }));
export const MergeRequest = Type.Object({
  iid: Type.Integer(),
  title: Type.String(),
  description: Maybe(Type.String()),
  /** `locked` while it is being merged. */
  state: Type.Enum(['opened', 'closed', 'merged', 'locked']),
  draft: Maybe(Type.Boolean()),
  merge_when_pipeline_succeeds: Maybe(Type.Boolean()),
  web_url: WebAddress,
  author: User,
  source_branch: Type.String(),
  target_branch: Type.String(),
  source_project_id: Maybe(Type.Integer()),
  target_project_id: Type.Integer(),
  sha: Maybe(Sha),
  merge_commit_sha: Maybe(Sha),
  squash_commit_sha: Maybe(Sha),
  merge_user: User,
  merged_by: User,
  updated_at: Time,
  merged_at: Maybe(Time),
  closed_at: Maybe(Time),
});
export const Commit = Type.Object({
  last_pipeline: Maybe(Type.Object({ id: Type.Integer(), ref: Maybe(Type.String()) })),
});
export const UserList = Type.Array(Type.Object({ id: Type.Integer(), username: Type.String() }));
export const Entries = Type.Array(Type.Unknown());
/** GitLab does not know its head yet. */
export const WithoutHead = Type.Object({
  iid: Type.Integer(),
  sha: Type.Optional(Type.Union([Type.Null(), Type.Literal('')])),
});
export const Page = Type.Object({ next: Maybe(Type.Integer()) });
export const NoteList = Type.Array(
  Type.Object({
    id: Type.Integer(),
    body: Type.String(),
    author: Maybe(Type.Object({ id: Type.Integer() })),
  }),
);
export const Made = Type.Object({ id: Type.Integer() });
const Access = Maybe(Type.Object({ access_level: Type.Integer() }));
export const Project = Type.Object({
  archived: Maybe(Type.Boolean()),
  permissions: Maybe(Type.Object({ project_access: Access, group_access: Access })),
});
export const OwnToken = Type.Object({
  scopes: Type.Array(Type.String()),
  /** A day. */
  expires_at: Maybe(Type.String()),
});
