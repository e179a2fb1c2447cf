/**
 * A controller with few connections for requests. As many calls at once take all of them: one that wanted another connection
 * inside of its transaction would never get it.
 */
import { POOL_SIZES } from '../../../controller/database/pools.ts';
import { startTestController, type TestController, type TestControllerOptions } from './controller.ts';
import { use } from './use.ts';

export const AT_ONCE = 3;

export async function startWithFewConnections(options: TestControllerOptions = {}): Promise<TestController> {
  const { requests } = POOL_SIZES;
  Object.assign(POOL_SIZES, { requests: AT_ONCE });
  try {
    return await startTestController(options);
  } finally {
    Object.assign(POOL_SIZES, { requests });
  }
}

export const useFewConnections = (): TestController =>
  use(
    () => startWithFewConnections(),
    (test) => test.stop(),
  );

/** As many calls at once as there are connections; answers their statuses in ascending order. */
export async function statusesAtOnce(call: (n: number) => Promise<{ status: number }>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => call(n)));
  return answers.map(({ status }) => status).sort((a, b) => a - b);
}

/** Statuses where one of the calls succeeds. */
export const oneOf = (other: number): number[] => [200, ...Array<number>(AT_ONCE - 1).fill(other)];
