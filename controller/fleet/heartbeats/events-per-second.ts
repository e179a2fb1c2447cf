/** Counts events per second: the larger count of the current and the previous second. */
export function createRate(now: () => number = () => performance.now()) {
  let second = 0;
  let count = 0;
  let before = 0;

  function advance(): void {
    const current = Math.floor(now() / 1_000);
    if (current === second) return;
    before = current === second + 1 ? count : 0;
    count = 0;
    second = current;
  }

  return {
    count(): void {
      advance();
      count += 1;
    },
    perSecond(): number {
      advance();
      return Math.max(count, before);
    },
  };
}
