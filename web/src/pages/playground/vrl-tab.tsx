import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '../../api/queries.ts';
import { readDraft, writeDraft } from '../../app/drafts.ts';
import { usePlace } from '../../app/environment.tsx';
import { Icon } from '../../components/icons.tsx';
import { SnippetDialog } from '../library/snippet-dialog.tsx';
import { type Purpose, VrlBench } from './vrl-bench.tsx';

const FIRST_PROGRAM = `# Every event passes through here. "." is the event.
. |= object!(parse_json!(.message))
.level = downcase(string!(.level))
del(.password)
`;
const FIRST_EVENT = `{
  "message": "{\\"level\\": \\"WARN\\", \\"user\\": \\"ada\\", \\"password\\": \\"hunter2\\"}",
  "host": "web-1"
}
`;

export const VrlTab = () => {
  const { team } = usePlace();
  const [source, setSource] = useState(() => readDraft('vrl-source') ?? FIRST_PROGRAM);
  const [event, setEvent] = useState(() => readDraft('vrl-event') ?? FIRST_EVENT);
  const [purpose, setPurpose] = useState<Purpose>('program');
  const [saving, setSaving] = useState(false);
  return (
    <>
      <VrlBench
        source={source}
        setSource={(text) => {
          setSource(text);
          writeDraft('vrl-source', text);
        }}
        event={event}
        setEvent={(text) => {
          setEvent(text);
          writeDraft('vrl-event', text);
        }}
        purpose={purpose}
        setPurpose={setPurpose}
        tools={(insert) => (
          <>
            <InsertSnippet insert={insert} />
            <button
              type="button"
              className="button"
              disabled={team.role === 'VIEWER' || source.trim() === ''}
              onClick={() => setSaving(true)}
            >
              <Icon name="library" size={14} /> Save as a snippet
            </button>
          </>
        )}
      />
      <SnippetDialog opened={saving} close={() => setSaving(false)} code={source} />
    </>
  );
};

const InsertSnippet = ({ insert }: { insert: (text: string) => void }) => {
  const { team } = usePlace();
  const snippets = useQuery(queries.snippets(team.id));
  const list = snippets.data ?? [];
  if (list.length === 0) return null;
  return (
    <select
      aria-label="Insert a snippet"
      value=""
      onChange={({ target }) => {
        const code = list.find(({ id }) => id === target.value)?.code;
        if (code) insert(code.endsWith('\n') ? code : `${code}\n`);
      }}
    >
      <option value="">Insert a snippet</option>
      {list.map(({ id, name, category }) => (
        <option key={id} value={id}>
          {category}: {name}
        </option>
      ))}
    </select>
  );
};
