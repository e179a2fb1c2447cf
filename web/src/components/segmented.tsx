interface Props<V extends string> {
  label: string;
  value: V | string;
  options: readonly { value: V; word: string }[];
  onChange: (value: V) => void;
}

/** One of a few, all in sight. */
export function Segmented<V extends string>({ label, value, options, onChange }: Props<V>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame and a legend; the label is enough.
    <div className="segmented" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.word}
        </button>
      ))}
    </div>
  );
}
