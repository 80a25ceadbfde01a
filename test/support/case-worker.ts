// A worker process of the cases from the field, with the tools of `case-tools.ts`. `CASE_DIRECTORY`
// is where its files are.

import { caseTools } from './case-tools.ts';
import { runMortalWorker } from './mortal-worker.ts';

await runMortalWorker((settings) => caseTools(settings, process.env['CASE_DIRECTORY'] ?? ''));
