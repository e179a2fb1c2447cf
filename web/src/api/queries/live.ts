/** Which events make an answer old. */
import type { UiTopic } from '../../../../schemas/api/ui-events.ts';

export interface LiveMeta extends Record<string, unknown> {
  topics: readonly UiTopic[];
  /** Absent where the answer's environment is not known before it comes. */
  environmentId?: string;
}

export const live = (topics: readonly UiTopic[], environmentId?: string): LiveMeta => ({
  topics,
  environmentId,
});
