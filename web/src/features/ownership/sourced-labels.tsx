/** Labels with where each comes from, as a word beside it. */

export interface SourcedLabel {
  key: string;
  value: string;
  /** `agent`, `this group` …; absent where it goes without saying. */
  from?: string;
  /** Something else outranks it: shown struck through, with the reason. */
  overridden?: string;
}

interface Props {
  labels: readonly SourcedLabel[];
  /** What does not fit is named by a hint. */
  limit?: number;
}

const text = ({ key, value, from }: SourcedLabel): string => `${key}=${value}${from ? ` (${from})` : ''}`;

export const SourcedLabels = ({ labels, limit = 99 }: Props) => {
  if (labels.length === 0) return <span className="muted">none</span>;
  const rest = labels.slice(limit);
  return (
    <span className="labels">
      {labels.slice(0, limit).map((label) => (
        <span
          key={`${label.key} ${label.overridden === undefined}`}
          className="label mono"
          data-from={label.from}
          data-tip={label.overridden ?? (label.from && `Given by ${label.from}`)}
        >
          {label.overridden === undefined ? (
            <LabelPair label={label} />
          ) : (
            <>
              <s>
                <LabelPair label={label} />
              </s>
              <span className="sr-only"> overridden: {label.overridden}</span>
            </>
          )}
          {label.from && <span className="label-from"> {label.from}</span>}
        </span>
      ))}
      {rest.length > 0 && (
        <span className="label mono" data-rest data-tip={rest.map(text).join(', ')}>
          +{rest.length}
        </span>
      )}
    </span>
  );
};

const LabelPair = ({ label }: { label: SourcedLabel }) => (
  <>
    <span className="label-key">{label.key}=</span>
    {label.value}
  </>
);
