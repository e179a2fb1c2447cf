/** What is read of Bitbucket's answers. */
import Type, { type Static } from 'typebox';
import { Maybe, Sha, Time, WebAddress } from '../response-schemas.ts';

export const Account = Maybe(
  Type.Object({ nickname: Maybe(Type.String()), display_name: Maybe(Type.String()) }),
);
const ShortSha = Type.Object({ hash: Type.String({ pattern: '^[0-9a-f]{7,64}$' }) });
const Name = Type.Object({ name: Type.String() });
const Repository = Type.Object({ full_name: Type.String({ pattern: '^[\\w.-]+/[\\w.-]+$' }) });
export const Pull = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  description: Maybe(Type.String()),
  state: Type.Enum(['OPEN', 'MERGED', 'DECLINED', 'SUPERSEDED']),
  draft: Maybe(Type.Boolean()),
  author: Account,
  closed_by: Account,
  source: Type.Object({ branch: Name, commit: ShortSha, repository: Maybe(Repository) }),
  destination: Type.Object({ branch: Name, repository: Repository }),
  reviewers: Maybe(Type.Array(Type.Object({ uuid: Maybe(Type.String()) }))),
  merge_commit: Maybe(ShortSha),
  updated_on: Time,
  links: Type.Object({ html: Type.Object({ href: WebAddress }) }),
});
export type Pull = Static<typeof Pull>;
export const Comment = Type.Object({
  id: Type.Integer(),
  deleted: Maybe(Type.Boolean()),
  content: Maybe(Type.Object({ raw: Maybe(Type.String()) })),
  user: Maybe(Type.Object({ uuid: Maybe(Type.String()) })),
});
export const Commit = Type.Object({ hash: Sha });
export const Own = Type.Object({ uuid: Type.String() });
