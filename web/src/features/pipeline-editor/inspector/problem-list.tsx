import { LevelList } from '../../../ui/feedback/level-list.tsx';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { CodeText } from '../../../ui/text/code-text.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useEditor } from '../editor-context.ts';
import { byLevel, levelWord, messageOf, type Problem } from '../model/problems.ts';
import type { Rendered } from '../yaml/rendered-yaml.ts';

interface Props {
  rendered: Rendered & { retry: () => void };
  show: (problem: Problem) => void;
}

export const ProblemList = ({ rendered, show }: Props) => {
  const { graph, problems } = useEditor();
  const known = new Set(graph.nodes.map(({ componentKey }) => componentKey));
  const { result, pending, error } = rendered;
  return (
    <section className="editor-problems" aria-label="Problems" aria-busy={pending}>
      <div className="editor-problems-head">
        <h2 aria-live="polite">
          {pending
            ? 'Checking…'
            : error
              ? 'Not checked'
              : problems.length === 0
                ? 'No problems'
                : plural(problems.length, 'problem')}
        </h2>
        {result && <LevelList levels={result.levels} wordOf={levelWord} />}
      </div>
      {error !== null && (
        <div className="editor-problems-error">
          <InlineError error={error} />
          <Button icon="sync" size="small" onClick={rendered.retry}>
            Check again
          </Button>
        </div>
      )}
      {byLevel(problems).map(({ level, problems: list }) => (
        <ul key={level} className="editor-problem-list" aria-label={levelWord(level)}>
          {list.map((problem) => (
            <li key={`${problem.path} ${problem.line} ${problem.message}`}>
              {problem.componentKey !== undefined && known.has(problem.componentKey) ? (
                <button type="button" className="editor-problem" onClick={() => show(problem)}>
                  <ProblemText problem={problem} />
                </button>
              ) : (
                <span className="editor-problem">
                  <ProblemText problem={problem} />
                </span>
              )}
            </li>
          ))}
        </ul>
      ))}
    </section>
  );
};

const ProblemText = ({ problem }: { problem: Problem }) => {
  const { componentKey, level, line, column } = problem;
  return (
    <>
      <Icon name="warning" size={14} />
      <span className="mono editor-problem-place">
        {componentKey ?? levelWord(level)}
        {line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`}
      </span>
      <span>
        <CodeText text={messageOf(problem)} />
      </span>
    </>
  );
};
