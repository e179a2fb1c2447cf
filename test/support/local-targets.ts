/** Servers of tests listen on this machine, which a controller asks only where it is told to. */
import { createLogger } from '../../controller/platform/logger.ts';
import { createTargetGuard, type TargetGuard } from '../../controller/platform/outgoing/index.ts';

/** As HEADGATE_PRIVATE_TARGETS. */
export const LOCAL_TARGETS = ['127.0.0.0/8', '::1'];

export const localGuard = (): TargetGuard => createTargetGuard(LOCAL_TARGETS, createLogger('silent'));
