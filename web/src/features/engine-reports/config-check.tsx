/** Whether an engine config is sound, asked a moment after each change of its text. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ValidationError } from '../../../../schemas/api/pipelines/validation.ts';
import { api } from '../../api/client.ts';
import { LevelList } from '../../ui/feedback/level-list.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { WarningList } from '../../ui/feedback/warning-list.tsx';
import { useSettled } from '../../ui/form/debounced-value.ts';
import { CodeText } from '../../ui/text/code-text.tsx';

type Validity = Awaited<ReturnType<typeof api.validator.validate.mutate>>;

export interface ConfigCheck {
  errors: readonly ValidationError[];
  levels: Validity['levels'];
  unknown: readonly string[];
  warnings: Validity['warnings'];
  /** The text was changed since, or the answer is on its way. */
  isBehind: boolean;
  error: unknown;
}

/** With an environment its secrets count as known; without one, every secret does. */
export function useConfigCheck(text: string, environmentId?: string): ConfigCheck {
  const yaml = useSettled(text);
  const query = useQuery({
    queryKey: ['validator.validate', environmentId ?? null, yaml],
    queryFn: () => api.validator.validate.mutate({ yaml, ...(environmentId ? { environmentId } : {}) }),
    enabled: yaml.trim() !== '',
    placeholderData: keepPreviousData,
    // Texts may hold secrets: they are not kept for longer than they are looked at.
    gcTime: 0,
    retry: false,
  });
  const isEmpty = yaml.trim() === '';
  return {
    errors: isEmpty ? [] : (query.data?.errors ?? []),
    levels: isEmpty ? [] : (query.data?.levels ?? []),
    unknown: isEmpty ? [] : (query.data?.unknown ?? []),
    warnings: isEmpty ? [] : (query.data?.warnings ?? []),
    isBehind: yaml !== text || query.isFetching,
    error: query.error,
  };
}

interface Props {
  check: ConfigCheck;
  /** Default: those of the check. */
  errors?: readonly ValidationError[];
  /** Puts the cursor there. */
  show: (line: number, column: number) => void;
}

/** The levels and, under them, each error: a click leads to its place. */
export const ConfigProblems = ({ check, errors = check.errors, show }: Props) => (
  <div className="config-problems" aria-busy={check.isBehind}>
    {check.levels.length > 0 && <LevelList levels={check.levels} />}
    {errors.length > 0 && (
      <ul className="problems" aria-label="Problems of the config">
        {errors.map((problem) => (
          <li key={`${problem.line} ${problem.column} ${problem.message}`}>
            <PlaceButton problem={problem} show={show} />
            <span>
              <CodeText text={problem.message} />
            </span>
          </li>
        ))}
      </ul>
    )}
    {check.unknown.length > 0 && (
      <p className="muted">
        Not known to the engine here, and left to those of the nodes: {check.unknown.join('; ')}.
      </p>
    )}
    <WarningList warnings={check.warnings} />
    {check.error !== null && check.error !== undefined && <InlineError error={check.error} />}
  </div>
);

const PlaceButton = ({ problem, show }: { problem: ValidationError; show: Props['show'] }) => {
  const { line, column = 1, componentKey } = problem;
  if (line === undefined) return <span className="mono">{componentKey ?? 'config'}</span>;
  return (
    <button type="button" className="place-link mono" onClick={() => show(line, column)}>
      line {line}:{column}
    </button>
  );
};
