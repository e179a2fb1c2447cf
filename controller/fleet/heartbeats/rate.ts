/** How many a second there are: in this second or the one before, whichever had more. */
export function createRate(now: () => number = () => performance.now()) {
  let second = 0;
  let count = 0;
  let before = 0;

  function turn(): void {
    const current = Math.floor(now() / 1_000);
    if (current === second) return;
    before = current === second + 1 ? count : 0;
    count = 0;
    second = current;
  }

  return {
    count(): void {
      turn();
      count += 1;
    },
    perSecond(): number {
      turn();
      return Math.max(count, before);
    },
  };
}
