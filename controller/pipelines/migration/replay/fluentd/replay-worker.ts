/** The interpreter in a thread of its own: the regular expressions of a configuration come from outside and may never end. */
import { parentPort, workerData } from 'node:worker_threads';
import { parseFluentd } from '../../fluentd/index.ts';
import { LOADED } from '../../run-in-thread.ts';
import { type InterpretRequest, interpret } from './interpret.ts';

const { text, request } = workerData as { text: string; request: InterpretRequest };
parentPort?.postMessage(LOADED);
parentPort?.postMessage(interpret(parseFluentd(text), request));
