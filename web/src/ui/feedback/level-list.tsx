import { Badge } from '../primitives/badge.tsx';
import type { Tone } from '../primitives/tone.ts';

const TONES: Readonly<Record<string, Tone>> = { passed: 'ok', failed: 'failed', skipped: 'unknown' };

interface Props {
  levels: readonly { level: string; status: string; detail: string }[];
  /** What a level is called; its own name where this is absent. */
  wordOf?: (level: string) => string;
}

/** What was checked of a config, and how each level ended. */
export const LevelList = ({ levels, wordOf = (level) => level }: Props) => (
  <ul className="levels" aria-label="Levels of validation">
    {levels.map(({ level, status, detail }) => (
      <li key={level} className="level" data-tip={detail || undefined}>
        <Badge tone={TONES[status] ?? 'unknown'}>{status}</Badge> {wordOf(level)}
      </li>
    ))}
  </ul>
);
