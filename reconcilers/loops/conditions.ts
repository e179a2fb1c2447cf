/** Conditions: typed facts about one manifest, each with a reason for programs and a message for users. */
export interface ConditionFact<T extends string = string> {
  type: T;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  file: string | null;
  line: number | null;
  commit: string | null;
}
export interface ConditionRecord<T extends string = string> extends ConditionFact<T> {
  /** ISO 8601. When `status` last changed, not when it was last confirmed. */
  lastTransition: string;
}

/**
 * Merges the facts of a pass into the recorded conditions, in the order of `order`. A condition without a new fact stays as
 * it is; one whose status did not change keeps its time.
 */
export function mergeConditions<T extends string>(
  order: readonly T[],
  recorded: readonly ConditionRecord<T>[],
  found: readonly ConditionFact<T>[],
  now: Date,
): ConditionRecord<T>[] {
  const merged: ConditionRecord<T>[] = [];
  for (const type of order) {
    const before = recorded.find((condition) => condition.type === type);
    const fact = found.find((condition) => condition.type === type);
    if (fact) {
      const unchanged = before?.status === fact.status;
      merged.push({ ...fact, lastTransition: unchanged ? before.lastTransition : now.toISOString() });
    } else if (before) {
      merged.push(before);
    }
  }
  return merged;
}

/** Whether both are equal apart from their times. */
export function sameConditions(a: readonly ConditionRecord[], b: readonly ConditionRecord[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((one, index) => {
    const other = b[index];
    return (
      other !== undefined &&
      one.type === other.type &&
      one.status === other.status &&
      one.reason === other.reason &&
      one.message === other.message &&
      one.file === other.file &&
      one.line === other.line &&
      one.commit === other.commit
    );
  });
}
