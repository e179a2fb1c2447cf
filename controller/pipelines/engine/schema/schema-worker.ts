/** Reads the schema of an engine in a thread of its own: Vector's has some megabytes, and is read whole. */
import { parentPort, workerData } from 'node:worker_threads';
import { compactSchema } from './option-schema.ts';
import { componentsOf } from './schema-components.ts';

const document = JSON.parse(Buffer.from(workerData as Uint8Array).toString('utf8'));
parentPort?.postMessage({ components: componentsOf(document), options: compactSchema(document) });
