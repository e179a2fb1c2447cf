import type { TestController } from '../harness/controller.ts';

/** Runs `happen` just before the engine of the controller checks a config during `call`. */
export async function beforeEngineCheck<T>(
  { controller }: Pick<TestController, 'controller'>,
  happen: () => Promise<unknown>,
  call: () => Promise<T>,
): Promise<T> {
  const { engine } = controller.systemContext('test').services;
  const { validateConfig } = engine;
  const delayed: typeof validateConfig = async (...args) => {
    await happen();
    return validateConfig(...args);
  };
  engine.validateConfig = delayed;
  try {
    return await call();
  } finally {
    engine.validateConfig = validateConfig;
  }
}
