// A worker process with the tools of `promise-tools.ts`.

import { runMortalWorker } from './mortal-worker.ts';
import { promiseTools } from './promise-tools.ts';

await runMortalWorker(promiseTools);
