// The worker process of the example: its own setting is JOB_API_URL.

import { runWorker, settingOf } from '../stories/worker.ts';
import { jobTools } from './tools.ts';

await runWorker(jobTools({ url: settingOf('JOB_API_URL') }));
