import type { FleetNode } from '../../../../schemas/api/fleet.ts';
import type { PipelineOnNode } from '../../../../schemas/api/pipelines.ts';
import type { Tone } from '../../components/bits.tsx';

/** Only the start of a line names its level: "no errors" further on is not one. */
function toneOf(line: string): Tone | undefined {
  const start = line.slice(0, 80);
  if (/\b(ERROR|FATAL)\b|"level":\s*"(error|fatal)"/.test(start)) return 'failed';
  if (/\bWARN(ING)?\b|"level":\s*"warn/.test(start)) return 'held';
  return undefined;
}

interface Props {
  lines: FleetNode['recentLogs'];
  pipelines: readonly PipelineOnNode[];
}

export const LogLines = ({ lines, pipelines }: Props) => {
  const names = new Map(pipelines.map((each) => [each.pipelineId, each.pipelineName]));
  if (lines.length === 0)
    return <p className="section-body muted">The engines have not written anything lately.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
    <div className="logs mono" role="log" aria-label="Log lines, newest last" aria-live="off" tabIndex={0}>
      {lines.map(({ pipelineId, line }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal lines are common and have no identity of their own.
        <div key={index} className="log-line" data-tone={toneOf(line)}>
          <span className="log-pipeline">{names.get(pipelineId) ?? pipelineId}</span>
          <span className="log-text">{line}</span>
        </div>
      ))}
    </div>
  );
};
