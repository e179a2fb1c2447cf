import { parentPort, workerData } from 'node:worker_threads';
import { analyze } from './analyze-original.ts';
import { LOADED } from './run-in-thread.ts';

parentPort?.postMessage(LOADED);
parentPort?.postMessage(analyze(workerData as string));
