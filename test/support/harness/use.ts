/**
 * Resources of a suite that start and stop in hooks which the call registers. The answer is there at once and stands for the
 * resource from its hook on, so `const test = useController()` needs neither `let` nor hooks.
 */
type Stop<T> = (resource: T) => unknown;

/** What the hooks of one suite have started, in order: what started last stops first. */
const started = new WeakMap<Mocha.Suite, (() => unknown)[]>();

/** A start may take long on a machine that runs several files. */
const TIMEOUT_MS = 60_000;

/** Starts before the first case of the suite and stops after its last one. */
export function use<T extends object>(start: () => T | Promise<T>, stop?: Stop<T>): T {
  return register(start, stop, { begin: before, end: after });
}

/** Starts before each case of the suite and stops after it. */
export function useEach<T extends object>(start: () => T | Promise<T>, stop?: Stop<T>): T {
  return register(start, stop, { begin: beforeEach, end: afterEach });
}

function register<T extends object>(
  start: () => T | Promise<T>,
  stop: Stop<T> = () => undefined,
  { begin, end }: { begin: Mocha.HookFunction; end: Mocha.HookFunction },
): T {
  let resource: T | undefined;
  begin(async function () {
    this.timeout(TIMEOUT_MS);
    const made = await start();
    resource = made;
    const suite = suiteOf(this);
    const stops = started.get(suite) ?? [];
    started.set(suite, [...stops, () => stop(made)]);
  });
  end(async function () {
    this.timeout(TIMEOUT_MS);
    // Each of these hooks ends one resource, and all of them end all.
    await started.get(suiteOf(this))?.pop()?.();
  });
  const current = (): T => {
    if (resource === undefined) throw new Error('this resource starts in a hook, which has not run yet');
    return resource;
  };
  return new Proxy({} as T, {
    get: (_, key) => {
      const value = Reflect.get(current(), key, current());
      // A method of a class reads private fields, which a proxy has not.
      const isMethod = typeof value === 'function' && !Object.hasOwn(current(), key);
      return isMethod ? value.bind(current()) : value;
    },
    set: (_, key, value) => Reflect.set(current(), key, value),
    defineProperty: (_, key, property) =>
      Reflect.defineProperty(current(), key, { ...property, configurable: true }),
    has: (_, key) => Reflect.has(current(), key),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(current(), key);
      return found && { ...found, configurable: true };
    },
    getPrototypeOf: () => Reflect.getPrototypeOf(current()),
  });
}

function suiteOf({ test }: Mocha.Context): Mocha.Suite {
  const suite = test?.parent;
  if (!suite) throw new Error('a hook has no suite');
  return suite;
}
