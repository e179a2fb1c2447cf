/** VRL snippets: pieces of programs that a team keeps at hand. */
import Type, { type Static } from 'typebox';
import { GivenName, Id, Input, Label, Nullable, Text, Timestamp } from '../common.ts';

export const Category = Label(50);
const Description = Text(2_000);
const Code = Type.String({ minLength: 1, maxLength: 65_536 });

export const Snippet = Type.Object({
  id: Id,
  teamId: Id,
  name: Type.String(),
  description: Nullable(Type.String()),
  category: Type.String(),
  code: Type.String(),
  /** Null where the user is gone. */
  createdByName: Nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Snippet = Static<typeof Snippet>;
/** By category and name. */
export const SnippetList = Type.Array(Snippet);

export const ListSnippets = Input({ teamId: Id });
export const CreateSnippet = Input({
  teamId: Id,
  name: GivenName,
  description: Type.Optional(Description),
  category: Category,
  code: Code,
});
export type CreateSnippet = Static<typeof CreateSnippet>;
export const UpdateSnippet = Input({
  id: Id,
  name: Type.Optional(GivenName),
  description: Type.Optional(Description),
  category: Type.Optional(Category),
  code: Type.Optional(Code),
});
export const SnippetId = Input({ id: Id });
