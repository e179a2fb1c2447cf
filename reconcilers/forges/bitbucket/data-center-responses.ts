/** What is read of the answers of Bitbucket Data Center. */
import Type, { type Static } from 'typebox';
import { Maybe, Sha, WebAddress } from '../response-schemas.ts';

/** Milliseconds since 1970. */
const Moment = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 });
export const User = Type.Object({ name: Maybe(Type.String()), displayName: Maybe(Type.String()) });
const Ref = Type.Object({
  id: Type.String(),
  latestCommit: Sha,
  repository: Type.Object({ id: Type.Integer() }),
});
const Participant = Type.Object({ user: User });
export const Pull = Type.Object({
  id: Type.Integer(),
  version: Type.Integer(),
  title: Type.String(),
  description: Maybe(Type.String()),
  state: Type.Enum(['OPEN', 'MERGED', 'DECLINED']),
  draft: Maybe(Type.Boolean()),
  updatedDate: Moment,
  closedDate: Maybe(Moment),
  fromRef: Ref,
  toRef: Ref,
  author: Participant,
  reviewers: Maybe(Type.Array(Participant)),
  properties: Maybe(Type.Object({ mergeCommit: Maybe(Type.Object({ id: Sha })) })),
  links: Type.Object({ self: Type.Array(Type.Object({ href: WebAddress }), { minItems: 1 }) }),
});
export type Pull = Static<typeof Pull>;
export const Page = Type.Object({
  values: Type.Array(Type.Unknown()),
  isLastPage: Type.Boolean(),
  nextPageStart: Maybe(Type.Integer()),
});
export const Comment = Type.Object({
  id: Type.Integer(),
  version: Type.Integer(),
  text: Type.String(),
  author: Maybe(User),
});
/** What happened to a pull request: that it was merged, a comment. */
export const Activity = Type.Object({
  action: Type.String(),
  commentAction: Maybe(Type.String()),
  user: Maybe(User),
  commit: Maybe(Type.Object({ id: Sha })),
  comment: Maybe(Comment),
});
export const Repository = Type.Object({ archived: Maybe(Type.Boolean()) });
