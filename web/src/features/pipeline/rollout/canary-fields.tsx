import { FieldPair } from '../../../ui/form/field-pair.tsx';
import './rollout.css';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { LabelEditor } from '../../../ui/form/label-editor.tsx';
import { type LabelRow, labelsOf, problemOfRows } from '../../../ui/form/label-rows.ts';
import { Button } from '../../../ui/primitives/button.tsx';
import { plural } from '../../../ui/text/format.ts';
import {
  type CanaryDraft,
  canaryProblem,
  type Split,
  splitText,
  suggestLabels,
  windowProblem,
} from './canary-match.ts';

/** As it is typed. */
export interface CanaryRows extends Omit<CanaryDraft, 'selector'> {
  rows: readonly LabelRow[];
}

export const NO_CANARY: CanaryRows = {
  rows: [['', '']],
  window: '10',
  onPass: 'broaden',
  onFail: 'rollback',
};

export interface Candidate {
  id: string;
  name: string;
  labels: Record<string, string>;
}

interface Props {
  value: CanaryRows;
  onChange: (value: CanaryRows) => void;
  /** Nodes that the pipeline is for, as they are now. */
  nodes: readonly Candidate[];
  split: Split<Candidate>;
}

const ON_PASS = [
  { value: 'broaden', word: 'Go on to all nodes' },
  { value: 'hold', word: 'Wait for somebody to say so' },
] as const;
const ON_FAIL = [
  { value: 'rollback', word: 'Put the version before back' },
  { value: 'hold', word: 'Wait for somebody to decide' },
] as const;

/** Which nodes try a version first, for how long, and what comes after. */
export const CanaryFields = ({ value, onChange, nodes, split }: Props) => {
  const set = (change: Partial<CanaryRows>): void => onChange({ ...value, ...change });
  const suggestions = suggestLabels(nodes);
  return (
    <>
      <LabelEditor
        legend="Nodes that try it first carry"
        noun="label"
        rows={value.rows}
        onChange={(rows) => set({ rows })}
      />
      {suggestions.length > 0 && (
        <div className="canary-suggestions">
          <span className="muted">Labels that some of them carry:</span>
          {suggestions.map(({ key, value: text, count }) => (
            <Button key={`${key}=${text}`} size="small" onClick={() => set({ rows: [[key, text]] })}>
              <span className="mono">
                {key}={text}
              </span>
              <span className="muted">{plural(count, 'node')}</span>
            </Button>
          ))}
        </div>
      )}
      <Matching split={split} rows={value.rows} />
      <Field
        label="Minutes that they are watched"
        value={value.window}
        onChange={(window) => set({ window: window.trim() })}
        inputMode="numeric"
        maxLength={5}
        problem={windowProblem(value.window)}
        hint="From when all of them that are heard run it. Three crashes end it at once."
      />
      <FieldPair>
        <SelectField
          label="If they stay healthy"
          value={value.onPass}
          onChange={(onPass) => set({ onPass })}
          options={ON_PASS}
        />
        <SelectField
          label="If they do not"
          value={value.onFail}
          onChange={(onFail) => set({ onFail })}
          options={ON_FAIL}
        />
      </FieldPair>
    </>
  );
};

/** Counted again as the user types, and as nodes come and go. */
const Matching = ({ split, rows }: Pick<Props, 'split'> & Pick<CanaryRows, 'rows'>) => {
  const problem = problemOfRows(rows) || canaryProblem(split, labelsOf(rows));
  return (
    <Notice icon={problem ? 'warning' : 'fleet'} tone={problem ? 'held' : 'moving'} role="status">
      {problem || splitText(split)}
    </Notice>
  );
};
