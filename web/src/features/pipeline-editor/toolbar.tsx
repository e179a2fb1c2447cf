/** What can be done to the drawing as a whole. */

import { Button } from '../../ui/primitives/button.tsx';
import type { IconName } from '../../ui/primitives/icons.tsx';
import { AssistantButton } from '../assistant/open-assistant.tsx';

interface Props {
  undoWord: string | null;
  redoWord: string | null;
  undo: () => void;
  redo: () => void;
  arrange: () => void;
  fit: () => void;
  /** What is missing is not offered. */
  save: (() => void) | null;
  saving: boolean;
  dirty: boolean;
  readOnly: boolean;
}

export const Toolbar = (props: Props) => {
  const { undoWord, redoWord, undo, redo, arrange, fit, save, saving, dirty, readOnly } = props;
  return (
    <div className="editor-toolbar" role="toolbar" aria-label="Drawing">
      {!readOnly && (
        <>
          <Tool
            icon="undo"
            word="Undo"
            tip={`${undoWord ?? 'Nothing'} (Ctrl+Z)`}
            run={undoWord === null ? null : undo}
          />
          <Tool
            icon="redo"
            word="Redo"
            tip={`${redoWord ?? 'Nothing'} (Ctrl+Shift+Z)`}
            run={redoWord === null ? null : redo}
          />
          <Tool icon="arrange" word="Arrange" tip="Lay the drawing out from left to right" run={arrange} />
        </>
      )}
      <Tool icon="fit" word="Fit" tip="Show the whole drawing" run={fit} />
      <AssistantButton />
      {save && (
        <Button kind="primary" tip="Ctrl+S" disabled={saving || !dirty} onClick={save}>
          {saving ? 'Saving…' : dirty ? 'Save' : 'Saved'}
        </Button>
      )}
    </div>
  );
};

const Tool = ({
  icon,
  word,
  tip,
  run,
}: {
  icon: IconName;
  word: string;
  tip: string;
  run: (() => void) | null;
}) => (
  <Button icon={icon} tip={tip} disabled={run === null} onClick={() => run?.()}>
    <span className="editor-tool-word">{word}</span>
  </Button>
);
