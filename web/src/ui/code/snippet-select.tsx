import { NativeSelect } from '@mantine/core';
/** Puts a piece of VRL that the team keeps where the cursor is. */
export interface Snippet {
  id: string;
  name: string;
  category: string;
  code: string;
}

interface Props {
  snippets: readonly Snippet[];
  insert: (text: string) => void;
}

export const InsertSnippet = ({ snippets, insert }: Props) =>
  snippets.length === 0 ? null : (
    <NativeSelect
      aria-label="Insert a snippet"
      value=""
      onChange={({ target }) => {
        const code = snippets.find(({ id }) => id === target.value)?.code;
        if (code) insert(code.endsWith('\n') ? code : `${code}\n`);
      }}
    >
      <option value="">Insert a snippet</option>
      {snippets.map(({ id, name, category }) => (
        <option key={id} value={id}>
          {category}: {name}
        </option>
      ))}
    </NativeSelect>
  );
