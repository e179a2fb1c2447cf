import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '../../api/queries/index.ts';
import { readDraft, writeDraft } from '../../app/draft-storage.ts';
import { usePlace } from '../../app/scope.tsx';
import { InsertSnippet } from '../../ui/code/snippet-select.tsx';
import { Button } from '../../ui/primitives/button.tsx';
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
  const snippets = useQuery(queries.snippets(team.id));
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
            <InsertSnippet snippets={snippets.data ?? []} insert={insert} />
            <Button
              icon="library"
              disabled={team.role === 'VIEWER' || source.trim() === ''}
              onClick={() => setSaving(true)}
            >
              Save as a snippet
            </Button>
          </>
        )}
      />
      <SnippetDialog opened={saving} close={() => setSaving(false)} code={source} />
    </>
  );
};
